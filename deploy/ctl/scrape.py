"""One reading of the metrics, and what happened between two of them."""

import http.client
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

from deploy.local import tls
from shared.errors import ItemIndexError

_TIMEOUT_SECONDS = 5.0
Labels = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Scrape:
    """All samples at one moment, by name and labels."""

    at: float
    samples: dict[str, dict[Labels, float]]

    @classmethod
    def fetch(cls, url: str) -> "Scrape":
        """Read the metrics of an address. Raises ItemIndexError if none are served there."""
        try:
            parts = urlsplit(url)
            line = http.client.HTTPConnection(parts.netloc, timeout=_TIMEOUT_SECONDS)
            status, body = tls.get(line, parts.path or "/metrics")
            if status != 200:
                raise ItemIndexError(f"{url} answered {status}")
            return cls.of(body.decode(), time.monotonic())
        except (OSError, http.client.HTTPException) as error:
            raise ItemIndexError(f"{url} is not responding ({type(error).__name__})") from None
        except ValueError:
            raise ItemIndexError(f"{url} is not the address of metrics") from None

    @classmethod
    def of(cls, text: str, at: float) -> "Scrape":
        """Read the text format of Prometheus."""
        samples: dict[str, dict[Labels, float]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                samples.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
        return cls(at, samples)

    def get(self, name: str, **labels: str) -> float:
        """Return one gauge or counter; 0 where it is missing."""
        return self.samples.get(f"itemindex_{name}", {}).get(frozenset(labels.items()), 0.0)

    def each(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        """Go through all samples of a name."""
        for labels, value in self.samples.get(f"itemindex_{name}", {}).items():
            yield dict(labels), value


@dataclass(frozen=True, slots=True)
class Between:
    """The changes between two scrapes, per second."""

    before: Scrape
    after: Scrape

    @property
    def seconds(self) -> float:
        """How far they are apart."""
        return max(1e-3, self.after.at - self.before.at)

    def rates(self, name: str, *by: str) -> dict[tuple[str, ...], float]:
        """Return a counter's increase per second, summed by some of its labels; what did not move is left out."""
        rates: dict[tuple[str, ...], float] = {}
        earlier = self.before.samples.get(f"itemindex_{name}", {})
        for labels, value in self.after.samples.get(f"itemindex_{name}", {}).items():
            had = earlier.get(labels, 0.0)
            moved = value - had if value >= had else value  # a process that began anew counts from zero
            if moved > 0:
                named = dict(labels)
                key = tuple(named[label] for label in by)
                rates[key] = rates.get(key, 0.0) + moved / self.seconds
        return rates

    def quantile(self, share: float, name: str, **labels: str) -> float | None:
        """Return a histogram's quantile of what came in between, as PromQL estimates it; None where nothing came."""
        buckets: dict[float, float] = {}
        for (bound, *rest), rate in self.rates(f"{name}_bucket", "le", *labels).items():
            if tuple(rest) == tuple(labels.values()):
                buckets[float(bound)] = buckets.get(float(bound), 0.0) + rate
        return quantile_of(share, sorted(buckets.items()))


def quantile_of(share: float, buckets: list[tuple[float, float]]) -> float | None:
    """Return a quantile of cumulative buckets; the last finite bound if it is beyond them."""
    if not buckets or not buckets[-1][1]:
        return None
    wanted, low, below = share * buckets[-1][1], 0.0, 0.0
    for bound, count in buckets:
        if count >= wanted:
            if bound == float("inf"):
                return low
            inside = count - below
            return low + (bound - low) * ((wanted - below) / inside if inside else 0.0)
        low, below = bound, count
    return low
