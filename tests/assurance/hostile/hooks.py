"""What schemathesis cannot know of the service from its document alone: read by tests/assurance/hostile/schemathesis.toml."""

import json
from datetime import date

import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, HookContext
from schemathesis.core.failures import Failure
from schemathesis.core.transport import Response
from schemathesis.openapi.checks import JsonSchemaError, RejectedPositiveData

# Valid by the document and refused all the same, because of what no JSON Schema can say.
UNSAYABLE = {
    "must be a JSON object": "a query of the specification is JSON in a parameter, which is text to OpenAPI",
    "must be JSON": "a query of the specification is JSON in a parameter, which is text to OpenAPI",
    "as the specification has it": "queries of the specification are described by its own schemas",
    "`queries.": "queries of the specification are described by its own schemas",
    "`extend.": "queries of the specification are described by its own schemas",
    "must be a form in UTF-8": "a form is text to OpenAPI",
    "ambiguous-credentials": "a made-up credential may hold a comma, as two that a front has joined do",
    "idempotency-key-reused": "a key stands for the first request that came with it",
    "invalid-cursor": "a cursor is signed, and bound to its query",
    "is not a known": "which brands, categories, channels and tables of rates there are is data",
    "and nothing of this was sold": "whether any units of a brand or category were sold is data",
    "is not the name of a brand": "which texts only say that there is no brand is a table",
    "is required unless `": "one of two parameters is needed",
    "is required unless one of": "one of several parameters is needed",
    "is required with `": "two parameters depend on each other",
    "cannot be combined with": "one of several parameters is too much",
    "is only allowed with `": "two parameters depend on each other",
    "must begin with the header": "a table of CSV is text to OpenAPI",
    "cells in a row, and": "a table of CSV is text to OpenAPI",
    "is no CSV": "a table of CSV is text to OpenAPI",
    "must be UTF-8": "a table of CSV is text to OpenAPI",
    "is the code of no row": "rows of a table depend on each other",
    "must be the parent of all other rows": "rows of a table depend on each other",
    "has two parents": "rows of a table depend on each other",
    "is given twice": "rows of a table depend on each other",
    "makes a cycle": "rows of a table depend on each other",
    "has no children": "rows of a table depend on each other",
    "is below the sum of its": "rows of a table depend on each other",
    "which has its own weight elsewhere": "rows of a table depend on each other",
    "must be a decimal number above zero": "a number in many spellings, which a pattern would only repeat",
    "printable characters": "which characters are printable is Unicode's table, which no ECMA pattern names",
    "it limits that rule": "two parameters depend on each other",
    "must be one of the values of `": "two parameters depend on each other",
    "must be `unit_price` with `unit`": "two parameters depend on each other",
    "must not be above `price_max`": "two parameters depend on each other",
    "invalid-identifier": "a check digit is arithmetic, and what a text names is no matter of a pattern",
    "must be an existing version": "which versions there are is data",
    "versions before the last one": "which versions there are is data",
    "the newest data_version": "which versions there are is data",
    "contains a column": "which columns there are depends on the dataset, and each comes once",
    "is not a filter of": "which filters there are depends on the dataset",
    "_changes: the release": "the changes between two versions need the first of them",
    "must be a kept release": "which releases are kept is data",
    "is accepted only for items_changes": "the end of the changes depends on the dataset",
    "as a whole": "the changes since a version depend on the dataset",
    "is not a compression for": "which compressions there are depends on the format",
    "is not allowed with the condition": "each condition of a watch has members of its own",
    "decimals in": "how many decimal digits an amount may have depends on its currency",
    "must be one of 30": "each condition of a watch has members of its own",
    "a single item has no index": "two members depend on each other",
    "set either `event` or `after`": "one of two members is needed",
    "is not an ISO 4217 currency code": "the codes are a table, which a pattern would only repeat",
    "which listings do not have": "two parameters depend on each other",
    "must be an https address": "a setting for tests allows http",
    "must have no user name": "an address has parts, which a pattern would only repeat",
    "must have a name of the DNS": "an address has parts, which a pattern would only repeat",
    "has characters outside ASCII": "an address has parts, which a pattern would only repeat",
    "is not a valid address": "an address has parts, which a pattern would only repeat",
    "must be on the public internet": "which addresses are public is a table",
    "range-not-satisfiable": "how long a result is, is data",
    "must not be before `from`": "two parameters depend on each other",
    "must not be after `to`": "two parameters depend on each other",
    "must be a day from": "two parameters depend on each other",
    "control, format or line-breaking": "which characters are printable is Unicode's table, which no ECMA pattern names",
    "characters after trimming": "length counts after NFC, which may make a text longer",
    "must be a date in the form YYYY-MM-DD": "the pattern allows the 30th of February",
}


@schemathesis.hook
def filter_failure(context: HookContext, failure: Failure, case: Case, response: Response) -> bool:
    """Drop the refusals of valid input that are right for one of the reasons above.

    A stream of events is one text in OpenAPI 3.1; the judge holds the schema of the whole against each event.
    """
    if isinstance(failure, JsonSchemaError) and "text/event-stream" in "".join(
        response.headers.get("content-type", [])
    ):
        return False
    if not isinstance(failure, RejectedPositiveData):
        return True
    problem = json.loads(response.content)
    reported = [problem["type"].rpartition("/")[2], *(fault["detail"] for fault in problem.get("errors", ()))]
    return not any(word in text for text in reported for word in UNSAYABLE)


schemathesis.openapi.format("date", st.dates(date(1890, 1, 1), date(2210, 1, 1)).map(date.isoformat))
