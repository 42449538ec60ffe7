"""The types of parameters, which take no other spelling of a value than the documented one."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sized
from datetime import date
from typing import TypeAlias, TypedDict, TypeVar, Unpack

from marshmallow import EXCLUDE, RAISE, Schema, ValidationError, fields, validate

from shared.currencies import CODES

_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
_DECIMAL = re.compile(r"[-+]?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][-+]?[0-9]{1,3})?", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
# Nothing was priced before, and periods beside a range at the end of Python's calendar would overflow it.
FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2199, 12, 31)
_DAY_ERROR = f"must be a date in the form YYYY-MM-DD, from {FIRST_DAY} to {LAST_DAY}"
# A list of this length may be longer than a URL.
_VALUES_MANY = 100
_STORED_FROM = 10**12

Declared = TypeVar("Declared", bound=Schema)
Entry = TypeVar("Entry")
Members: TypeAlias = Mapping[str, object] | None
"""The values beside the one that a field reads."""


class FieldOptions(TypedDict, total=False):
    """The options of a field that a declaration may give."""

    required: bool
    load_default: object
    allow_none: bool
    data_key: str
    metadata: Mapping[str, object]
    validate: Callable[[Sized], object]


def whole_number(text: str, digits: int) -> int | None:
    """Return a whole number of at most `digits` digits; None if the text is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


class Parameters(Schema):
    """Base of every set of parameters: an unknown name is an error, so that a typing error never widens a query."""

    class Meta:
        """Marshmallow's option for it."""

        unknown = RAISE

    location = "json"
    """Where the parameters are: in the body unless a schema says otherwise."""


class PathParameters(Parameters):
    """Base of the parameters of a path."""

    location = "match_info"


class QueryParameters(Parameters):
    """Base of the parameters of a query."""

    location = "querystring"


class OpenQueryParameters(QueryParameters):
    """Base of the parameters of a query whose protocol knows more names than these: the others are ignored."""

    class Meta:
        """Marshmallow's option for it."""

        unknown = EXCLUDE


class WholeNumber(fields.Integer):
    """A whole number in plain ASCII digits. Python's int() would also take `+5`, `1_0` and digits of other scripts."""

    def __init__(self, least: int, most: int, **options: Unpack[FieldOptions]) -> None:
        if most < _STORED_FROM:
            allowed = f"from {least:,} to {most:,}"
        else:  # a bound that only the storage sets says nothing to a reader; the digits that are always taken do
            allowed = f"of at most {len(str(most + 1)) - 1} digits, at least {least:,}"
        self._fault = f"must be a whole number {allowed}"
        options["validate"] = validate.Range(least, most, error=self._fault)
        super().__init__(**options)

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> int:
        if not isinstance(value, str) or not _WHOLE.fullmatch(value):
            raise ValidationError(self._fault)
        return int(value)


class DecimalNumber(fields.Float):
    """A number in plain ASCII digits. Python's float() would also take `0_5`, as 5, and digits of other scripts."""

    def __init__(self, least: float, most: float, **options: Unpack[FieldOptions]) -> None:
        self._fault = f"must be a number from {least:,} to {most:,}"
        options["validate"] = validate.Range(least, most, error=self._fault)
        super().__init__(**options)

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> float:
        if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
            raise ValidationError(self._fault)
        return float(value)


class JsonInteger(WholeNumber):
    """A whole number of a JSON body. `1.0` is one too, as JSON Schema has it; `true` and `"1"` are none."""

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise ValidationError(self._fault)
        return value


class JsonNumber(fields.Float):
    """A number of a JSON body above `least`, and at most `most`; `true` and `"1"` are none."""

    def __init__(self, least: float, most: float, **options: Unpack[FieldOptions]) -> None:
        options["metadata"] = {"exclusiveMinimum": least, "maximum": most, **options.get("metadata", {})}
        super().__init__(**options)
        self._least, self._most = least, most

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not self._least < value <= self._most:
            raise ValidationError(f"must be a number above {self._least:,} and at most {self._most:,}")
        return float(value)


class JsonFlag(fields.Boolean):
    """`true` or `false` of a JSON body; `0`, `1` and texts are neither."""

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("must be true or false")
        return value


class Day(fields.Date):
    """A day as `YYYY-MM-DD` of three centuries; Python's own reader would also take `20260701` and weeks."""

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        options["metadata"] = {**options.get("metadata", {}), "pattern": "^(19|20|21)[0-9]{2}-[0-9]{2}-[0-9]{2}$"}
        super().__init__(format="%Y-%m-%d", **options)

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> date:
        if not isinstance(value, str) or len(value) != 10 or not value.isascii():
            raise ValidationError(_DAY_ERROR)
        try:
            day = date.fromisoformat(value)
        except ValueError:
            raise ValidationError(_DAY_ERROR) from None
        if not FIRST_DAY <= day <= LAST_DAY:
            raise ValidationError(_DAY_ERROR)
        return day


class Flag(fields.Boolean):
    """`true` or `false`, and nothing that only looks like it."""

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> bool:
        if value not in ("true", "false"):
            raise ValidationError("must be true or false")
        return bool(value == "true")


class Utf8(fields.String):
    """Text of bounded length, counted in code points after NFC and trimming; no NUL, no lone surrogate."""

    def __init__(self, least: int, most: int, **options: Unpack[FieldOptions]) -> None:
        # As much of the rule as JSON Schema can say: no NUL, and something that is no space.
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
        lengths = {"minLength": least, "maxLength": most}
        options["metadata"] = {"pattern": pattern, **options.get("metadata", {}), **lengths}
        super().__init__(**options)
        self._least, self._most = least, most

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> str:
        text = unicodedata.normalize("NFC", str(super()._deserialize(value, attr, data, **options))).strip()
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise ValidationError("must be valid UTF-8 without NUL")
        if not self._least <= len(text) <= self._most:
            raise ValidationError(f"must have {self._least} to {self._most} characters after trimming")
        return text


class Texts(fields.List[str]):
    """A list of texts of bounded length. A list of a thousand that are right is accepted in one pass."""

    def __init__(self, most: int, **options: Unpack[FieldOptions]) -> None:
        super().__init__(fields.Str(validate=validate.Length(1, most)), **options)
        self._most = most

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> list[str | None]:
        if type(value) is list and all(type(text) is str and 0 < len(text) <= self._most for text in value):
            return value
        return super()._deserialize(value, attr, data, **options)


class Choices(fields.List[str]):
    """Some of several texts, each once: the parameter is repeated, or its values are separated by commas."""

    def __init__(self, allowed: Iterable[str], sentence: str, **options: Unpack[FieldOptions]) -> None:
        values = list(allowed)
        too_many = f"must have at most {len(values)} values"
        length = validate.Length(0, len(values), error=too_many)
        options |= {"validate": length, "metadata": field_doc(sentence, explode=True), "load_default": list}
        super().__init__(fields.Str(validate=validate.OneOf(values)), **options)

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> list[str | None]:
        texts = [part.strip() for text in value for part in str(text).split(",")] if isinstance(value, list) else value
        chosen = super()._deserialize(texts, attr, data, **options)
        self._validate(chosen)  # before repeated values count once: the document bounds what is sent
        return list(dict.fromkeys(chosen))


class ObjectList(fields.List[dict[str, object]]):
    """A list of objects. Its length is checked first: each entry that is wrong has a fault, and takes its time."""

    def _deserialize(
        self, value: object, attr: str | None, data: Members, **options: object
    ) -> list[dict[str, object] | None]:
        if type(value) is list:
            self._validate(value)
        return super()._deserialize(value, attr, data, **options)


class CursorText(fields.String):
    """A cursor; its signature protects its content."""

    def __init__(self, least: int = 1) -> None:
        metadata = {"description": "`next_cursor` of the previous page", "pattern": "^[A-Za-z0-9_-]*$"}
        super().__init__(load_default=None, validate=validate.Length(least or None, 800), metadata=metadata)


class CurrencyCode(fields.String):
    """A currency's three letters (ISO 4217), current or withdrawn; loads take no other, so another is a mistake."""

    def __init__(self, sentence: str | None = "Only this currency; an ISO 4217 code") -> None:
        # The document's own pattern: JSON Schema has no \A and \Z, and Python's $ would let a newline in.
        description = {"description": sentence} if sentence else {}
        metadata = {**description, "example": "HKD", "pattern": "^[A-Z]{3}$"}
        super().__init__(load_default=None, validate=_check_currency, metadata=metadata)


def field_doc(sentence: str, **more: object) -> dict[str, object]:
    """Return what the document says of a field: a sentence, and members of its JSON Schema."""
    return {"description": sentence, **more}


def one_of(allowed: Iterable[str], sentence: str, **options: Unpack[FieldOptions]) -> fields.Str:
    """Declare a text that is one of several; it may be absent unless it is required or has a default."""
    if "required" not in options:
        options.setdefault("load_default", None)
    options |= {"validate": validate.OneOf(list(allowed)), "metadata": field_doc(sentence)}
    return fields.Str(**options)


def list_parameter(
    field: fields.Field[Entry], sentence: str, most: int = 100, example: str | None = None
) -> fields.List[Entry]:
    """Declare a parameter of a query that may be repeated, many times where a URL holds the values."""
    sentence = f"{sentence}, within the 8 kB of a URL" if most >= _VALUES_MANY else sentence
    shown = {"example": [example]} if example else {}
    metadata = field_doc(sentence, explode=True, **shown)
    too_many = f"must be repeated at most {most} times" if most > 1 else "must be sent once"
    return fields.List(field, load_default=list, validate=validate.Length(0, most, error=too_many), metadata=metadata)


def with_members(base: type[Declared], name: str, sentence: str, **members: object) -> type[Declared]:
    """Declare a schema that has members besides those of its base, by its name and its sentence in the document."""
    made: type[Declared] = type(name, (base,), {"__doc__": sentence, **members})
    return made


class LinkQuery(QueryParameters):
    """The query of a signed URL."""

    expires = WholeNumber(1, 10**12, required=True, metadata=field_doc("Expiry, in seconds since 1970-01-01 UTC"))
    organization = fields.Str(
        required=True,
        validate=validate.Length(1, 64),
        metadata=field_doc("Organization for which it was created"),
    )
    signature = fields.Str(required=True, validate=validate.Length(1, 200), metadata=field_doc("Signature of the URL"))


def _check_currency(text: str) -> None:
    if not _CURRENCY.fullmatch(text):
        raise ValidationError("must be a three-letter currency code in capitals, such as HKD")
    if text not in CODES:
        raise ValidationError("is not an ISO 4217 currency code, such as HKD")
