"""Secrets of webhooks survive a rotation of the secret that seals them: no delivery fails in between."""

import json
from dataclasses import replace

from shared.settings.settings import Settings
from tests.service.webhooks.calls import attempts, happen, hook, hurry, send, signatures_hold
from tests.service.webhooks.receivers import receiver
from tests.support.client import Edge
from tests.support.command import Run

NEW = "another secret for tests, as long as it must be"


async def test_a_rotation_of_the_signing_secret_loses_no_secret_of_a_webhook(
    edge: Edge, settings: Settings, key: str, run: Run
) -> None:
    overlap = replace(settings, signing_secret=NEW, signing_secret_previous=settings.signing_secret)
    alone = replace(settings, signing_secret=NEW)
    with receiver() as there:
        made = await hook(edge, key, there.url)
        anew = (await edge.ask("POST", f"/webhooks/{made['id']}/rotations", key=key)).json["secret"]
        happen(settings, key, 1, 1)
        assert await send(overlap) == 1, "the old one is accepted"
        happen(settings, key, 2, 2)
        assert await send(alone) == 0
        assert (await attempts(edge, key, made))[0]["outcome"] == "secret-unreadable"

        variables = {"SIGNING_SECRET": NEW, "SIGNING_SECRET_PREVIOUS": settings.signing_secret}
        for resealed, current in ((1, 0), (0, 1)):
            code, out, _ = run("secrets", "retire", "signing-secret", "--json", **variables)
            assert (code, json.loads(out)) == (0, {"resealed": resealed, "current": current, "unreadable": []})
        hurry(settings)
        assert await send(alone) == 1
        assert len(there.accepted) == 2
        assert all(signatures_hold(call, made["secret"], anew) for call in there.accepted)


async def test_a_secret_that_no_signing_secret_opens_is_named_and_left_as_it_is(
    edge: Edge, settings: Settings, key: str, run: Run
) -> None:
    with receiver() as there:
        made = await hook(edge, key, there.url)
        code, out, error = run("secrets", "retire", "signing-secret", "--json", SIGNING_SECRET=NEW)
        assert (code, json.loads(out)["unreadable"]) == (1, [made["id"]])
        assert "Traceback" not in error and made["id"] in " ".join(error.split())
        happen(settings, key, 1, 1)
        assert await send(settings) == 1


def test_the_steps_of_a_rotation_seal_anew_before_the_old_secret_ends(run: Run) -> None:
    code, out, _ = run("secrets", "rotate", "signing-secret", "--json")
    steps = json.loads(out)
    assert code == 0
    assert [step["run"] for step in steps] == ["", "", "itemindex secrets retire signing-secret", ""]
    assert steps[1]["set"]["SIGNING_SECRET"] == steps[0]["set"]["SIGNING_SECRET_PREVIOUS"]
    assert all(not step["run"] for step in json.loads(run("secrets", "rotate", "token-pepper", "--json")[1]))
