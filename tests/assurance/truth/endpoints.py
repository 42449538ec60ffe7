"""The endpoints that are compared, by the name that their line of the result has: each module of questions names its own."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from random import Random

from tests.assurance.truth import questions
from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.index import Index

Ask = Callable[[Client, Index, Random, int], Iterator[Question]]

ENDPOINTS: dict[str, Ask] = {}
for _found in iter_modules(questions.__path__, f"{questions.__name__}."):
    ENDPOINTS |= getattr(import_module(_found.name), "ENDPOINTS", {})
