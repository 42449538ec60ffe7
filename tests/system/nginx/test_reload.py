"""A reload of nginx costs no caller a request. The full figure: `python -m tests.perf.reload_bench`."""

from tests.system.nginx.conftest import MakeFront
from tests.system.nginx.reloads import reload_under_load


async def test_reloads_reset_no_request_on_a_kept_connection(make_front: MakeFront) -> None:
    front = await make_front(REQUESTS_PER_SECOND="1000000")
    answered, lost = await reload_under_load(front, reloads=8, requests=4000)
    assert answered >= 4000
    assert lost == []
