"""nginx's own log: what concerns the server, never what a caller has sent."""

import pytest

from tests.system.nginx.front import Front

_SECRETS = ("canary", "forged", "\x1b", "GET ", "referrer", "/v1/")


@pytest.mark.parametrize(
    "target", ["/static/%1b%5b31mx%0a2026/11/21%20[alert]%20forged", "/static/" + "a" * 300, "/_problem/canary"]
)
async def test_a_target_is_not_logged(front: Front, target: str) -> None:
    await front.ask(f"{target}?api_key=canary", "Referer: http://canary.example/?code=canary")
    assert not [secret for secret in _SECRETS if secret in front.error_log], front.error_log


@pytest.mark.parametrize("path", ["hang", "die", "cut"])
async def test_a_failing_edge_is_logged_without_the_query_of_the_call(hasty_front: Front, path: str) -> None:
    await hasty_front.ask(f"/v1/{path}?signature=canary", "Referer: http://canary.example/?code=canary")
    assert not [secret for secret in _SECRETS if secret in hasty_front.error_log], hasty_front.error_log


async def test_edges_that_are_down_are_in_the_refused_log_with_their_sockets(front: Front) -> None:
    for socket in front.edges:
        await front.stub.stop(socket)
    await front.ask("/v1/x?signature=canary", 'User-Agent: "forged\\', method="POST", body=b"canary")
    await front.until(lambda: bool(front.logged()))
    (line,) = front.logged()
    assert line["status"] == 502
    assert str(front.edges[0]) in line["upstream"] or str(front.edges[1]) in line["upstream"]
    assert "502" in line["upstream_status"]
    assert "canary" not in str(line)
    assert not [secret for secret in _SECRETS if secret in front.error_log], front.error_log


async def test_messages_of_the_server_itself_are_logged(front: Front) -> None:
    (front.folder / "nginx.conf").write_text("nonsense;")
    front.reload()
    await front.until(lambda: "nonsense" in front.error_log)
    assert (await front.ask("/v1/x")).status == 200
