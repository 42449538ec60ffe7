"""One mail to a real server: TLS and the password, and what a server that cannot be used comes to."""

import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.local import self_signed
from deploy.local.paths import Paths
from shared.events.mails import Subscriber
from shared.settings.settings import Settings
from tests.support.mail_server import mail_server
from workers.events.alert_mail import AlertMail, MailedEvent
from workers.events.mailer import Mailer

_ID = "019a0000-0000-7000-8000-000000000000"
_SETTINGS = Settings(mail_from="alerts@example.org", signing_secret="s" * 32)
_MAIL = AlertMail(
    address="ada@example.org",
    organization="Acme",
    subscriber=Subscriber(_ID, _ID),
    events=[MailedEvent(_ID, "key.revoked", {"key_id": "k"})],
    names={},
)


def keep_nothing(recipient: str, subject: str, body: str) -> None:
    raise AssertionError


def test_a_password_is_sent_after_starttls_to_a_server_whose_certificate_is_trusted(tmp_path: Path) -> None:
    certificate = self_signed.certificate_of(Paths(tmp_path, tmp_path))
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    served.load_cert_chain(certificate.chain, certificate.key)
    with mail_server(tls=served) as there:
        settings = replace(_SETTINGS, smtp_url=f"smtp://us%40er:p%3Ass@127.0.0.1:{there.port}")
        trusting = ssl.create_default_context(cafile=str(certificate.chain))
        assert Mailer(settings, keep_nothing, trusting).send(_MAIL).accepted
        assert (there.credentials, len(there.mails)) == ([(b"us@er", b"p:ss")], 1)
        distrusting = Mailer(settings, keep_nothing).send(_MAIL)
        assert (distrusting.outcome, distrusting.outage) == ("server-unavailable", True)
        assert len(there.credentials) == 1


def test_a_password_is_never_sent_without_tls() -> None:
    with mail_server() as there:
        settings = replace(_SETTINGS, smtp_url=f"smtp://user:secret@127.0.0.1:{there.port}")
        outcome = Mailer(settings, keep_nothing).send(_MAIL)
        assert outcome.outage and outcome.text.startswith("The mail server offers no STARTTLS")
        assert "secret" not in repr(outcome) + repr(settings)
        assert there.mails == []


@pytest.mark.parametrize(("url", "sender"), [("", "alerts@example.org"), ("smtp://127.0.0.1:1", "")])
def test_without_a_server_or_a_sender_mails_wait(url: str, sender: str) -> None:
    outcome = Mailer(replace(_SETTINGS, smtp_url=url, mail_from=sender), keep_nothing).send(_MAIL)
    assert (outcome.outcome, outcome.outage) == ("no-mail-server", True)


def test_an_address_that_the_server_does_not_take_ends_the_mails() -> None:
    with mail_server() as there:
        settings = replace(_SETTINGS, smtp_url=there.url)
        outcome = Mailer(settings, keep_nothing).send(replace(_MAIL, address="adä@example.org"))
        assert (outcome.outcome, outcome.ends is not None, there.mails) == ("unusable-address", True, [])
