"""The options of a price index: methods, their usual names, outputs, splices; and the bilateral formulae. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shared.price_index.bilateral import FORMULAE, Matched, logarithmic_mean
from shared.price_index.offered import SPLICES
from shared.price_index.panel import Floats, IndexNotDefined

DummyWeights = Literal["unit", "average", "shares"]
"""How a bilateral time product dummy weights items: equally, by the mean of both shares, or each price by its share."""

_GEKS = "geks-"
_OTHER_NAMES = {
    "bmw": "bw balk-walsh balk-mehrhoff-walsh",
    "cswd": "carruthers-sellwood-ward-dalen",
    "harmonic-laspeyres-paasche": "hlp",
    "agmean": "arithmetic-agmean",
    "tpd": "time-product-dummy wtpd weighted-tpd",
    "geary-khamis": "gk",
    "geks-tornqvist": "ccdi",
    "geks-fisher": "geks eks",
    "lloyd-moulton": "ces lm",
    "tornqvist": "törnqvist translog",
    "geometric-laspeyres": "geom-laspeyres geo-laspeyres",
    "geometric-paasche": "geom-paasche geo-paasche",
    "geometric-lowe": "geo-lowe",
    "geometric-young": "geo-young",
    "harmonic": "coggeshall",
    "drobisch": "drobish sidgwick bowley",
    "marshall-edgeworth": "edgeworth",
    "montgomery-vartia": "vartia vartia-i vartia-1",
    "sato-vartia": "vartia-ii vartia-2",
    "geometric-walsh": "walsh-vartia",
    "walsh": "walsh-i walsh-1",
    "walsh-2": "walsh-ii",
}
_OTHER_SPLICES = {
    "movement": "movement-published",
    "mean": "geomean geometric-mean none",
    "window-published": "window-pub wisp",
    "half-published": "half-pub hasp",
    "mean-published": "mean-pub geomean-published",
}


def _weighted_jevons(weight: Callable[[Floats, Floats], Floats]) -> Callable[[Matched], float]:
    """Return the index exp(weighted mean of log relatives) with a weight made of both periods' shares."""

    def index(m: Matched) -> float:
        weights = weight(*m.shares)
        return float(np.exp(np.sum(weights * m.logs) / weights.sum()))

    return index


def _theil(s0: Floats, s1: Floats) -> Floats:
    return np.cbrt((s0 + s1) / 2 * s0 * s1)


def harmonic_shares(s0: Floats, s1: Floats) -> Floats:
    """Return s0 s1 / (s0 + s1), the weight that least squares gives an item seen in two periods; 0 without sales."""
    return np.divide(s0 * s1, s0 + s1, out=np.zeros_like(s0), where=s0 + s1 > 0)


def time_product_dummy(m: Matched, weights: DummyWeights, bias_adjust: bool) -> float:
    """Return the bilateral time product dummy index (Summers 1973; Rao 1990; Diewert 2005).

    `bias_adjust`: the exponential of an estimated coefficient is too high by half its variance; take that off
    (Kennedy 1981). The variance is that of weighted least squares over both periods' prices, with items - 1 degrees of
    freedom.
    """
    weight = _dummy_weights(m, weights)
    used = weight > 0
    weight, logs = weight[used], m.logs[used]
    total = weight.sum()
    coefficient = np.sum(weight * logs) / total
    if bias_adjust and len(logs) > 1:
        residual = np.sum(weight * (logs - coefficient) ** 2) / (len(logs) - 1)
        coefficient -= residual / total / 2
    return float(np.exp(coefficient))


def _dummy_weights(m: Matched, weights: DummyWeights) -> Floats:
    """Return each item's weight in the estimate: the harmonic combination of its weights in both periods."""
    if weights == "unit":
        return np.full_like(m.p0, 0.5)
    s0, s1 = m.shares
    if weights == "average":
        return (s0 + s1) / 4
    return harmonic_shares(s0, s1)


SHARE_FORMULAE: dict[str, Callable[[Matched], float]] = {
    "sato-vartia": _weighted_jevons(logarithmic_mean),
    "theil": _weighted_jevons(_theil),
    "rao": _weighted_jevons(harmonic_shares),
    # Walsh's geometric index, sometimes called Walsh-Vartia.
    "geometric-walsh": _weighted_jevons(lambda s0, s1: np.sqrt(s0 * s1)),
}

Output = Literal["chained", "fixed", "pop"]
Links = Literal["previous", "plspread", "logquadratic", "asymplinear", "mix", "scale", "absolute"]
Sample = Literal["all", "matched"]

TIME_PRODUCT_DUMMY, GEARY_KHAMIS = "tpd", "geary-khamis"
_REVERSIBLE_SHARES = frozenset(SHARE_FORMULAE)


def _letters_and_digits(name: str) -> str:
    """Return the letters and digits of a name, in which its spellings agree."""
    return re.sub(r"[^a-zö0-9]", "", name.lower())


_BILATERAL = {*FORMULAE, *SHARE_FORMULAE, TIME_PRODUCT_DUMMY}
_CANONICAL = {_letters_and_digits(name): name for name in _BILATERAL} | {
    _letters_and_digits(other): name for name, others in _OTHER_NAMES.items() for other in others.split()
}


@dataclass(frozen=True)
class Method:
    """An index method: a formula between two periods, alone or under GEKS, or one over a whole window of periods."""

    formula: str
    geks: bool = False

    @property
    def name(self) -> str:
        """Return the name by which it is asked for."""
        return f"{_GEKS}{self.formula}" if self.geks else self.formula

    @property
    def over_window(self) -> bool:
        """Return whether it is defined over a whole window of periods, unless asked for between two of them."""
        return self.geks or self.formula in (TIME_PRODUCT_DUMMY, GEARY_KHAMIS)


@dataclass(frozen=True)
class IndexQuestion:
    """One index: its method and everything its value depends on besides the panel.

    Periods are positions in the panel. `output` None is the default: windows for methods over a window, else chained.
    `window` None is one window of all periods.
    """

    method: Method
    output: Output | None = None
    links: Links = "previous"
    window: int | None = None
    splice: str = "mean"
    sample: Sample = "all"
    base: int = 0
    basket: int = 0
    sigma: float = 0.0
    weights: DummyWeights | None = None
    bias_adjust: bool = False

    @property
    def over_window(self) -> bool:
        """Return whether the index is computed over windows."""
        return self.method.geks or (self.method.over_window and self.output is None)


def method_named(text: str) -> Method:
    """Return the method of that name or usual spelling; raise IndexNotDefined, which lists the names, for another."""
    name = _letters_and_digits(text)
    geks = name not in _CANONICAL and name.startswith("geks")
    known = _CANONICAL.get(name.removeprefix("geks") if geks else name)
    if known is None:
        raise IndexNotDefined(f"method: one of {', '.join(method_names())}")
    if known.startswith(_GEKS):
        known, geks = known.removeprefix(_GEKS), True
    method = Method(known, geks)
    if geks and not reversible(known):
        raise IndexNotDefined(f"method: {known} has no time reversal, which GEKS requires")
    return method


def method_names() -> list[str]:
    """Return the name of every method: bilateral ones, then GEKS over each of those that have time reversal."""
    single = sorted(_BILATERAL)
    return single + [_GEKS + name for name in single if reversible(name)]


def reversible(formula: str) -> bool:
    """Return whether the formula's index from 1 to 0 is the reciprocal of that from 0 to 1."""
    if formula in FORMULAE:
        return FORMULAE[formula].reversible
    return formula in _REVERSIBLE_SHARES or formula == TIME_PRODUCT_DUMMY


def needs_quantities(question: IndexQuestion) -> bool:
    """Return whether the index is defined only where quantities are known."""
    formula = question.method.formula
    if formula == TIME_PRODUCT_DUMMY:
        return question.weights in ("average", "shares")
    return formula not in FORMULAE or FORMULAE[formula].weighted


def splice_named(text: str) -> str:
    """Return the splice of that name, or the number of a period of the window; raise IndexNotDefined for another."""
    name = re.sub(r"[\s_]+", "-", text.strip().lower())
    if re.fullmatch(r"[1-9][0-9]{0,5}(-published)?", name):
        return name
    for splice in SPLICES:
        if name in (splice, *_OTHER_SPLICES.get(splice, "").split()):
            return splice
    raise IndexNotDefined(f"splice: one of {', '.join(SPLICES)}, or the number of a period of the window")
