"""What each paid report computes: one module a report, its SQL beside it, one kind of answer for all."""
