"""Types of the API's documents, made by `make clients`; answers may have more members."""

from typing import Any, Literal, NotRequired, TypedDict


class AnyResult(TypedDict):
    data: list[dict[str, Any]]
    meta: dict[str, Any]


class ArticleMatch(TypedDict):
    iids: list[str]
    kind: Literal["identifier", "likeness", "review", "merge"]
    score: float | None
    evidence: list["MatchEvidence"]
    since: str | None


class ArticleMember(TypedDict):
    iid: str
    source: str
    id: str
    name: str | None
    identifiers: list["Identifier"]


class AttemptList(TypedDict):
    data: list["DeliveryAttempt"]
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int


class AuditEntry(TypedDict):
    id: str
    at: str
    actor: str
    act: str
    subject: str


class AuditList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["AuditEntry"]


class Avoided(TypedDict):
    indicator: Literal[
        "co2e_kg",
        "water_l",
        "waste_kg",
        "land_use_m2a",
        "acidification_kg_so2e",
        "freshwater_eutrophication_kg_pe",
        "marine_eutrophication_kg_ne",
    ]
    low: float
    central: float
    high: float


class BrandCategory(TypedDict):
    category: NotRequired[str | None]
    items: NotRequired[int]
    observations: NotRequired[int]
    share: NotRequired[float | None]
    median: NotRequired[str | None]
    category_median: NotRequired[str | None]
    against_category: NotRequired[float | None]


class BrandEntry(TypedDict):
    id: int
    name: str
    slug: str
    item_count: int
    top_categories: list[str]
    channels: list[str]
    first_seen_on: str | None
    updated_at: str


class BrandList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["BrandEntry"]


class BrandRef(TypedDict):
    id: int
    name: str
    slug: str


class BrandReport(TypedDict):
    meta: "ReportMeta"
    data: list["BrandRow"]


class BrandRow(TypedDict):
    period: NotRequired[str]
    currency: NotRequired[str]
    original_currency: NotRequired[str]
    kind: NotRequired[Literal["listing", "sale", "both"]]
    items: NotRequired[int]
    observations: NotRequired[int]
    set_aside: NotRequired[int]
    list_price_n: NotRequired[int]
    promotion_share: NotRequired[float | None]
    discount_mean: NotRequired[float | None]
    discount_median: NotRequired[float | None]
    index_change: NotRequired[float | None]
    index_change_low: NotRequired[float | None]
    index_change_high: NotRequired[float | None]
    share_matched: NotRequired[float | None]
    median_disagrees: NotRequired[bool | None]
    brand: NotRequired[str]
    name: NotRequired[str]
    channel: NotRequired[str]
    rank: NotRequired[int]
    rank_before: NotRequired[int | None]
    ranked: NotRequired[int]
    percentile: NotRequired[float]
    median: NotRequired[str | None]
    median_change: NotRequired[float | None]
    against_categories: NotRequired[float | None]
    categories: NotRequired[list["BrandCategory"]]
    peers: NotRequired[list["Peer"]]


class Candidate(TypedDict):
    iid: str
    name: str
    brand: "BrandRef | None"
    sources: list[str]
    links: "SelfLink"


class CategoryEntry(TypedDict):
    code: str
    name: str
    path: list[str]
    parent: str | None
    level: int
    item_count: int
    item_count_total: int
    children: int


class CategoryList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["CategoryEntry"]


class CategoryRef(TypedDict):
    code: str
    path: list[str]


class CategoryReport(TypedDict):
    meta: "ReportMeta"
    data: list["CategoryRow"]


class CategoryRow(TypedDict):
    period: NotRequired[str]
    currency: NotRequired[str]
    original_currency: NotRequired[str]
    kind: NotRequired[Literal["listing", "sale", "both"]]
    items: NotRequired[int]
    observations: NotRequired[int]
    set_aside: NotRequired[int]
    list_price_n: NotRequired[int]
    promotion_share: NotRequired[float | None]
    discount_mean: NotRequired[float | None]
    discount_median: NotRequired[float | None]
    index_change: NotRequired[float | None]
    index_change_low: NotRequired[float | None]
    index_change_high: NotRequired[float | None]
    share_matched: NotRequired[float | None]
    median_disagrees: NotRequired[bool | None]
    category: NotRequired[str]
    path: NotRequired[list[str]]
    channel: NotRequired[str]
    median: NotRequired[str | None]
    median_before: NotRequired[str | None]
    median_change: NotRequired[float | None]
    observations_before: NotRequired[int | None]
    rank: NotRequired[int | None]
    rank_before: NotRequired[int | None]
    ranked: NotRequired[int | None]
    channels: NotRequired[list["ChannelMedian"]]
    top_brands: NotRequired[list["TopBrand"]]


class ChannelEntry(TypedDict):
    code: str
    observations: int
    last_seen_on: str


class ChannelList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["ChannelEntry"]


class ChannelMedian(TypedDict):
    channel: NotRequired[str]
    observations: NotRequired[int]
    share: NotRequired[float | None]
    median: NotRequired[str | None]


class ChannelSeen(TypedDict):
    channel: str
    listings: int
    last_seen_on: str


class ChannelShare(TypedDict):
    channel: NotRequired[str]
    observations: NotRequired[int]
    share: NotRequired[float | None]


class CohortReport(TypedDict):
    meta: "ReportMeta"
    data: list["CohortRow"]


class CohortRow(TypedDict):
    period: NotRequired[str]
    brand: NotRequired[str | None]
    category: NotRequired[str | None]
    channel: NotRequired[str | None]
    currency: NotRequired[str]
    original_currency: NotRequired[str]
    kind: NotRequired[Literal["listing", "sale", "both"]]
    items: NotRequired[int]
    observations: NotRequired[int]
    set_aside: NotRequired[int]
    list_price_n: NotRequired[int]
    promotion_share: NotRequired[float | None]
    discount_mean: NotRequired[float | None]
    discount_median: NotRequired[float | None]
    price_n: NotRequired[int]
    mean: NotRequired[str | None]
    stddev: NotRequired[str | None]
    p10: NotRequired[str | None]
    p25: NotRequired[str | None]
    p50: NotRequired[str | None]
    p75: NotRequired[str | None]
    p90: NotRequired[str | None]
    min: NotRequired[str | None]
    max: NotRequired[str | None]
    channels: NotRequired[list["ChannelShare"]]
    first_day: NotRequired[str]
    last_day: NotRequired[str]


class Contributor(TypedDict):
    indicator: Literal[
        "co2e_kg",
        "water_l",
        "waste_kg",
        "land_use_m2a",
        "acidification_kg_so2e",
        "freshwater_eutrophication_kg_pe",
        "marine_eutrophication_kg_ne",
    ]
    iid: str
    share: float


class ConversionMeta(TypedDict):
    to: str
    rates: str
    source: str
    url: str | None
    method: str
    used: list["UsedRate"]


class Coverage(TypedDict):
    days: int
    observed_days: int
    missing_days: int
    first: str | None
    last: str | None


class CreatedOrganization(TypedDict):
    id: str
    plan: str
    requested_plan: str | None


class DatasetColumn(TypedDict):
    name: str
    type: str
    nullable: bool
    description: str


class DatasetEntry(TypedDict):
    name: str
    title: str
    schema: list["DatasetColumn"]
    sorted_by: list[str]
    latest: "ReleaseEntry | None"
    links: "DatasetLinks"


class DatasetLinks(TypedDict):
    releases: str
    latest: str


class DatasetList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["DatasetEntry"]


class DeliveryAttempt(TypedDict):
    event_id: str
    cursor: str
    at: str
    status: int | None
    outcome: Literal[
        "accepted",
        "answer-too-large",
        "private-address",
        "redirected",
        "refused",
        "secret-unreadable",
        "timed-out",
        "tls-failed",
        "unreachable",
    ]
    answer: str
    milliseconds: int


class DigitalLinkset(TypedDict):
    linkset: list["LinkContext"]


class DisplacementMeta(TypedDict):
    rate: float
    citation: str
    counted: str


class Event(TypedDict):
    id: str
    cursor: str
    type: str
    timestamp: str
    data: dict[str, Any]


class EventList(TypedDict):
    data: list["Event"]
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int


class EvidenceDay(TypedDict):
    day: str
    price: str


class Export(TypedDict):
    id: str
    kind: str
    state: Literal["queued", "running", "succeeded", "failed", "cancelled", "expired"]
    progress: "JobProgress"
    attempt: int
    data_version: int | None
    cost_units: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    expires_at: str | None
    result: "JobResult | None"
    error: "Problem | None"
    links: "JobLinks"
    request: dict[str, Any]
    manifest: "ExportManifest | None"


class ExportEstimate(TypedDict):
    cost_units: int
    rows: int
    rows_relation: Literal["eq", "gte", "about"]
    data_version: int
    schema: list["DatasetColumn"]
    request: dict[str, Any]
    preview: list[dict[str, Any]] | None


class ExportFile(TypedDict):
    name: str
    url: str
    signed_url: str
    content: Literal["rows", "gone"]
    rows: int
    bytes: int
    sha256: str
    min_key: str | None
    max_key: str | None


ExportFilter = TypedDict(
    "ExportFilter",
    {
        "brand": NotRequired[list[str]],
        "category": NotRequired[list[str]],
        "channel": NotRequired[list[str]],
        "from": NotRequired[str],
        "to": NotRequired[str],
    },
)


class ExportList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["ListedExport"]


class ExportManifest(TypedDict):
    dataset: str
    schema: list["DatasetColumn"]
    format: str
    compression: str
    media_type: str
    data_version: int
    since: int | None
    months: list[str]
    all_months: bool
    formula_prefix: str | None
    created_at: str
    expires_at: str
    signed_until: str
    rows: int
    bytes: int
    files: list["ExportFile"]


class HealthAnswer(TypedDict):
    status: Literal["ok"]
    revision: str
    ts: str


class Identifier(TypedDict):
    scheme: str
    value: str


class IdentifierFields(TypedDict):
    gtin: NotRequired[str | None]
    ean: NotRequired[str | None]
    upc: NotRequired[str | None]
    isbn: NotRequired[str | None]
    mpn: NotRequired[str | None]
    brand: NotRequired[str | None]
    sku: NotRequired[str | None]
    url: NotRequired[str | None]
    source: NotRequired[str | None]


class IdentifierRef(TypedDict):
    scheme: Literal["gtin", "mpn", "sku", "url"]
    value: str


class IidBody(TypedDict):
    iids: list[str]


class Invitation(TypedDict):
    id: str
    email: str
    role: str
    created_at: str
    expires_at: str


class InvitationList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["Invitation"]


class IssuedInvitation(TypedDict):
    id: str
    link: str
    expires_at: str


class IssuedKey(TypedDict):
    key: str
    key_id: str
    keys: list["KeyState"]


class Item(TypedDict):
    iid: str
    name: str
    alt_names: list[str]
    status: Literal["active"]
    brand: "BrandRef | None"
    product_type: str | None
    category: "CategoryRef | None"
    identifiers: list["Identifier"]
    attributes: dict[str, Any]
    channels: list["ChannelSeen"]
    price_band: "PriceBand | None"
    sustainability: "Sustainability | None"
    sources: list["SourceRef"]
    provenance: dict[str, str]
    members: list["ArticleMember"]
    matches: list["ArticleMatch"]
    version: int
    first_seen_on: str
    updated_at: str
    links: "ItemLinks"


class ItemLinks(TypedDict):
    self: str
    brand: str | None
    pricing: str
    sustainability: str


class Job(TypedDict):
    id: str
    kind: str
    state: Literal["queued", "running", "succeeded", "failed", "cancelled", "expired"]
    progress: "JobProgress"
    attempt: int
    data_version: int | None
    cost_units: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    expires_at: str | None
    result: "JobResult | None"
    error: "Problem | None"
    links: "JobLinks"


class JobLimit(TypedDict):
    limit: int
    used: int


class JobLimits(TypedDict):
    running: "JobLimit"
    queued: "JobLimit"


class JobLinks(TypedDict):
    self: str
    result: str
    events: str


class JobList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["Job"]


class JobProgress(TypedDict):
    fraction: float
    stage: str
    rows_done: int
    rows_total: int | None


class JobResult(TypedDict):
    url: str
    media_type: str
    rows: int
    bytes: int
    sha256: str


class KeyState(TypedDict):
    key_id: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    last_used_network: str | None


class LeakedKey(TypedDict):
    key: str


class LinkContext(TypedDict):
    anchor: str
    itemDescription: str


class LinkNamespace(TypedDict):
    namespace: str
    prefix: str


class ListedExport(TypedDict):
    id: str
    kind: str
    state: Literal["queued", "running", "succeeded", "failed", "cancelled", "expired"]
    progress: "JobProgress"
    attempt: int
    data_version: int | None
    cost_units: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    expires_at: str | None
    result: "JobResult | None"
    error: "Problem | None"
    links: "JobLinks"
    request: dict[str, Any]


class LookupEntry(TypedDict):
    iid: str
    status: int
    record: "Item | None"
    survivor: str | None
    problem: str | None


class LookupList(TypedDict):
    data: list["LookupEntry"]
    count: int
    kind: NotRequired[str]
    cost_units: NotRequired[int]
    cached: NotRequired[bool]
    format: NotRequired[str]
    data_version: NotRequired[int]


class MatchEvidence(TypedDict):
    field: str
    left: str
    right: str
    agrees: bool


class Member(TypedDict):
    id: str
    name: str
    email: str | None
    role: Literal["owner", "admin", "member", "viewer"]
    joined_at: str


class MemberList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["Member"]


class NewExport(TypedDict):
    dataset: Literal["items", "observations", "impacts", "brands", "categories", "merged"]
    columns: NotRequired[list[str] | None]
    filter: NotRequired["ExportFilter"]
    since: NotRequired[int | None]
    format: NotRequired[Literal["parquet", "csv", "ndjson", "arrow"]]
    compression: NotRequired[Literal["gzip", "none", "zstd", None]]


class NewInvitation(TypedDict):
    email: str
    role: Literal["admin", "member", "viewer"]


class NewOrganization(TypedDict):
    name: str
    plan: NotRequired[str]


class NewWatch(TypedDict):
    target: Literal["article", "brand", "category"]
    code: str
    condition: Literal["below", "new-low", "returned", "index-moved"]
    amount: NotRequired[str | None]
    currency: NotRequired[str | None]
    days: NotRequired[int | None]
    percent: NotRequired[float | None]
    kind: NotRequired[Literal["listing", "sale"]]
    label: NotRequired[str | None]


class NewWebhook(TypedDict):
    url: str
    types: NotRequired[
        list[
            Literal[
                "job.ended",
                "export.ready",
                "release.cut",
                "item.merged",
                "item.split",
                "item.withdrawn",
                "item.restored",
                "watch.fired",
                "quota.reached",
                "key.rotated",
                "key.revoked",
                "webhook.disabled",
            ]
        ]
        | None
    ]


class Organization(TypedDict):
    id: str
    name: str
    plan: str
    requested_plan: str | None
    state: Literal["active", "suspended"]
    role: Literal["owner", "admin", "member", "viewer"]
    keys: list["KeyState"]


class OrganizationRef(TypedDict):
    id: str
    name: str


class OutlierMeta(TypedDict):
    mode: Literal["exclude", "include"]
    set_aside: int


class PageTotal(TypedDict):
    value: int
    relation: Literal["eq", "gte"]


class ParameterFault(TypedDict):
    parameter: str
    detail: str
    value: NotRequired[str]


class PartState(TypedDict):
    name: str
    state: Literal["ok", "down", "read-only", "empty", "late", "off"]
    detail: str


class Peer(TypedDict):
    brand: NotRequired[str]
    name: NotRequired[str]
    observations: NotRequired[int]
    median: NotRequired[str | None]


class PlanRequest(TypedDict):
    plan: str


PriceBand = TypedDict(
    "PriceBand",
    {
        "currency": str,
        "kind": Literal["listing", "sale"],
        "low": str,
        "median": str,
        "high": str,
        "observations": int,
        "set_aside": int,
        "from": str,
        "to": str,
    },
)


class PriceIndexReport(TypedDict):
    meta: "ReportMeta"
    data: list["PriceIndexRow"]


class PriceIndexRow(TypedDict):
    period: NotRequired[str]
    currency: NotRequired[str]
    original_currency: NotRequired[str]
    kind: NotRequired[Literal["listing", "sale"]]
    index: NotRequired[float | None]
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    items: NotRequired[int]
    set_aside: NotRequired[int]
    matched_items: NotRequired[int | None]
    share_matched: NotRequired[float | None]
    new_items: NotRequired[int | None]
    vanished_items: NotRequired[int | None]
    compared_with: NotRequired[str | None]
    median: NotRequired[str | None]
    median_index: NotRequired[float | None]
    median_disagrees: NotRequired[bool | None]


PriceStatistic = TypedDict(
    "PriceStatistic",
    {
        "days": Literal[7, 30, 90, 365],
        "currency": str,
        "original_currency": NotRequired[str],
        "kind": Literal["listing", "sale"],
        "from": str,
        "to": str,
        "low": str | None,
        "median": str | None,
        "high": str | None,
        "n": int,
        "observed_days": int,
        "set_aside": int,
    },
)


PricingMeta = TypedDict(
    "PricingMeta",
    {
        "data_version": int,
        "result_sha256": str,
        "cached": bool,
        "cost_units": int,
        "rows": int,
        "from": str,
        "to": str,
        "coverage": "Coverage",
        "units": dict[str, str],
        "method": str,
        "rounding": NotRequired[dict[str, str]],
        "conversion": NotRequired["ConversionMeta"],
        "outliers": "OutlierMeta",
        "statistics": list["PriceStatistic"],
        "unit_prices": list["UnitPrice"],
        "reductions": list["ReductionSummary"],
    },
)


class PricingReport(TypedDict):
    data: list["PricingRow"]
    meta: "PricingMeta"


class PricingRow(TypedDict):
    day: str
    channel: str
    kind: Literal["listing", "sale"]
    currency: str
    original_currency: NotRequired[str]
    low: str
    median: str
    high: str
    close: str | None
    n: int


PriorPriceMeta = TypedDict(
    "PriorPriceMeta",
    {
        "data_version": int,
        "result_sha256": str,
        "cached": bool,
        "cost_units": int,
        "rows": int,
        "from": str,
        "to": str,
        "coverage": "Coverage",
        "units": dict[str, str],
        "method": str,
        "rounding": NotRequired[dict[str, str]],
        "conversion": NotRequired["ConversionMeta"],
    },
)


class PriorPriceReport(TypedDict):
    data: list["PriorPriceRow"]
    meta: "PriorPriceMeta"


class PriorPriceRow(TypedDict):
    channel: str
    currency: str
    original_currency: NotRequired[str]
    as_of: str
    price: str | None
    reduction_began_on: str | None
    prior_price: str | None
    percent: str | None
    applicable: bool
    reason: Literal[
        "no_reduction",
        "not_below_prior_price",
        "missing_days",
        "fewer_than_30_days",
        "new_arrival",
        "progressive_reduction",
        None,
    ]
    known: bool
    at_most: str | None
    lowest_on: list[str]
    evidence: list["EvidenceDay"]


class Problem(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: NotRequired[list["ParameterFault"]]


class ProblemEntry(TypedDict):
    type: str
    slug: str
    title: str
    status: int
    meaning: str
    remedy: str


class ProblemList(TypedDict):
    data: list["ProblemEntry"]
    count: int


class QuotaAnswer(TypedDict):
    counted_as: str
    plan: str
    limits: list["QuotaWindow"]
    jobs: "JobLimits | None"


class QuotaWindow(TypedDict):
    policy: str
    window_seconds: int
    limit: int
    used: int
    remaining: int
    resets_at: str | None


class Quote(TypedDict):
    kind: str
    cost_units: int
    cached: bool
    format: str
    data_version: int
    parameters: NotRequired[dict[str, Any]]


class ReadyAnswer(TypedDict):
    status: Literal["ready", "degraded", "not-ready"]
    data_version: int
    parts: list["PartState"]
    ts: str


class ReductionRow(TypedDict):
    period: NotRequired[str]
    channel: NotRequired[str]
    currency: NotRequired[str]
    items: NotRequired[int]
    announced: NotRequired[int]
    holding: NotRequired[int]
    overstated: NotRequired[int]
    not_below: NotRequired[int]
    undecided: NotRequired[int]
    share_holding: NotRequired[float | None]


class ReductionSummary(TypedDict):
    channel: str
    currency: str
    original_currency: NotRequired[str]
    as_of: str
    price: str | None
    reduction_began_on: str | None
    prior_price: str | None
    percent: str | None
    applicable: bool
    reason: Literal[
        "no_reduction",
        "not_below_prior_price",
        "missing_days",
        "fewer_than_30_days",
        "new_arrival",
        "progressive_reduction",
        None,
    ]
    known: bool
    at_most: str | None


class ReductionsReport(TypedDict):
    meta: "ReportMeta"
    data: list["ReductionRow"]


class ReleaseEntry(TypedDict):
    data_version: int
    created_at: str
    expires_at: str
    rows: int
    bytes: int
    files: int
    links: "SelfLink"


class ReleaseFile(TypedDict):
    name: str
    url: str
    signed_url: str
    rows: int
    bytes: int
    sha256: str
    min_key: str
    max_key: str


class ReleaseList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["ReleaseEntry"]


class ReleaseManifest(TypedDict):
    dataset: str
    schema: list["DatasetColumn"]
    data_version: int
    created_at: str
    expires_at: str
    signed_until: str
    rows: int
    bytes: int
    files: list["ReleaseFile"]
    links: "SelfLink"


class Replay(TypedDict):
    event: NotRequired[str | None]
    after: NotRequired[int | None]
    to: NotRequired[int | None]


class Replayed(TypedDict):
    events: int


ReportMeta = TypedDict(
    "ReportMeta",
    {
        "data_version": int,
        "result_sha256": str,
        "cached": bool,
        "cost_units": int,
        "rows": int,
        "from": str,
        "to": str,
        "coverage": "Coverage",
        "units": dict[str, str],
        "method": str,
        "rounding": NotRequired[dict[str, str]],
        "kind": NotRequired[Literal["listing", "sale", "both"]],
        "basis": NotRequired[Literal["sales", "assortment"]],
        "outliers": NotRequired["OutlierMeta"],
        "conversion": NotRequired["ConversionMeta"],
        "window_ended_by": NotRequired[Literal["request", "data", "index", "today"]],
        "total": NotRequired[int],
        "next_cursor": NotRequired[str | None],
    },
)


class ResolveBody(TypedDict):
    identifiers: list["IdentifierFields"]


class ResolveEntry(TypedDict):
    identifier: "IdentifierRef | None"
    status: int
    record: "Item | None"
    candidates: list["Candidate"]
    problem: str | None
    detail: str | None


class ResolveList(TypedDict):
    data: list["ResolveEntry"]
    count: int
    kind: NotRequired[str]
    cost_units: NotRequired[int]
    cached: NotRequired[bool]
    format: NotRequired[str]
    data_version: NotRequired[int]


class ResolverDescription(TypedDict):
    name: str
    resolverRoot: str
    supportedPrimaryKeys: list[str]
    supportedLinkType: list["LinkNamespace"]
    linkTypeDefaultCanBeLinkset: bool
    jsonLdContextLocation: str


class RoleChange(TypedDict):
    role: Literal["owner", "admin", "member", "viewer"]


RollupMeta = TypedDict(
    "RollupMeta",
    {
        "data_version": int,
        "result_sha256": str,
        "cached": bool,
        "cost_units": int,
        "rows": int,
        "from": str,
        "to": str,
        "coverage": "Coverage",
        "units": dict[str, str],
        "method": str,
        "rounding": NotRequired[dict[str, str]],
        "kind": NotRequired[Literal["listing", "sale", "both"]],
        "basis": NotRequired[Literal["sales", "assortment"]],
        "outliers": NotRequired["OutlierMeta"],
        "conversion": NotRequired["ConversionMeta"],
        "window_ended_by": NotRequired[Literal["request", "data", "index", "today"]],
        "total": NotRequired[int],
        "next_cursor": NotRequired[str | None],
        "displacement": NotRequired["DisplacementMeta"],
    },
)


class RollupReport(TypedDict):
    meta: "RollupMeta"
    data: list["RollupRow"]


class RollupRow(TypedDict):
    period: NotRequired[str]
    brand: NotRequired[str | None]
    category: NotRequired[str | None]
    channel: NotRequired[str | None]
    basis: NotRequired[Literal["sales", "assortment"]]
    items: NotRequired[int]
    units: NotRequired[int | None]
    items_covered: NotRequired[float | None]
    items_measured: NotRequired[float | None]
    measured_items: NotRequired[int]
    modelled_items: NotRequired[int]
    category_average_items: NotRequired[int]
    co2e_kg: NotRequired[float | None]
    water_l: NotRequired[float | None]
    waste_kg: NotRequired[float | None]
    land_use_m2a: NotRequired[float | None]
    acidification_kg_so2e: NotRequired[float | None]
    freshwater_eutrophication_kg_pe: NotRequired[float | None]
    marine_eutrophication_kg_ne: NotRequired[float | None]
    co2e_kg_low: NotRequired[float | None]
    co2e_kg_central: NotRequired[float | None]
    co2e_kg_high: NotRequired[float | None]
    water_l_low: NotRequired[float | None]
    water_l_central: NotRequired[float | None]
    water_l_high: NotRequired[float | None]
    waste_kg_low: NotRequired[float | None]
    waste_kg_central: NotRequired[float | None]
    waste_kg_high: NotRequired[float | None]
    land_use_m2a_low: NotRequired[float | None]
    land_use_m2a_central: NotRequired[float | None]
    land_use_m2a_high: NotRequired[float | None]
    acidification_kg_so2e_low: NotRequired[float | None]
    acidification_kg_so2e_central: NotRequired[float | None]
    acidification_kg_so2e_high: NotRequired[float | None]
    freshwater_eutrophication_kg_pe_low: NotRequired[float | None]
    freshwater_eutrophication_kg_pe_central: NotRequired[float | None]
    freshwater_eutrophication_kg_pe_high: NotRequired[float | None]
    marine_eutrophication_kg_ne_low: NotRequired[float | None]
    marine_eutrophication_kg_ne_central: NotRequired[float | None]
    marine_eutrophication_kg_ne_high: NotRequired[float | None]
    contributors: NotRequired[list["Contributor"]]
    avoided: NotRequired[list["Avoided"] | None]


class RootAnswer(TypedDict):
    service: str
    version: str
    revision: str
    organization: "OrganizationRef | None"
    credential: str
    plan: str
    entitlements: list[str]
    batch_iids_max: int
    quota: list["QuotaWindow"]
    links: dict[str, str]


class Rotation(TypedDict):
    grace: NotRequired[Literal["none", "1h", "24h"]]


class SearchHit(TypedDict):
    iid: str
    name: str
    brand: "BrandRef | None"
    product_type: str | None
    category: "CategoryRef | None"
    score: float
    matched_on: list[Literal["brand", "product_type", "category", "name", "iid_prefix", "identifier"]]
    all_words: bool
    links: "SelfLink"


class SearchList(TypedDict):
    count: int
    total: "SearchTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["SearchHit"]


class SearchTotal(TypedDict):
    value: int
    relation: Literal["eq", "gte"]
    all_words: int


class SelfLink(TypedDict):
    self: str


class SharingList(TypedDict):
    items: list["SharingObject"]
    nextPageToken: NotRequired[str]


class SharingObject(TypedDict):
    name: str
    share: NotRequired[str]
    schema: NotRequired[str]
    id: NotRequired[str]
    shareId: NotRequired[str]


class SharingProfile(TypedDict):
    shareCredentialsVersion: int
    endpoint: str
    bearerToken: str


class SharingQuery(TypedDict):
    predicateHints: NotRequired[list[str]]
    jsonPredicateHints: NotRequired[str | None]
    limitHint: NotRequired[int | None]
    version: NotRequired[int | None]
    timestamp: NotRequired[str | None]
    startingVersion: NotRequired[int | None]
    endingVersion: NotRequired[int | None]


class SharingShare(TypedDict):
    share: "SharingObject"


class SourceRef(TypedDict):
    source: str
    observed_at: str
    license: str


class StageFigure(TypedDict):
    stage: str
    per_unit: float
    basis: Literal["measured", "modelled"]
    method: str


class Sustainability(TypedDict):
    basis: Literal["measured", "modelled", "category_average"]
    method: str
    samples: int
    co2e_kg: float | None
    water_l: float | None
    waste_kg: float | None
    land_use_m2a: float | None
    acidification_kg_so2e: float | None
    freshwater_eutrophication_kg_pe: float | None
    marine_eutrophication_kg_ne: float | None


SustainabilityMeta = TypedDict(
    "SustainabilityMeta",
    {
        "data_version": int,
        "result_sha256": str,
        "cached": bool,
        "cost_units": int,
        "rows": int,
        "from": str,
        "to": str,
        "coverage": "Coverage",
        "units": dict[str, str],
        "method": str,
        "rounding": NotRequired[dict[str, str]],
        "basis": Literal["sales", "assortment"],
        "displacement": "DisplacementMeta | None",
    },
)


class SustainabilityReport(TypedDict):
    data: list["SustainabilityRow"]
    meta: "SustainabilityMeta"


class SustainabilityRow(TypedDict):
    indicator: Literal[
        "co2e_kg",
        "water_l",
        "waste_kg",
        "land_use_m2a",
        "acidification_kg_so2e",
        "freshwater_eutrophication_kg_pe",
        "marine_eutrophication_kg_ne",
    ]
    unit: str
    per_unit: float | None
    units_observed: int
    cumulative: float | None
    basis: Literal["measured", "modelled", "category_average", None]
    scope: Literal["item", "product_type", "category", None]
    code: str | None
    per_kg: float | None
    weight_kg: float | None
    source: str | None
    license: str | None
    method: str | None
    samples: int | None
    cumulative_basis: Literal["sales", "assortment"]
    low: float | None
    central: float | None
    high: float | None
    cumulative_low: float | None
    cumulative_central: float | None
    cumulative_high: float | None
    interval_from: Literal["source", "samples", "pedigree", None]
    avoided_low: float | None
    avoided: float | None
    avoided_high: float | None
    stages: list["StageFigure"]


class TopBrand(TypedDict):
    brand: NotRequired[str]
    name: NotRequired[str]
    observations: NotRequired[int]
    share: NotRequired[float | None]
    median: NotRequired[str | None]


class UnitPrice(TypedDict):
    days: Literal[7, 30, 90, 365]
    currency: str
    original_currency: NotRequired[str]
    kind: Literal["listing", "sale"]
    per: Literal["kg", "l", "piece"]
    content: str
    read_in: str
    low: str | None
    median: str | None
    high: str | None


class UsageList(TypedDict):
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
    data: list["UsageRow"]


class UsageRow(TypedDict):
    day: str
    endpoint: str
    outcome: str
    credential: str
    calls: int
    units: int


UsedRate = TypedDict(
    "UsedRate",
    {
        "from": str,
        "day": str,
        "rate_day": str,
        "from_per_euro": str,
        "to_per_euro": str,
    },
)


class Watch(TypedDict):
    id: str
    label: str | None
    target: Literal["article", "brand", "category"]
    code: str
    condition: Literal["below", "index-moved", "new-low", "returned"]
    kind: Literal["listing", "sale"]
    amount: str | None
    currency: str | None
    days: int | None
    percent: float | None
    created_at: str
    paused_at: str | None


class WatchChange(TypedDict):
    paused: bool


class WatchList(TypedDict):
    data: list["Watch"]
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int


class Webhook(TypedDict):
    id: str
    url: str
    types: list[str] | None
    state: Literal["active", "disabled", "retrying"]
    disabled_reason: str | None
    failures: int
    next_attempt_at: str | None
    pending: int
    cursor: str
    secret: str | None
    secret_before_ends: str | None
    created_at: str


class WebhookList(TypedDict):
    data: list["Webhook"]
    count: int
    total: "PageTotal"
    next_cursor: str | None
    query: dict[str, Any]
    data_version: int
