"""Which parts of an XML or JSON document are its products: those that have most of what a product has. Pure.

How often a part is repeated says little: a document of one product repeats its features, pictures and shippings.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache

from workers.ingest.column_names import PART, name_score, plain, role_names, word_list

Path = tuple[str, ...]

# How much each says that an element is a product.
_WEIGHTS = {
    "name": 3.0,
    "id": 2.0,
    "gtin": 2.0,
    "isbn": 2.0,
    "price": 2.0,
    "sale_price": 2.0,
    "list_price": 1.0,
    "mpn": 1.0,
    "brand": 1.0,
    "category": 1.0,
    "url": 1.0,
    "description": 1.0,
}
# Parts that an element has several times are those of a list in it, and say less of the element itself.
_ONCE_MAX = 1.2
_OF_A_LIST = 0.35
_SELDOM = 0.1
# An element around a single product has all that the product has: the inner one is meant where it has these too.
_CORE = frozenset(("name", "id", "gtin", "isbn", "price", "sale_price"))
_PRODUCT_MIN = _WEIGHTS["name"] + 1
_CALLED_SO = 3.0
_CERTAIN = PART - 50


def product_path(times: Counter[Path], candidates: Iterable[Path], *, are_named: bool) -> Path | None:
    """Return the candidate that is a product; None where none has a name and anything else of one.

    `times`: how often each path occurs, also those of parts and attributes within the candidates. `are_named`: whether
    the names of candidates say what they are, as those of elements do; members of lists in JSON have none.
    """
    candidates = {path for path in candidates if not (are_named and any(map(_is_of_somebody, path)))}
    called = frozenset(path for path in candidates if are_named and _is_called_so(path))
    found = _roles(times, candidates, called)
    if not found:
        return None
    scores = {path: sum(roles.values()) + _CALLED_SO * (path in called) for path, roles in found.items()}
    best = max(scores, key=lambda path: (scores[path], times[path], -len(path)))
    core = {role for role, weight in found[best].items() if role in _CORE and weight == _WEIGHTS[role]}
    inner = [path for path in found if path[: len(best)] == best and core <= found[path].keys()]
    if best not in called:
        best = max(inner, key=len)
    return best if scores[best] >= _PRODUCT_MIN else None


def _roles(times: Counter[Path], candidates: set[Path], called: frozenset[Path]) -> dict[Path, dict[str, float]]:
    """Return what each candidate with a name of its own has of a product, and how much that says."""
    found: dict[Path, dict[str, float]] = defaultdict(dict)
    for part, count in times.items():
        role = _role(part[-1]) if part else ""
        if role not in _WEIGHTS:
            continue
        for depth in range(len(part)):
            outer = part[:depth]
            if outer not in candidates or count < _SELDOM * times[outer]:
                continue
            weight = _WEIGHTS[role] * (1.0 if count <= _ONCE_MAX * times[outer] else _OF_A_LIST)
            found[outer][role] = max(weight, found[outer].get(role, 0.0))
    # What is called a product may have a description in the place of a name.
    return {
        path: roles
        for path, roles in found.items()
        if roles.get("name") == _WEIGHTS["name"] or ("description" in roles and path in called)
    }


def _is_called_so(path: Path) -> bool:
    return bool(path) and plain(path[-1].rpartition(":")[2]) in word_list("product_elements")


@cache
def _is_of_somebody(name: str) -> bool:
    """Return whether an element is called as a seller, a buyer or an address: these have names and ids too."""
    return plain(name.rpartition(":")[2]) in word_list("no_product_elements")


@cache
def _role(name: str) -> str:
    score, role = max((name_score(name, aliases), role) for role, aliases in role_names().items())
    return role if score >= _CERTAIN else ""
