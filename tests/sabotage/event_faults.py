"""Faults in what programs hear of: the log of events, and webhooks."""

from tests.sabotage.planted import drilled, fault

_WEBHOOKS = "tests/service/webhooks/test_webhooks.py"
_POSTS = "tests/unit/test_webhooks.py"

EVENT_FAULTS = (
    fault(
        "a host of a webhook is resolved twice",
        "workers/events/outgoing.py",
        "    return addresses[0], port\n",
        "    return host, port\n",
        f"{_POSTS}::test_a_resolver_that_changes_its_answer_changes_nothing",
    ),
    fault(
        "one public address of a webhook's host is enough",
        "workers/events/outgoing.py",
        "if not private_allowed and not all(",
        "if not private_allowed and not any(",
        f"{_POSTS}::test_a_name_with_a_private_address_among_its_own_is_not_called",
    ),
    fault(
        "a webhook's receiver may answer as slowly as it likes",
        "workers/events/outgoing.py",
        "    alarm.start()\n",
        "",
        f"{_POSTS}::test_a_receiver_that_sends_a_byte_now_and_then_is_hung_up_on",
    ),
    fault(
        "only the newer secret signs during a rotation",
        "workers/events/webhooks.py",
        "(event.sealed_secret, event.sealed_secret_before) if",
        "(event.sealed_secret,) if",
        f"{_WEBHOOKS}::test_after_a_rotation_both_secrets_sign_and_then_the_new_one_alone",
    ),
    drilled(
        "a drill of webhooks: an event that was not accepted is passed over",
        "workers/events/webhooks.sql",
        "UPDATE webhook_endpoints SET failures = failures + 1, lease_until = NULL,\n    due_at",
        "UPDATE webhook_endpoints SET failures = failures + 1, lease_until = NULL, position = (SELECT max(number) FROM event_log),\n    due_at",
        *("webhooks", "--events", "200", "--receivers", "10", "--kills", "4", "--rate", "20", "--minutes", "5"),
    ),
)
