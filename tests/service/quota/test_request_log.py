"""The log of requests: the newest calls of each organization alone, without secrets; off by a setting."""

import pytest

from edge.http.answered_call import AnsweredCall
from edge.quota.request_log import RequestLog
from edge.storage.redis_client import SingleNodeClient
from shared.errors import StoreUnavailable
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log


def note(log: RequestLog, organization: str, *ids: int) -> None:
    for number in ids:
        log.note(organization, "api-key:abc", AnsweredCall("lookup", 200, 1, 0.001, f"{number:032x}"))


async def test_the_newest_calls_are_kept_and_another_organization_sees_none_of_them(cache: SingleNodeClient) -> None:
    first, second = RequestLog(cache, 5), RequestLog(cache, 5)  # two processes
    note(first, "acme", *range(4))
    note(second, "acme", *range(4, 8))
    note(second, "other", 99)
    await first.flush()
    await second.flush()
    calls = await first.read("acme")
    assert [int(call.request_id, 16) for call in calls] == [7, 6, 5, 4, 3]
    assert {(call.endpoint, call.status, call.units) for call in calls} == {("lookup", 200, 1)}
    assert [int(call.request_id, 16) for call in await first.read("other")] == [99]


async def test_one_organizations_many_calls_cost_another_none_of_its_own(cache: SingleNodeClient) -> None:
    log = RequestLog(cache, 1_000)
    lost = metrics.request_log_lost._value.get()
    for number in range(30):
        note(log, f"busy-{number}", *range(1_000))
    note(log, "busy-0", *range(1_000, 21_000))
    note(log, "calm", *range(3))
    await log.flush()
    assert [int(call.request_id, 16) for call in await log.read("calm")] == [2, 1, 0]
    assert int((await log.read("busy-0"))[0].request_id, 16) == 20_999
    assert min([len(await log.read(f"busy-{number}")) for number in range(30)]) >= 500
    assert metrics.request_log_lost._value.get() > lost


async def test_with_the_setting_at_none_nothing_is_kept(cache: SingleNodeClient) -> None:
    log = RequestLog(cache, 0)
    note(log, "silent", 1)
    await log.flush()
    assert await RequestLog(cache, 5).read("silent") == []


async def test_an_outage_of_the_cache_store_drops_the_log_and_raises_for_its_reader(settings: Settings) -> None:
    away = RequestLog(SingleNodeClient(settings.cache_url, name="cache", deadline_seconds=0.2, log=Log("tests")), 5)
    note(away, "acme", 1)
    await away.flush()
    with pytest.raises(StoreUnavailable):
        await away.read("acme")
