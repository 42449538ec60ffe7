"""How many requests reloads of nginx cost: `python -m tests.assurance.perf.reload_bench --reloads 50 --requests 500000`."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.system.nginx.front import Front
from tests.system.nginx.reloads import reload_under_load


async def measure(reloads: int, requests: int) -> int:
    """Run nginx before two stubs, reload it under load, print the figures and return how many requests were lost."""
    with tempfile.TemporaryDirectory(prefix="reload-") as folder:
        front = Front(Path(folder), Path(folder), REQUESTS_PER_SECOND="1000000")
        try:
            await front.start()
            answered, lost = await reload_under_load(front, reloads, requests)
        finally:
            await front.stop()
    print(f"{reloads} reloads, {answered} requests answered, {len(lost)} lost")
    return len(lost)


def main() -> None:
    """Measure and end with 1 where anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reloads", type=int, default=50)
    parser.add_argument("--requests", type=int, default=500_000)
    given = parser.parse_args()
    sys.exit(1 if asyncio.run(measure(given.reloads, given.requests)) else 0)


if __name__ == "__main__":
    main()
