"""`python -m workers -Q QUEUES -c PROCESSES`: a Celery worker whose pool processes run one job each.

`python -m workers dispatcher`: a dispatcher, until SIGTERM or SIGINT.
"""

import sys

from shared.processes import imports_for_good

if __name__ == "__main__":
    with imports_for_good():
        if sys.argv[1:] == ["dispatcher"]:
            from workers.dispatcher.dispatch import main
        else:
            from workers.worker import main
    main()
