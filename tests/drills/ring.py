"""`python -m tests.drills.ring ID …` sends the message of each job once more, as a broker does that delivers twice."""

import sys

from shared.jobs.contract import EXECUTE
from workers.app import app

QUEUE = "reports"


def main() -> None:
    """Send them."""
    for job in sys.argv[1:]:
        app.send_task(EXECUTE, args=[job], queue=QUEUE)


if __name__ == "__main__":
    main()
