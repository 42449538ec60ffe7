"""`itemindex webhooks` and `itemindex events`: what the API offers organizations, for operators by name."""

import json
from dataclasses import replace
from uuid import uuid4

import pytest

from shared.db.connect import connect
from shared.events.webhooks import ENDPOINTS_MAX
from shared.settings.settings import Settings
from tests.service.webhooks.calls import signatures_hold
from tests.service.webhooks.receivers import receiver
from tests.support.command import Run
from workers.dispatcher.retention import SQL as RETENTION
from workers.events.webhooks import deliver
from workers.operators.organizations import OPERATOR

URL = "https://example.org/hook"


@pytest.fixture
def acme(run: Run) -> str:
    """An organization, by its name."""
    assert run("orgs", "create", "Acme Ltd")[0] == 0
    return "Acme Ltd"


def happen(settings: Settings, name: str, times: int) -> None:
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        for _ in range(times):
            connection.execute(
                "INSERT INTO event_log (organization_id, type, data) "
                "SELECT id, 'key.rotated', '{\"key_id\": \"\\u001b[31mred\"}' FROM organizations WHERE name = $1",
                (name,),
            )


def test_a_webhook_is_made_delivered_to_rotated_replayed_disabled_and_deleted_by_commands(
    run: Run, acme: str, settings: Settings
) -> None:
    allowed = {"WEBHOOK_PRIVATE_ADDRESSES": "true"}
    local = replace(settings, webhook_private_addresses=True)
    with receiver() as there:
        made = json.loads(run("webhooks", "create", acme, there.url, "--type", "key.rotated", "--json", **allowed)[1])
        webhook = made["id"]
        happen(settings, acme, 2)
        assert deliver(local, 30) == 2
        code, secret, _ = run("webhooks", "rotate", webhook)
        assert (code, secret.startswith("whsec_")) == (0, True)
        assert json.loads(run("webhooks", "replay", webhook, "--after", "0", "--json")[1]) == {"events": 2}
        assert deliver(local, 30) == 2
        assert signatures_hold(there.accepted[0], made["secret"])
        assert signatures_hold(there.accepted[3], made["secret"], secret.strip())
        attempts = json.loads(run("webhooks", "list", webhook, "--json")[1])
        assert [one["outcome"] for one in attempts] == ["accepted"] * 4

        assert run("webhooks", "state", webhook, "disabled", "--reason", "asked")[0] == 0
        [listed] = json.loads(run("webhooks", "list", "--organization", "acme ltd", "--json")[1])
        assert (listed["organization"], listed["disabled_reason"]) == (acme, "asked")
        happen(settings, acme, 1)
        assert deliver(local, 30) == 0
        assert run("webhooks", "state", webhook, "enabled")[0] == 0
        assert deliver(local, 30) == 1
    assert run("webhooks", "state", webhook, "deleted")[0] == 0
    assert json.loads(run("webhooks", "list", "--json")[1]) == []
    by = {row["act"]: row["actor"] for row in json.loads(run("orgs", "audit", acme, "--json")[1])}
    for act in ("created", "secret-rotated", "replayed", "disabled", "enabled", "deleted"):
        assert by[f"webhook.{act}"] == OPERATOR


def test_a_failure_is_one_sentence(run: Run) -> None:
    for arguments, words in (
        (("create", "Acme Ltd", "https://127.0.0.1/"), "must be on the public internet"),
        (("create", "Acme Ltd", "http://example.org/"), "must be an https address"),
        (("create", "Unknown", URL), "there is no organization"),
        (("create", "Acme Ltd", URL, "--type", "nonsense"), "'nonsense' is not one of"),
        (("rotate", str(uuid4())), "there is no webhook of this id"),
        (("state", str(uuid4()), "deleted"), "there is no webhook of this id"),
        (("state", str(uuid4()), "enabled"), "there is no webhook of this id"),
        (("list", "7"), "is not a valid UUID"),
        (("replay", str(uuid4())), "name either --event or --after"),
    ):
        code, _, error = run("webhooks", *arguments)
        assert code in (1, 2), arguments
        assert words in " ".join(error.split()) and "Traceback" not in error, arguments


def test_a_secret_is_sealed_or_not_made(run: Run, acme: str) -> None:
    code, _, error = run("webhooks", "create", acme, URL, SIGNING_SECRET="")
    assert (code, "SIGNING_SECRET must be set" in " ".join(error.split())) == (1, True)


def test_an_organization_has_so_many_webhooks_at_most(run: Run, acme: str) -> None:
    codes = [run("webhooks", "create", acme, f"{URL}/{n}")[0] for n in range(ENDPOINTS_MAX + 1)]
    assert codes == [0] * ENDPOINTS_MAX + [1]


def test_events_are_listed_for_people_and_programs_and_a_cursor_that_is_too_old_is_refused(
    run: Run, acme: str, settings: Settings
) -> None:
    happen(settings, acme, 3)
    first, second, third = json.loads(run("events", acme, "--json")[1])
    assert [first["cursor"], second["cursor"]] < [second["cursor"], third["cursor"]]
    assert json.loads(run("events", acme, "--after", second["cursor"], "--json")[1]) == [third]
    assert json.loads(run("events", acme, "--type", "watch.fired", "--json")[1]) == []
    code, table, _ = run("events", acme, "--limit", "1")
    assert (code, "key.rotated" in table, "\x1b" in table) == (0, True, False)
    with connect(settings.database_url, application="tests") as connection:
        connection.execute(
            "UPDATE event_log SET at = now() - interval '31 days' WHERE number = $1", (int(second["cursor"]),)
        )
        connection.execute(RETENTION.delete_old_events, (30,))
    code, _, error = run("events", acme, "--after", first["cursor"])
    assert (code, second["cursor"] in error) == (1, True)
    assert json.loads(run("events", acme, "--after", second["cursor"], "--json")[1]) == [third]
