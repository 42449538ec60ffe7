"""What workers and commands import: nothing that reads the environment, connects, or is loaded without need."""

import os
import pkgutil
import subprocess
import sys

import workers

_SCRIPT = """
import sys
from shared.processes import without_pandas
without_pandas()
import pyarrow as pa
assert pa.array([{"a": 1}, None]).null_count == 1
print("pandas" in sys.modules)
import pandas
print(pandas.Series([1]).sum())
"""


def test_conversions_import_no_pandas_and_it_can_be_imported() -> None:
    ran = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["False", "1"]


_COMMAND = """
import sys
from deploy.ctl.main import load_command
load_command("deploy.ctl.ingest:ingest")
import pyarrow as pa
assert pa.array([{"a": 1}, None]).null_count == 1
print("pandas" in sys.modules)
"""


def test_a_command_that_loads_files_imports_no_pandas() -> None:
    ran = subprocess.run([sys.executable, "-c", _COMMAND], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["False"]


_IMPORTS_FOR_GOOD = """
import gc
import weakref
from shared.processes import imports_for_good

class Knot:
    def __init__(self):
        self.own = self

before = gc.get_stats()
with imports_for_good():
    import email.mime.multipart, http.server, xml.dom.minidom
print(sum(now["collections"] - then["collections"] for now, then in zip(gc.get_stats(), before)))
print(gc.isenabled(), any(found is vars(http.server) for found in gc.get_objects()))
later = weakref.ref(Knot())
gc.collect()
print(later() is None)
"""


def test_what_is_imported_for_good_is_never_looked_at_and_later_garbage_is_collected() -> None:
    ran = subprocess.run([sys.executable, "-c", _IMPORTS_FOR_GOOD], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["0", "True", "False", "True"]


WEAK = {"TOKEN_PEPPER": "a", "STATE_TIMEOUT_SECONDS": "-5", "LOG_LEVEL": "nonsense"}


def test_every_module_can_be_imported_with_settings_that_no_process_would_start_with() -> None:
    found = [module.name for module in pkgutil.walk_packages(workers.__path__, "workers.")]
    # It loads scikit-learn, which takes longer than all others.
    modules = [name for name in found if name != "workers.articles.matching.training"]
    assert {"workers.worker", "workers.handlers"} <= set(modules)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]",
            *modules,
        ],
        env={**os.environ, **WEAK},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
