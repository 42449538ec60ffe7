"""A process of the service goes without pandas; one that wants it can still import it."""

import subprocess
import sys

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
