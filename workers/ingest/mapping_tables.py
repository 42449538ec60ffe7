"""Checks of a mapping's TOML tables: each refusal names the key and what is allowed there. Pure."""

import difflib
import re
from collections.abc import Collection
from dataclasses import MISSING, fields
from datetime import date
from functools import cache
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

from shared.clock import utc_now
from shared.errors import LoadRefused
from workers.ingest import calendar_days
from workers.ingest.fields import Field

_ORIGINS = ("column", "columns", "first_of", "constant", "file_name", "load_day")
# What a guessed mapping has where a person must choose.
UNDECIDED = "?"
_PAIRS = tuple[tuple[str, str], ...]
_types_of = cache(get_type_hints)
# The keys of a field by their types; days and numbers are checked by themselves.
_TYPES = {name: kind for name, kind in _types_of(Field).items() if name not in ("min", "max", "pad")}
# Loads and reports also calculate with days before and after those of the data; dates end with years 1 and 9999.
_DAYS = date(1000, 1, 1), date(9998, 12, 31)
_PAD_MAX = 14
_DECIMAL = re.compile(r"-?[0-9]{1,100}(\.[0-9]{1,100})?", re.ASCII)


class Tables:
    """Reads values out of TOML tables. Remembers every column, so that a file can be checked before it is read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.on_error = "row"
        self.columns: list[str] = []
        self.file_names: list[str] = []
        self.loaded_on: str | None = None
        self.sparse: set[str] = set()
        self._lenient: list[str] = []
        # For each column the texts that mean "no value" to every field that reads it.
        self.null_texts: dict[str, frozenset[str]] = {}

    def lenient_columns(self) -> frozenset[str]:
        """Return the columns that only fields with `on_error = "field"` read, each by itself."""
        times = self.columns.count
        return frozenset(column for column in self._lenient if times(column) == self._lenient.count(column))

    def only(self, table: Any, known: Collection[str], where: str) -> dict[str, Any]:
        """Return a table whose keys are all known."""
        if not isinstance(table, dict):
            self.refuse(f"{where} must be a table")
        unknown = sorted(set(table) - set(known))
        if unknown:
            close = difflib.get_close_matches(unknown[0], known, 1)
            hint = f"; is `{close[0]}` meant? It" if close else "; it"
            self.refuse(f"{where} does not know `{unknown[0]}`{hint} knows {', '.join(sorted(known))}")
        return dict(table)

    def read(self, kind: type, given: Any, where: str, also: Collection[str] = ()) -> dict[str, Any]:
        """Return the values that a table gives to the keys of a dataclass, by their types.

        Refuses other keys, unless they are among `also`, and that one without a default is missing. Numbers and tables
        within the table are returned as they are.
        """
        keys = {field.name: field for field in fields(kind)}
        table, types = self.only(given, (*keys, *also), where), _types_of(kind)
        for name, field in keys.items():
            if field.default is MISSING and name not in table:
                self.refuse(f"{where} needs `{name}`")
        return {
            name: self._value(types[name], table, name, where, field) for name, field in keys.items() if name in table
        }

    def _value(self, kind: Any, table: dict[str, Any], name: str, where: str, declared: Any) -> Any:
        value, place = table[name], f"{where} {name}"
        if kind in (Field, Field | None):
            return self.field(value, place, **declared.metadata)
        if kind == tuple[Field, ...]:
            return tuple(self.field(spec, place) for spec in (value if isinstance(value, list) else [value]))
        if kind == tuple[tuple[str, Field], ...]:
            return self._fields_by_name(value, place)
        if value == [] and declared.default != ():
            self.refuse(f"{place} must not be empty")
        if kind is str and declared.default is MISSING and not (isinstance(value, str) and value.strip()):
            self.refuse(f"{where} needs `{name}`, a text")
        return self._plain(kind, value, place)

    def _plain(self, kind: Any, value: Any, place: str) -> Any:
        """Return a text, a flag, one of several texts, a list or a table of texts; all else as it is."""
        if get_origin(kind) is Literal:
            return self.one_of(value, [*filter(None, get_args(kind))], place)
        if kind == tuple[str, ...]:
            if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
                self.refuse(f"{place} must be a list of strings")
            return tuple(value)
        if kind in (_PAIRS, _PAIRS | None):
            if not isinstance(value, dict):
                self.refuse(f"{place} must be a table of texts")
            return tuple((str(name), str(text)) for name, text in value.items())
        if kind is bool and not isinstance(value, bool):
            self.refuse(f"{place} must be true or false")
        if kind in (str, str | None) and not isinstance(value, str):
            self.refuse(f"{place} must be a text")
        return value

    def one_of(self, value: Any, allowed: Collection[str], place: str) -> Any:
        """Return a value that is one of those that are allowed."""
        if value not in allowed:
            self.refuse(f"{place} must be one of {', '.join(allowed)}")
        return value

    def _fields_by_name(self, given: Any, place: str) -> tuple[tuple[str, Field], ...]:
        if not isinstance(given, dict):
            self.refuse(f"{place} must be a table of fields")
        return tuple((name, self.field(spec, f"{place}.{name}")) for name, spec in given.items())

    def field(self, spec: Any, where: str, *, needed: bool = False, exact_parts: bool = False) -> Field:
        """Return a field. `needed`: an empty value is an error; `exact_parts`: so is an empty part of `columns`."""
        if _is_undecided(spec):
            self.refuse(f'{where} is still "{UNDECIDED}": choose one of the readings in the `# CHECK` lines above it')
        if isinstance(spec, str):
            spec = {"column": spec}
        if isinstance(spec, list) and exact_parts:
            spec = {"columns": spec}
        if not isinstance(spec, dict):
            self.refuse(f"{where} must be a column's name or a table")
        given = self.only(spec, [field.name for field in fields(Field)], where)
        if len([key for key in _ORIGINS if given.get(key)]) != 1:
            self.refuse(f"{where} needs exactly one of {', '.join(_ORIGINS)}")
        self._check_types(given, where)
        given["match"] = self._pattern(given, where)
        if given.pop("load_day", False):
            given["constant"] = self.loaded_on = utc_now().date().isoformat()
        named = [given["column"]] if "column" in given else given.get("columns", given.get("first_of", ()))
        read = [*named, *([given["beside"]] if given.get("beside") else [])]
        self.columns += read
        self.file_names += [given["file_name"]] if given.get("file_name") else []
        self.sparse |= set(named) if given.get("sparse") else set()
        given["null"] = ("", *given.get("null", ()))
        null = frozenset(given["null"])
        self.null_texts |= {column: self.null_texts.get(column, null) & null for column in read}
        if exact_parts and "columns" in given:
            given["join"] = given.get("join") or "|"
        given["required"] = needed or given.get("required", False)
        given["on_error"] = given.get("on_error", self.on_error)
        self._lenient += named if given["on_error"] == "field" and "column" in given else []
        return Field(**given)

    def _check_types(self, given: dict[str, Any], where: str) -> None:
        """Check each key's type, and turn it into what `Field` wants."""
        for name in ("constant", "multiply"):
            if isinstance(given.get(name), int | float) and not isinstance(given[name], bool):
                given[name] = str(given[name])
        if isinstance(given.get("format"), str):
            given["format"] = [given["format"]]
        for name, kind in _TYPES.items():
            if name in given:
                given[name] = self._plain(kind, given[name], f"{where} {name}")
        for form in given.get("format", ()):
            if not calendar_days.is_format(form):
                self.refuse(f"{where} format {form!r} is no format of days with their year, such as %d.%m.%Y")
        for name in (name for name in ("min", "max") if name in given):
            try:
                day = date.fromisoformat(str(given[name]))
            except ValueError:
                self.refuse(f"{where} {name} must be a day such as 2026-01-31")
            if not _DAYS[0] <= day <= _DAYS[1]:
                self.refuse(f"{where} {name} must be a day from {_DAYS[0]} to {_DAYS[1]}")
            given[name] = day.isoformat()
        pad = given.get("pad", 0)
        if not isinstance(pad, int) or isinstance(pad, bool) or not 0 <= pad <= _PAD_MAX:
            self.refuse(f"{where} pad must be a whole number from 1 to {_PAD_MAX}")
        if given.get("free_form") and {"strip", "thousands", "decimal"} & given.keys():
            self.refuse(f"{where} free_form finds separators by itself: leave `strip`, `thousands` and `decimal` out")
        if "multiply" in given and not _DECIMAL.fullmatch(given["multiply"]):
            self.refuse(f"{where} multiply must be a plain decimal number")
        if len(given.get("decimal", ".")) != 1 or len(given.get("thousands", "")) > 1:
            self.refuse(f"{where} decimal and thousands are one character each")

    def _pattern(self, given: dict[str, Any], where: str) -> str:
        """Return `match` with the one group that is the value named `value`."""
        pattern, group = given.get("match", ""), given.get("group", "")
        for name, known in (("file_name", ""), ("match", group)):
            text = given.get(name, "")
            try:
                compiled = re.compile(text)
            except (re.error, RecursionError, OverflowError) as error:
                self.refuse(f"{where} {name}: {text!r} is no regular expression: {error}")
            if compiled.groups > 1 and not known:
                self.refuse(f"{where}: {text!r} must have one group at most, which is the value, or name it by `group`")
        if not pattern:
            return ""
        if group and group not in compiled.groupindex:
            self.refuse(f"{where}: {pattern!r} has no group named {group!r}")
        if not compiled.groups:
            pattern = f"(?P<value>{pattern})"
        elif not compiled.groupindex:
            pattern = re.sub(r"(?<!\\)\((?!\?)", "(?P<value>", pattern, count=1)
        try:
            pc.extract_regex(pa.array([""]), pattern)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            self.refuse(f"{where}: {given['match']!r} cannot be used: {str(error).splitlines()[0]}")
        return str(pattern)

    def refuse(self, text: str) -> NoReturn:
        """Raise LoadRefused with the mapping's name."""
        raise LoadRefused(f"{self._name}: {text}")


def _is_undecided(spec: Any) -> bool:
    """Return whether a guess left a field, its constant, or a value of its table for a person to choose."""
    if not isinstance(spec, dict):
        return bool(spec == UNDECIDED)
    table = spec.get("crosswalk")
    return spec.get("constant") == UNDECIDED or (isinstance(table, dict) and UNDECIDED in table.values())
