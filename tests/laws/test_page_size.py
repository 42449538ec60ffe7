"""A page's script and style stay small: 300 kB in all, before compression. The reference of the API alone is larger."""

import re
from pathlib import Path

import pytest

from edge import dashboard, docs

_BYTES_MAX = 300_000
_STATIC = Path(docs.__file__).parent / "static"
_LINKED = re.compile(r'(?:src|href)="/static/([^"]+\.(?:js|css))"')
_LAYOUTS = {
    "dashboard": Path(dashboard.__file__).parent / "templates" / "layout.html",
    "documentation": Path(docs.__file__).parent / "templates" / "base.html",
}


@pytest.mark.parametrize("layout", _LAYOUTS.values(), ids=_LAYOUTS)
def test_the_script_and_style_of_a_page_are_at_most_300_kb(layout: Path) -> None:
    linked = set(_LINKED.findall(layout.read_text(encoding="utf-8")))
    assert any(name.endswith(".css") for name in linked)
    sizes = {name: (_STATIC / name).stat().st_size for name in linked}
    assert sum(sizes.values()) <= _BYTES_MAX, sizes
