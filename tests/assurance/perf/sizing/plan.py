"""How many machines a load needs, and what gives way first. Pure: measured figures and a load in, a plan out."""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIGURES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("figures.toml").read_text(encoding="utf-8"))
_LOOK_UP, _COLD = "lookup", "record not remembered"
_HOUR = 3_600
# Where one server, volume or night is no longer enough; rules of thumb, not measured.
_DATABASE_BYTES, _RELEASES_BYTES, _HOURS_MAX = 4 * 2**40, 2**40, 8.0


@dataclass(frozen=True, kw_only=True)
class Load:
    """What has to be carried. Shares are of all lookups."""

    lookups: float
    observations: float
    refused: float = 0.05
    cold: float = 0.01
    reports_an_hour: float = 1_000
    releases_kept: float = 3
    cores: int = 16
    busy: float = 0.6

    @property
    def items(self) -> float:
        """Items, at the observations an item that the figures were taken with."""
        return self.observations / float(FIGURES["data"]["observations_an_item"])


@dataclass(frozen=True, kw_only=True)
class Need:
    """What one part needs; what one of it `carries`; how many `times` that is asked; what is done `then`, above one."""

    part: str
    need: str
    cores: float
    carries: str
    times: float
    then: str

    @property
    def beyond(self) -> bool:
        """Whether one of it is not enough."""
        return self.times > 1


def plan(load: Load) -> list[Need]:
    """Return every part's need, in the order of a request's way."""
    return [*_front(load), *_stores(load), *_data(load), *_work(load)]


def machines(needs: list[Need], load: Load) -> int:
    """Return how many machines of `load.cores` cores all of it takes; two at least, so that one may fail."""
    return max(2, math.ceil(sum(need.cores for need in needs) / load.cores))


def bottleneck(needs: list[Need]) -> Need | None:
    """Return the part that gave way first as the load grew: one of it is asked for the most times what it carries."""
    beyond = [need for need in needs if need.beyond]
    return max(beyond, key=lambda need: need.times) if beyond else None


def edge_processes(load: Load) -> int:
    """Return how many edge processes it takes, one core each; four at least: two hosts of two."""
    return max(4, math.ceil(_cores(load, "edge")))


def _front(load: Load) -> list[Need]:
    nginx, edges = _cores(load, "nginx"), edge_processes(load)
    return [
        Need(
            part="nginx",
            need=_count(nginx, "core"),
            cores=nginx,
            times=nginx / load.cores,
            carries=f"{_rate(load, _LOOK_UP, 'nginx')} lookups/s a core",
            then="more hosts of a front and its edges",
        ),
        Need(
            part="edge",
            need=f"{edges} processes",
            cores=float(edges),
            times=edges / load.cores,
            carries=f"{_rate(load, _LOOK_UP, 'edge')} lookups/s a process",
            then="the same hosts: edges share nothing, and each process takes one core",
        ),
    ]


def _stores(load: Load) -> list[Need]:
    charges, records = _cores(load, "state"), _cores(load, "cache")
    connections = edge_processes(load) * (int(FIGURES["edge"]["connections"]) + 1)
    database = _cores(load, "postgres")
    most = FIGURES["postgres"]["connections"]
    return [
        Need(
            part="state store",
            need=_count(charges, "store"),
            cores=charges,
            times=charges,
            carries=f"{_rate(load, _LOOK_UP, 'state')} charges/s",
            then="a cluster of so many shards: an account's keys lie in one of them, so its limits stay exact",
        ),
        Need(
            part="cache store",
            need=_count(records, "store"),
            cores=records,
            times=records,
            carries=f"{_rate(load, _COLD, 'cache')} records/s",
            then="a cluster, or one for each group of edges: it may lose everything, so none need to agree",
        ),
        Need(
            part="PostgreSQL, callers",
            need=_count(database, "core"),
            cores=database,
            times=database / load.cores,
            carries=f"{_rate(load, _COLD, 'postgres')} records/s a core",
            then="more memory for records (RECORD_CACHE_BYTES_MAX)",
        ),
        Need(
            part="PostgreSQL, connections",
            need=f"up to {connections:,}",
            cores=0.0,
            times=connections / most,
            carries=f"{most} (max_connections)",
            then="PgBouncer in front of the pools; each process's line for notices stays direct",
        ),
    ]


def _data(load: Load) -> list[Need]:
    size, items, speed = FIGURES["bytes"], load.items, FIGURES["rows_a_second"]
    rows = load.observations * (size["observation"] + size["observation_cells"]) + items * size["item"]
    files = load.releases_kept * (load.observations * size["observation_released"] + items * size["item_released"])
    loading, exporting = load.observations / speed["load"] / _HOUR, load.observations / speed["export"] / _HOUR
    search = FIGURES["search"]
    return [
        Need(
            part="PostgreSQL, disk",
            need=_bytes(rows),
            cores=0.0,
            times=rows / _DATABASE_BYTES,
            carries="one volume",
            then="partitions by month: the last quarter on fast disks, the years before on others",
        ),
        Need(
            part="releases",
            need=_bytes(files),
            cores=0.0,
            times=files / _RELEASES_BYTES,
            carries="one shared volume",
            then="a bucket (S3_BUCKET): many edges read it at once, and equal files are kept once",
        ),
        Need(
            part="search index",
            need=_bytes(items * search["bytes_an_item"]),
            cores=0.0,
            times=items / search["items_max"],
            carries=f"{search['items_max']:,} items",
            then="measured to a million items, multiplied: measure before you rely on more",
        ),
        Need(
            part="first load",
            need=_hours(loading),
            cores=0.0,
            times=loading / _HOURS_MAX,
            carries=f"{speed['load']:,} rows/s",
            then="files by month, one load each: a load is one transaction",
        ),
        Need(
            part="whole export",
            need=f"{_hours(exporting)} of a core",
            cores=0.0,
            times=exporting / _HOURS_MAX,
            carries=f"{speed['export']:,} rows/s a core",
            then="releases, which are made once for all customers",
        ),
    ]


def _work(load: Load) -> list[Need]:
    a_second = load.reports_an_hour / _HOUR / 1e6 / load.busy
    workers, reading = max(2.0, a_second * _of("report", "worker")), a_second * _of("report", "postgres")
    return [
        Need(
            part="report workers",
            need=f"{math.ceil(workers)} processes",
            cores=workers,
            times=workers / load.cores,
            carries=f"{_rate(load, 'report', 'worker', _HOUR)} reports/h a process",
            then="more workers of the queue `reports`, by the age of its oldest job",
        ),
        Need(
            part="PostgreSQL, reports",
            need=_count(reading, "core"),
            cores=reading,
            times=reading / load.cores,
            carries=f"{_rate(load, 'report', 'postgres', _HOUR)} reports/h a core",
            then="a read replica (REPLICA_DATABASE_URL), then several; sooner where the primary is busy",
        ),
    ]


def _cores(load: Load, part: str) -> float:
    """Return the cores that a part needs for the lookups, kept as busy as a load may keep them."""
    of = (1 - load.refused) * _of(_LOOK_UP, part) + load.refused * _of("refusal", part) + load.cold * _of(_COLD, part)
    return load.lookups * of / 1e6 / load.busy


def _of(call: str, part: str) -> float:
    """Return the measured microseconds of CPU that a call costs a part."""
    return float(FIGURES["microseconds"][call].get(part, 0))


def _rate(load: Load, call: str, part: str, seconds: int = 1) -> str:
    return f"{load.busy * 1e6 * seconds / _of(call, part):,.0f}"


def _count(number: float, what: str) -> str:
    count = max(1, math.ceil(number))
    return f"{count} {what}{'s' if count > 1 else ''}"


def _hours(number: float) -> str:
    return f"{number:,.1f} h" if number >= 1 else f"{math.ceil(number * 60)} min"


def _bytes(number: float) -> str:
    return f"{number / 2**30:,.1f} GiB" if number < 2**40 else f"{number / 2**40:,.1f} TiB"
