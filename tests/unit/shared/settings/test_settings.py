"""Settings: their values, and each one that cannot be used is named without its value."""

import secrets
from collections.abc import Callable
from dataclasses import fields
from uuid import uuid4

import pytest

from shared.errors import ConfigurationError
from shared.settings.settings import Settings

REPEATED = (
    "password" * 4,
    "correct horse correct horse correct horse",
    "change-me-change-me-change-me-change-me",
    "pepper1pepper2pepper3pepper4pepper5",
    "0123456789abcdef" * 3,
)


@pytest.mark.parametrize("pepper", REPEATED)
def test_a_pepper_of_repeated_words_is_refused(pepper: str) -> None:
    with pytest.raises(ConfigurationError, match="TOKEN_PEPPER repeats"):
        Settings.from_environment({"TOKEN_PEPPER": pepper})


@pytest.mark.parametrize("form", [secrets.token_urlsafe, secrets.token_hex, lambda size: str(uuid4())])
def test_random_keys_are_never_refused(form: Callable[[int], str]) -> None:
    for size in range(24, 97):
        pepper = form(size)
        assert Settings.from_environment({"TOKEN_PEPPER": pepper}).token_pepper == pepper


def test_settings_come_from_the_environment_and_hide_their_secrets() -> None:
    settings = Settings.from_environment(
        {"DATABASE_URL": "postgresql://u:hunter2@h/d", "STATE_URL": "redis://h:1/0", "LEASE_TTL_SECONDS": "7"}
    )
    assert (settings.edge_database_url, settings.lease_ttl_seconds) == (settings.database_url, 7)
    assert settings.broker_url == "redis://h:1/1"
    assert "hunter2" not in repr(settings)
    assert Settings.from_environment(settings.environment()) == settings


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("1", True), ("Yes", True), ("False", False), ("0", False), ("no", False)]
)
def test_a_setting_that_is_true_or_false_is_read_as_such(text: str, value: bool) -> None:
    assert Settings.from_environment({"WEBHOOK_PRIVATE_ADDRESSES": text}).webhook_private_addresses is value
    with pytest.raises(ConfigurationError, match="true or false"):
        Settings.from_environment({"WEBHOOK_PRIVATE_ADDRESSES": "maybe"})


@pytest.mark.parametrize(
    ("name", "text"), [("LEASE_TTL_SECONDS", "soon"), ("LEASE_TTL_SECONDS", "7.5"), ("RECORD_CACHE_BYTES_MAX", "1GB")]
)
def test_a_setting_that_cannot_be_read_is_named_without_its_value(name: str, text: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} must be a whole number") as raised:
        Settings.from_environment({name: text})
    assert text not in str(raised.value)


def test_each_setting_that_cannot_be_used_is_named_at_once() -> None:
    with pytest.raises(ConfigurationError) as raised:
        Settings.from_environment({"LEASE_TTL_SECONDS": "7.5", "DRAIN_SECONDS": "x", "PLAN_APPROVAL": "auto"})
    assert [line.split()[0] for line in str(raised.value).splitlines()] == [
        "DRAIN_SECONDS",
        "LEASE_TTL_SECONDS",
        "PLAN_APPROVAL",
    ]


@pytest.mark.parametrize(
    "url",
    ["smtp://h", "smtp://user:p%40ss@mail.example.org:587", "smtps://user:x@mail.example.org:465", "outbox:"],
)
def test_a_mail_server_that_can_be_used(url: str) -> None:
    assert Settings.from_environment({"SMTP_URL": url, "MAIL_FROM": "a@example.org"}).smtp_url == url


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"SMTP_URL": "https://user:hunter2@h", "MAIL_FROM": "a@example.org"}, "SMTP_URL is no address"),
        ({"SMTP_URL": "smtp://user:hunter2@x@h", "MAIL_FROM": "a@example.org"}, "SMTP_URL is no address"),
        ({"SMTP_URL": "smtp://user:hunter2/x@h", "MAIL_FROM": "a@example.org"}, "SMTP_URL is no address"),
        ({"SMTP_URL": "smtp://user:hunter2@h"}, "MAIL_FROM is not set"),
        ({"MAIL_FROM": "a@example.org\nBcc: b@example.org"}, "MAIL_FROM is"),
        ({"MAIL_FROM": "Shop <a@example.org>"}, "MAIL_FROM is"),
    ],
)
def test_mail_settings_that_cannot_be_used_are_named_without_the_password(given: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named) as raised:
        Settings.from_environment(given)
    assert "hunter2" not in str(raised.value) + repr(raised.value)


def test_a_missing_setting_is_named() -> None:
    with pytest.raises(ConfigurationError, match="STATE_URL"):
        Settings().require("state_url")


def test_a_socket_of_the_state_store_gives_the_broker_its_own_database() -> None:
    assert (
        Settings.from_environment({"STATE_URL": "unix:///run/s.sock"}).broker_url
        == "redis+socket:///run/s.sock?virtual_host=1"
    )


def test_the_broker_gets_another_database_of_the_same_server() -> None:
    for state, broker in (
        ("redis://h/2", "redis://h/1"),
        ("redis://u:p%2Fw@h:7/0", "redis://u:p%2Fw@h:7/1"),
        ("redis://h?db=3", "redis://h/1"),
        ("redis://h/1", "redis://h/0"),
        ("rediss://h:1/0?ssl_ca_certs=%2Fca.pem&db=0", "rediss://h:1/1?ssl_ca_certs=%2Fca.pem"),
        ("valkeys://h", "rediss://h/1"),
        ("unix:///run/s.sock?db=1", "redis+socket:///run/s.sock?virtual_host=0"),
        ("unix://:pw@/run/s.sock", "redis+socket://:pw@/run/s.sock?virtual_host=1"),
    ):
        assert Settings.from_environment({"STATE_URL": state}).broker_url == broker, state


@pytest.mark.parametrize("text", ["redis://h/two", "redis://h:port/0", "redis://[::1", "http://h/0", "h:6379"])
def test_an_address_that_is_no_stores_is_refused_without_its_value(text: str) -> None:
    with pytest.raises(ConfigurationError, match="STATE_URL is no address of a store") as raised:
        Settings.from_environment({"STATE_URL": text})
    assert text not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "hunter2",
        "mysql://u@h/d",
        "postgresql://u:hunter2/x@h/d",
        "postgresql://u:hunter2@x@h/d",
        "postgresql://u:hunter2%zz@h/d",
        "postgresql://u:hunter2#@h/d",
        "postgresql://u:p@h:hunter2/d",
        "postgresql://[::1/d",
    ],
)
def test_an_address_that_is_not_postgresqls_is_refused_without_its_value(text: str) -> None:
    for name in ("DATABASE_URL", "EDGE_POOLER_URL", "BACKUP_DATABASE_URL"):
        with pytest.raises(ConfigurationError, match=f"^{name} is no address of PostgreSQL; [^;]*$") as raised:
            Settings.from_environment({name: text})
        assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://u:p@h/d",
        "postgres://h",
        "postgresql://u:p%2Fw%40@[::1]:5432,b:1/d?sslmode=require",
        "postgresql://u:p:w@/d?host=/run/a@b&port=5432",
        "postgresql://u:p@%2Frun%2Fpostgresql:5432/d",
    ],
)
def test_an_address_of_postgresql_is_accepted(text: str) -> None:
    assert Settings.from_environment({"DATABASE_URL": text}).database_url == text


def test_an_address_that_celery_cannot_read_is_refused() -> None:
    for text in ("h:5672", "http://h", "valkey://h/1", "redis://h:port/1", "redis://:pass/word@h/1"):
        with pytest.raises(ConfigurationError, match="BROKER_URL is no address of a broker"):
            Settings.from_environment({"BROKER_URL": text})
    for text in ("amqp://u:p@h//", "amqps://a:5671//;amqps://b:5671//", "rediss://:p@h:6379/1?ssl_cert_reqs=required"):
        assert Settings.from_environment({"BROKER_URL": text}).broker_url == text


def test_nginx_sends_files_of_a_directory_from_a_location_with_both_slashes() -> None:
    assert Settings.from_environment({"X_ACCEL_LOCATION": "/_stored/"}).x_accel_location == "/_stored/"
    for text in ("/_stored", "_stored/"):
        with pytest.raises(ConfigurationError, match="set it like /_stored/"):
            Settings.from_environment({"X_ACCEL_LOCATION": text})
    with pytest.raises(ConfigurationError, match="set X_ACCEL_LOCATION to nothing"):
        Settings.from_environment({"X_ACCEL_LOCATION": "/_stored/", "S3_BUCKET": "items"})


def test_each_special_value_that_a_sentence_states_is_accepted() -> None:
    for setting in fields(Settings):
        sentence, name = setting.metadata["sentence"], setting.name.upper()
        if "0:" in sentence:
            assert getattr(Settings.from_environment({name: "0"}), setting.name) == 0, name
        if "empty" in sentence:
            assert setting.metadata["may_be_empty"] or setting.default in ("", None), name
            Settings.from_environment({name: ""})


def test_an_empty_access_log_writes_none_in_a_child_process_too() -> None:
    settings = Settings.from_environment({"ACCESS_LOG": ""})
    assert settings.access_log == ""
    assert Settings.from_environment(settings.environment()).access_log == ""


def test_a_slash_at_the_end_of_the_base_url_is_not_doubled() -> None:
    assert Settings.from_environment({"BASE_URL": "https://h/v1/"}).problem_base_url == "https://h/v1/errors"


def test_a_cluster_closes_in_an_outage_and_is_no_broker() -> None:
    settings = Settings.from_environment({"STATE_URL": "redis+cluster://a:1,b:2"})
    assert (settings.quota_fail_mode, settings.broker_url) == ("closed", "")
    assert Settings.from_environment({"STATE_URL": "redis://a:1"}).quota_fail_mode == "bounded"
    with pytest.raises(ConfigurationError, match="QUOTA_FAIL_MODE"):
        Settings.from_environment({"QUOTA_FAIL_MODE": "open"})
