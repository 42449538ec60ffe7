"""Commands that start, stop, list or wait load no library of numbers and none of keys without need."""

import subprocess
import sys

import pytest

_LOADED = """
import sys, %s
print(sorted({'cryptography', 'numpy', 'pyarrow', 'scipy'} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("modules", "libraries"),
    [
        (
            "deploy.ctl.jobs, deploy.ctl.matches, deploy.ctl.migrate, deploy.ctl.releases, deploy.ctl.stack, "
            "deploy.ctl.worker",
            "[]",
        ),
        (
            "deploy.ctl.accounts, deploy.ctl.feeds, deploy.ctl.webhooks, workers.dispatcher.dispatch, workers.worker",
            "['cryptography']",
        ),
    ],
)
def test_what_starts_or_waits_loads_no_library_without_need(modules: str, libraries: str) -> None:
    ran = subprocess.run([sys.executable, "-c", _LOADED % modules], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == libraries
