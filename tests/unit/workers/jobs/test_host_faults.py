"""Which errors are the host's, by what Python and Arrow themselves raise."""

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from workers.jobs.host_faults import is_host_fault


def test_a_full_disk_of_temporary_files_is_an_outage_and_a_file_that_is_not_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "none")])
    monkeypatch.setattr(tempfile, "tempdir", None)
    with pytest.raises(FileNotFoundError) as full:
        tempfile.gettempdir()
    with pytest.raises(FileNotFoundError) as missing:
        (tmp_path / "none").read_bytes()
    with pytest.raises(FileNotFoundError) as missing_to_arrow:  # it names the file in its text alone
        pa.memory_map(str(tmp_path / "none"))
    assert is_host_fault(full.value)
    assert not is_host_fault(missing.value) and not is_host_fault(missing_to_arrow.value)
