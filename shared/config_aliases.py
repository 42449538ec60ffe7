"""Former names of settings. They are accepted with a warning for one version after a setting was renamed."""

import warnings
from collections.abc import Mapping

from shared.errors import ConfigurationError

RENAMED = {
    "ACCEL_LOCATION": "X_ACCEL_LOCATION",
    "ANALYTICS_DATABASE_URL": "REPLICA_DATABASE_URL",
    "ANALYTICS_WAIT_SECONDS": "REPLICA_WAIT_SECONDS",
    "CACHE_DEADLINE_MS": "CACHE_TIMEOUT_SECONDS",
    "CURSOR_SECRET": "SIGNING_SECRET",
    "CURSOR_SECRET_PREVIOUS": "SIGNING_SECRET_PREVIOUS",
    "DATABASE_DEADLINE_MS": "DATABASE_TIMEOUT_SECONDS",
    "ERRORS_BASE": "PROBLEM_BASE_URL",
    "OIDC_DEADLINE_MS": "OIDC_TIMEOUT_SECONDS",
    "OTLP_ENDPOINT": "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTLP_HEADERS": "OTEL_EXPORTER_OTLP_HEADERS",
    "QUOTA_OUTAGE": "QUOTA_FAIL_MODE",
    "RELEASE_DAILY_KEPT_DAYS": "RELEASE_DAILY_RETENTION_DAYS",
    "RELEASE_WEEKLY_KEPT_DAYS": "RELEASE_WEEKLY_RETENTION_DAYS",
    "STATE_DEADLINE_MS": "STATE_TIMEOUT_SECONDS",
    "TRACE_SHARE": "OTEL_TRACES_SAMPLER_ARG",
    "UPLOAD_BATCH_ROWS": "INGEST_BATCH_ROWS",
}


def with_current_names(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with each former name replaced; warn of each. The current name wins if both are set.

    Milliseconds of a former name become seconds. Raises ConfigurationError if they are not a number.
    """
    values = dict(given)
    for former, current in RENAMED.items():
        text = values.pop(former, "")
        if not text:
            continue
        warnings.warn(f"{former} is deprecated: set {current} instead", FutureWarning, stacklevel=3)
        if not values.get(current):
            values[current] = _seconds(former, text) if former.endswith("_DEADLINE_MS") else text
    return values


def _seconds(former: str, milliseconds: str) -> str:
    try:
        return str(int(milliseconds) / 1000)
    except ValueError:
        raise ConfigurationError(f"{former} must be a whole number of milliseconds") from None
