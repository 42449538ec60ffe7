"""The path of a REST call that a tool makes."""

from edge.mcp.calls import path_of
from edge.mcp.tools import RestCall


def test_the_path_of_a_call_is_filled_in_whatever_its_parameters_are() -> None:
    assert path_of(RestCall("/v1/index/pricing/{iid}", {"iid": "IID-A"})) == "/v1/index/pricing/IID-A"
    assert path_of(RestCall("/v1/jobs/{id}/result", {"id": "a/../{b}"})) == "/v1/jobs/a%2F..%2F%7Bb%7D/result"
    assert path_of(RestCall("/v1/index/brands")) == "/v1/index/brands"
