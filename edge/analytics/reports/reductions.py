"""How many announced reductions comply with the prior-price rule."""

from edge.analytics.envelope import observed_prices_field
from edge.analytics.findings import Headline, Parameters, Rows, count_of, days_clause, find_nothing
from edge.analytics.reports.answer import GroupedRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import brands, categories, count_field, groups, share_field, text_field
from edge.analytics.reports.question import ReportQuery
from edge.analytics.schemas import ProgressiveQuery
from edge.analytics.wording import RowContext
from shared.jobs.contract import REDUCTIONS
from shared.organizations.accounts import BRAND


class ReductionRow(GroupedRow):
    """Announced reductions that began in a period, in one channel and currency."""

    currency = text_field("ISO 4217")
    items = count_field("Distinct items with an announced reduction")
    announced = count_field("Announced reductions; each further step counts separately")
    holding = count_field("Reductions whose list price is not above the prior price")
    overstated = count_field("Reductions below the prior price whose list price is above it")
    not_below = count_field("Reductions whose price is not below the prior price")
    undecided = count_field("Reductions that cannot be decided from the observations")
    share_holding = share_field(
        "holding / (announced - undecided); null below three items with a decided one", heading="Reductions that hold"
    )
    share_holding_low = share_field(
        "Lower end of the 95 % interval; null if all items agree too", heading="Reductions that hold, low"
    )
    share_holding_high = share_field("Upper end of the 95 % interval", heading="Reductions that hold, high")


class ReductionsQuery(ProgressiveQuery, ReportQuery):
    """Query of announced reductions: those that began in the range."""

    brand = brands()
    category = categories()
    group_by = groups("brand", "category")
    outliers = observed_prices_field()


ReductionsReport = report_of(ReductionRow, "ReductionsReport", "Announced reductions.")


def find_compliance(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return the share of the reductions that comply with the rule."""
    announced, undecided, holding = (sum(row[name] for row in rows) for name in ("announced", "undecided", "holding"))
    judged = announced - undecided
    if not judged:
        advice = "A reduction can be judged where each of the 30 days before it was observed."
        return Headline(f"0 of {announced:,}", f"announced reductions can be judged{days_clause(reading)}.", advice)
    share = f"of the {count_of(judged, 'reduction')} that can be judged hold against the prior price"
    return Headline(
        f"{100 * holding / judged:.1f} %", f"{share}{days_clause(reading)}; {undecided:,} cannot be judged."
    )


def find_no_reductions(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return why no reduction was announced."""
    if reading.periods.first is None:
        return find_nothing(parameters, rows, reading)
    advice = (
        "A listing announces a reduction by a list price above its price. "
        "Choose other channels or categories, or an earlier first day."
    )
    sentence = f"were announced{days_clause(reading)}: no listing fell below a list price."
    return Headline("0 reductions", sentence, advice, parameters)


REPORT = Report(
    kind=REDUCTIONS,
    title="Reductions",
    description="How many announced reductions comply with the prior-price rule.",
    rank_min=BRAND,
    entitlement="reductions",
    reply=ReductionsReport,
    endpoints=(
        ReportEndpoint(
            operation="getReductions",
            path="/insights/reductions",
            summary="Announced reductions",
            description="Reductions that began in each period, and how many comply with Directive 98/6/EC Art. 6a.",
            query=ReductionsQuery,
            example="/insights/reductions?category={category}",
        ),
    ),
    picture=Picture(lines=("share_holding",)),
    finding=find_compliance,
    absence=find_no_reductions,
    columns=("announced", "holding", "overstated", "not_below", "undecided", "share_holding", "items"),
)
