"""The answer of a report: rows with what they rest on, and as tables whose columns have the types of the document."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from types import NoneType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NotRequired,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Row = TypeVar("Row")
# The digits of a decimal and those after its point, as in the Parquet files of the service.
_PRECISION, _SCALE = 38, 6
_READ: dict[str, Callable[[str], Any]] = {
    "decimal": Decimal,
    "date": date.fromisoformat,
    "date-time": datetime.fromisoformat,
}
_PANDAS = {
    "float": "float64",
    "int": "int64",
    "date": "datetime64[us]",
    "date-time": "datetime64[us, UTC]",
}


@dataclass(frozen=True)
class Report(Generic[Row]):
    """Rows, and in `meta` their units, method, coverage and data_version.

    A table has the columns that some row has, in the order of the document; without rows it has all of them.
    """

    rows: list[Row]
    meta: dict[str, Any]
    row_type: type[Row] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table: amounts are decimals, days are dates. Needs pyarrow."""
        import pyarrow

        columns = self._columns()
        return pyarrow.table(
            {name: pyarrow.array([_exact(hint, one) for one in values], _arrow(hint)) for name, hint, values in columns}
        )

    def to_polars(self) -> Any:
        """Return a polars.DataFrame: amounts are decimals, days are dates. Needs polars and pyarrow."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def to_pandas(self, *, exact: bool = False) -> Any:
        """Return a pandas.DataFrame: amounts are float64, or decimals if `exact`; days are datetime64. Needs pandas."""
        import pandas

        columns = {name: _series(hint, values, exact) for name, hint, values in self._columns()}
        return pandas.DataFrame({name: pandas.Series(values, dtype=kind) for name, (values, kind) in columns.items()})

    def _columns(self) -> list[tuple[str, Any, list[Any]]]:
        """Return each column's name, type and values as they came; of a member that the document lacks, no type."""
        rows: list[Any] = self.rows
        present = dict.fromkeys(name for row in rows for name in row)
        hints = _members(self.row_type)
        names = [name for name in hints if name in present or not rows]
        names += [name for name in present if name not in hints]
        return [(name, hints.get(name, Any), [row.get(name) for row in rows]) for name in names]


def _series(hint: Any, values: list[Any], exact: bool) -> tuple[list[Any], str | None]:
    """Return the values of a column of pandas and its dtype; None lets pandas choose among those of texts and lists."""
    kind = _kind(hint)
    if kind == "decimal":
        read = Decimal if exact else float
        return [None if one is None else read(one) for one in values], "object" if exact else "float64"
    # Only a column in which none is missing can be one of integers.
    return values, _PANDAS.get("float" if kind == "int" and None in values else kind)


def _exact(hint: Any, value: Any) -> Any:
    """Return a value with the texts of its decimals and days read."""
    plain, kind = _plain(hint), _kind(hint)
    if value is None:
        return None
    if kind in _READ:
        return _READ[kind](value)
    if get_origin(plain) is list:
        return [_exact(get_args(plain)[0], one) for one in value]
    if is_typeddict(plain):
        return {name: _exact(inner, value.get(name)) for name, inner in _members(plain).items()}
    return value


def _arrow(hint: Any) -> Any:
    """Return the Arrow type of a column; None, which lets Arrow choose, for what the document does not describe."""
    import pyarrow

    plain = _plain(hint)
    if get_origin(plain) is list:
        return pyarrow.list_(_arrow(get_args(plain)[0]))
    if is_typeddict(plain):
        return pyarrow.struct([(name, _arrow(inner)) for name, inner in _members(plain).items()])
    return {
        "decimal": pyarrow.decimal128(_PRECISION, _SCALE),
        "date": pyarrow.date32(),
        "date-time": pyarrow.timestamp("us", "UTC"),
        "str": pyarrow.string(),
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "bool": pyarrow.bool_(),
    }.get(_kind(hint))


def _members(row: Any) -> dict[str, Any]:
    return get_type_hints(row, include_extras=True)


def _plain(hint: Any) -> Any:
    """Return a type without `NotRequired` and `None`."""
    if get_origin(hint) is NotRequired:
        return _plain(get_args(hint)[0])
    inner = [one for one in get_args(hint) if one is not NoneType]
    return inner[0] if NoneType in get_args(hint) and len(inner) == 1 else hint


def _kind(hint: Any) -> str:
    """Return the word for what a value is: what its text stands for, else the name of its type."""
    plain = _plain(hint)
    if get_origin(plain) is Annotated:
        return str(plain.__metadata__[0])
    return "str" if get_origin(plain) is Literal else str(getattr(plain, "__name__", ""))
