"""The doubts of a guessed mapping: what a person must decide of it, as data beside its text. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement of TOML that may take the place of the field's own, and what it makes of an example."""

    statement: str
    example: str

    @property
    def key(self) -> str:
        """The name of the field, or of the entry of a table within one."""
        return self.statement.partition(" = ")[0]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence on which a person must decide, about a field of one of the mapping's tables; "" is its top."""

    of: str
    sentence: str
    readings: tuple[Reading, ...] = ()
    table: str = ""
    is_open: bool = False
    """Whether no load uses the mapping before one of the readings is chosen."""

    @property
    def said(self) -> str:
        """The sentence with the field that it is about."""
        return f"{self.of}: {self.sentence}"

    @property
    def decisions(self) -> tuple[str, ...]:
        """What settles it: its own sentence, or the statement of a reading."""
        return (self.said, *(reading.statement for reading in self.readings))


def doubt_of(stored: dict[str, object]) -> Doubt:
    """Return a doubt from the members of a JSON object."""
    readings = stored["readings"]
    assert isinstance(readings, list)
    return Doubt(
        of=str(stored["of"]),
        sentence=str(stored["sentence"]),
        readings=tuple(Reading(**reading) for reading in readings),
        table=str(stored["table"]),
        is_open=bool(stored["is_open"]),
    )


def decide(mapping: str, doubts: tuple[Doubt, ...], decisions: list[str]) -> tuple[str, tuple[Doubt, ...]]:
    """Return a mapping in which readings have taken the place of the fields' own statements, and the doubts left.

    A decision is the statement of a reading, or the sentence of a doubt whose field stays as it is. Raises LookupError
    where no doubt has it.
    """
    for decision in decisions:
        doubt = next((doubt for doubt in doubts if decision in doubt.decisions), None)
        if doubt is None:
            raise LookupError(decision)
        reading = next((reading for reading in doubt.readings if reading.statement == decision), None)
        mapping = mapping if reading is None else _apply_reading(mapping, doubt.table, reading)
        doubts = tuple(other for other in doubts if other is not doubt)
    return mapping, doubts


def _apply_reading(mapping: str, table: str, reading: Reading) -> str:
    """Return a mapping with a reading: in place of its field, of its open entry in another field, or as a new field."""
    lines = mapping.split("\n")
    begin = lines.index(f"[{table}]") + 1 if table and f"[{table}]" in lines else 0
    end = next((n for n in range(begin, len(lines)) if lines[n].startswith("[")), len(lines))
    open_entry = f'{reading.key} = "?"'
    for n in range(begin, end):
        if lines[n].startswith(f"{reading.key} = "):
            lines[n] = reading.statement
            return "\n".join(lines)
    for n in range(begin, end):
        if open_entry in lines[n]:
            lines[n] = lines[n].replace(open_entry, reading.statement, 1)
            return "\n".join(lines)
    lines.insert(begin, reading.statement)
    return "\n".join(lines)
