"""What a planted fault is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """One change of one file, and what must notice it: pytest's node ids, or the arguments of `python -m tests.drills`."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    drill: tuple[str, ...] = ()


def fault(name: str, file: str, old: str, new: str, *tests: str) -> PlantedFault:
    """Plant a fault that tests notice."""
    return PlantedFault(name, file, old, new, tests=tests)


def drilled(name: str, file: str, old: str, new: str, *drill: str) -> PlantedFault:
    """Plant a fault that a drill notices."""
    return PlantedFault(name, file, old, new, drill=drill)
