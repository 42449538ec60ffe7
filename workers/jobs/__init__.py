"""Jobs: the Celery application, the consumer, leases, handlers and progress."""
