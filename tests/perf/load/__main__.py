"""`python -m tests.perf.load`."""

from tests.perf.load.command import main

main()
