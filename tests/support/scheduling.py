"""Which process of pytest-xdist runs which tests: files stay whole, and tests that wait run beside tests that compute."""

import pytest
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController


class FilesFromBothEnds(LoadGroupScheduling):
    """Gives each process whole files, or whole groups; every second process takes them from the end of the list.

    What the tests of a file share is then made once, not once in each process. Whole stacks, which begin the list, wait
    about as much as they work: all processes at once would leave cores idle there, and have none to spare afterwards.
    """

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        return group.partition("::")[0]

    def _assign_work_unit(self, node: WorkerController) -> None:
        if self.nodes.index(node) % 2:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


def scheduler(config: pytest.Config, log: object) -> LoadGroupScheduling | None:
    """Return it for runs that keep groups together; None leaves another way of distributing tests as it is."""
    return FilesFromBothEnds(config, log) if config.getoption("dist") == "loadgroup" else None
