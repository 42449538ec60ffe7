"""Every exception is the same after pickle and copy, as process pools and task queues make of it."""

import copy
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Iterator

import httpx
import itemindex_client
import pytest

import deploy
import edge
import shared
import workers
from edge.bulk.s3 import S3Problem
from edge.http.faults import Fault
from edge.http.problems import Problem
from shared.price_index.weights import RowFault

PACKAGES = (edge, workers, shared, deploy, itemindex_client)
DOCUMENT = {
    "type": "http://service/v1/errors/several-items",
    "title": "Multiple Choices",
    "detail": "It is ambiguous.",
    "candidates": [{"iid": "IID-1"}],
    "errors": [{"parameter": "gtin", "detail": "belongs to several items"}],
}
RESPONSE = httpx.Response(300, headers={"X-Request-Id": "abcdefgh", "Retry-After": "7"})
JOB = {"id": "j", "state": "failed", "error": {"detail": "It took too long.", "errors": DOCUMENT["errors"]}}
# What an argument of this name is made of; others are a text or a number by their annotation.
BY_NAME = {
    "document": DOCUMENT,
    "response": RESPONSE,
    "job": JOB,
    "faults": [Fault("limit", "is too large", 90)],
    "row_faults": [RowFault("rows.0.code", "is given twice")],
}
BY_CLASS = {Problem: "rate-limited", S3Problem: "AccessDenied"}


def exceptions() -> Iterator[type[BaseException]]:
    """Return every class of exception that the packages define."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith("__main__"):
                continue
            module = importlib.import_module(found.name)
            for defined in vars(module).values():
                is_own = inspect.isclass(defined) and defined.__module__ == found.name
                if is_own and issubclass(defined, BaseException):
                    yield defined


def raised(kind: type[BaseException]) -> BaseException:
    """Return an instance with a value for each argument that it takes, also for those that have a default."""
    listed = list(inspect.signature(kind.__init__).parameters.values())[1:]
    if any(one.kind is one.VAR_POSITIONAL for one in listed):
        return kind("a sentence", 3)
    values = {
        one.name: BY_NAME.get(one.name, 7 if one.annotation in (int, "int") else f"a {one.name}") for one in listed
    }
    for name in ("extra", "fields", "data"):
        if name in values:
            values[name] = {"Retry-After": "7"}
    if kind in BY_CLASS:
        values[listed[0].name] = BY_CLASS[kind]
    positional = [values[one.name] for one in listed if one.kind is not one.KEYWORD_ONLY]
    return kind(*positional, **{one.name: values[one.name] for one in listed if one.kind is one.KEYWORD_ONLY})


@pytest.mark.parametrize("kind", sorted(exceptions(), key=lambda kind: f"{kind.__module__}.{kind.__name__}"))
def test_an_exception_is_the_same_after_pickle_and_copy(kind: type[BaseException]) -> None:
    error = raised(kind)
    error.add_note("row 7")
    for made in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(made) is kind
        assert (str(made), made.args, repr(made)) == (str(error), error.args, repr(error))
        assert vars(made) == vars(error)
