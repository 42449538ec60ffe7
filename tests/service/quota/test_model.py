"""Random charges, refunds, repeats, seconds and midnights against a model of twenty lines: exact on both windows."""

import pytest

from edge.storage.redis_client import SingleNodeClient
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.quota_model import DAY_SECONDS, PLANS, Model, compare_with_model


def test_the_meter_keeps_to_its_model(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SingleNodeClient(settings.state_url, name="state", deadline_seconds=2.0, log=Log("tests"))
    compare_with_model(store, monkeypatch, examples=50, steps=30)


def test_the_model_refunds_a_unit_only_to_the_second_it_was_taken_in() -> None:
    model, plan = Model(), PLANS["org"]
    assert model.charge("org:a", "first", 10, plan)
    model.second += 1
    assert model.charge("org:a", "second", 10, plan)
    model.refund("org:a", "first", model.second // DAY_SECONDS)
    assert not model.charge("org:a", "third", 10, plan)
