"""Types of what the client takes and returns, made by `make clients`; answers may have more members."""

# ruff: noqa: E501 - the sentences are those of the document

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, Literal, NotRequired, Required, TypeAlias, TypedDict, TypeVar

T = TypeVar("T")
Several: TypeAlias = T | Sequence[T]
DecimalText = Annotated[str, "decimal"]
DateText = Annotated[str, "date"]
TimeText = Annotated[str, "date-time"]


class AggregateIndexRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    category: NotRequired[str]
    parent: NotRequired[str | None]
    currency: NotRequired[str]
    kind: NotRequired[Literal["listing", "sale"]]
    weight: NotRequired[float | None]
    index: NotRequired[float | None]
    change: NotRequired[float | None]
    contribution: NotRequired[float | None]
    change_year: NotRequired[float | None]
    contribution_year: NotRequired[float | None]
    imputed: NotRequired[bool]
    share_imputed: NotRequired[float | None]
    items: NotRequired[int]


class ArticleMatch(TypedDict):
    iids: list[str]
    kind: Literal["identifier", "likeness", "review", "merge"]
    score: float | None
    evidence: list["MatchEvidence"]
    since: TimeText | None


class ArticleMember(TypedDict):
    iid: str
    source: str
    id: str
    name: str | None
    identifiers: list["Identifier"]


class AvailabilityRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    brand: NotRequired[str | None]
    category: NotRequired[str | None]
    channel: NotRequired[str | None]
    kind: NotRequired[Literal["listing", "sale", "both"]]
    items: NotRequired[int]
    observed_days: NotRequired[int]
    item_days: NotRequired[int]
    missing_days: NotRequired[int]
    share_seen: NotRequired[float | None]
    share_seen_low: NotRequired[float | None]
    share_seen_high: NotRequired[float | None]
    first_day: NotRequired[DateText | None]
    last_day: NotRequired[DateText | None]
    new_items: NotRequired[int | None]
    gone_items: NotRequired[int | None]
    overlaps: NotRequired[list["Overlap"]]


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
    median: NotRequired[DecimalText | None]
    category_median: NotRequired[DecimalText | None]
    against_category: NotRequired[float | None]


class BrandEntry(TypedDict):
    id: int
    name: str
    slug: str
    item_count: int
    top_categories: list[str]
    channels: list[str]
    first_seen_on: DateText | None
    updated_at: TimeText


class BrandRef(TypedDict):
    id: int
    name: str
    slug: str


class BrandRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    currency: NotRequired[str]
    original_currency: NotRequired[str]
    unit: NotRequired[Literal["kg", "l", "piece", "m"]]
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
    brand: NotRequired[str]
    name: NotRequired[str]
    channel: NotRequired[str]
    rank: NotRequired[int]
    rank_before: NotRequired[int | None]
    ranked: NotRequired[int]
    percentile: NotRequired[float]
    median: NotRequired[DecimalText | None]
    median_change: NotRequired[float | None]
    against_categories: NotRequired[float | None]
    categories: NotRequired[list["BrandCategory"]]
    peers: NotRequired[list["Peer"]]


class ByteLimit(TypedDict):
    limit: int
    used: int


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


class CategoryRef(TypedDict):
    code: str
    path: list[str]


class CategoryRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    currency: NotRequired[str]
    original_currency: NotRequired[str]
    unit: NotRequired[Literal["kg", "l", "piece", "m"]]
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
    category: NotRequired[str]
    path: NotRequired[list[str]]
    channel: NotRequired[str]
    median: NotRequired[DecimalText | None]
    median_before: NotRequired[DecimalText | None]
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
    last_seen_on: DateText


class ChannelMedian(TypedDict):
    channel: NotRequired[str]
    items: NotRequired[int]
    observations: NotRequired[int]
    share: NotRequired[float | None]
    median: NotRequired[DecimalText | None]


class ChannelSeen(TypedDict):
    channel: str
    listings: int
    sales: int
    last_seen_on: DateText


class ChannelShare(TypedDict):
    channel: NotRequired[str]
    observations: NotRequired[int]
    share: NotRequired[float | None]


class CohortRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    brand: NotRequired[str | None]
    category: NotRequired[str | None]
    channel: NotRequired[str | None]
    currency: NotRequired[str]
    original_currency: NotRequired[str]
    unit: NotRequired[Literal["kg", "l", "piece", "m"]]
    kind: NotRequired[Literal["listing", "sale", "both"]]
    items: NotRequired[int]
    observations: NotRequired[int]
    set_aside: NotRequired[int]
    list_price_n: NotRequired[int]
    promotion_share: NotRequired[float | None]
    discount_mean: NotRequired[float | None]
    discount_median: NotRequired[float | None]
    price_n: NotRequired[int]
    mean: NotRequired[DecimalText | None]
    stddev: NotRequired[DecimalText | None]
    p10: NotRequired[DecimalText | None]
    p25: NotRequired[DecimalText | None]
    p50: NotRequired[DecimalText | None]
    p75: NotRequired[DecimalText | None]
    p90: NotRequired[DecimalText | None]
    min: NotRequired[DecimalText | None]
    max: NotRequired[DecimalText | None]
    channels: NotRequired[list["ChannelShare"]]
    first_day: NotRequired[DateText]
    last_day: NotRequired[DateText]


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


class DatasetColumn(TypedDict):
    name: str
    type: str
    nullable: bool
    description: str


class Event(TypedDict):
    id: str
    cursor: str
    type: str
    timestamp: TimeText
    data: dict[str, Any]


class EvidenceDay(TypedDict):
    day: DateText
    price: DecimalText


class Export(TypedDict):
    id: str
    kind: str
    state: Literal["queued", "running", "succeeded", "failed", "cancelled", "expired"]
    progress: "JobProgress"
    attempt: int
    data_version: int | None
    cost_units: int
    created_at: TimeText
    started_at: TimeText | None
    finished_at: TimeText | None
    expires_at: TimeText | None
    result: "JobResult | None"
    error: "Problem | None"
    links: "JobLinks"
    request: dict[str, Any]
    manifest: "ExportManifest | None"


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
        "from": NotRequired[DateText],
        "to": NotRequired[DateText],
    },
)


class ExportLimits(TypedDict):
    stored_bytes: "ByteLimit"


class ExportManifest(TypedDict):
    dataset: str
    schema: list["DatasetColumn"]
    format: str
    compression: str
    media_type: str
    data_version: int
    since: int | None
    months: list[DateText]
    all_months: bool
    formula_prefix: str | None
    created_at: TimeText
    expires_at: TimeText
    signed_until: TimeText
    rows: int
    bytes: int
    files: list["ExportFile"]


class Follower(TypedDict):
    channel: NotRequired[str]
    matched_items: NotRequired[int]
    moves: NotRequired[int]
    followed: NotRequired[int]
    share_followed: NotRequired[float | None]
    days_median: NotRequired[float | None]


class FootprintAssumption(TypedDict):
    scope: NotRequired[Literal["item", "product_type", "category", None]]
    code: NotRequired[str | None]
    weight_basis: NotRequired[Literal["as_sold", "as_consumed", "dry", None]]
    source: NotRequired[str | None]
    method: NotRequired[str | None]
    items: NotRequired[int]
    share: NotRequired[float | None]
    variance_share: NotRequired[float | None]


class FootprintComparisonRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    brand: NotRequired[str | None]
    category: NotRequired[str | None]
    channel: NotRequired[str | None]
    indicator: NotRequired[
        Literal[
            "co2e_kg",
            "water_l",
            "waste_kg",
            "land_use_m2a",
            "acidification_kg_so2e",
            "freshwater_eutrophication_kg_pe",
            "marine_eutrophication_kg_ne",
        ]
    ]
    basis: NotRequired[Literal["sales", "assortment"]]
    items: NotRequired[int]
    units: NotRequired[int | None]
    items_with_figure: NotRequired[int]
    footprint: NotRequired[float | None]
    footprint_low: NotRequired[float | None]
    footprint_central: NotRequired[float | None]
    footprint_high: NotRequired[float | None]
    per_unit: NotRequired[float | None]
    per_kg: NotRequired[list["FootprintPerKg"]]
    per_money: NotRequired[list["FootprintPerMoney"]]
    stages: NotRequired[list["FootprintStage"]]
    pedigree_share: NotRequired[float | None]
    reliability: NotRequired[float | None]
    completeness: NotRequired[float | None]
    temporal: NotRequired[float | None]
    geographical: NotRequired[float | None]
    technology: NotRequired[float | None]
    year_share: NotRequired[float | None]
    year_first: NotRequired[int | None]
    year_last: NotRequired[int | None]
    assumptions: NotRequired[list["FootprintAssumption"]]
    compared_with: NotRequired[DateText | None]
    footprint_before: NotRequired[float | None]
    change: NotRequired[float | None]
    volume: NotRequired[float | None]
    mix: NotRequired[float | None]
    intensity: NotRequired[float | None]


class FootprintPerKg(TypedDict):
    weight_basis: NotRequired[Literal["as_sold", "as_consumed", "dry"]]
    items: NotRequired[int]
    weight_kg: NotRequired[float | None]
    footprint: NotRequired[float | None]
    per_kg: NotRequired[float | None]


class FootprintPerMoney(TypedDict):
    currency: NotRequired[str]
    items: NotRequired[int]
    value: NotRequired[float | None]
    footprint: NotRequired[float | None]
    per_money: NotRequired[float | None]


class FootprintStage(TypedDict):
    stage: NotRequired[str | None]
    sum: NotRequired[float | None]


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
    as_of: NotRequired[DateText | None]


class IdentifierRef(TypedDict):
    scheme: Literal["gtin", "mpn", "sku", "url"]
    value: str


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
    first_seen_on: DateText
    updated_at: TimeText
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
    created_at: TimeText
    started_at: TimeText | None
    finished_at: TimeText | None
    expires_at: TimeText | None
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


class LookupEntry(TypedDict):
    iid: str
    status: int
    record: "Item | None"
    survivor: str | None
    problem: str | None
    unit_price: NotRequired["UnitPriceOfItem | None"]


class ManifestLinks(TypedDict):
    self: str
    keys: str
    croissant: str
    schema_org: str
    dcat: str


class ManifestSignature(TypedDict):
    algorithm: str
    key_id: str
    value: str


class MatchEvidence(TypedDict):
    field: str
    left: str
    right: str
    agrees: bool


class NewExport(TypedDict):
    dataset: Literal[
        "items",
        "observations",
        "impacts",
        "brands",
        "categories",
        "merged",
        "items_changes",
        "observations_changes",
        "impacts_changes",
        "brands_changes",
        "categories_changes",
        "merged_changes",
        "training_pairs_changes",
        "cards_changes",
    ]
    columns: NotRequired[list[str] | None]
    filter: NotRequired["ExportFilter"]
    since: NotRequired[int | None]
    until: NotRequired[int | None]
    format: NotRequired[Literal["parquet", "csv", "ndjson", "arrow"]]
    compression: NotRequired[Literal["gzip", "none", "zstd", None]]


class OfferStart(TypedDict):
    weekday: NotRequired[str]
    offers: NotRequired[int]
    share: NotRequired[float | None]


class Overlap(TypedDict):
    channel: NotRequired[str]
    items: NotRequired[int]
    jaccard: NotRequired[float | None]
    share: NotRequired[float | None]
    share_of_other: NotRequired[float | None]


class ParameterFault(TypedDict):
    parameter: str
    detail: str
    value: NotRequired[str]


class Peer(TypedDict):
    brand: NotRequired[str]
    name: NotRequired[str]
    items: NotRequired[int]
    observations: NotRequired[int]
    median: NotRequired[DecimalText | None]


PriceBand = TypedDict(
    "PriceBand",
    {
        "currency": str,
        "kind": Literal["listing", "sale"],
        "low": DecimalText,
        "median": DecimalText,
        "high": DecimalText,
        "observations": int,
        "set_aside": int,
        "from": DateText,
        "to": DateText,
    },
)


class PriceChangesRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    brand: NotRequired[str | None]
    category: NotRequired[str | None]
    channel: NotRequired[str]
    currency: NotRequired[str]
    kind: NotRequired[Literal["listing", "sale"]]
    items: NotRequired[int]
    comparisons: NotRequired[int]
    changed_items: NotRequired[int]
    changes: NotRequired[int]
    increases: NotRequired[int]
    decreases: NotRequired[int]
    offer_changes: NotRequired[int]
    share_changed: NotRequired[float | None]
    share_changed_low: NotRequired[float | None]
    share_changed_high: NotRequired[float | None]
    days_between_changes: NotRequired[float | None]
    increase_median: NotRequired[float | None]
    decrease_median: NotRequired[float | None]
    size_p10: NotRequired[float | None]
    size_p25: NotRequired[float | None]
    size_p50: NotRequired[float | None]
    size_p75: NotRequired[float | None]
    size_p90: NotRequired[float | None]
    matched_changes: NotRequired[int]
    first_moves: NotRequired[int]
    joint_moves: NotRequired[int]
    following_moves: NotRequired[int]
    share_first: NotRequired[float | None]
    share_first_low: NotRequired[float | None]
    share_first_high: NotRequired[float | None]
    followers: NotRequired[list["Follower"]]


class PriceIndexRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    currency: NotRequired[str]
    original_currency: NotRequired[str]
    unit: NotRequired[Literal["kg", "l", "piece", "m"]]
    kind: NotRequired[Literal["listing", "sale"]]
    index: NotRequired[float | None]
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    items: NotRequired[int]
    set_aside: NotRequired[int]
    matched_items: NotRequired[int | None]
    matched_prices: NotRequired[int | None]
    share_matched: NotRequired[float | None]
    new_items: NotRequired[int | None]
    vanished_items: NotRequired[int | None]
    compared_with: NotRequired[DateText | None]
    median: NotRequired[DecimalText | None]
    median_index: NotRequired[float | None]


class PricePositionRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    brand: NotRequired[str | None]
    category: NotRequired[str | None]
    channel: NotRequired[str]
    iid: NotRequired[str]
    currency: NotRequired[str]
    original_currency: NotRequired[str]
    kind: NotRequired[Literal["listing", "sale"]]
    items: NotRequired[int]
    price: NotRequired[DecimalText | None]
    matched_items: NotRequired[int]
    gap: NotRequired[float | None]
    gap_low: NotRequired[float | None]
    gap_high: NotRequired[float | None]
    compared_items: NotRequired[int]
    gap_to_cheapest: NotRequired[float | None]
    gap_to_cheapest_low: NotRequired[float | None]
    gap_to_cheapest_high: NotRequired[float | None]
    cheapest_items: NotRequired[int]
    tied_items: NotRequired[int]
    share_cheapest: NotRequired[float | None]
    share_cheapest_low: NotRequired[float | None]
    share_cheapest_high: NotRequired[float | None]


class PricingRow(TypedDict):
    day: DateText
    channel: str
    kind: Literal["listing", "sale"]
    currency: str
    original_currency: NotRequired[str]
    low: DecimalText
    median: DecimalText
    high: DecimalText
    close: DecimalText | None
    n: int


class PriorPriceRow(TypedDict):
    channel: str
    currency: str
    original_currency: NotRequired[str]
    as_of: DateText
    price: DecimalText | None
    reduction_began_on: DateText | None
    prior_price: DecimalText | None
    percent: DecimalText | None
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
    at_most: DecimalText | None
    lowest_on: list[DateText]
    evidence: list["EvidenceDay"]


class Problem(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: NotRequired[list["ParameterFault"]]


class PromotionsRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    brand: NotRequired[str | None]
    category: NotRequired[str | None]
    channel: NotRequired[str | None]
    currency: NotRequired[str]
    rule: NotRequired[Literal["list_price", "return", "prior_price"]]
    items: NotRequired[int]
    item_days: NotRequired[int]
    item_days_on_offer: NotRequired[int]
    share_on_offer: NotRequired[float | None]
    share_on_offer_low: NotRequired[float | None]
    share_on_offer_high: NotRequired[float | None]
    items_on_offer: NotRequired[int]
    offers: NotRequired[int]
    offers_per_item: NotRequired[float | None]
    depth_mean: NotRequired[float | None]
    depth_mean_low: NotRequired[float | None]
    depth_mean_high: NotRequired[float | None]
    depth_median: NotRequired[float | None]
    offers_ended: NotRequired[int]
    duration_median: NotRequired[float | None]
    starts: NotRequired[list["OfferStart"]]


class QuotaAnswer(TypedDict):
    counted_as: str
    plan: str
    limits: list["QuotaWindow"]
    jobs: "JobLimits | None"
    exports: "ExportLimits | None"


class QuotaWindow(TypedDict):
    policy: str
    window_seconds: int
    limit: int
    used: int
    remaining: int
    resets_at: TimeText | None


class Quote(TypedDict):
    kind: str
    cost_units: int
    cached: bool
    format: str
    data_version: int
    parameters: NotRequired[dict[str, Any]]


class ReductionRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    brand: NotRequired[str | None]
    category: NotRequired[str | None]
    channel: NotRequired[str | None]
    currency: NotRequired[str]
    items: NotRequired[int]
    announced: NotRequired[int]
    holding: NotRequired[int]
    overstated: NotRequired[int]
    not_below: NotRequired[int]
    undecided: NotRequired[int]
    share_holding: NotRequired[float | None]
    share_holding_low: NotRequired[float | None]
    share_holding_high: NotRequired[float | None]


class ReleaseFile(TypedDict):
    name: str
    url: str
    signed_url: str
    rows: int
    bytes: int
    sha256: str
    min_key: str
    max_key: str


class ReleaseManifest(TypedDict):
    dataset: str
    schema: list["DatasetColumn"]
    data_version: int
    since: NotRequired[int]
    created_at: TimeText
    expires_at: TimeText
    signed_until: TimeText
    rows: int
    bytes: int
    files: list["ReleaseFile"]
    signature: "ManifestSignature | None"
    links: "ManifestLinks"


class ResolveEntry(TypedDict):
    identifier: "IdentifierRef | None"
    status: int
    record: "Item | None"
    candidates: list["Candidate"]
    problem: str | None
    detail: str | None


class RollupRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
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
    stages: NotRequired[list["StageSum"]]


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
    price_band: NotRequired["PriceBand | None"]
    unit_price: NotRequired["UnitPriceOfItem | None"]
    identifiers: NotRequired[list["Identifier"] | None]
    attributes: NotRequired[dict[str, Any] | None]
    channels: NotRequired[list["ChannelSeen"] | None]


class SeasonsRow(TypedDict):
    period: NotRequired[DateText]
    partial_period: NotRequired[bool]
    currency: NotRequired[str]
    kind: NotRequired[Literal["listing", "sale"]]
    index: NotRequired[float | None]
    adjusted_index: NotRequired[float | None]
    change: NotRequired[float | None]
    adjusted_change: NotRequired[float | None]
    factor: NotRequired[float | None]
    factor_low: NotRequired[float | None]
    factor_high: NotRequired[float | None]
    seasonal: NotRequired[bool | None]
    p_value: NotRequired[float | None]
    months: NotRequired[int]
    items: NotRequired[int]
    matched_items: NotRequired[int | None]


class SelfLink(TypedDict):
    self: str


class SourceRef(TypedDict):
    source: str
    observed_at: TimeText
    license: str


class StageFigure(TypedDict):
    stage: str
    per_unit: float
    basis: Literal["measured", "modelled"]
    method: str


class StageSum(TypedDict):
    indicator: Literal[
        "co2e_kg",
        "water_l",
        "waste_kg",
        "land_use_m2a",
        "acidification_kg_so2e",
        "freshwater_eutrophication_kg_pe",
        "marine_eutrophication_kg_ne",
    ]
    stage: str | None
    sum: float


class SuggestionEntry(TypedDict):
    kind: Literal["brand", "category", "item"]
    value: str
    name: str
    context: str | None
    items: int | None


class Sustainability(TypedDict):
    basis: Literal["measured", "modelled", "category_average"]
    method: str
    samples: int
    pedigree: str | None
    reference_year: int | None
    co2e_kg: float | None
    water_l: float | None
    waste_kg: float | None
    land_use_m2a: float | None
    acidification_kg_so2e: float | None
    freshwater_eutrophication_kg_pe: float | None
    marine_eutrophication_kg_ne: float | None


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
    weight_basis: Literal["as_sold", "as_consumed", "dry", None]
    as_of: DateText | None
    pedigree: str | None
    reference_year: int | None


class TopBrand(TypedDict):
    brand: NotRequired[str]
    name: NotRequired[str]
    items: NotRequired[int]
    observations: NotRequired[int]
    share: NotRequired[float | None]
    median: NotRequired[DecimalText | None]


class UnitPriceOfItem(TypedDict):
    currency: str
    per: Literal["kg", "l", "piece", "m"]
    amount: DecimalText


class GetAggregateIndexQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[Literal["month", "quarter", "year"], "Length of a period; default: month"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    weights: Required[
        Annotated[
            str, "Your table of weights, uploaded with PUT /weights/{name}; `name@version` for an earlier version"
        ]
    ]
    kind: Annotated[
        Literal["listing", "sale"],
        "Prices to include: listings or sales; default: sales for methods that weight by units, otherwise listings if there are any",
    ]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]
    method: Annotated[
        Literal[
            "jevons",
            "dutot",
            "carli",
            "harmonic",
            "cswd",
            "laspeyres",
            "paasche",
            "fisher",
            "tornqvist",
            "walsh",
            "geks-jevons",
            "geks-fisher",
            "geks-tornqvist",
            "geks-walsh",
            "tpd",
            "geary-khamis",
        ],
        "Index formula of the elementary indices; default: jevons",
    ]
    window: Annotated[int, "Periods in the window; for geks-*, tpd and geary-khamis; default: all with data; 2 to 400"]
    splice: Annotated[
        Literal[
            "movement", "window", "half", "mean", "window-published", "half-published", "mean-published", "fbew", "fbmw"
        ],
        "How later periods are linked; default: mean",
    ]
    match: Annotated[
        Literal["channel", "item"],
        "What is matched: an item in the same channel, or over all channels; default: channel",
    ]


class GetAvailabilityQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[
        Literal["day", "week", "month"], "Length of a period; default: the whole range is one period"
    ]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    group_by: Annotated[Several[Literal["brand", "category"]], "Group by; repeat for a second one; up to 2 values"]
    kind: Annotated[
        Literal["listing", "sale", "both"],
        "Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings",
    ]


class GetBrandInsightsQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[
        Literal["day", "week", "month"], "Length of a period; default: the whole range is one period"
    ]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    convert: Annotated[str, "Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion"]
    rates: Annotated[str, "Table of exchange rates"]
    measure: Annotated[
        Literal["price", "unit_price"],
        "What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price",
    ]
    unit: Annotated[
        Literal["kg", "l", "piece", "m"],
        "With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out",
    ]
    kind: Annotated[
        Literal["listing", "sale", "both"],
        "Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings",
    ]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]
    group_by: Annotated[Several[Literal["channel"]], "Separate rows for each channel; one value"]


GetCategoryInsightsQuery = GetBrandInsightsQuery


class GetCohortsQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[Literal["day", "week", "month"], "Length of a period; default: month"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    convert: Annotated[str, "Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion"]
    rates: Annotated[str, "Table of exchange rates"]
    measure: Annotated[
        Literal["price", "unit_price"],
        "What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price",
    ]
    unit: Annotated[
        Literal["kg", "l", "piece", "m"],
        "With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out",
    ]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    group_by: Annotated[
        Several[Literal["brand", "category", "channel"]], "Group by; repeat for a second one; up to 2 values"
    ]
    kind: Annotated[
        Literal["listing", "sale", "both"],
        "Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings",
    ]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]


class GetFootprintComparisonQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[Literal["day", "week", "month", "quarter", "year"], "Length of a period; default: month"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    group_by: Annotated[
        Several[Literal["brand", "category", "channel"]], "Group by; repeat for a second one; up to 2 values"
    ]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    basis: Annotated[
        Literal["sales", "assortment"],
        "Count each unit sold, or each item once; default: sales if there are any, otherwise the assortment",
    ]
    indicator: Annotated[
        Literal[
            "co2e_kg",
            "water_l",
            "waste_kg",
            "land_use_m2a",
            "acidification_kg_so2e",
            "freshwater_eutrophication_kg_pe",
            "marine_eutrophication_kg_ne",
        ],
        "Indicator, such as water_l; default: co2e_kg",
    ]
    mix: Annotated[Literal["category", "brand"], "What the mix is of; default: category"]


class GetPriceChangesQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[Literal["day", "week", "month", "quarter", "year"], "Length of a period; default: month"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    group_by: Annotated[Several[Literal["brand", "category"]], "Group by; repeat for a second one; up to 2 values"]
    kind: Annotated[
        Literal["listing", "sale"],
        "Prices to follow: listings or sales; default: sales if there are only sales, otherwise listings",
    ]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]
    offers: Annotated[Literal["include", "exclude"], "Whether changes of offers count; default: include"]
    offer_days: Annotated[int, "Days of an offer at most; default: 30; 1 to 180"]
    follow_days: Annotated[int, "Days in which a channel follows; default: 7; 1 to 90"]


class GetPriceIndexQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[Literal["day", "week", "month", "quarter", "year"], "Length of a period; default: month"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    convert: Annotated[str, "Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion"]
    rates: Annotated[str, "Table of exchange rates"]
    measure: Annotated[
        Literal["price", "unit_price"],
        "What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price",
    ]
    unit: Annotated[
        Literal["kg", "l", "piece", "m"],
        "With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out",
    ]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    kind: Annotated[
        Literal["listing", "sale"],
        "Prices to include: listings or sales; default: sales for methods that weight by units, otherwise listings if there are any",
    ]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]
    method: Annotated[
        Literal[
            "jevons",
            "dutot",
            "carli",
            "harmonic",
            "cswd",
            "laspeyres",
            "paasche",
            "fisher",
            "tornqvist",
            "walsh",
            "geks-jevons",
            "geks-fisher",
            "geks-tornqvist",
            "geks-walsh",
            "tpd",
            "geary-khamis",
        ],
        "Index formula; common aliases such as ccdi are accepted; default: geks-jevons",
    ]
    window: Annotated[int, "Periods in the window; for geks-*, tpd and geary-khamis; default: all with data; 2 to 400"]
    splice: Annotated[
        Literal[
            "movement", "window", "half", "mean", "window-published", "half-published", "mean-published", "fbew", "fbmw"
        ],
        "How later periods are linked; default: mean",
    ]
    match: Annotated[
        Literal["channel", "item"],
        "What is matched; `channel`: each item with itself in the same channel; `item`: each item over all channels, whose mix then moves the index too; default: channel",
    ]


class GetPricePositionQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[Literal["day", "week", "month", "quarter", "year"], "Length of a period; default: month"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    convert: Annotated[str, "Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion"]
    rates: Annotated[str, "Table of exchange rates"]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    group_by: Annotated[
        Several[Literal["brand", "category", "item"]], "Group by; repeat for a second one; up to 2 values"
    ]
    kind: Annotated[
        Literal["listing", "sale"],
        "Prices to compare: listings or sales; default: sales if there are only sales, otherwise listings",
    ]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]
    base_channel: Annotated[str, "Channel that `gap` compares with; default: none, and `gap` is null"]


class GetPricingQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: a range of 90 days; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; default: the last day with data, or `from`; YYYY-MM-DD"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    convert: Annotated[str, "Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion"]
    rates: Annotated[str, "Table of exchange rates"]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    kind: Annotated[
        Literal["listing", "sale"], "Only listings or only sales; default: both, in separate rows and statistics"
    ]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]


class GetPriorPriceQuery(TypedDict, total=False):
    convert: Annotated[str, "Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion"]
    rates: Annotated[str, "Table of exchange rates"]
    progressive: Annotated[
        bool,
        "Whether Art. 6a(5) applies; a reduction in several steps is then compared with the price before its first step; if absent, it is left undecided; true or false",
    ]
    progressive_days: Annotated[
        int, "Days after the first step; with `progressive=true`, further steps within them count; 1 to 366"
    ]
    asked_on: Annotated[str | date, "Date to evaluate; default: each channel's last observed day; YYYY-MM-DD"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; default: they do, because every observed price does"
    ]
    first_offered: Annotated[
        str | date,
        "Day on which the item was first offered, if the market applies Art. 6a(4): fewer than 30 days may then suffice; YYYY-MM-DD",
    ]


class GetPromotionsQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[
        Literal["day", "week", "month"], "Length of a period; default: the whole range is one period"
    ]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    group_by: Annotated[Several[Literal["brand", "category"]], "Group by; repeat for a second one; up to 2 values"]
    rule: Annotated[Literal["list_price", "return", "prior_price"], "How offers are recognized; default: list_price"]
    offer_days: Annotated[int, "Days of an offer at most; only with `rule=return`; default: 30; 1 to 180"]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; default: they do, because every observed price does"
    ]


class GetReductionsQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[
        Literal["day", "week", "month"], "Length of a period; default: the whole range is one period"
    ]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    progressive: Annotated[
        bool,
        "Whether Art. 6a(5) applies; a reduction in several steps is then compared with the price before its first step; if absent, it is left undecided; true or false",
    ]
    progressive_days: Annotated[
        int, "Days after the first step; with `progressive=true`, further steps within them count; 1 to 366"
    ]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    group_by: Annotated[Several[Literal["brand", "category"]], "Group by; repeat for a second one; up to 2 values"]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; default: they do, because every observed price does"
    ]


class GetSeasonsQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: ten years before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[Literal["month"], "Length of a period; always a month; default: month"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    kind: Annotated[Literal["listing", "sale"], "Prices to include; default: listings if there are any"]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]


class GetSustainabilityQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: a range of 90 days; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; default: the last day with data, or `from`; YYYY-MM-DD"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    displacement: Annotated[
        Literal["resale", "repair"], "Add the impact avoided by sales; at WRAP's displacement rate for resale or repair"
    ]
    displacement_rate: Annotated[float, "New items displaced per unit sold; alternative to `displacement`; 0.0 to 1.0"]


class GetSustainabilityRollupQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[Literal["day", "week", "month"], "Length of a period; default: month"]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    displacement: Annotated[
        Literal["resale", "repair"], "Add the impact avoided by sales; at WRAP's displacement rate for resale or repair"
    ]
    displacement_rate: Annotated[float, "New items displaced per unit sold; alternative to `displacement`; 0.0 to 1.0"]
    group_by: Annotated[
        Several[Literal["brand", "category", "channel"]], "Group by; repeat for a second one; up to 2 values"
    ]
    brand: Annotated[Several[str], "Brand (slug); repeat to select several, within the 8 kB of a URL; up to 100 values"]
    category: Annotated[
        Several[str],
        "Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL; up to 100 values",
    ]
    basis: Annotated[
        Literal["sales", "assortment"],
        "Count each unit sold, or each item once; default: sales if there are any, otherwise the assortment",
    ]


class ListBrandInsightsQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[
        Literal["day", "week", "month"], "Length of a period; default: the whole range is one period"
    ]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    convert: Annotated[str, "Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion"]
    rates: Annotated[str, "Table of exchange rates"]
    measure: Annotated[
        Literal["price", "unit_price"],
        "What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price",
    ]
    unit: Annotated[
        Literal["kg", "l", "piece", "m"],
        "With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out",
    ]
    kind: Annotated[
        Literal["listing", "sale", "both"],
        "Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings",
    ]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]
    sort: Annotated[
        Literal["items", "-items", "observations", "-observations", "brand", "-brand"],
        "Sort order; `-` reverses it; default: -items",
    ]
    limit: Annotated[int, "Entries per page; 1 to 500; default: 50"]
    cursor: Annotated[str, "`next_cursor` of the previous page"]


class ListBrandsQuery(TypedDict, total=False):
    q: Annotated[str, "Beginning of the brand's name"]
    sort: Annotated[
        Literal["name", "items"],
        "Sort order; `name`: by name; `items`: brands with the most items first; default: name",
    ]
    limit: Annotated[int, "Entries per page; 1 to 500; default: 100"]
    cursor: Annotated[str, "`next_cursor` of the previous page"]


class ListCategoriesQuery(TypedDict, total=False):
    parent: Annotated[str, "Only direct children of this category (code)"]
    level: Annotated[int, "Only this level; 1 is the top; 1 to 8"]
    q: Annotated[str, "Beginning of the category's own name"]
    limit: Annotated[int, "Entries per page; 1 to 500; default: 100"]
    cursor: Annotated[str, "`next_cursor` of the previous page"]


class ListCategoryInsightsQuery(TypedDict, total=False):
    from_: Annotated[str | date, "First day; default: 89 days before `to`; YYYY-MM-DD"]
    to: Annotated[str | date, "Last day, inclusive; YYYY-MM-DD"]
    granularity: Annotated[
        Literal["day", "week", "month"], "Length of a period; default: the whole range is one period"
    ]
    channel: Annotated[
        Several[str], "Only this channel; repeat to select several, within the 8 kB of a URL; up to 100 values"
    ]
    currency: Annotated[str, "Only this currency; an ISO 4217 code"]
    convert: Annotated[str, "Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion"]
    rates: Annotated[str, "Table of exchange rates"]
    measure: Annotated[
        Literal["price", "unit_price"],
        "What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price",
    ]
    unit: Annotated[
        Literal["kg", "l", "piece", "m"],
        "With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out",
    ]
    kind: Annotated[
        Literal["listing", "sale", "both"],
        "Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings",
    ]
    outliers: Annotated[
        Literal["exclude", "include"], "Whether outliers count; these are implausible observations; default: exclude"
    ]
    sort: Annotated[
        Literal["items", "-items", "observations", "-observations", "category", "-category"],
        "Sort order; `-` reverses it; default: category",
    ]
    limit: Annotated[int, "Entries per page; 1 to 500; default: 500"]
    cursor: Annotated[str, "`next_cursor` of the previous page"]
    parent: Annotated[str, "Only the children of this category; default: first level"]


class ListChannelsQuery(TypedDict, total=False):
    q: Annotated[str, "Beginning of the channel's code"]
    limit: Annotated[int, "Entries per page; 1 to 500; default: 100"]
    cursor: Annotated[str, "`next_cursor` of the previous page"]


class ListEventsQuery(TypedDict, total=False):
    after: Annotated[int | str, "`cursor` of the last event that you have; default: start at the oldest of 30 days"]
    limit: Annotated[int, "Entries per page; 1 to 1000; default: 100"]
    type: Annotated[
        Several[
            Literal[
                "job.ended",
                "export.ready",
                "release.cut",
                "item.merged",
                "item.split",
                "item.withdrawn",
                "item.restored",
                "watch.fired",
                "outliers.changed",
                "quota.reached",
                "key.rotated",
                "key.revoked",
                "webhook.disabled",
            ]
        ],
        "Only events of this type; repeat to select several; up to 13 values",
    ]


class ListJobsQuery(TypedDict, total=False):
    state: Annotated[Literal["queued", "running", "succeeded", "failed", "cancelled", "expired"], "Only this state"]
    kind: Annotated[
        Literal[
            "aggregate-index",
            "availability",
            "brand-insights",
            "category-insights",
            "cohorts",
            "export",
            "footprint-comparison",
            "match-table",
            "price-changes",
            "price-index",
            "price-position",
            "promotions",
            "reductions",
            "seasons",
            "sustainability-rollup",
        ],
        "Only this kind",
    ]
    limit: Annotated[int, "Entries per page; 1 to 200; default: 50"]
    cursor: Annotated[str, "`next_cursor` of the previous page"]


class ResolveIdentifierQuery(TypedDict, total=False):
    gtin: Annotated[str, "GTIN of 8, 12, 13 or 14 digits; spaces and hyphens between digits are ignored"]
    ean: Annotated[str, "The same as `gtin`"]
    upc: Annotated[str, "UPC-A (12 digits) or UPC-E (8 digits), with number system and check digit"]
    isbn: Annotated[str, "ISBN of 10 or 13 digits"]
    mpn: Annotated[str, "Manufacturer part number; requires `brand`"]
    brand: Annotated[str, "Brand of `mpn`, by name or slug"]
    sku: Annotated[str, "Number assigned by a source; requires `source`"]
    url: Annotated[str, "Address of the item's page at a source"]
    source: Annotated[str, "Only this source; required for codes that shops assign themselves"]
    as_of: Annotated[
        str | date,
        "Item that had the number on this day, of those to which it was given at different times; with a GTIN; YYYY-MM-DD",
    ]
    iid: Annotated[str, "Item identifier"]


class SearchItemsQuery(TypedDict, total=False):
    limit: Annotated[int, "Entries per page; 1 to 50; default: 20"]
    brand: Annotated[str, "Only this brand (slug)"]
    category: Annotated[str, "Only this category (code), including its subcategories"]
    product_type: Annotated[str, "Only this product type"]
    channel: Annotated[str, "Only items observed in this channel (code)"]
    currency: Annotated[str, "Only items with a price in this currency; bounds and orders of prices require it"]
    price_min: Annotated[float, "Lowest `price_band.median`, in units of `currency`; 0.0 to 1000000000000.0"]
    price_max: Annotated[float, "Highest `price_band.median`, in units of `currency`; 0.0 to 1000000000000.0"]
    seen_since: Annotated[str | date, "Only items observed on this day or later; YYYY-MM-DD"]
    sort: Annotated[
        Literal["relevance", "price", "unit_price", "-seen"],
        "Order; all but `relevance` list the items with all words: the cheapest first, by `price_band.median` or by that for a kilogram or litre, or the last observed first; default: relevance",
    ]
    facets: Annotated[
        Several[Literal["brand", "category", "channel"]],
        "Count the hits with all words by these, 20 values of each; up to 3 values",
    ]
    fields: Annotated[
        Several[Literal["price_band", "unit_price", "identifiers", "attributes", "channels"]],
        "Members of the record that hits have too; up to 5 values",
    ]
    verbatim: Annotated[
        bool, "Whether all of `q` is words: no price or quantity is read; true or false; default: false"
    ]
    cursor: Annotated[str, "`next_cursor` of the previous page"]
