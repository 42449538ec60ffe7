"""`python -m tests.assurance.drills.ring ID …` sends the message of each job once more, as a broker does that delivers twice."""

import sys

from shared.jobs.contract import EXECUTE
from shared.settings.settings import settings_or_exit
from workers.jobs.services import build_services

QUEUE = "reports"


def main() -> None:
    """Send them."""
    messages = build_services(settings_or_exit(), "drill").messages
    for job in sys.argv[1:]:
        messages.send(EXECUTE, job, QUEUE)


if __name__ == "__main__":
    main()
