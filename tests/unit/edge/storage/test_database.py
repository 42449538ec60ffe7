"""One account never holds all connections to PostgreSQL, however much it asks at once."""

import asyncio

import pytest

from edge.storage.database import FairShare


class _Held:
    """Statements that hold their connections until they are let go."""

    def __init__(self, share: FairShare) -> None:
        self.share, self.busy, self.over = share, 0, asyncio.Event()

    async def run(self, account: str | None) -> None:
        async with self.share.slot(account, 30.0):
            self.busy += 1
            await self.over.wait()


async def _settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_account_has_its_share_and_others_have_theirs() -> None:
    held = _Held(FairShare(3))
    greedy = [asyncio.create_task(held.run("org:1")) for _ in range(50)]
    await _settled()
    assert held.busy == 3
    others = [asyncio.create_task(held.run(name)) for name in ("org:2", "ip:192.0.2.1", None, None, None, None)]
    await _settled()
    assert held.busy == 9
    held.over.set()
    await asyncio.gather(*greedy, *others)
    assert held.busy == 56


async def test_a_caller_that_gives_up_waiting_frees_nothing_and_leaves_nothing_behind() -> None:
    share = FairShare(1)
    held = _Held(share)
    first = asyncio.create_task(held.run("org:1"))
    await _settled()
    with pytest.raises(TimeoutError):
        async with share.slot("org:1", 0.01):
            raise AssertionError("there is no place")
    waiting = asyncio.create_task(held.run("org:1"))
    await _settled()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert held.busy == 1
    held.over.set()
    await first
    async with share.slot("org:1", 1.0):
        pass
    assert share._gates == {}
