"""Watches, events and webhooks in the dashboard, against a real receiver."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, new_key, until
from tests.service.webhooks.receivers import Receiver, receiver

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def there() -> Iterator[Receiver]:
    """A receiver that refuses the first call and accepts the others."""
    with receiver(lambda call: 500 if call == 0 else 200, answer=b"<b>thank you</b>") as running:
        yield running


def test_a_watch_is_made_from_a_record_paused_and_deleted(member: Visitor) -> None:
    page = member.page
    member.go("/dashboard/explorer?q=vitasoy")
    page.locator(".lines a").first.click()
    page.get_by_role("link", name="Watch this item").click()
    expect(page.locator("input[name=code]")).to_have_value(re.compile("^IID-"))
    page.get_by_label("Amount").fill("nine")
    page.get_by_label("Label").fill('My <i>"soy"</i>')
    page.get_by_role("button", name="Create watch").click()
    expect(page.locator("#fault-amount")).not_to_be_empty()
    expect(page.get_by_label("Label")).to_have_value('My <i>"soy"</i>')
    member.shoot("watch-new-fault")
    member.check_accessibility()
    member.refused(400)
    page.get_by_label("Amount").fill("9.50")
    page.get_by_role("button", name="Create watch").click()
    row = page.get_by_role("row").filter(has_text='My <i>"soy"</i>')
    expect(row).to_contain_text("listings below 9.50 HKD")
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("paused")
    member.shoot("watches-one")
    member.check_accessibility()
    row.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Yes, delete").click()
    expect(page.get_by_text("No watches yet")).to_be_visible()


def test_a_watch_keeps_what_was_typed_when_another_condition_is_chosen_and_completes_its_code(member: Visitor) -> None:
    page = member.page
    member.go("/dashboard/watches/new?target=brand")
    page.get_by_label("Which one").press_sequentially("vitas", delay=30)
    expect(page.locator("#options-code option[value=vitasoy]")).to_have_count(1)
    page.get_by_label("Which one").fill("vitasoy")
    page.get_by_label("Currency").fill("HKD")
    page.get_by_role("link", name="Prices moved").click()
    expect(page.get_by_label("Percent")).to_be_visible()
    expect(page.get_by_label("Which one")).to_have_value("vitasoy")
    expect(page.get_by_label("Currency")).to_have_value("HKD")
    assert page.locator("#target option[value=article]").count() == 0


def test_a_webhook_from_its_secret_to_an_event_that_is_sent_again(member: Visitor, there: Receiver) -> None:
    page = member.page
    member.go("/dashboard/webhooks")
    page.get_by_label("URL").fill(there.url)
    page.get_by_label("key.rotated").check()
    page.get_by_role("button", name="Add webhook").click()
    secret = page.locator("[data-secret]").inner_text()
    assert secret.startswith("whsec_")
    member.shoot("webhooks-secret")
    member.check_accessibility()
    page.reload()
    assert page.locator("[data-secret]").count() == 0
    page.get_by_role("link", name=there.url).click()
    new_key(member)
    new_key(member)  # the first may be an issued one, the second is a rotation
    until(lambda: len(there.accepted) >= 1, 60)
    page.go_back()
    member.go("/dashboard/webhooks")
    page.get_by_role("link", name=there.url).click()
    attempts = page.get_by_role("region", name="Attempts")
    expect(attempts).to_contain_text("accepted")
    expect(attempts).to_contain_text("<b>thank you</b>")
    member.check_every_form("webhook")
    arrived = len(there.accepted)
    attempts.get_by_role("button", name=re.compile("Redeliver")).first.click()
    expect(page.get_by_role("status").filter(has_text="queued for redelivery")).to_be_visible()
    until(lambda: len(there.accepted) > arrived, 60)
    identifiers = [head["webhook-id"] for head, _ in there.accepted]
    assert len(set(identifiers)) < len(identifiers), "the same event, under its own id"
    page.get_by_text("Replace secret", exact=True).click()
    page.get_by_role("button", name="Yes, replace it").click()
    assert page.locator("[data-secret]").inner_text() != secret
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Yes, delete").click()
    expect(page.get_by_text("No webhooks yet")).to_be_visible()
    member.go("/dashboard/events?type=key.rotated")
    expect(page.get_by_role("link", name=re.compile("is the new key")).first).to_be_visible()
    member.shoot("events-keys")


def test_alerts_by_mail_are_asked_for_as_a_digest_and_a_new_key_is_mailed_anyway(member: Visitor) -> None:
    page = member.page
    new_key(member)
    member.go("/dashboard/watches")
    member.check_accessibility()
    page.get_by_role("button", name="Send to my address").click()
    expect(page.get_by_text("as they happen")).to_be_visible()
    member.go("/dashboard/mails")
    page.get_by_label("Once a day").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Once a day")).to_be_checked()
    member.check_every_form("mails")
    new_key(member)

    def is_kept() -> bool:
        member.go("/dashboard/outbox")
        return page.locator("article").count() > 0

    until(is_kept)
    member.check_every_form("outbox")
    expect(page.locator("article h2").first).to_contain_text("is the new key")
    expect(page.locator("article pre").first).not_to_contain_text("Unsubscribe")
    member.go("/dashboard/watches")
    page.get_by_role("button", name="Send me no more").click()
    expect(page.get_by_role("button", name="Send to my address")).to_be_visible()
    page.goto(f"{page.url.partition('/dashboard')[0]}/dashboard/unsubscribe?token=x")
    expect(page.get_by_text("This link is not complete")).to_be_visible()
    member.faults.clear()  # the browser reports the status of the page, which is 404
