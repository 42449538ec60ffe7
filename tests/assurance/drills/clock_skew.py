"""gunicorn with an edge whose wall clock steps, and with a charge script that sees the state store's clock step.

Everything in the process that asks for the time of day gets the real one plus what the drill has written into a file.
Timers are not concerned: they count from a clock that does not step, as on a real host.
"""

import hashlib
import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import shared.clock
from deploy.local.paths import Paths
from shared.settings.settings import Settings
from tests.assurance.drills.clock_skew_stores import with_steps

_LOOK_SECONDS = 0.1
_real = time.time
_ahead_seconds = 0.0


def file_of(paths: Paths) -> Path:
    """Return the file that says by how many seconds the edges' clock is ahead."""
    return _beside(paths.root / "results")


def _beside(results: Path) -> Path:
    return results.parent / "clock"


def _stepped() -> float:
    return _real() + _ahead_seconds


def _look_forever(path: Path) -> None:
    global _ahead_seconds
    while True:
        try:
            _ahead_seconds = float(path.read_text())
        except (OSError, ValueError):
            _ahead_seconds = 0.0
        time.sleep(_LOOK_SECONDS)


def watch() -> None:
    """Begin to look at the file; in each process, because threads do not outlive a fork."""
    path = _beside(Settings.from_environment().results_dir)
    threading.Thread(target=_look_forever, args=(path,), name="clock", daemon=True).start()


def _let_the_script_see_steps() -> None:
    # Imported only now: whatever the edge takes hold of is the clock that steps.
    from edge.quota.limiter import TAKE

    TAKE.source = with_steps(TAKE.source)
    TAKE.digest = hashlib.sha1(TAKE.source, usedforsecurity=False).hexdigest()


def main() -> None:
    """Replace the clocks before the edge takes hold of them, then run gunicorn."""
    time.time = _stepped
    shared.clock.utc_now = lambda: datetime.fromtimestamp(_stepped(), UTC)
    os.register_at_fork(after_in_child=watch)
    _let_the_script_see_steps()
    from gunicorn.app.wsgiapp import run

    run()


if __name__ == "__main__":
    main()
