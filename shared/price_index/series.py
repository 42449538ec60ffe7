"""The index of every period of a panel, by whichever method is asked for. Pure."""

import numpy as np

from shared.price_index.multilateral import geary_khamis, geks, items_of_every_period, multilateral_time_product_dummy
from shared.price_index.pairs import Pairs, PeriodPairs, dummy_weights
from shared.price_index.panel import Floats, IndexNotDefined, Panel
from shared.price_index.question import GEARY_KHAMIS, IndexQuestion, needs_quantities
from shared.price_index.similarity import dissimilarity, links
from shared.price_index.splices import splice_windows


def index_series(panel: Panel, question: IndexQuestion) -> Floats:
    """Return one index a period, the first (or the base period) at 1, NaN where matched items do not define it.

    Raises IndexNotDefined for a question that the panel cannot answer, naming the reason.
    """
    check(panel, question)
    if not of_pairs(question):
        window = panel.periods if question.window is None else question.window
        series = splice_windows(
            lambda a, b: _whole_window(panel.rows(a, b), question), panel.periods, window, question.splice
        )
        return rebase(series, question)
    compared = comparison_periods(panel, question)
    logs = Pairs(panel, question).logs(wanted_pairs(panel.periods, question, compared))
    return rebase(assemble_index(logs, question, compared), question)


def check(panel: Panel, question: IndexQuestion) -> None:
    """Raise IndexNotDefined where the panel cannot answer the question, whatever its prices are."""
    if panel.quantities is None and (needs_quantities(question) or question.links != "previous"):
        raise IndexNotDefined(f"{question.method.name} weights items by their sales: it needs quantities")
    if question.window is not None and question.window < 2:
        raise IndexNotDefined("window: at least two periods")
    if question.weights == "average" and question.over_window and not question.method.geks:
        raise IndexNotDefined("weights: average is of two periods; over a window tpd weights by unit or by shares")
    if not 0 <= question.base < panel.periods or not 0 <= question.basket < panel.periods:
        raise IndexNotDefined("base period and basket period: one of the periods of the data")


def of_pairs(question: IndexQuestion) -> bool:
    """Return whether indices between pairs of periods are all that the index is made of."""
    return not question.over_window or (question.method.geks and question.sample == "all")


def comparison_periods(panel: Panel, question: IndexQuestion) -> list[int]:
    """Return the position of the period that each is compared with: the one before, the base, or the most similar."""
    count = panel.periods
    if not question.over_window and question.output == "fixed":
        return [question.base] * count
    if question.links == "previous" or question.over_window:
        return [max(position - 1, 0) for position in range(count)]
    pairs, measure = Pairs(panel, question), question.links
    return links(count, lambda a, b: dissimilarity(pairs.match(a, b), measure))


def wanted_pairs(periods: int, question: IndexQuestion, compared: list[int]) -> PeriodPairs:
    """Return the pairs of periods between which the index needs a bilateral one."""
    if not question.over_window:
        return [(start, end) for end, start in enumerate(compared)]
    width = periods if question.window is None else question.window
    if question.splice == "fbew":
        width *= 2  # a window that begins at a base period grows until the next one
    return [(start, end) for start in range(periods) for end in range(start + 1, min(start + width, periods))]


def assemble_index(logs: Floats, question: IndexQuestion, compared: list[int]) -> Floats:
    """Return the index of every period from the ln indices between pairs of them; the first period of a series is 1."""
    count = len(logs)
    if question.over_window:
        both = np.where(np.isnan(logs), -logs.T, logs)
        window = count if question.window is None else question.window
        return splice_windows(lambda a, b: geks(both[a:b, a:b]), count, window, question.splice)
    with np.errstate(over="ignore", invalid="ignore"):  # an index beyond floating point is none
        steps: Floats = np.exp(logs[compared, np.arange(count)])
        if question.output == "fixed":
            return steps
        steps[0] = 1.0
        if question.output != "pop":
            for end, start in enumerate(compared[1:], 1):
                steps[end] *= steps[start]
    return steps


def rebase(series: Floats, question: IndexQuestion) -> Floats:
    """Return a series with the base period at 1; one against a base period, or period on period, stays as it is."""
    if not question.over_window and question.output in ("fixed", "pop"):
        return series
    rescaled: Floats = series / series[question.base]
    return rescaled


def _whole_window(panel: Panel, question: IndexQuestion) -> Floats:
    if question.sample == "matched":
        panel = items_of_every_period(panel)
    if question.method.geks:
        pairs = wanted_pairs(panel.periods, question, [])
        return assemble_index(Pairs(panel, question).logs(pairs), question, [])
    if question.method.formula == GEARY_KHAMIS:
        return geary_khamis(panel)
    return multilateral_time_product_dummy(panel, dummy_weights(panel, question))
