"""Importing the workers reads no environment and connects to nothing: a process builds its services when it starts."""

import os
import pkgutil
import subprocess
import sys

import workers

WEAK = {"TOKEN_PEPPER": "a", "STATE_DEADLINE_MS": "-5", "LOG_LEVEL": "nonsense"}


def test_every_module_can_be_imported_with_settings_that_no_process_would_start_with() -> None:
    modules = [module.name for module in pkgutil.walk_packages(workers.__path__, "workers.")]
    assert "workers.worker" in modules
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
