"""Money, currencies, networks, roles, and rows of binary COPY: small values that everything uses."""

import secrets
import struct
from collections.abc import Callable
from dataclasses import fields
from datetime import date
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from babel.core import get_global
from hypothesis import given
from hypothesis import strategies as st

from shared.analytics.exchange import Rate
from shared.db.copy_binary import HEADER, TRAILER, CopyFormatError, RowLayout, TableLayout
from shared.db.migrate import available
from shared.errors import ConfigurationError
from shared.money import CODES, CURRENT, WITHDRAWN, minor_exceptions, to_minor, to_text
from shared.organizations.accounts import ROLES, counted_network, may, right_for
from shared.settings.settings import Settings

# Money, networks, settings, queries: small values that everything stands on.


def test_amounts_are_exact() -> None:
    for text, currency, minor in (
        ("10.90", "HKD", 1090),
        ("10.9", "HKD", 1090),
        ("100", "JPY", 100),
        ("1.234", "KWD", 1234),
        ("0", "USD", 0),
    ):
        assert to_minor(text, currency) == minor, text
        assert Decimal(to_text(minor, currency)) == Decimal(text), text


@pytest.mark.parametrize("text", ["10.905", "-1", "NaN", "Infinity", "1e20", "x", "", "1,5"])
def test_a_text_that_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        to_minor(text, "HKD")


def test_a_converted_amount_is_rounded_once_however_large_it_is() -> None:
    day = date(2026, 7, 1)
    rate = Rate("HKD", day, day, Decimal("0.5"), Decimal(1))
    assert rate.convert(Decimal("12345678901234567890123.4567895")) == Decimal("24691357802469135780246.913579")
    assert Rate("EUR", day, day, Decimal(1), Decimal(1)).convert(Decimal("-0.0000015")) == Decimal("-0.000002")


def test_half_a_cent_of_a_median_stays_exact() -> None:
    assert to_text(Decimal("1050.5"), "HKD") == "10.505"


@given(st.integers(0, 10**14), st.sampled_from(["HKD", "JPY", "KWD"]))
def test_money_survives_the_way_there_and_back(minor: int, currency: str) -> None:
    assert to_minor(to_text(minor, currency), currency) == minor


def test_each_caller_is_counted_under_its_own_account() -> None:
    for address, network in (
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("64:ff9b::192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("010.0.0.1", None),
        ("127.1", None),
        ("1.2.3.4:80", None),
        ("[::1]", None),
        ("", None),
        ("１.2.3.4", None),
    ):
        assert counted_network(address) == network, address


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


@pytest.mark.parametrize("names", [("0001_a.sql", "0001_b.sql"), ("1_a.sql",)])
def test_migrations_with_a_twin_or_another_spelling_are_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (tmp_path / name).write_text("-- phase: expand\nSELECT 1")
    with pytest.raises(ValueError):
        available(tmp_path)


def test_a_migration_says_its_phase(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("SELECT 1")
    with pytest.raises(ValueError, match="phase"):
        available(tmp_path)


# The list of currency codes, compared with another list: CLDR's, as Babel has it.


NOT_ISO = {"CNH", "XTS", "XXX"}


def test_every_legal_tender_of_today_is_a_code() -> None:
    listed = get_global("territory_currencies").values()
    tender = {code for history in listed for code, _, ended, legal in history if ended is None and legal}
    assert len(tender) > 140
    assert tender - NOT_ISO <= CODES


def test_no_code_is_both_current_and_withdrawn_and_test_codes_are_none() -> None:
    assert not CURRENT & WITHDRAWN
    assert not CODES & {"XTS", "XXX"}


def test_every_currency_with_other_minor_digits_is_a_code() -> None:
    assert minor_exceptions().keys() <= CODES


# What each role may do, as the edge reads it; PostgreSQL checks the role of the acting person once more.


RIGHTS = {
    "call": "owner admin member",
    "manage-key": "owner admin",
    "manage-members": "owner admin",
    "manage-owners": "owner",
    "manage-plan": "owner",
}


def test_each_role_has_its_rights_and_no_other() -> None:
    for right in RIGHTS:
        assert [role for role in ROLES if may(role, right)] == RIGHTS[right].split(), right
        assert not may("guest", right), right


def test_only_owners_touch_owners() -> None:
    assert [right_for(role) for role in ROLES] == ["manage-owners"] + ["manage-members"] * 3
    with pytest.raises(KeyError):
        may("owner", "manage-everything")


# The codec of binary COPY, judged by psycopg's own and by bytes that PostgreSQL documents.


COLUMNS = (("id", "i8"), ("day", "i4"), ("source", "i2"), ("currency", "S3"))


def row(*values: bytes | None) -> bytes:
    """Return a row as the documentation says."""
    parts = [struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value for value in values]
    return struct.pack(">h", len(values)) + b"".join(parts)


FIRST = row(struct.pack(">q", 7), struct.pack(">i", -3), struct.pack(">h", 2), b"EUR")

SECOND = row(struct.pack(">q", -1), struct.pack(">i", 9), struct.pack(">h", 0), b"JPY")


def test_rows_are_read_as_the_documentation_lays_them_out() -> None:
    for data in (HEADER + FIRST + SECOND + TRAILER, FIRST + SECOND, HEADER + FIRST + SECOND):
        table = TableLayout(COLUMNS).rows_in(data)
        assert [table[name].tolist() for name, _ in COLUMNS] == [[7, -1], [-3, 9], [2, 0], [b"EUR", b"JPY"]]


def test_a_stream_without_rows_is_an_empty_table() -> None:
    for data in (b"", HEADER, HEADER + TRAILER, TRAILER):
        assert len(TableLayout(COLUMNS).rows_in(data)) == 0, data


def test_written_rows_are_the_same_bytes() -> None:
    layout = TableLayout(COLUMNS)
    table = layout.blank(2)
    table["id"], table["day"], table["source"], table["currency"] = [7, -1], [-3, 9], [2, 0], [b"EUR", b"JPY"]
    assert table.tobytes() == FIRST + SECOND


def test_a_column_that_is_null_in_every_row_has_a_length_and_no_value() -> None:
    layout = TableLayout(COLUMNS, nulls=("day",))
    table = layout.blank(1)
    table["id"], table["source"], table["currency"] = 7, 2, b"EUR"
    assert table.tobytes() == row(struct.pack(">q", 7), None, struct.pack(">h", 2), b"EUR")
    assert layout.names == ["id", "source", "currency"]


@pytest.mark.parametrize(
    "data",
    [
        HEADER + FIRST[:-1],
        HEADER + FIRST + b"\x00",
        row(struct.pack(">q", 7), struct.pack(">i", 1), None, b"EUR"),
        FIRST + struct.pack(">h", 5) + SECOND[2:],
    ],
)
def test_rows_of_another_width_or_of_other_columns_are_refused(data: bytes) -> None:
    with pytest.raises(CopyFormatError):
        TableLayout(COLUMNS).rows_in(data)


def test_a_row_with_values_of_any_width_is_packed() -> None:
    layout = RowLayout(("S1", "i4", "i8"), values=3)
    expected = row(b"b", struct.pack(">i", 4), struct.pack(">q", 8), b"", None, b"packed")
    assert layout.pack((b"b", 4, 8), (b"", None, b"packed")) == expected


def test_a_table_is_a_view_of_what_was_read() -> None:
    data = bytearray(FIRST)
    assert np.shares_memory(TableLayout(COLUMNS).rows_in(data), np.frombuffer(data, "u1"))
