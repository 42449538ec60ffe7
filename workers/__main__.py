"""`python -m workers -Q QUEUES -c PROCESSES`: a Celery worker whose pool processes run one job each."""

from shared.processes import imports_for_good

if __name__ == "__main__":
    with imports_for_good():
        from workers.worker import main
    main()
