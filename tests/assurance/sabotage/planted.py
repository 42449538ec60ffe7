"""What a planted fault is: a place by its name, a change of what stands there, and what must notice it."""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import indent

# Changes the node of a function, or of an assignment, in a tree of its own.
Change = Callable[[ast.stmt], ast.stmt]


class NothingChanged(ValueError):
    """The place is not there, or the change finds nothing to change in it."""


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """One change at one place; pytest's node ids, or the arguments of `python -m tests.assurance.drills`, notice it.

    A place is `package.module:Class.function`, `package.module:CONSTANT`, `folder/file.sql:query`, or the path of a whole
    file. `replaced` is a pair of short expressions; in SQL and Lua of words.
    """

    name: str
    place: str
    change: Change | None = None
    replaced: tuple[str, str] = ("", "")
    tests: tuple[str, ...] = ()
    drill: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The path of the file that has the place."""
        path = self.place.partition(":")[0]
        return path if "/" in path else f"{path.replace('.', '/')}.py"


def planted(fault: PlantedFault, text: str) -> str:
    """Return a file's text with the fault in it. Raises NothingChanged."""
    name = fault.place.partition(":")[2]
    if fault.file.endswith(".py"):
        return _in_python(fault, text, name)
    begin, end = _query(fault, text, name) if name else (0, len(text))
    old, new = fault.replaced
    # Line ends and indents of SQL are of no meaning here.
    pattern = r"\s+".join(map(re.escape, old.split()))
    block, times = re.subn(pattern, lambda found: new, text[begin:end])
    if times != 1:
        raise NothingChanged(f"{fault.name}: {old!r} is {times} times in {fault.place}")
    return text[:begin] + block + text[end:]


def _query(fault: PlantedFault, text: str, name: str) -> tuple[int, int]:
    begin = re.search(rf"^-- name: {name}$", text, flags=re.M)
    if begin is None:
        raise NothingChanged(f"{fault.name}: there is no query {fault.place}")
    end = text.find("\n-- name: ", begin.end())
    return begin.start(), len(text) if end < 0 else end


def _in_python(fault: PlantedFault, text: str, name: str) -> str:
    node = _named(fault, ast.parse(text), name)
    before = ast.dump(node)
    node = fault.change(node) if fault.change else _Expressions(*fault.replaced).visit(node)
    if ast.dump(node) == before:
        raise NothingChanged(f"{fault.name}: the change finds nothing in {fault.place}")
    lines = text.splitlines(keepends=True)
    first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])
    written = indent(ast.unparse(ast.fix_missing_locations(node)), " " * node.col_offset)
    return "".join([*lines[: first - 1], f"{written}\n", *lines[node.end_lineno :]])


def _named(fault: PlantedFault, tree: ast.Module, name: str) -> ast.stmt:
    body, node = tree.body, None
    for part in name.split("."):
        node = next((one for one in body if part in _names_of(one)), None)
        if node is None:
            raise NothingChanged(f"{fault.name}: there is no {fault.place}")
        body = getattr(node, "body", [])
    assert node is not None
    return node


def _names_of(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


class _Expressions(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self._old = ast.unparse(ast.parse(old, mode="eval").body)
        self._new = new

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and ast.unparse(node) == self._old:
            return ast.parse(self._new, mode="eval").body
        return self.generic_visit(node)


def returns(value: str) -> Change:
    """The function returns this at once."""

    def change(node: ast.stmt) -> ast.stmt:
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        node.body = [ast.Return(ast.parse(value, mode="eval").body)]
        return node

    return change


def decides(name: str, outcome: bool) -> Change:
    """Each `if` of the function whose condition has the name comes out so."""

    class Conditions(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST:
            self.generic_visit(node)
            if name in _mentioned(node.test):
                node.test = ast.Constant(outcome)
            return node

    return lambda node: Conditions().visit(node)


def skips(name: str) -> Change:
    """The function leaves out the statements that call or assign what has the name."""

    class Statements(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, ast.Expr) and name in _mentioned(node):
                return ast.copy_location(ast.Pass(), node)
            if isinstance(node, ast.Assign) and any(name in _mentioned(target) for target in node.targets):
                return ast.copy_location(ast.Pass(), node)
            return self.generic_visit(node)

    return lambda node: Statements().visit(node)


def _mentioned(node: ast.AST) -> set[str]:
    named = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return named | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
