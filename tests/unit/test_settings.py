"""Settings that weaken the service are refused, each with one line that names it and says what to do."""

import pytest

from shared.errors import ConfigurationError
from shared.settings.settings import Settings, same_user

GOOD = "pq8Zt4mWc1Xv7Rk0Ls5Nb2Hd9Yf3Gj6A"

OTHER = GOOD[::-1]


def refused(environment: dict[str, str]) -> list[str]:
    """Return the lines of the refusal."""
    with pytest.raises(ConfigurationError) as raised:
        Settings.from_environment(environment)
    return str(raised.value).splitlines()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_LEVEL", "CRITICAL"),
        ("TOKEN_PEPPER", "a"),
        ("TOKEN_PEPPER", GOOD[:31]),
        ("SIGNING_SECRET", "a"),
        ("SIGNING_SECRET", "ab" * 32),
        ("STATE_TIMEOUT_SECONDS", "-5"),
        ("STATE_TIMEOUT_SECONDS", "0"),
        ("CACHE_TIMEOUT_SECONDS", "0"),
        ("DATABASE_TIMEOUT_SECONDS", "-1"),
        ("OIDC_TIMEOUT_SECONDS", "0"),
        ("LEASE_TTL_SECONDS", "0"),
        ("DRAIN_SECONDS", "-1"),
        ("USAGE_FLUSH_SECONDS", "0"),
        ("DRAIN_SECONDS", "nan"),
        ("DRAIN_SECONDS", "inf"),
        ("DATABASE_POOL_MAX", "0"),
        ("JOBS_WAITING_MAX", "-3"),
        ("SIGNED_URL_SECONDS", "0"),
        ("OTEL_TRACES_SAMPLER_ARG", "1.5"),
        ("OTEL_TRACES_SAMPLER_ARG", "-0.1"),
        ("TRUSTED_PROXIES", "0.0.0.0/0"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,::/0"),
        ("TRUSTED_PROXIES", "0.0.0.0/1"),
        ("TRUSTED_PROXIES", "::ffff:0:0/1"),
        ("TRUSTED_PROXIES", "proxy.example"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("BASE_URL", "ftp://x"),
        ("BASE_URL", "api.example.org/v1"),
        ("BASE_URL", "https://"),
        ("BASE_URL", "https://a:b@x/v1"),
        ("BASE_URL", "https://x/v1?a=b"),
        ("BASE_URL", "https://x:99999/v1"),
        ("BASE_URL", "https://x/v1\n"),
        ("PROBLEM_BASE_URL", "javascript:alert(1)"),
        ("S3_ENDPOINT", "file:///etc"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///x"),
        ("OIDC_ISSUER", "file:///etc/passwd"),
        ("OIDC_ISSUER", "http://issuer.example"),
        ("OIDC_ISSUER", "http://127.0.0.1.example"),
        ("OIDC_ISSUER", "issuer.example"),
    ],
)
def test_a_setting_that_weakens_is_refused_in_one_line_that_says_what_to_do(name: str, value: str) -> None:
    lines = refused({name: value})
    assert lines
    for line in lines:
        assert line.startswith(f"{name} ")
        assert "; " in line
    if name.endswith(("PEPPER", "SECRET")) and len(value) > 1:
        assert value not in "".join(lines)


def test_two_secrets_must_differ_in_any_case() -> None:
    (line,) = refused({"TOKEN_PEPPER": GOOD, "SIGNING_SECRET": GOOD})
    assert "TOKEN_PEPPER and SIGNING_SECRET are equal" in line
    assert GOOD not in line
    (line,) = refused({"TOKEN_PEPPER": GOOD, "SIGNING_SECRET": OTHER, "OIDC_CLIENT_SECRET": OTHER})
    assert "SIGNING_SECRET and OIDC_CLIENT_SECRET are equal" in line


def test_all_faults_are_named_at_once() -> None:
    lines = refused({"TOKEN_PEPPER": "a", "STATE_TIMEOUT_SECONDS": "-5", "BASE_URL": "ftp://x"})
    assert sorted(line.split()[0] for line in lines) == ["BASE_URL", "STATE_TIMEOUT_SECONDS", "TOKEN_PEPPER"]


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"TOKEN_PEPPER": GOOD, "SIGNING_SECRET": OTHER, "OIDC_CLIENT_SECRET": "short"},
        {"TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.1,fd00::/8,fc00::/7"},
        {"BASE_URL": "https://api.example.org/v1", "OIDC_ISSUER": "https://issuer.example/realms/x"},
        {"OIDC_ISSUER": "http://127.0.0.1:9000"},
        {"OIDC_ISSUER": "http://[::1]:9000"},
        {"OIDC_ISSUER": "http://localhost:9000"},
        {
            "RELEASE_INTERVAL_HOURS": "0",
            "STATE_FAILOVER_SECONDS": "0",
            "DRAIN_SECONDS": "0",
            "OTEL_TRACES_SAMPLER_ARG": "0",
        },
    ],
)
def test_settings_that_are_safe_are_taken(environment: dict[str, str]) -> None:
    Settings.from_environment(environment)


def test_the_owner_is_known_by_its_name_in_the_address() -> None:
    owner = "postgresql://itemindex:one@db/itemindex"
    assert same_user("postgresql://itemindex:two@other/itemindex", owner)
    assert not same_user("postgresql://itemindex_edge_login:one@db/itemindex", owner)
    assert not same_user("postgresql:///itemindex", "postgresql:///itemindex")
