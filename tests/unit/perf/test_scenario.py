"""Scenario files are checked before anything runs, and the knee is where more callers stop to bring more."""

from pathlib import Path

import pytest

from tests.perf.scenario import ScenarioError, SpanContext, knee, read

SCENARIOS = sorted((Path(__file__).parents[2] / "load" / "scenarios").glob("*.toml"))
GOOD = 'title="t"\n[ramp]\ncallers=[1,2]\nseconds=1\n[[call]]\nname="a"\nshare=1\npath="/x"\ncredential="key"\nexpect=[200]\n'


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.name)
def test_the_projects_scenarios_can_be_read(path: Path) -> None:
    scenario = read(path)
    assert scenario.calls and scenario.title


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("callers=[1,2]", "callers=[]"),
        ("callers=[1,2]", "callers=[0]"),
        ("callers=[1,2]", "callers=[5000]"),
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
    assert read(path).callers == (1, 2)
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(ScenarioError, match=r"mine\.toml"):
        read(path)


def _step(callers: int, answers: int) -> SpanContext:
    step = SpanContext(callers, seconds=1.0)
    step.took_ms["a"] = [1.0] * answers
    return step


def test_the_knee_is_where_more_callers_bring_little_more() -> None:
    steps = [_step(1, 100), _step(2, 195), _step(4, 370), _step(8, 390), _step(16, 380)]
    found = knee(steps)
    assert found is not None and found.callers == 4
    assert knee(steps[:3]) is None
    assert knee([]) is None


def test_percentiles_of_all_and_of_one() -> None:
    step = SpanContext(1, seconds=2.0)
    step.took_ms["a"], step.took_ms["b"] = [float(n) for n in range(101)], [500.0]
    assert (step.percentile(50, "a"), step.percentile(99, "a"), step.percentile(50, "b")) == (50.0, 99.0, 500.0)
    assert step.per_second == 51.0
