"""Paths of GS1 Digital Links name a GTIN and its qualifiers, or are refused with their reason."""

import pytest

from edge.index.digital_link_path import DigitalLink, read_path
from shared.errors import WrongIdentifier

NEITHER = "needs pairs of an application identifier and a value, or one compressed segment, after the GTIN"


def test_a_path_names_a_gtin_and_its_qualifiers() -> None:
    for path, link in (
        ("/01/09506000134352", DigitalLink("09506000134352")),
        ("/01/9506000134352/", DigitalLink("09506000134352")),
        ("/01/09506000134352/10/ABC1", DigitalLink("09506000134352", (("10", "ABC1"),))),
        (
            "/01/09506000134352/22/2A/10/A%2FB/21/%21x",
            DigitalLink("09506000134352", (("22", "2A"), ("10", "A/B"), ("21", "!x"))),
        ),
        ("/01/96385074/21/1/", DigitalLink("00000096385074", (("21", "1"),))),
    ):
        assert read_path(path) == link, path
        assert read_path(link.path) == link, path
        assert link.uncompressed_path == link.path, path
        assert link.primary_path == f"/01/{link.gtin}", path


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/01/09506000134353", "has a wrong check digit; the correct one is 2"),
        ("/01/", "needs pairs of an application identifier and a value after the GTIN"),
        ("/01/%20", "must have digits only"),
        ("/01/09506000134352/foo", NEITHER),
        ("/01/09506000134352/10", NEITHER),
        ("/01/09506000134352/10/", NEITHER),
        ("/01/09506000134352/10//21/x", "takes qualifiers of 1 to 20 letters, digits and signs of GS1's character set"),
        (
            "/01/09506000134352/10/" + "x" * 21,
            "takes qualifiers of 1 to 20 letters, digits and signs of GS1's character set",
        ),
        (
            "/01/09506000134352/10/%C3%A4",
            "takes qualifiers of 1 to 20 letters, digits and signs of GS1's character set",
        ),
        ("/01/09506000134352/10/%00", "takes qualifiers of 1 to 20 letters, digits and signs of GS1's character set"),
        ("/01/09506000134352/21/1/10/a", "takes the qualifiers 22, 10, 21 after a GTIN, in this order, each once"),
        ("/01/09506000134352/10/a/10/b", "takes the qualifiers 22, 10, 21 after a GTIN, in this order, each once"),
        ("/01/09506000134352/99/a", "takes the qualifiers 22, 10, 21 after a GTIN, in this order, each once"),
    ],
)
def test_an_address_that_breaks_the_syntax_is_refused_with_its_reason(path: str, detail: str) -> None:
    with pytest.raises(WrongIdentifier) as refused:
        read_path(path)
    assert refused.value.detail == detail
