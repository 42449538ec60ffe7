"""The computation of each paid report: one module a report, its SQL beside it, one kind of answer for all."""
