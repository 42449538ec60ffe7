"""A process of the service goes without pandas, which can still be imported, and without collections of what it imports."""

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
