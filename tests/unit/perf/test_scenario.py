"""Scenario files are checked before anything runs; the knee is the last rate that was kept up with."""

import asyncio
import os
import random
from pathlib import Path

import pytest

from tests.perf.load.arrivals import OpenLoop, Request
from tests.perf.load.outcome import Step, compared, knee
from tests.perf.load.parts import cpu_seconds
from tests.perf.load.scenario import Call, ScenarioError, read

SCENARIOS = sorted((Path(__file__).parents[2] / "perf/load/scenarios").glob("*.toml"))
GOOD = (
    'title="t"\n[ramp]\nrates=[1,2]\nseconds=1\n'
    '[[call]]\nname="a"\nshare=1\npath="/x"\ncredential="key"\nexpect=[200]\n'
)


def test_there_are_scenarios() -> None:
    assert SCENARIOS


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.name)
def test_the_projects_scenarios_can_be_read(path: Path) -> None:
    scenario = read(path)
    assert scenario.calls and scenario.title


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rates=[1,2]", "rates=[]"),
        ("rates=[1,2]", "rates=[0]"),
        ("rates=[1,2]", "rates=[2,1]"),
        ("rates=[1,2]", "rates=[500000]"),
        ("rates=[1,2]", "rates=[1,2]\naddresses=0"),
        ("rates=[1,2]", "rates=[1,2]\nslow_ms=0"),
        ("seconds=1", "seconds=0"),
        ("seconds=1", "seconds=999"),
        ("share=1", "share=0"),
        ('path="/x"', 'path="x"'),
        ('credential="key"', 'credential="root"'),
        ("expect=[200]", ""),
        ("[ramp]", "[rampe]"),
        ("title", "?"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    assert read(path).rates == (1, 2)
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(ScenarioError, match=r"mine\.toml"):
        read(path)


def _step(rate: int, answers: int, ms: float = 1.0, *, late_ms: float = 0.0, unanswered: int = 0) -> Step:
    step = Step(rate, seconds=1.0, unanswered=unanswered, late_ms=[late_ms] * 10)
    step.took_ms["a"] = [ms] * answers
    return step


def test_the_knee_is_the_last_rate_that_was_kept_up_with() -> None:
    steps = [_step(100, 100), _step(200, 200), _step(400, 390, ms=900.0)]
    found = knee(steps, slow_ms=500)
    assert found.step is steps[1] and "is at 200" in found.sentence
    assert "below the first rate" in knee([_step(100, 10, unanswered=90)], 500).sentence
    assert "not reached" in knee(steps[:2], 500).sentence
    assert knee([], 500).step is None


def test_a_late_generator_is_not_blamed_on_the_service() -> None:
    found = knee([_step(100, 100), _step(200, 200, ms=900.0, late_ms=300.0)], slow_ms=500)
    assert found.step is not None and found.step.rate == 100
    assert "beyond 100" in found.sentence and "generator" in found.sentence


def test_runs_are_compared_rate_by_rate() -> None:
    now, before = _step(100, 100, ms=2.0), _step(100, 50, ms=1.0)
    now.cpu_seconds, before.cpu_seconds = {"edge": 0.1}, {"edge": 0.1}
    [change] = compared([now.summary(), _step(200, 1).summary()], [before.summary()])
    assert change == {"rate": 100, "answers_per_second": 2.0, "p99_ms": 2.0, "cpu_us_per_answer": 0.5}


def test_percentiles_of_all_and_of_one() -> None:
    step = Step(1, seconds=2.0)
    step.took_ms["a"], step.took_ms["b"] = [float(n) for n in range(101)], [500.0]
    assert (step.percentile(50, "a"), step.percentile(99, "a"), step.percentile(50, "b")) == (50.0, 99.0, 500.0)
    assert step.per_second == 51.0


async def test_arrivals_do_not_wait_for_answers_and_come_from_many_addresses() -> None:
    met: list[str] = []
    release = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(writer.get_extra_info("peername")[0])
        while await reader.readuntil(b"\r\n\r\n"):
            await release.wait()
            writer.write(b"HTTP/1.1 429 x\r\nContent-Length: 2\r\n\r\nno")

    def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> asyncio.Task[None]:
        async def run() -> None:
            try:
                await answer(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()

        return asyncio.get_running_loop().create_task(run())

    server = await asyncio.start_server(swallow, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    call = Call("a", 1, "/", "none", frozenset({429}))
    step = Step(200)
    running = asyncio.get_running_loop().create_task(
        OpenLoop("127.0.0.1", port, 20, seed=1).run(
            step, 1, lambda chance: Request(call, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        )
    )
    while len(met) < 50:  # nothing was answered yet, and still they come
        await asyncio.sleep(0.01)
    assert step.answers == 0
    release.set()
    await running
    server.close()
    assert 150 < step.answers < 260 and not step.wrong and not step.unanswered
    assert len(set(met)) == 20


def test_the_processor_time_of_a_process_is_counted_under_its_part() -> None:
    random.Random(1).randbytes(1_000_000)
    used = cpu_seconds({"children": [{"name": "edge-a", "pid": os.getpid()}, {"name": "state", "pid": None}]})
    assert used["edge"] > 0 and used["state"] == 0
