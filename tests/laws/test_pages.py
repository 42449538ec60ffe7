"""Pages say what the code says: contract, promises, mappings, reports, ASVS."""

import ast
import dataclasses
import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from marshmallow import Schema, fields
from multidict import MultiDict

from edge.analytics.report_declarations import REPORTS, REPORTS_BY_KIND, Report
from edge.analytics.report_schemas import question_names
from edge.analytics.schemas import SustainabilityRow
from edge.dashboard.answers import ANSWERS, answer_of
from edge.dashboard.reports import FORMS, asked_report
from edge.dashboard.tables import Periods, Reading
from edge.docs.document import EXAMPLES as EXAMPLES_REPORTS
from edge.docs.root import CAPABILITIES
from edge.http.problems import CATALOGUE, Problem
from shared.analytics.footprint import INDICATORS
from shared.jobs import contract as jobs
from shared.jobs.contract import JOB_KINDS
from tests.support import openapi
from tests.truth.endpoints import ENDPOINTS
from workers.analytics.reports.publish import COMPUTATIONS
from workers.ingest.fields import AltNames, FactorFields, Field, Impact, ItemFields, ObservationFields
from workers.ingest.mapping import FillDown, MatchRules, TopKeys, read

# deploy/docs/contract.md says what the code does: its paths, problem types and limits are compared with both.


PAGE = (Path(__file__).parents[2] / "deploy" / "docs" / "contract.md").read_text(encoding="utf-8")

MIGRATIONS = Path(__file__).parents[2] / "shared" / "db" / "migrations"

_OPERATION = re.compile(r"`(GET|POST|DELETE) (/[a-z0-9/{}._-]*)[^`]*`")


def section(number: int) -> str:
    """Return the text of a section of the page."""
    return re.split(r"^## \d+\. ", PAGE, flags=re.MULTILINE)[number]


@pytest.fixture(scope="module")
def documented() -> set[tuple[str, str]]:
    """The operations of the OpenAPI document, with `{}` for each path parameter."""
    paths = openapi.document()["paths"]
    return {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path.removeprefix("/v1")))
        for path, operations in paths.items()
        for method in operations
    }


def test_each_operation_of_the_page_exists(documented: set[tuple[str, str]]) -> None:
    named = {(m, re.sub(r"\{\w+\}", "{}", path)) for m, path in _OPERATION.findall(section(1) + section(11))}
    assert len(named) > 15
    assert named - documented == set()


def test_each_problem_type_of_the_page_exists_with_its_status() -> None:
    rows = [row for row in section(7).splitlines() if re.match(r"\| \d", row)]
    assert len(rows) > 6
    for row in rows:
        statuses, slugs = row.split("|")[1:3]
        known = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", slugs)) - {"retry-after"}
        assert known, row
        for slug in known:
            assert str(CATALOGUE[slug].status) in statuses, slug


def units_of_the_page() -> dict[str, tuple[int, int]]:
    """Return the units of each call, and those if its result exists, by the words that the page has for it."""
    found = re.search(r"^Units: (.*?)\. ", section(9), re.MULTILINE)
    assert found
    return {
        name: (int(units), int(cached or units))
        for names, units, cached in re.findall(r"([^;]+?) (\d+)(?: \((\d+) if cached\))?(?:;|$)", found[1])
        for name in names.strip().split(", ")
    }


def test_the_units_of_an_export_are_those_of_the_page() -> None:
    assert units_of_the_page()["export"] == (jobs.EXPORT.units, jobs.EXPORT.units_cached)


def test_the_limits_of_the_page_are_those_a_new_database_has() -> None:
    row = next(line for line in section(9).splitlines() if line.startswith("| daily"))
    limits = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) (?:requests|units) /", row)]
    founding = (MIGRATIONS / "0001_accounts.sql").read_text(encoding="utf-8")
    stored = re.findall(r"\('(?:anonymous|free|brand|institutional)', '[^']*', \d, '\w+', (\d+),", founding)
    assert limits == [int(number) for number in stored]


# The table of promises names tests that exist, and leaves no row without one or a reason.


PROJECT = Path(__file__).parents[2]

TABLE = PROJECT / "deploy" / "guides" / "promises.md"

ROW = re.compile(r"^\| ([B-K]\d{1,2}) \| (.+) \|$", re.MULTILINE)


def test_every_promise_is_held_by_a_test_that_exists() -> None:
    rows = ROW.findall(TABLE.read_text(encoding="utf-8"))
    assert len(rows) == len({promise for promise, _ in rows}) > 75
    for promise, holder in rows:
        named = TEST.match(holder)
        if named is None:
            assert re.match(r"not applicable: .{30,}", holder), promise
            continue
        assert named[2] in functions_of(named[1]), f"{promise}: {holder}"


# The guide has every key of the mapping language, each with an example that works.


GUIDE = (PROJECT / "deploy/guides/bring-your-own-data.md").read_text()

TABLES: dict[str, type] = {
    "The mapping itself": TopKeys,
    "`[item]`": ItemFields,
    "`[observation]`, or several times `[[observation]]`": ObservationFields,
    "`[[impacts]]`": Impact,
    "`[match]`": MatchRules,
    "`[factors]`": FactorFields,
    "A field": Field,
    "`alt_names`": AltNames,
    "`fill_down`": FillDown,
}


def described(title: str) -> list[tuple[str, ...]]:
    """Return the cells of the rows that a table of the guide has."""
    rows = GUIDE.partition(f"### {title}\n")[2].partition("\n#")[0].partition("|---")[2].splitlines()[1:]
    return [
        tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1])
        for row in rows
        if row[:1] == "|"
    ]


SOURCE = {"source": '"s"', "title": '"T"', "license": '"L"'}

ITEM = {"id": '"id"', "name": '"name"'}

OBSERVATION = {"day": '"day"', "channel": '"shop"', "price": '"price"', "currency": '"cur"'}

IMPACT = {"indicator": '"co2e_kg"', "value": '"co2"', "basis": '"measured"', "method": '"m"'}

FACTORS = {"code": '"code"', "indicators": '{ co2e_kg = "co2" }', "method": '"m"'}

# Where a field's example may stand: it is given under the key that it sets.
HOMES = (
    (ItemFields, ITEM, "[item]"),
    (ObservationFields, OBSERVATION, "[observation]"),
    (Impact, IMPACT, "[[impacts]]"),
    (MatchRules, {}, '[item.identifiers]\ngtin = "ean"\nstyle_code = "style"\n[match]'),
)


def table(title: str, given: dict[str, str], example: str) -> str:
    """Write a TOML table in which the example replaces the key that it sets."""
    name = example.partition("=")[0].strip()
    kept = "".join(f"{key} = {value}\n" for key, value in given.items() if key != name)
    return f"{title}\n{kept}{example}\n"


def whole(kind: type, example: str) -> str:
    """Write a mapping with an example in its place."""
    source, item = table("", SOURCE, ""), table("[item]", ITEM, "")
    if kind is TopKeys:
        return table("", SOURCE, example) + item
    if kind is FactorFields:
        return source + table("[factors]", FACTORS, example)
    if kind is FillDown:
        other = 'columns = ["b"]\n' if example.startswith("within") else 'within = "a"\n'
        return source + "[fill_down]\n" + example + "\n" + other + item
    if kind is AltNames:
        other = 'keys = ["name"]\n' if example.startswith("file") else 'file = "names.json"\n'
        return source + item + "[item.alt_names]\n" + example + "\n" + other
    if kind is Field:
        name = example.partition("=")[0].strip()
        homes = [home for home in HOMES if name in {key.name for key in dataclasses.fields(home[0])}]
        if not homes:
            return source + item + "[item.attributes]\n" + example + "\n"
        kind, given, title = homes[0]
    else:
        given, title = next((given, title) for home, given, title in HOMES if home is kind)
    if kind is ItemFields:
        joined = "join_by" in example or "join_source" in example
        more = 'join_by = "id"\n' if example.startswith("join_source") else ""
        kept = {"id": '"id"'} if joined else given
        return (
            source + table("[item]", kept, example) + more + (table("[observation]", OBSERVATION, "") if joined else "")
        )
    if kind is Impact and example.startswith(("low", "high")):  # neither bound is of use alone
        example += '\nhigh = "ci_high"' if example.startswith("low") else '\nlow = "ci_low"'
    return source + item + table(title, given, example)


def test_the_tables_of_the_guide_have_each_key_and_say_which_are_required() -> None:
    for title, kind in TABLES.items():
        needed = {key.name: " (required)" * (key.default is dataclasses.MISSING) for key in dataclasses.fields(kind)}
        rows = described(title)
        assert [name for name, *_ in rows] == [f"`{name}`{required}" for name, required in needed.items()], title
        assert all(re.search(r"\w.{10,}[.:)]$", sentence) for _, sentence, _ in rows), title
    assert described("Indicators") == [(f"`{one.code}`", one.unit, one.title) for one in INDICATORS]


def test_each_example_is_a_mapping_that_can_be_used(tmp_path: Path) -> None:
    examples = [(kind, *row) for title, kind in TABLES.items() for row in described(title)]
    assert len(examples) > 80
    for kind, name, _, shown in examples:
        example = shown.strip("`")
        assert re.search(rf"\b{name.split('`')[1]}\b", example), (kind, name)
        (tmp_path / "m.toml").write_text(whole(kind, example))
        read(tmp_path / "m.toml")


@pytest.mark.parametrize(
    "block", re.findall(r"```toml\n(source.*?)```", GUIDE, flags=re.S), ids=lambda text: text.split('"')[1]
)
def test_the_mappings_of_the_guide_can_be_used(tmp_path: Path, block: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(block)
    assert read(path).columns


# deploy/guides/reports.md names every parameter and every column that reports have, and none that they have not.


PAGE_REPORTS_GUIDE = (Path(__file__).parents[2] / "deploy" / "guides" / "reports.md").read_text(encoding="utf-8")

SECTIONS = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PAGE_REPORTS_GUIDE, re.MULTILINE | re.DOTALL))

NAME = re.compile(r"`([a-z_0-9]+)`")

every_report = pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.kind.name)


def section_of(heading: str) -> str:
    """Return the section whose heading has this in it."""
    found = [text for title, text in SECTIONS.items() if heading in title]
    assert len(found) == 1, f"deploy/guides/reports.md needs one section whose heading has {heading}"
    return found[0]


def report_section(report: Report) -> str:
    """Return the section of a report, whose heading names its call."""
    parameter = report.path_parameter
    return section_of(f"`GET /v1/index{report.base_path}{f'[/{{{parameter}}}]' if parameter else ''}`")


def parameters_of(section: str) -> set[str]:
    """Return the parameters that a section names, with those of another section that it refers to."""
    sentence = re.search(r"Parameters: (.*?)\n\n", section, re.DOTALL)
    assert sentence is not None, "the section needs a paragraph that begins with `Parameters: `"
    same = re.search(r"the same as for (\w+ \w+)", sentence[1])
    return {*NAME.findall(sentence[1])} | (parameters_of(section_of(same[1].capitalize())) if same else set())


@every_report
def test_the_guide_defines_each_column(report: Report) -> None:
    cells = re.findall(r"^\| (`[^|]*) \|", report_section(report), re.MULTILINE)
    defined = {name for cell in cells for name in NAME.findall(cell)}
    assert defined == set(report.reply().fields["data"].inner.schema.fields)


def test_the_guide_defines_each_column_of_an_items_footprint() -> None:
    assert set(SustainabilityRow().fields) <= set(NAME.findall(section_of("`GET /v1/index/sustainability/{iid}`")))


@every_report
def test_the_guide_names_each_parameter(report: Report) -> None:
    names = question_names(report.endpoints[0].query)
    assert {*names, "format", "dry_run"} <= parameters_of(report_section(report))


# Each report is declared once, and everything that serves it follows from the declaration.


def test_each_kind_of_report_is_declared_computed_and_told() -> None:
    kinds = {name for name, kind in JOB_KINDS.items() if kind.queue == "reports"}
    assert REPORTS_BY_KIND.keys() == kinds, "declare it in edge/analytics/report_declarations.py"
    assert COMPUTATIONS.keys() == kinds, "add its computation in workers/analytics/reports/publish.py"
    assert ANSWERS.keys() == kinds, "add its sentence in edge/dashboard/answers.py"
    assert len(REPORTS_BY_KIND) == len(REPORTS)


@every_report
def test_each_sentence_on_the_dashboard_reads_the_rows_that_the_report_has(report: Report) -> None:
    for example in (EXAMPLES_REPORTS[endpoint.operation] for endpoint in report.endpoints if endpoint.example):
        reading = Reading(Periods.of({}, example["meta"]), example["meta"]["units"])
        answer = answer_of(report.kind.name, {}, example["data"], reading)
        assert answer.figure
        assert answer.sentence


@every_report
def test_the_contract_has_each_path_and_its_units(report: Report) -> None:
    priced = [units for name, units in units_of_the_page().items() if report.kind.name.replace("-", " ").endswith(name)]
    assert priced == [(report.kind.units, report.kind.units_cached)], "they are in `Units:` of contract.md"
    path = re.compile(rf"`(GET )?/index{report.base_path}[`?\[]")
    assert path.search(section(4)), "it is in the table of capabilities of contract.md"


def test_operations_paths_and_entitlements_are_unique() -> None:
    endpoints = [endpoint for report in REPORTS for endpoint in report.endpoints]
    assert len({one.operation for one in endpoints}) == len({one.path for one in endpoints}) == len(endpoints)
    assert len({report.entitlement for report in REPORTS}) == len({report.route_name for report in REPORTS})
    assert {report.entitlement: report.route_name for report in REPORTS}.items() <= CAPABILITIES.items()


@every_report
def test_each_path_names_the_parameter_that_its_schema_has(report: Report) -> None:
    for endpoint in report.endpoints:
        parameter = endpoint.path_parameter
        assert endpoint.path == report.base_path + (f"/{{{parameter}}}" if parameter else "")


@every_report
def test_each_picture_draws_columns_that_the_rows_have(report: Report) -> None:
    rows = report.reply().fields["data"].inner.schema.fields
    picture = report.picture
    drawn = {*picture.lines, *picture.spread, *([picture.compared] if picture.spread else ())}
    boxes = {"min", "p10", "p25", "p50", "p75", "p90", "max"} if picture.boxes else set()
    assert drawn | boxes <= rows.keys()
    assert report.columns, "the dashboard's table shows these first"
    assert set(report.columns) <= rows.keys()


@every_report
def test_each_example_has_its_answer_in_the_document(report: Report) -> None:
    wanted = {endpoint.operation for endpoint in report.endpoints if endpoint.example}
    assert wanted
    assert wanted <= EXAMPLES_REPORTS.keys(), "run `python -m tests.support.examples`"


def figures_of(schema: Schema, before: str = "") -> Iterator[str]:
    """Yield the names of the figures of a row; of those in a list the list's name is before theirs."""
    for name, field in schema.fields.items():
        if isinstance(field, fields.List) and isinstance(field.inner, fields.Nested):
            yield from figures_of(field.inner.schema, f"{before}{name}.")
        elif isinstance(field, fields.Integer | fields.Float) or field.metadata.get("format") == "decimal":
            yield before + name


@every_report
def test_each_figure_has_its_unit(report: Report) -> None:
    [example, *_] = (EXAMPLES_REPORTS[endpoint.operation] for endpoint in report.endpoints if endpoint.example)
    units = example["meta"]["units"]
    without = {name for name in figures_of(report.reply().fields["data"].inner.schema) if name not in units}
    # A rank is a place, and the figures of a list may have the unit that the list says.
    assert {name for name in without if name.partition(".")[0] not in units} <= {"rank", "rank_before"}


@every_report
def test_the_judge_of_all_figures_asks_each_call(report: Report) -> None:
    paths = {endpoint.path.removeprefix("/") for endpoint in report.endpoints}
    assert paths <= ENDPOINTS.keys(), "recompute it in tests/truth/questions and add it to tests/truth/endpoints.py"


@every_report
def test_the_dashboards_form_has_the_parameters_of_the_api(report: Report) -> None:
    typed = {"brand": "b,a", "category": "c", "slug": "b", "code": "c", "from": "2026-07-01", "channel": "z, y"}
    form = FORMS[report.kind.name].form
    names = {field.name for field in form.fields}
    asked = asked_report(form.sent(MultiDict((n, v) for n, v in typed.items() if n in names)), "https://host/v1")
    assert asked.report is report
    assert asked.parameters["channel"] == ["y", "z"]
    assert asked.parameters["from"] == "2026-07-01"
    named = {report.path_parameter} if report.path_parameter else set()
    assert asked.parameters.keys() == {*question_names(report.form.query), *named}
    assert asked.url.startswith(f"https://host/v1/index{report.base_path}{'/' if named else '?'}")


def test_a_name_in_the_path_of_a_call_is_escaped() -> None:
    asked = asked_report(FORMS["category-insights"].form.sent(MultiDict(code="a/b c?")), "https://host/v1")
    assert asked.url == "https://host/v1/index/insights/categories/a%2Fb%20c%3F"


@every_report
def test_the_form_has_a_field_for_each_parameter_of_the_report_and_refuses_every_other(report: Report) -> None:
    form = FORMS[report.kind.name].form
    named = [report.path_parameter] if report.path_parameter else []
    assert [field.parameter for field in form.fields] == [*named, *question_names(report.form.query), "format"]
    others = {field.name for other in REPORTS for field in FORMS[other.kind.name].form.fields}
    for name in others - {field.name for field in form.fields}:
        with pytest.raises(Problem) as raised:
            form.sent(MultiDict({name: "x"})).body()
        assert name in raised.value.detail


@every_report
def test_each_field_has_a_sentence_and_its_own_name(report: Report) -> None:
    listed = FORMS[report.kind.name].form.fields
    assert all(field.sentence and field.label for field in listed)
    names = [field.name for field in listed]
    assert len(names) == len(set(names))
    assert "kind" not in names  # the form's own `kind` is the report's


# The table of ASVS 5.0 has every requirement of levels 1 and 2 once, and each row leads to what exists or to a date.


TABLE_ASVS = PROJECT / "deploy" / "docs" / "asvs.md"

REQUIREMENTS = Path(__file__).parent / "asvs-5.0.0.txt"

ROW_ASVS = re.compile(r"^\| (\d+\.\d+\.\d+) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)

TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")

FILE = re.compile(r"\b(?:(?:deploy|edge|shared|tests|workers)/[\w./-]*\w\.\w+|(?:nginx\.conf|SECURITY\.md)\b)")

OPEN = re.compile(r"open until (\d{4}-\d{2}-\d{2}): \S.{20,}")

REASON = re.compile(r"not applicable: \S.{15,}")

AS_OF = re.compile(r"^As of (\d{4}-\d{2}-\d{2})\.", re.MULTILINE)


@cache
def functions_of(path: str) -> frozenset[str]:
    """Return the names of the test functions in a file of the project; none where there is no such file."""
    file = PROJECT / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(name for name in names if name.startswith("test_"))


def faults(page: str, required: dict[str, str]) -> Iterator[str]:
    """Name everything that is wrong with a page; `required` has the level of each number."""
    rows = ROW_ASVS.findall(page)
    as_of = AS_OF.search(page)
    if as_of is None:
        yield "the page has no date"
        return
    if [(number, level) for number, level, _, _ in rows] != list(required.items()):
        yield "the numbers and levels are not those of the standard, each once and in their order"
    for number, _, subject, how in rows:
        if not subject.strip():
            yield f"{number}: no subject"
        yield from (f"{number}: {fault}" for fault in _faults_of(how, date.fromisoformat(as_of[1])))


def _faults_of(how: str, as_of: date) -> Iterator[str]:
    left = OPEN.match(how)
    if left is not None and date.fromisoformat(left[1]) <= as_of:
        yield "the date of an open row has come"
    if not (left or REASON.match(how) or TEST.match(how) or FILE.match(how)):
        yield "neither a test nor a file nor a reason nor a date"
    yield from (f"no test {path}::{name}" for path, name in TEST.findall(how) if name not in functions_of(path))
    yield from (f"no file {path}" for path in FILE.findall(how) if not (PROJECT / path).is_file())


def requirements() -> dict[str, str]:
    """Return the level of each requirement of levels 1 and 2, by number, in the standard's order."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#")]
    assert len({number for number, _ in pairs}) == len(pairs) == 253
    return {pair[0]: pair[1] for pair in pairs}


def test_each_requirement_is_held_by_something_that_exists_or_open_until_a_date() -> None:
    assert list(faults(TABLE_ASVS.read_text(encoding="utf-8"), requirements())) == []


def test_the_totals_at_the_top_are_those_of_the_rows() -> None:
    page = TABLE_ASVS.read_text(encoding="utf-8")
    hows = [how for *_, how in ROW_ASVS.findall(page)]
    totals = {
        "held by a test": sum(TEST.match(how) is not None for how in hows),
        "met by a file": sum(FILE.match(how) is not None and TEST.match(how) is None for how in hows),
        "not applicable": sum(REASON.match(how) is not None for how in hows),
        "open": sum(OPEN.match(how) is not None for how in hows),
    }
    assert dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", page, re.MULTILINE)) == {
        name: str(total) for name, total in totals.items()
    }
