"""`python -m tests.assurance.perf.load`."""

from tests.assurance.perf.load.command import main

main()
