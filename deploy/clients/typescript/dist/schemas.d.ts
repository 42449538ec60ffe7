/** Types of the API's documents and queries, made by `make clients`; answers may have more members. */
/** What every analysis says of its rows. */
export interface AnalysisMeta {
    /** The state of the index */
    data_version: number;
    /** Of the rows as NDJSON, whatever the format */
    result_sha256: string;
    /** Whether it had been computed before */
    cached: boolean;
    /** Units that are charged */
    cost_units: number;
    /** Number of rows */
    rows: number;
    /** First day */
    from: string;
    /** Last day */
    to: string;
    coverage: Coverage;
    units: AnalysisMetaUnits;
    /** How it was computed */
    method: string;
    rounding?: AnalysisMetaRounding | undefined;
}
/** To what each rounded field is rounded; a field that is not named is exact */
export type AnalysisMetaRounding = Record<string, string>;
/** The unit of each column */
export type AnalysisMetaUnits = Record<string, string>;
/** What a report says, as JSON; other formats are files. */
export interface AnyResult {
    /** The rows */
    data: Record<string, unknown>[];
    /** What the rows rest on */
    meta: Record<string, unknown>;
}
/** Why two items are one article. */
export interface ArticleMatch {
    /** IIDs of the two items */
    iids: string[];
    /** What links the two items */
    kind: "identifier" | "likeness" | "review" | "merge";
    /** A probability; null where a person decided */
    score: number | null;
    evidence: MatchEvidence[];
    /** When they were linked, UTC */
    since: string | null;
}
/** What one source calls the item: each item of a source that is part of the article. */
export interface ArticleMember {
    /** Item identifier */
    iid: string;
    /** Name of the source */
    source: string;
    /** The source's own id */
    id: string;
    /** Null: the source adds figures alone */
    name: string | null;
    identifiers: Identifier[];
}
/** Attempts of one webhook, the newest first. */
export interface AttemptList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: DeliveryAttempt[];
}
/** One act. */
export interface AuditEntry {
    /** Its id */
    id: string;
    /** When, UTC */
    at: string;
    /** The person or key that did it */
    actor: string;
    /** What was done */
    act: string;
    /** What it was done to */
    subject: string;
}
/** One page of the audit log, the newest first. */
export interface AuditList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: AuditEntry[];
}
/** What the units sold avoid, by one indicator. */
export interface Avoided {
    indicator: Effect;
    /** Displacement rate times the lower bound of the sum */
    low: number;
    /** Displacement rate times the median of the sum */
    central: number;
    /** Displacement rate times the upper bound of the sum */
    high: number;
}
/** What every batch says of itself. */
export interface BatchAnswer {
    /** With `dry_run` only, as the members below */
    kind?: string | undefined;
    /** Format of the answer or file */
    format?: string | undefined;
    /** Whether it had been computed before */
    cached?: boolean | undefined;
    /** Units that are charged */
    cost_units?: number | undefined;
    /** How many are in `data` */
    count: number;
    /** The state of the index */
    data_version?: number | undefined;
}
/** A brand's part in one category. */
export interface BrandCategory {
    /** Code */
    category?: string | null | undefined;
    /** Distinct items */
    items?: number | undefined;
    /** Observations */
    observations?: number | undefined;
    /** Share of the brand's observations */
    share?: number | null | undefined;
    /** Median price of the brand in the category; decimal amount in `currency` */
    median?: string | null | undefined;
    /** Median price of the category; decimal amount in `currency` */
    category_median?: string | null | undefined;
    /** median / category_median */
    against_category?: number | null | undefined;
}
/** One brand. */
export interface BrandEntry {
    /** Its id */
    id: number;
    /** Its name */
    name: string;
    /** Its name in addresses */
    slug: string;
    /** Number of its items */
    item_count: number;
    /** Codes of its largest categories */
    top_categories: string[];
    /** Codes of its channels */
    channels: string[];
    /** Day of its first observation */
    first_seen_on: string | null;
    /** When it changed last, UTC */
    updated_at: string;
}
/** One page of brands. */
export interface BrandList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: BrandEntry[];
}
/** A brand, named. */
export interface BrandRef {
    /** Its id */
    id: number;
    /** Its name */
    name: string;
    /** Its name in addresses */
    slug: string;
}
/** Insights of brands. */
export interface BrandReport {
    data: BrandRow[];
    meta: ReportMeta;
}
/** A brand in one period and currency. */
export interface BrandRow {
    /** First day of the period */
    period?: string | undefined;
    /** ISO 4217 */
    currency?: string | undefined;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** Observations that count */
    kind?: StatisticKind | undefined;
    /** Distinct items */
    items?: number | undefined;
    /** Observations */
    observations?: number | undefined;
    /** Outliers among what was observed; they are in the other figures only if asked for */
    set_aside?: number | undefined;
    /** Observations with a list price */
    list_price_n?: number | undefined;
    /** Share of them whose price is below the list price */
    promotion_share?: number | null | undefined;
    /** Mean of 1 - price / list price over observations on promotion */
    discount_mean?: number | null | undefined;
    /** Median of the same */
    discount_median?: number | null | undefined;
    /** Jevons index of the items that both periods have, less 1; null for `kind=both` */
    index_change?: number | null | undefined;
    /** Lower end of its 95 % bootstrap interval over items */
    index_change_low?: number | null | undefined;
    /** Upper end of it */
    index_change_high?: number | null | undefined;
    /** Share of the period's items that the period before has too */
    share_matched?: number | null | undefined;
    /** Whether `median_change` is outside that interval: the mix moved it, not prices */
    median_disagrees?: boolean | null | undefined;
    /** Slug */
    brand?: string | undefined;
    /** Name */
    name?: string | undefined;
    /** Code; only with `group_by=channel` */
    channel?: string | undefined;
    /** Place by observations among all brands */
    rank?: number | undefined;
    /** The same in the period before */
    rank_before?: number | null | undefined;
    /** Brands that are ranked */
    ranked?: number | undefined;
    /** Percent of brands with fewer observations */
    percentile?: number | undefined;
    /** Median price; decimal amount in `currency` */
    median?: string | null | undefined;
    /** Median price against the period before, 0.1 being a tenth more */
    median_change?: number | null | undefined;
    /** Median price against the medians of its categories */
    against_categories?: number | null | undefined;
    categories?: BrandCategory[] | undefined;
    peers?: Peer[] | undefined;
}
/** One of several items that have an identifier. */
export interface Candidate {
    /** Item identifier */
    iid: string;
    /** Its name */
    name: string;
    brand: BrandRef | null;
    /** Names of its sources */
    sources: string[];
    links: CandidateLinks;
}
/** Where the whole record is. */
export interface CandidateLinks {
    /** Its own address */
    self: string;
}
/** One category of the tree. */
export interface CategoryEntry {
    /** Its code */
    code: string;
    /** The last part of `path` */
    name: string;
    /** Names from the top of the tree */
    path: string[];
    /** Code of the category above */
    parent: string | null;
    /** 1 at the top */
    level: number;
    /** Items of the category itself */
    item_count: number;
    /** Items of it and of all below it */
    item_count_total: number;
    /** Categories right below it */
    children: number;
}
/** One page of categories. */
export interface CategoryList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: CategoryEntry[];
}
/** A category, named. */
export interface CategoryRef {
    /** Its code */
    code: string;
    /** Names from the top of the tree */
    path: string[];
}
/** Insights of categories. */
export interface CategoryReport {
    data: CategoryRow[];
    meta: ReportMeta;
}
/** A category in one period and currency. */
export interface CategoryRow {
    /** First day of the period */
    period?: string | undefined;
    /** ISO 4217 */
    currency?: string | undefined;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** Observations that count */
    kind?: StatisticKind | undefined;
    /** Distinct items */
    items?: number | undefined;
    /** Observations */
    observations?: number | undefined;
    /** Outliers among what was observed; they are in the other figures only if asked for */
    set_aside?: number | undefined;
    /** Observations with a list price */
    list_price_n?: number | undefined;
    /** Share of them whose price is below the list price */
    promotion_share?: number | null | undefined;
    /** Mean of 1 - price / list price over observations on promotion */
    discount_mean?: number | null | undefined;
    /** Median of the same */
    discount_median?: number | null | undefined;
    /** Jevons index of the items that both periods have, less 1; null for `kind=both` */
    index_change?: number | null | undefined;
    /** Lower end of its 95 % bootstrap interval over items */
    index_change_low?: number | null | undefined;
    /** Upper end of it */
    index_change_high?: number | null | undefined;
    /** Share of the period's items that the period before has too */
    share_matched?: number | null | undefined;
    /** Whether `median_change` is outside that interval: the mix moved it, not prices */
    median_disagrees?: boolean | null | undefined;
    /** Code */
    category?: string | undefined;
    /** Names from the top of the tree */
    path?: string[] | undefined;
    /** Code; only with `group_by=channel` */
    channel?: string | undefined;
    /** Median price; decimal amount in `currency` */
    median?: string | null | undefined;
    /** Median price of the period before; decimal amount in `currency` */
    median_before?: string | null | undefined;
    /** median / median_before - 1 */
    median_change?: number | null | undefined;
    /** Observations of the period before */
    observations_before?: number | null | undefined;
    /** Place by observations among categories of equal depth */
    rank?: number | null | undefined;
    /** The same in the period before */
    rank_before?: number | null | undefined;
    /** Categories that are ranked */
    ranked?: number | null | undefined;
    channels?: ChannelMedian[] | undefined;
    top_brands?: TopBrand[] | undefined;
}
/** Query of `changeRole`. */
export interface ChangeRoleQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** One channel. */
export interface ChannelEntry {
    /** Its code */
    code: string;
    /** Prices observed there, listings and sales */
    observations: number;
    /** Day of the newest observation */
    last_seen_on: string;
}
/** One page of channels. */
export interface ChannelList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: ChannelEntry[];
}
/** A channel's part and its median. */
export interface ChannelMedian {
    /** Code */
    channel?: string | undefined;
    /** Observations */
    observations?: number | undefined;
    /** Share of observations */
    share?: number | null | undefined;
    /** Median price; decimal amount in `currency` */
    median?: string | null | undefined;
}
/** Where the item was seen. */
export interface ChannelSeen {
    /** Code of the channel */
    channel: string;
    /** Offers that were seen */
    listings: number;
    /** Day of its newest observation */
    last_seen_on: string;
}
/** A channel's part. */
export interface ChannelShare {
    /** Code */
    channel?: string | undefined;
    /** Observations */
    observations?: number | undefined;
    /** Share of observations */
    share?: number | null | undefined;
}
/** A cohort. */
export interface CohortReport {
    data: CohortRow[];
    meta: ReportMeta;
}
/** A cohort in one period, group and currency. */
export interface CohortRow {
    /** First day of the period */
    period?: string | undefined;
    /** ISO 4217 */
    currency?: string | undefined;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** Observations that count */
    kind?: StatisticKind | undefined;
    /** Distinct items */
    items?: number | undefined;
    /** Observations */
    observations?: number | undefined;
    /** Outliers among what was observed; they are in the other figures only if asked for */
    set_aside?: number | undefined;
    /** Observations with a list price */
    list_price_n?: number | undefined;
    /** Share of them whose price is below the list price */
    promotion_share?: number | null | undefined;
    /** Mean of 1 - price / list price over observations on promotion */
    discount_mean?: number | null | undefined;
    /** Median of the same */
    discount_median?: number | null | undefined;
    /** Slug */
    brand?: string | null | undefined;
    /** Code */
    category?: string | null | undefined;
    /** Code */
    channel?: string | null | undefined;
    /** Prices behind the statistics */
    price_n?: number | undefined;
    /** Arithmetic mean; decimal amount in `currency` */
    mean?: string | null | undefined;
    /** Sample standard deviation; null for a single price; decimal amount in `currency` */
    stddev?: string | null | undefined;
    /** 10th percentile; decimal amount in `currency` */
    p10?: string | null | undefined;
    /** 25th percentile; decimal amount in `currency` */
    p25?: string | null | undefined;
    /** Median; decimal amount in `currency` */
    p50?: string | null | undefined;
    /** 75th percentile; decimal amount in `currency` */
    p75?: string | null | undefined;
    /** 90th percentile; decimal amount in `currency` */
    p90?: string | null | undefined;
    /** Least price; decimal amount in `currency` */
    min?: string | null | undefined;
    /** Highest price; decimal amount in `currency` */
    max?: string | null | undefined;
    channels?: ChannelShare[] | undefined;
    /** First day with data */
    first_day?: string | undefined;
    /** Last day with data */
    last_day?: string | undefined;
}
/** An item that a sum owes much to. */
export interface Contributor {
    indicator: Effect;
    /** IID of the item */
    iid: string;
    /** Its share of the sum */
    share: number;
}
/** How amounts were converted: the table, its source, the rule, and every rate that was used. */
export interface ConversionMeta {
    /** The currency of the answer */
    to: string;
    /** Name of the table of rates */
    rates: string;
    /** Name of the source */
    source: string;
    /** Its address */
    url: string | null;
    /** How it was computed */
    method: string;
    used: UsedRate[];
}
/** How many days of the range hold data. Missing days are missing, never filled in. */
export interface Coverage {
    /** Number of days */
    days: number;
    /** Days with data */
    observed_days: number;
    /** Days without data */
    missing_days: number;
    /** First day with data */
    first: string | null;
    /** Last day with data */
    last: string | null;
}
/** Query of `createExport`. */
export interface CreateExportQuery {
    /** Say what it would cost and hold; charge nothing */
    dry_run?: boolean | undefined;
    /** The same, with ten rows */
    preview?: boolean | undefined;
}
/** The organization, its plan, and the plan that waits for an operator's approval, null if none does. */
export interface CreatedOrganization {
    /** Its id */
    id: string;
    /** Name of the plan */
    plan: string;
    /** The plan that an operator will decide on */
    requested_plan: string | null;
}
/** What cumulative footprints count. */
export type CumulativeBasis = "sales" | "assortment";
/** One column. */
export interface DatasetColumn {
    /** Its name */
    name: string;
    /** Its type */
    type: string;
    /** Whether it may be null */
    nullable: boolean;
    /** What the column holds */
    description: string;
}
/** A dataset in the list. */
export interface DatasetEntry {
    /** Its name */
    name: string;
    /** Title */
    title: string;
    schema: DatasetColumn[];
    /** The order of rows in the files */
    sorted_by: string[];
    latest: ReleaseEntry | null;
    links: DatasetLinks;
}
/** Where the next page begins. */
export interface DatasetLinks {
    /** Where its releases are */
    releases: string;
    /** Where the newest release is */
    latest: string;
}
/** All datasets. */
export interface DatasetList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: DatasetEntry[];
}
/** One attempt to send one event. */
export interface DeliveryAttempt {
    /** Id of the event */
    event_id: string;
    /** Its place in the log */
    cursor: string;
    /** When, UTC */
    at: string;
    /** Status of the receiver's answer */
    status: number | null;
    /** How it ended */
    outcome: "accepted" | "refused" | "redirected" | "timed-out" | "unreachable" | "tls-failed" | "private-address" | "answer-too-large" | "secret-unreadable";
    /** The beginning of the receiver's answer */
    answer: string;
    /** How long the answer took */
    milliseconds: number;
}
/** The links of an article (RFC 9264). */
export interface DigitalLinkset {
    linkset: LinkContext[];
}
/** How many new items each unit displaces, and who states it. */
export interface DisplacementMeta {
    /** Share of purchases that are replaced */
    rate: number;
    /** Where the rate is published */
    citation: string;
}
/** Code of the effect. */
export type Effect = "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne";
/** Something that happened. Types and members of `data` may be added: ignore those that you do not know. */
export interface Event {
    /** The same in the feed and as `webhook-id` */
    id: string;
    /** What `after` takes; larger ones are later */
    cursor: string;
    /** Its type */
    type: string;
    /** When, UTC */
    timestamp: string;
    /** By type; see the guide of events */
    data: Record<string, unknown>;
}
/** One page, the oldest first. `next_cursor` is the `after` of the next page, null where there is none yet. */
export interface EventList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: Event[];
}
/** The lowest price of a day. */
export interface EvidenceDay {
    /** The day */
    day: string;
    /** Decimal amount in `currency` */
    price: string;
}
/** One export with its files, when it is done. */
export interface Export {
    /** Its id */
    id: string;
    /** What is computed */
    kind: string;
    state: JobState;
    progress: JobProgress;
    /** How many times it was begun */
    attempt: number;
    /** The state of the index */
    data_version: number | null;
    /** 0 where it was given back */
    cost_units: number;
    /** RFC 3339, UTC */
    created_at: string;
    /** RFC 3339, UTC */
    started_at: string | null;
    /** RFC 3339, UTC */
    finished_at: string | null;
    /** Until when the result is kept */
    expires_at: string | null;
    result: JobResult | null;
    error: JobError | null;
    links: JobLinks;
    /** What was asked for, in its one spelling */
    request: Record<string, unknown>;
    manifest: ExportManifest | null;
}
/** What an order would cost and hold. `rows_relation` `about`: not counted one by one; `gte`: counting stopped. */
export interface ExportEstimate {
    /** Units that are charged */
    cost_units: number;
    /** Number of rows */
    rows: number;
    /** Whether `rows` is exact, a lower bound or an estimate */
    rows_relation: "eq" | "gte" | "about";
    /** The state of the index */
    data_version: number;
    schema: SchemaColumn[];
    /** What was asked for, in its one spelling */
    request: Record<string, unknown>;
    /** The first rows */
    preview: Record<string, unknown>[] | null;
}
/** One file, whole. `content` is `rows`, or `gone`: items whose rows a copy made before must drop. */
export interface ExportFile {
    /** Its name */
    name: string;
    /** Its address */
    url: string;
    /** For tools that send no header; see `signed_until` */
    signed_url: string;
    /** What the file holds */
    content: "rows" | "gone";
    /** Number of rows */
    rows: number;
    /** Size */
    bytes: number;
    /** SHA-256 of its bytes */
    sha256: string;
    /** First key of the file */
    min_key: string | null;
    /** Last key of the file */
    max_key: string | null;
}
/** What the rows are narrowed to; of several names of one kind, any of them. */
export interface ExportFilter {
    /** Brands (slugs) */
    brand?: string[] | undefined;
    /** Categories (codes) and those below them */
    category?: string[] | undefined;
    /** Channels; only observations have them */
    channel?: string[] | undefined;
    /** First day; only observations have days */
    from?: string | undefined;
    /** Last day, inclusive */
    to?: string | undefined;
}
/** One page of exports, the newest first. */
export interface ExportList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: ListedExport[];
}
/** What was exported. With `since`, rows replace the same items'; observations' only in `months`, or all of them. */
export interface ExportManifest {
    /** Name of the dataset */
    dataset: string;
    schema: SchemaColumn[];
    /** Format of the answer or file */
    format: string;
    /** How the files are compressed */
    compression: string;
    /** Media type */
    media_type: string;
    /** The state of the index */
    data_version: number;
    /** The data_version before the changes */
    since: number | null;
    /** Months with changes; empty where nothing has changed */
    months: string[];
    /** Whether rows replace those of all months; `months` is empty then */
    all_months: boolean;
    /** In CSV, stands before a text cell that begins with = + - @, tab or line break and is no negative number, so that no spreadsheet runs it; take it away for the text itself. Null in other formats. */
    formula_prefix: string | null;
    /** When it was made, UTC */
    created_at: string;
    /** When it ends, UTC */
    expires_at: string;
    /** Until when `signed_url` works, UTC */
    signed_until: string;
    /** Number of rows */
    rows: number;
    /** Size */
    bytes: number;
    files: ExportFile[];
}
/** Where a footprint comes from. */
export type FigureBasis = "measured" | "modelled" | "category_average";
/** Query of `followDigitalLink`. */
export interface FollowDigitalLinkQuery {
    /** `linkset` (or `all`) for all links, or a type of GS1's vocabulary */
    linkType?: string | undefined;
}
/** Query of `getAudit`. */
export interface GetAuditQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** Query of `getBrandInsights`. */
export interface GetBrandInsightsQuery {
    /** First day; default: the last 90 days with data */
    from?: string | undefined;
    /** Last day, inclusive */
    to?: string | undefined;
    /** Length of a period; default: the whole range is one period */
    granularity?: Granularity | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
    convert?: string | undefined;
    /** Table of exchange rates to convert by */
    rates?: string | undefined;
    /** Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any */
    kind?: StatisticKind | undefined;
    /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
    outliers?: OutlierMode | undefined;
    /** Rows for each channel apart */
    group_by?: "channel"[] | undefined;
}
/** Query of `getCategoryInsights`. */
export interface GetCategoryInsightsQuery {
    /** First day; default: the last 90 days with data */
    from?: string | undefined;
    /** Last day, inclusive */
    to?: string | undefined;
    /** Length of a period; default: the whole range is one period */
    granularity?: Granularity | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
    convert?: string | undefined;
    /** Table of exchange rates to convert by */
    rates?: string | undefined;
    /** Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any */
    kind?: StatisticKind | undefined;
    /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
    outliers?: OutlierMode | undefined;
    /** Rows for each channel apart */
    group_by?: "channel"[] | undefined;
}
/** Query of `getCohorts`. */
export interface GetCohortsQuery {
    /** First day; default: the last 90 days with data */
    from?: string | undefined;
    /** Last day, inclusive */
    to?: string | undefined;
    /** Length of a period; default: month */
    granularity?: Granularity | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
    convert?: string | undefined;
    /** Table of exchange rates to convert by */
    rates?: string | undefined;
    /** Brand (slug); repeat for more: any of them */
    brand?: string[] | undefined;
    /** Category (code) and those below it; repeat for more: any of them */
    category?: string[] | undefined;
    /** Group by this; repeat for a second */
    group_by?: ("brand" | "category" | "channel")[] | undefined;
    /** Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any */
    kind?: StatisticKind | undefined;
    /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
    outliers?: OutlierMode | undefined;
}
/** Query of `getOrganization`. */
export interface GetOrganizationQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** Query of `getPriceIndex`. */
export interface GetPriceIndexQuery {
    /** First day; default: the last 90 days with data */
    from?: string | undefined;
    /** Last day, inclusive */
    to?: string | undefined;
    /** Length of a period; default: month */
    granularity?: "day" | "week" | "month" | "quarter" | "year" | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
    convert?: string | undefined;
    /** Table of exchange rates to convert by */
    rates?: string | undefined;
    /** Brand (slug); repeat for more: any of them */
    brand?: string[] | undefined;
    /** Category (code) and those below it; repeat for more: any of them */
    category?: string[] | undefined;
    /** Observations that count; offers seen or sales; default: sales for methods that weight by units, else listings where there are any */
    kind?: ObservationKind | undefined;
    /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
    outliers?: OutlierMode | undefined;
    /** Index formula; usual spellings of it, as ccdi, are the same; default: geks-jevons */
    method?: "jevons" | "dutot" | "carli" | "harmonic" | "cswd" | "laspeyres" | "paasche" | "fisher" | "tornqvist" | "walsh" | "geks-jevons" | "geks-fisher" | "geks-tornqvist" | "geks-walsh" | "tpd" | "geary-khamis" | undefined;
    /** Periods of a window, for geks-*, tpd and geary-khamis; default: all that have data */
    window?: number | undefined;
    /** How a further period is linked to earlier windows; default: mean */
    splice?: "movement" | "window" | "half" | "mean" | "window-published" | "half-published" | "mean-published" | "fbew" | "fbmw" | undefined;
}
/** Query of `getPricing`. */
export interface GetPricingQuery {
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** First day; default: the 90th up to the last */
    from?: string | undefined;
    /** Last day, inclusive; default: the last that holds data */
    to?: string | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
    convert?: string | undefined;
    /** Table of exchange rates to convert by */
    rates?: string | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Only offers seen, or only sales; default: both, each in rows and statistics of its own */
    kind?: ObservationKind | undefined;
    /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
    outliers?: OutlierMode | undefined;
}
/** Query of `getPriorPrice`. */
export interface GetPriorPriceQuery {
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
    convert?: string | undefined;
    /** Table of exchange rates to convert by */
    rates?: string | undefined;
    /** The day to judge; default: each channel's last observed day */
    asked_on?: string | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
    outliers?: OutlierMode | undefined;
    /** Whether the market uses Art. 6a(5): a reduction of several steps then has the price before the first one; without it such a reduction is not judged */
    progressive?: boolean | undefined;
    /** Steps count that begin within so many days of the first */
    progressive_days?: number | undefined;
    /** The market uses Art. 6a(4) and the item was first offered on this day: fewer than 30 days may then suffice */
    first_offered?: string | undefined;
}
/** Query of `getReductions`. */
export interface GetReductionsQuery {
    /** First day; default: the last 90 days with data */
    from?: string | undefined;
    /** Last day, inclusive */
    to?: string | undefined;
    /** Length of a period; default: the whole range is one period */
    granularity?: Granularity | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** Category (code) and those below it; repeat for more: any of them */
    category?: string[] | undefined;
    /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
    outliers?: OutlierMode | undefined;
}
/** Query of `getSignedExportFile`. */
export interface GetSignedExportFileQuery {
    /** When it ends, in seconds since 1970 */
    expires: number;
    /** Whom it was made for */
    organization: string;
    /** The proof */
    signature: string;
}
/** Query of `getSignedFile`. */
export interface GetSignedFileQuery {
    /** When it ends, in seconds since 1970 */
    expires: number;
    /** Whom it was made for */
    organization: string;
    /** The proof */
    signature: string;
}
/** Query of `getSustainability`. */
export interface GetSustainabilityQuery {
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** First day; default: the 90th up to the last */
    from?: string | undefined;
    /** Last day, inclusive; default: the last that holds data */
    to?: string | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Add what the units sold avoid; with WRAP's rate of second-hand sales or repairs */
    displacement?: "resale" | "repair" | undefined;
    /** New items displaced by each unit sold; in place of `displacement` */
    displacement_rate?: number | undefined;
}
/** Query of `getSustainabilityRollup`. */
export interface GetSustainabilityRollupQuery {
    /** First day; default: the last 90 days with data */
    from?: string | undefined;
    /** Last day, inclusive */
    to?: string | undefined;
    /** Length of a period; default: month */
    granularity?: Granularity | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** Add what the units sold avoid; with WRAP's rate of second-hand sales or repairs */
    displacement?: "resale" | "repair" | undefined;
    /** New items displaced by each unit sold; in place of `displacement` */
    displacement_rate?: number | undefined;
    /** Group by this; repeat for a second */
    group_by?: ("brand" | "category" | "channel")[] | undefined;
    /** Brand (slug); repeat for more: any of them */
    brand?: string[] | undefined;
    /** Category (code) and those below it; repeat for more: any of them */
    category?: string[] | undefined;
    /** Multiply figures by units sold, or take each item once; default: sales where there are any, else the assortment */
    basis?: CumulativeBasis | undefined;
}
/** Query of `getUsage`. */
export interface GetUsageQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
    /** 30 days before `to` if absent */
    from?: string | undefined;
    /** Today if absent */
    to?: string | undefined;
    /** Format of the answer */
    format?: "json" | "csv" | undefined;
}
/** Length of a period. */
export type Granularity = "day" | "week" | "month";
/** The process is alive. */
export interface HealthAnswer {
    /** Its status */
    status: "ok";
    /** The build that runs */
    revision: string;
    /** When, UTC */
    ts: string;
}
/** Where the whole record is. */
export interface HitLinks {
    /** Its own address */
    self: string;
}
/** An identifier that others gave the item. */
export interface Identifier {
    /** Kind of identifier */
    scheme: string;
    /** The identifier */
    value: string;
}
/** One identifier: exactly one of gtin, ean, upc, isbn, mpn (with brand), sku (with source) and url. */
export interface IdentifierFields {
    /** GTIN of 8, 12, 13 or 14 digits; spaces and hyphens between digits are ignored */
    gtin?: string | null | undefined;
    /** The same as `gtin` */
    ean?: string | null | undefined;
    /** UPC-A of 12 digits, or UPC-E of 8 with number system and check digit */
    upc?: string | null | undefined;
    /** ISBN of 10 or 13 digits */
    isbn?: string | null | undefined;
    /** The maker's part number; needs `brand` */
    mpn?: string | null | undefined;
    /** The brand of `mpn`, by name or slug */
    brand?: string | null | undefined;
    /** A source's own number; needs `source` */
    sku?: string | null | undefined;
    /** Where a source shows the article */
    url?: string | null | undefined;
    /** Only as this source says; codes that shops make themselves need it */
    source?: string | null | undefined;
}
/** An identifier in the form in which it is compared. */
export interface IdentifierRef {
    /** Kind of identifier */
    scheme: "gtin" | "mpn" | "sku" | "url";
    /** Of a gtin 14 digits */
    value: string;
}
/** Body of a batch lookup. */
export interface IidBody {
    /** Item identifiers, as many as the plan allows */
    iids: string[];
}
/** An invitation that can still be accepted. */
export interface Invitation {
    /** Its id */
    id: string;
    /** E-mail address */
    email: string;
    /** Role in the organization */
    role: string;
    /** When it was made, UTC */
    created_at: string;
    /** When it ends, UTC */
    expires_at: string;
}
/** The open invitations. */
export interface InvitationList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: Invitation[];
}
/** Query of `invite`. */
export interface InviteQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** Query of `issueKey`. */
export interface IssueKeyQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** A new invitation. Its link is shown this once: give it to the person invited. */
export interface IssuedInvitation {
    /** Its id */
    id: string;
    /** Where the invitation is accepted */
    link: string;
    /** When it ends, UTC */
    expires_at: string;
}
/** A new key. It is shown this once; only a keyed hash of it is kept. */
export interface IssuedKey {
    /** The API key */
    key: string;
    /** Beginning of the key */
    key_id: string;
    /** Every key that works now, the new one first, and when each ends */
    keys: KeyState[];
}
/** One item. A field that is unknown is present and null. */
export interface Item {
    /** Item identifier */
    iid: string;
    /** Its name */
    name: string;
    /** Its other names */
    alt_names: string[];
    /** Its status */
    status: "active";
    brand: BrandRef | null;
    /** What kind of product it is */
    product_type: string | null;
    category: CategoryRef | null;
    identifiers: Identifier[];
    /** What else its sources say of it */
    attributes: Record<string, unknown>;
    channels: ChannelSeen[];
    price_band: PriceBand | null;
    sustainability: Sustainability | null;
    sources: SourceRef[];
    /** The source of each known field, such as `name` or `attributes.color` */
    provenance: Record<string, string>;
    members: ArticleMember[];
    /** Empty where the record is of one source's item */
    matches: ArticleMatch[];
    /** Its version */
    version: number;
    /** Day of its first observation */
    first_seen_on: string;
    /** When it changed last, UTC */
    updated_at: string;
    links: ItemLinks;
}
/** Where the next page begins. */
export interface ItemLinks {
    /** Its own address */
    self: string;
    /** Where the brand's insights are */
    brand: string | null;
    /** Where its prices are */
    pricing: string;
    /** Where its footprint is */
    sustainability: string;
}
/** One job of your organization. */
export interface Job {
    /** Its id */
    id: string;
    /** What is computed */
    kind: string;
    state: JobState;
    progress: JobProgress;
    /** How many times it was begun */
    attempt: number;
    /** The state of the index */
    data_version: number | null;
    /** 0 where it was given back */
    cost_units: number;
    /** RFC 3339, UTC */
    created_at: string;
    /** RFC 3339, UTC */
    started_at: string | null;
    /** RFC 3339, UTC */
    finished_at: string | null;
    /** Until when the result is kept */
    expires_at: string | null;
    result: JobResult | null;
    error: JobError | null;
    links: JobLinks;
}
/** Why a job has no result: a problem. */
export interface JobError {
    /** Its type */
    type: string;
    /** Title */
    title: string;
    /** Status that the problem has */
    status: number;
    /** What happened */
    detail: string;
    /** The request, as a URN */
    instance: string;
}
/** How many jobs an organization may have in one state. */
export interface JobLimit {
    /** How many are allowed */
    limit: number;
    /** How many are used */
    used: number;
}
/** Jobs at a time. */
export interface JobLimits {
    running: JobLimit;
    queued: JobLimit;
}
/** Where the next page begins. */
export interface JobLinks {
    /** Its own address */
    self: string;
    /** Where its result is */
    result: string;
    /** Where its events are streamed */
    events: string;
}
/** One page of jobs, the newest first. */
export interface JobList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: Job[];
}
/** How far a job is. */
export interface JobProgress {
    /** Share that is done */
    fraction: number;
    /** What is being done */
    stage: string;
    /** Rows that are done */
    rows_done: number;
    /** Rows in all */
    rows_total: number | null;
}
/** What a job made: where it is and what it is. */
export interface JobResult {
    /** Its address */
    url: string;
    /** Media type */
    media_type: string;
    /** Number of rows */
    rows: number;
    /** Size */
    bytes: number;
    /** Of the bytes at `url`; its ETag names it too */
    sha256: string;
}
/** State of a job; the last four are final. */
export type JobState = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";
/** A key that works; `expires_at` is the end of its grace, null for the current one. */
export interface KeyState {
    /** Beginning of the key */
    key_id: string;
    /** When it was made, UTC */
    created_at: string;
    /** When it ends, UTC */
    expires_at: string | null;
    /** When it was used last, UTC */
    last_used_at: string | null;
    /** The network that used it last */
    last_used_network: string | null;
}
/** The key itself: any holder may revoke it. */
export interface LeakedKey {
    /** The API key */
    key: string;
}
/** The links of one anchor; each further member is a link type with its links. */
export interface LinkContext {
    /** What the links are of */
    anchor: string;
    /** Name of the item */
    itemDescription: string;
}
/** A vocabulary of link types. */
export interface LinkNamespace {
    /** Address of the vocabulary */
    namespace: string;
    /** Abbreviation of the vocabulary */
    prefix: string;
}
/** Query of `listAttempts`. */
export interface ListAttemptsQuery {
    /** At most so many, the newest first */
    limit?: number | undefined;
}
/** Query of `listBrandInsights`. */
export interface ListBrandInsightsQuery {
    /** First day; default: the last 90 days with data */
    from?: string | undefined;
    /** Last day, inclusive */
    to?: string | undefined;
    /** Length of a period; default: the whole range is one period */
    granularity?: Granularity | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
    convert?: string | undefined;
    /** Table of exchange rates to convert by */
    rates?: string | undefined;
    /** Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any */
    kind?: StatisticKind | undefined;
    /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
    outliers?: OutlierMode | undefined;
    /** Order of the list, `-` from the end; default: -observations */
    sort?: "observations" | "-observations" | "brand" | "-brand" | undefined;
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** Query of `listBrands`. */
export interface ListBrandsQuery {
    /** Beginning of the brand's name */
    q?: string | undefined;
    /** `name`: by name; `items`: brands with the most items first */
    sort?: "name" | "items" | undefined;
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** Query of `listCategories`. */
export interface ListCategoriesQuery {
    /** Only those right below this category (code) */
    parent?: string | undefined;
    /** Only this level; 1 is the top */
    level?: number | undefined;
    /** Beginning of the category's own name */
    q?: string | undefined;
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** Query of `listCategoryInsights`. */
export interface ListCategoryInsightsQuery {
    /** First day; default: the last 90 days with data */
    from?: string | undefined;
    /** Last day, inclusive */
    to?: string | undefined;
    /** Length of a period; default: the whole range is one period */
    granularity?: Granularity | undefined;
    /** Only this channel; repeat for more */
    channel?: string[] | undefined;
    /** Only this currency (ISO 4217) */
    currency?: string | undefined;
    /** Format of the answer; default: what `Accept` likes best */
    format?: "json" | "csv" | "ndjson" | "parquet" | undefined;
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
    /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
    convert?: string | undefined;
    /** Table of exchange rates to convert by */
    rates?: string | undefined;
    /** Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any */
    kind?: StatisticKind | undefined;
    /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
    outliers?: OutlierMode | undefined;
    /** Order of the list, `-` from the end; default: category */
    sort?: "observations" | "-observations" | "category" | "-category" | undefined;
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
    /** Only the children of this category; default: first level */
    parent?: string | undefined;
}
/** Query of `listChannels`. */
export interface ListChannelsQuery {
    /** Beginning of the channel's code */
    q?: string | undefined;
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** Query of `listEvents`. */
export interface ListEventsQuery {
    /** `cursor` of the last event that you have; if absent, the oldest of 30 days come */
    after?: number | undefined;
    /** Entries on a page */
    limit?: number | undefined;
    /** Only events of this type; repeat it for several types */
    type?: ("job.ended" | "export.ready" | "release.cut" | "item.merged" | "item.withdrawn" | "item.restored" | "watch.fired" | "quota.reached" | "key.rotated" | "key.revoked" | "webhook.disabled")[] | undefined;
}
/** Query of `listExports`. */
export interface ListExportsQuery {
    /** Only this state */
    state?: JobState | undefined;
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** Query of `listInvitations`. */
export interface ListInvitationsQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** Query of `listJobs`. */
export interface ListJobsQuery {
    /** Only this state */
    state?: JobState | undefined;
    /** Only this kind */
    kind?: "brand-insights" | "category-insights" | "cohorts" | "export" | "price-index" | "reductions" | "sustainability-rollup" | undefined;
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** Query of `listMembers`. */
export interface ListMembersQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** Query of `listReleases`. */
export interface ListReleasesQuery {
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** Query of `listWatchEvents`. */
export interface ListWatchEventsQuery {
    /** `cursor` of the last event that you have; if absent, the oldest of 30 days come */
    after?: number | undefined;
    /** Entries on a page */
    limit?: number | undefined;
}
/** Query of `listWatches`. */
export interface ListWatchesQuery {
    /** Entries on a page */
    limit?: number | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** One export of your organization: its job, and what was asked for. */
export interface ListedExport {
    /** Its id */
    id: string;
    /** What is computed */
    kind: string;
    state: JobState;
    progress: JobProgress;
    /** How many times it was begun */
    attempt: number;
    /** The state of the index */
    data_version: number | null;
    /** 0 where it was given back */
    cost_units: number;
    /** RFC 3339, UTC */
    created_at: string;
    /** RFC 3339, UTC */
    started_at: string | null;
    /** RFC 3339, UTC */
    finished_at: string | null;
    /** Until when the result is kept */
    expires_at: string | null;
    result: JobResult | null;
    error: JobError | null;
    links: JobLinks;
    /** What was asked for, in its one spelling */
    request: Record<string, unknown>;
}
/** What became of one IID of a batch. */
export interface LookupEntry {
    /** IID of the item */
    iid: string;
    /** The status a single lookup would have had */
    status: number;
    record: Item | null;
    /** IID that it was merged into */
    survivor: string | null;
    /** Slug of the problem */
    problem: string | null;
}
/** Query of `lookupItemsByBody`. */
export interface LookupItemsByBodyQuery {
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
}
/** Query of `lookupItems`. */
export interface LookupItemsQuery {
    /** Item identifiers; repeat the parameter. */
    iid: string[];
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
}
/** The answer of a batch lookup. */
export interface LookupList {
    /** With `dry_run` only, as the members below */
    kind?: string | undefined;
    /** Format of the answer or file */
    format?: string | undefined;
    /** Whether it had been computed before */
    cached?: boolean | undefined;
    /** Units that are charged */
    cost_units?: number | undefined;
    /** How many are in `data` */
    count: number;
    /** The state of the index */
    data_version?: number | undefined;
    /** Empty with `dry_run` */
    data: LookupEntry[];
}
/** One thing that the two items say. */
export interface MatchEvidence {
    /** What is compared */
    field: string;
    /** What the first of `iids` says */
    left: string;
    /** What the other item has */
    right: string;
    /** Whether both have the same */
    agrees: boolean;
}
/** One person of the organization. */
export interface Member {
    /** Its id */
    id: string;
    /** Its name */
    name: string;
    /** E-mail address */
    email: string | null;
    role: MemberRole;
    /** When the person joined, UTC */
    joined_at: string;
}
/** The people of the organization. */
export interface MemberList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: Member[];
}
/** What a member may do in the organization. */
export type MemberRole = "owner" | "admin" | "member" | "viewer";
/** What is to be exported. */
export interface NewExport {
    /** Name of the dataset */
    dataset: "items" | "observations" | "impacts" | "brands" | "categories" | "merged";
    /** Names of columns, in the order you want; all where none are named */
    columns?: string[] | null | undefined;
    filter?: ExportFilter | undefined;
    /** Only what changed after this data_version, and a file of what went */
    since?: number | null | undefined;
    /** Format of the answer or file */
    format?: "parquet" | "csv" | "ndjson" | "arrow" | undefined;
    /** Default: zstd inside Parquet, none for the others */
    compression?: "gzip" | "none" | "zstd" | null | undefined;
}
/** Who is invited, as what. */
export interface NewInvitation {
    /** E-mail address */
    email: string;
    /** Role in the organization */
    role: "admin" | "member" | "viewer";
}
/** A new organization. */
export interface NewOrganization {
    /** Its name */
    name: string;
    /** Every organization begins on the free plan; this one is asked for */
    plan?: string | undefined;
}
/** What is watched, and when it is reported. */
export interface NewWatch {
    target: WatchTarget;
    /** IID of an article, slug of a brand, code of a category */
    code: string;
    /** `below`: the lowest price of an article's newest day is below `amount`; `new-low`: that price is lower than on each of the `days` days before; `returned`: an article is observed again after it was not for `days` days; `index-moved`: prices of the same items changed by more than `percent` from one month to the next */
    condition: WatchCondition;
    /** Decimal amount; of `below` */
    amount?: string | null | undefined;
    /** ISO 4217 */
    currency?: string | null | undefined;
    /** Of `new-low` one of 30, 90, 365; of `returned` the length of the absence, 30 if it is absent */
    days?: number | null | undefined;
    /** Of `index-moved` */
    percent?: number | null | undefined;
    kind?: ObservationKind | undefined;
    /** Your own name for it */
    label?: string | null | undefined;
}
/** Where events are sent, and which. */
export interface NewWebhook {
    /** An https address on the public internet */
    url: string;
    /** Only events of these types; every type if absent */
    types?: ("job.ended" | "export.ready" | "release.cut" | "item.merged" | "item.withdrawn" | "item.restored" | "watch.fired" | "quota.reached" | "key.rotated" | "key.revoked" | "webhook.disabled")[] | null | undefined;
}
/** Whether observations are offers seen or sales. */
export type ObservationKind = "listing" | "sale";
/** An organization, as its people see it. */
export interface Organization {
    /** Its id */
    id: string;
    /** Its name */
    name: string;
    /** Name of the plan */
    plan: string;
    /** The plan that waits for an operator's approval */
    requested_plan: string | null;
    /** Its state */
    state: "active" | "suspended";
    role: MemberRole;
    keys: KeyState[];
}
/** Whom the credential belongs to. */
export interface OrganizationRef {
    /** Its id */
    id: string;
    /** Its name */
    name: string;
}
/** Whether outliers count in the statistics, and how many there are. */
export interface OutlierMeta {
    mode: OutlierMode;
    /** Observations that their neighbours contradict; with `include` they count too */
    set_aside: number;
}
/** Whether outliers count in statistics. */
export type OutlierMode = "exclude" | "include";
/** One page of a list. */
export interface Page {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
}
/** The question, as it was understood */
export type PageQuery = Record<string, unknown>;
/** How many there are in all: exactly (`eq`), or at least (`gte`). */
export interface PageTotal {
    /** How many there are */
    value: number;
    relation: Relation;
}
/** One part that the edge needs. */
export interface PartState {
    /** Its name */
    name: string;
    /** Its state */
    state: "ok" | "down" | "read-only" | "empty" | "late" | "off";
    /** What happened */
    detail: string;
}
/** Another brand in the brand's largest category. */
export interface Peer {
    /** Slug */
    brand?: string | undefined;
    /** Name */
    name?: string | undefined;
    /** Observations */
    observations?: number | undefined;
    /** Median price; decimal amount in `currency` */
    median?: string | null | undefined;
}
/** Which plan is asked for. */
export interface PlanRequest {
    /** Name of the plan */
    plan: string;
}
/** Prices of the last 30 days of the item's data without outliers: listings, else sales, in the usual currency. */
export interface PriceBand {
    /** ISO 4217 */
    currency: string;
    kind: ObservationKind;
    /** Decimal amount in `currency` */
    low: string;
    /** Decimal amount in `currency` */
    median: string;
    /** Decimal amount in `currency` */
    high: string;
    /** Number of observations */
    observations: number;
    /** Outliers among what was observed; the other figures are without them */
    set_aside: number;
    /** First day */
    from: string;
    /** Last day */
    to: string;
}
/** The change of prices of the same items, beside that of the median. */
export interface PriceChange {
    /** Jevons index of the items that both periods have, less 1; null for `kind=both` */
    index_change?: number | null | undefined;
    /** Lower end of its 95 % bootstrap interval over items */
    index_change_low?: number | null | undefined;
    /** Upper end of it */
    index_change_high?: number | null | undefined;
    /** Share of the period's items that the period before has too */
    share_matched?: number | null | undefined;
    /** Whether `median_change` is outside that interval: the mix moved it, not prices */
    median_disagrees?: boolean | null | undefined;
}
/** A price index. */
export interface PriceIndexReport {
    data: PriceIndexRow[];
    meta: ReportMeta;
}
/** A price index in one period and currency. */
export interface PriceIndexRow {
    /** First day of the period */
    period?: string | undefined;
    /** ISO 4217 */
    currency?: string | undefined;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** Observations that count */
    kind?: ObservationKind | undefined;
    /** Price index, first period = 100; null where no matched item connects the period with the first */
    index?: number | null | undefined;
    /** Lower end of the 95 % bootstrap interval over items */
    low?: number | null | undefined;
    /** Upper end of it */
    high?: number | null | undefined;
    /** Distinct items with a price above zero */
    items?: number | undefined;
    /** Outliers among what was observed; they are in the other figures only if asked for */
    set_aside?: number | undefined;
    /** Items that the period compared with has too; null in the first period */
    matched_items?: number | null | undefined;
    /** matched_items / items; null in the first period */
    share_matched?: number | null | undefined;
    /** Items that the period compared with has not */
    new_items?: number | null | undefined;
    /** Items that only the period compared with has */
    vanished_items?: number | null | undefined;
    /** The period before that has data; null in the first period */
    compared_with?: string | null | undefined;
    /** Median price, whatever the mix; decimal amount in `currency` */
    median?: string | null | undefined;
    /** Median price, first period = 100 */
    median_index?: number | null | undefined;
    /** Whether `median_index` is outside `low` to `high` */
    median_disagrees?: boolean | null | undefined;
}
/** Prices of some days. */
export interface PriceLevel {
    /** Number of days */
    days: 7 | 30 | 90 | 365;
    kind: ObservationKind;
    /** ISO 4217 */
    currency: string;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** Decimal amount in `currency` */
    low: string | null;
    /** Decimal amount in `currency` */
    median: string | null;
    /** Decimal amount in `currency` */
    high: string | null;
}
/** The prices of the last days, of one currency and kind. */
export interface PriceStatistic {
    /** Number of days */
    days: 7 | 30 | 90 | 365;
    kind: ObservationKind;
    /** ISO 4217 */
    currency: string;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** Decimal amount in `currency` */
    low: string | null;
    /** Decimal amount in `currency` */
    median: string | null;
    /** Decimal amount in `currency` */
    high: string | null;
    /** First day */
    from: string;
    /** Last day */
    to: string;
    /** Number of observations */
    n: number;
    /** Days with data */
    observed_days: number;
    /** Outliers among what was observed */
    set_aside: number;
}
/** What every statistic of prices says of itself. */
export interface PriceStatistics {
    /** First day of the period */
    period?: string | undefined;
    /** ISO 4217 */
    currency?: string | undefined;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** Observations that count */
    kind?: StatisticKind | undefined;
    /** Distinct items */
    items?: number | undefined;
    /** Observations */
    observations?: number | undefined;
    /** Outliers among what was observed; they are in the other figures only if asked for */
    set_aside?: number | undefined;
    /** Observations with a list price */
    list_price_n?: number | undefined;
    /** Share of them whose price is below the list price */
    promotion_share?: number | null | undefined;
    /** Mean of 1 - price / list price over observations on promotion */
    discount_mean?: number | null | undefined;
    /** Median of the same */
    discount_median?: number | null | undefined;
}
/** The meta of a pricing history. */
export interface PricingMeta {
    /** The state of the index */
    data_version: number;
    /** Of the rows as NDJSON, whatever the format */
    result_sha256: string;
    /** Whether it had been computed before */
    cached: boolean;
    /** Units that are charged */
    cost_units: number;
    /** Number of rows */
    rows: number;
    /** First day */
    from: string;
    /** Last day */
    to: string;
    coverage: Coverage;
    units: AnalysisMetaUnits;
    /** How it was computed */
    method: string;
    rounding?: AnalysisMetaRounding | undefined;
    /** Only with `convert` */
    conversion?: ConversionMeta | undefined;
    outliers: OutlierMeta;
    statistics: PriceStatistic[];
    /** Statistics for each kilogram, litre or piece; empty where the content is unknown */
    unit_prices: UnitPrice[];
    /** Each channel's running reduction; its evidence is at `/index/pricing/{iid}/reference` */
    reductions: ReductionSummary[];
}
/** A pricing history, or with `dry_run` its cost. */
export interface PricingReport {
    data: PricingRow[];
    meta: PricingMeta;
}
/** A day of an item in one channel. */
export interface PricingRow {
    /** The day */
    day: string;
    /** Code of the channel */
    channel: string;
    kind: ObservationKind;
    /** ISO 4217 */
    currency: string;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** Decimal amount in `currency` */
    low: string;
    /** Decimal amount in `currency` */
    median: string;
    /** Decimal amount in `currency` */
    high: string;
    /** Decimal amount in `currency` */
    close: string | null;
    /** Number of observations */
    n: number;
}
/** The meta of prior prices. */
export interface PriorPriceMeta {
    /** The state of the index */
    data_version: number;
    /** Of the rows as NDJSON, whatever the format */
    result_sha256: string;
    /** Whether it had been computed before */
    cached: boolean;
    /** Units that are charged */
    cost_units: number;
    /** Number of rows */
    rows: number;
    /** First day */
    from: string;
    /** Last day */
    to: string;
    coverage: Coverage;
    units: AnalysisMetaUnits;
    /** How it was computed */
    method: string;
    rounding?: AnalysisMetaRounding | undefined;
    /** Only with `convert` */
    conversion?: ConversionMeta | undefined;
}
/** The reductions of an item, or with `dry_run` their cost. */
export interface PriorPriceReport {
    data: PriorPriceRow[];
    meta: PriorPriceMeta;
}
/** A reduction with the days that it is judged by. */
export interface PriorPriceRow {
    /** Code of the channel */
    channel: string;
    /** ISO 4217 */
    currency: string;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** The day that it is judged on */
    as_of: string;
    /** Decimal amount in `currency` */
    price: string | null;
    /** Day on which the reduction began */
    reduction_began_on: string | null;
    /** Decimal amount in `currency` */
    prior_price: string | null;
    /** Percent */
    percent: string | null;
    /** Whether the price is below a prior price that is known */
    applicable: boolean;
    /** Why it cannot be judged */
    reason: "no_reduction" | "not_below_prior_price" | "missing_days" | "fewer_than_30_days" | "new_arrival" | "progressive_reduction" | null;
    /** Whether the observations suffice to judge */
    known: boolean;
    /** Where the prior price is unknown: the lowest price seen in its days */
    at_most: string | null;
    /** Day of the prior price */
    lowest_on: string[];
    evidence: EvidenceDay[];
}
/** A problem document (RFC 9457). A slug may add members. */
export interface Problem {
    /** `{problem_base_url}/{slug}`: what it means, what to do */
    type: string;
    /** The reason phrase of the status */
    title: string;
    /** Status of the answer */
    status: number;
    /** What happened this time */
    detail: string;
    /** The request, as a URN */
    instance: string;
}
/** One kind of problem. */
export interface ProblemEntry {
    /** Its type */
    type: string;
    /** Its name in addresses */
    slug: string;
    /** Title */
    title: string;
    /** Its status */
    status: number;
    /** What it means */
    meaning: string;
    /** What to do */
    remedy: string;
}
/** Every kind of problem. */
export interface ProblemList {
    data: ProblemEntry[];
    /** How many are in `data` */
    count: number;
}
/** Who was counted, and how much. */
export interface QuotaAnswer {
    /** Your network, or your organization's id */
    counted_as: string;
    /** Name of the plan */
    plan: string;
    limits: QuotaWindow[];
    /** Of the key's organization; null for other credentials, or where it is not known now */
    jobs: JobLimits | null;
}
/** One limit. */
export interface QuotaWindow {
    /** Name of the limit */
    policy: string;
    /** Length of the window */
    window_seconds: number;
    /** How many are allowed */
    limit: number;
    /** How many are used */
    used: number;
    /** How many are left */
    remaining: number;
    /** When it is full again, UTC */
    resets_at: string | null;
}
/** What a call would cost. */
export interface Quote {
    /** Name of the call */
    kind: string;
    /** Units that are charged */
    cost_units: number;
    /** Whether it had been computed before */
    cached: boolean;
    /** Format of the answer or file */
    format: string;
    /** The state of the index */
    data_version: number;
    /** The question in its one spelling */
    parameters?: Record<string, unknown> | undefined;
}
/** Whether the edge can do all of its work. */
export interface ReadyAnswer {
    /** Its status */
    status: "ready" | "degraded" | "not-ready";
    /** The state of the index */
    data_version: number;
    parts: PartState[];
    /** When, UTC */
    ts: string;
}
/** The announced reductions of one channel and currency that began in a period. */
export interface ReductionRow {
    /** First day of the period */
    period?: string | undefined;
    /** Code */
    channel?: string | undefined;
    /** ISO 4217 */
    currency?: string | undefined;
    /** Distinct items with an announced reduction */
    items?: number | undefined;
    /** Announced reductions; a further step counts again */
    announced?: number | undefined;
    /** Reductions whose list price is not above the prior price */
    holding?: number | undefined;
    /** Reductions below the prior price whose list price is above it */
    overstated?: number | undefined;
    /** Reductions whose price is not below the prior price */
    not_below?: number | undefined;
    /** Reductions that the observations do not suffice to judge */
    undecided?: number | undefined;
    /** holding / (announced - undecided); null where all are undecided */
    share_holding?: number | null | undefined;
}
/** The running reduction of one channel, as the observations show it. */
export interface ReductionSummary {
    /** Code of the channel */
    channel: string;
    /** ISO 4217 */
    currency: string;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** The day that it is judged on */
    as_of: string;
    /** Decimal amount in `currency` */
    price: string | null;
    /** Day on which the reduction began */
    reduction_began_on: string | null;
    /** Decimal amount in `currency` */
    prior_price: string | null;
    /** Percent */
    percent: string | null;
    /** Whether the price is below a prior price that is known */
    applicable: boolean;
    /** Why it cannot be judged */
    reason: "no_reduction" | "not_below_prior_price" | "missing_days" | "fewer_than_30_days" | "new_arrival" | "progressive_reduction" | null;
    /** Whether the observations suffice to judge */
    known: boolean;
    /** Where the prior price is unknown: the lowest price seen in its days */
    at_most: string | null;
}
/** Announced reductions. */
export interface ReductionsReport {
    data: ReductionRow[];
    meta: ReportMeta;
}
/** Whether a number is exact or a lower bound. */
export type Relation = "eq" | "gte";
/** A release in a list. */
export interface ReleaseEntry {
    /** The state of the index */
    data_version: number;
    /** RFC 3339, UTC */
    created_at: string;
    /** RFC 3339, UTC */
    expires_at: string;
    /** Number of rows */
    rows: number;
    /** Size */
    bytes: number;
    /** Number of files */
    files: number;
    links: ReleaseLinks;
}
/** One file of a release. Files are in the order of their keys: first and last key show which file holds a key. */
export interface ReleaseFile {
    /** Its name */
    name: string;
    /** With your API key */
    url: string;
    /** Without any header, until `signed_until` */
    signed_url: string;
    /** Number of rows */
    rows: number;
    /** Size */
    bytes: number;
    /** SHA-256 of its bytes */
    sha256: string;
    /** First key of the file */
    min_key: string;
    /** Last key of the file */
    max_key: string;
}
/** Where the next page begins. */
export interface ReleaseLinks {
    /** Its own address */
    self: string;
}
/** Releases of a dataset. */
export interface ReleaseList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: ReleaseEntry[];
}
/** One release, with everything that belongs to it. */
export interface ReleaseManifest {
    /** Name of the dataset */
    dataset: string;
    schema: DatasetColumn[];
    /** The state of the index */
    data_version: number;
    /** RFC 3339, UTC */
    created_at: string;
    /** RFC 3339, UTC */
    expires_at: string;
    /** When the signed addresses end (RFC 3339, UTC) */
    signed_until: string;
    /** Number of rows */
    rows: number;
    /** Size */
    bytes: number;
    files: ReleaseFile[];
    links: ReleaseLinks;
}
/** Query of `removeMember`. */
export interface RemoveMemberQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** Which events are sent again: one by its id, or those after a cursor. */
export interface Replay {
    /** Id of one event */
    event?: string | null | undefined;
    /** Later than this cursor */
    after?: number | null | undefined;
    /** Up to this cursor; all if absent */
    to?: number | null | undefined;
}
/** How many events will be sent again. */
export interface Replayed {
    /** 10000 at most for one call */
    events: number;
}
/** The meta of a report. */
export interface ReportMeta {
    /** The state of the index */
    data_version: number;
    /** Of the rows as NDJSON, whatever the format */
    result_sha256: string;
    /** Whether it had been computed before */
    cached: boolean;
    /** Units that are charged */
    cost_units: number;
    /** Number of rows */
    rows: number;
    /** First day */
    from: string;
    /** Last day */
    to: string;
    coverage: Coverage;
    units: AnalysisMetaUnits;
    /** How it was computed */
    method: string;
    rounding?: AnalysisMetaRounding | undefined;
    /** Observations behind the statistics of prices */
    kind?: StatisticKind | undefined;
    /** What footprints are multiplied by */
    basis?: CumulativeBasis | undefined;
    /** Of reports with statistics of prices */
    outliers?: OutlierMeta | undefined;
    /** Only with `convert` */
    conversion?: ConversionMeta | undefined;
    /** Where `to` comes from: the request, the last day with enough data of what was asked for, that of the whole index where nothing of it was observed, or today where the index is empty */
    window_ended_by?: "request" | "data" | "index" | "today" | undefined;
    /** How many brands or categories the whole list has */
    total?: number | undefined;
    /** Of the next page of a list; null on the last. Also `Link: rel=next` */
    next_cursor?: string | null | undefined;
}
/** Query of `requestPlan`. */
export interface RequestPlanQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** Body of a batch. */
export interface ResolveBody {
    /** Identifiers, as many as the plan allows (`batch_iids_max` at `GET /v1/`) */
    identifiers: IdentifierFields[];
}
/** What became of one identifier of a batch. */
export interface ResolveEntry {
    identifier: IdentifierRef | null;
    /** The status that a call of its own would have had */
    status: number;
    record: Item | null;
    /** With status 300 */
    candidates: Candidate[];
    /** Slug of the problem */
    problem: string | null;
    /** The problem in a sentence */
    detail: string | null;
}
/** Query of `resolveIdentifier`. */
export interface ResolveIdentifierQuery {
    /** GTIN of 8, 12, 13 or 14 digits; spaces and hyphens between digits are ignored */
    gtin?: string | undefined;
    /** The same as `gtin` */
    ean?: string | undefined;
    /** UPC-A of 12 digits, or UPC-E of 8 with number system and check digit */
    upc?: string | undefined;
    /** ISBN of 10 or 13 digits */
    isbn?: string | undefined;
    /** The maker's part number; needs `brand` */
    mpn?: string | undefined;
    /** The brand of `mpn`, by name or slug */
    brand?: string | undefined;
    /** A source's own number; needs `source` */
    sku?: string | undefined;
    /** Where a source shows the article */
    url?: string | undefined;
    /** Only as this source says; codes that shops make themselves need it */
    source?: string | undefined;
    /** Item identifier */
    iid?: string | undefined;
}
/** Query of `resolveIdentifiers`. */
export interface ResolveIdentifiersQuery {
    /** Say what it would cost, and charge nothing */
    dry_run?: boolean | undefined;
}
/** The answer of a batch; with `dry_run` only its price. */
export interface ResolveList {
    /** With `dry_run` only, as the members below */
    kind?: string | undefined;
    /** Format of the answer or file */
    format?: string | undefined;
    /** Whether it had been computed before */
    cached?: boolean | undefined;
    /** Units that are charged */
    cost_units?: number | undefined;
    /** How many are in `data` */
    count: number;
    /** The state of the index */
    data_version?: number | undefined;
    /** Empty with `dry_run` */
    data: ResolveEntry[];
}
/** The description file of a GS1-conformant resolver. */
export interface ResolverDescription {
    /** Its name */
    name: string;
    /** Where its addresses begin */
    resolverRoot: string;
    /** Kinds of identifiers */
    supportedPrimaryKeys: string[];
    supportedLinkType: LinkNamespace[];
    /** Whether a linkset may be the default */
    linkTypeDefaultCanBeLinkset: boolean;
    /** Where the JSON-LD context is */
    jsonLdContextLocation: string;
}
/** Query of `revokeKeys`. */
export interface RevokeKeysQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** A role. */
export interface RoleChange {
    role: MemberRole;
}
/** The meta of a rollup. */
export interface RollupMeta {
    /** The state of the index */
    data_version: number;
    /** Of the rows as NDJSON, whatever the format */
    result_sha256: string;
    /** Whether it had been computed before */
    cached: boolean;
    /** Units that are charged */
    cost_units: number;
    /** Number of rows */
    rows: number;
    /** First day */
    from: string;
    /** Last day */
    to: string;
    coverage: Coverage;
    units: AnalysisMetaUnits;
    /** How it was computed */
    method: string;
    rounding?: AnalysisMetaRounding | undefined;
    /** Observations behind the statistics of prices */
    kind?: StatisticKind | undefined;
    /** What footprints are multiplied by */
    basis?: CumulativeBasis | undefined;
    /** Of reports with statistics of prices */
    outliers?: OutlierMeta | undefined;
    /** Only with `convert` */
    conversion?: ConversionMeta | undefined;
    /** Where `to` comes from: the request, the last day with enough data of what was asked for, that of the whole index where nothing of it was observed, or today where the index is empty */
    window_ended_by?: "request" | "data" | "index" | "today" | undefined;
    /** How many brands or categories the whole list has */
    total?: number | undefined;
    /** Of the next page of a list; null on the last. Also `Link: rel=next` */
    next_cursor?: string | null | undefined;
    /** The rate of `avoided`; only with `displacement` or a rate */
    displacement?: DisplacementMeta | undefined;
}
/** A sustainability rollup. */
export interface RollupReport {
    data: RollupRow[];
    meta: RollupMeta;
}
/** What items of a period and group cause: sums, null without figures, medians and bounds of the middle 95 %. */
export interface RollupRow {
    /** First day of the period */
    period?: string | undefined;
    /** Slug */
    brand?: string | null | undefined;
    /** Code */
    category?: string | null | undefined;
    /** Code */
    channel?: string | null | undefined;
    /** What figures are multiplied by */
    basis?: CumulativeBasis | undefined;
    /** Distinct items */
    items?: number | undefined;
    /** Units sold; null where the basis is the assortment */
    units?: number | null | undefined;
    /** Share of items that have a figure */
    items_covered?: number | null | undefined;
    /** Share of items with a measured figure of their own */
    items_measured?: number | null | undefined;
    /** Items whose best figure is measured */
    measured_items?: number | undefined;
    /** Items whose best figure is modelled */
    modelled_items?: number | undefined;
    /** Items that have only the average of their product type or category */
    category_average_items?: number | undefined;
    /** Greenhouse gas emissions, kg CO2e */
    co2e_kg?: number | null | undefined;
    /** Water consumption, l */
    water_l?: number | null | undefined;
    /** Waste, kg */
    waste_kg?: number | null | undefined;
    /** Land use, m²·a */
    land_use_m2a?: number | null | undefined;
    /** Terrestrial acidification, kg SO2e */
    acidification_kg_so2e?: number | null | undefined;
    /** Freshwater eutrophication, kg Pe */
    freshwater_eutrophication_kg_pe?: number | null | undefined;
    /** Marine eutrophication, kg Ne */
    marine_eutrophication_kg_ne?: number | null | undefined;
    /** Lower bound, kg CO2e */
    co2e_kg_low?: number | null | undefined;
    /** Median, kg CO2e */
    co2e_kg_central?: number | null | undefined;
    /** Upper bound, kg CO2e */
    co2e_kg_high?: number | null | undefined;
    /** Lower bound, l */
    water_l_low?: number | null | undefined;
    /** Median, l */
    water_l_central?: number | null | undefined;
    /** Upper bound, l */
    water_l_high?: number | null | undefined;
    /** Lower bound, kg */
    waste_kg_low?: number | null | undefined;
    /** Median, kg */
    waste_kg_central?: number | null | undefined;
    /** Upper bound, kg */
    waste_kg_high?: number | null | undefined;
    /** Lower bound, m²·a */
    land_use_m2a_low?: number | null | undefined;
    /** Median, m²·a */
    land_use_m2a_central?: number | null | undefined;
    /** Upper bound, m²·a */
    land_use_m2a_high?: number | null | undefined;
    /** Lower bound, kg SO2e */
    acidification_kg_so2e_low?: number | null | undefined;
    /** Median, kg SO2e */
    acidification_kg_so2e_central?: number | null | undefined;
    /** Upper bound, kg SO2e */
    acidification_kg_so2e_high?: number | null | undefined;
    /** Lower bound, kg Pe */
    freshwater_eutrophication_kg_pe_low?: number | null | undefined;
    /** Median, kg Pe */
    freshwater_eutrophication_kg_pe_central?: number | null | undefined;
    /** Upper bound, kg Pe */
    freshwater_eutrophication_kg_pe_high?: number | null | undefined;
    /** Lower bound, kg Ne */
    marine_eutrophication_kg_ne_low?: number | null | undefined;
    /** Median, kg Ne */
    marine_eutrophication_kg_ne_central?: number | null | undefined;
    /** Upper bound, kg Ne */
    marine_eutrophication_kg_ne_high?: number | null | undefined;
    /** For each indicator up to three items with the largest shares */
    contributors?: Contributor[] | undefined;
    /** With a displacement rate and the basis `sales`, indicators with a figure; else null */
    avoided?: Avoided[] | null | undefined;
}
/** The service, and the caller. */
export interface RootAnswer {
    /** Name of the service */
    service: string;
    /** Its version */
    version: string;
    /** The build that runs */
    revision: string;
    organization: OrganizationRef | null;
    /** Kind of the credential */
    credential: string;
    /** Name of the plan */
    plan: string;
    /** What the plan includes */
    entitlements: string[];
    /** Most IIDs in one batch lookup; 0: the plan has none */
    batch_iids_max: number;
    quota: QuotaWindow[];
    /** Where the next calls begin */
    links: Record<string, string>;
}
/** Query of `rotateKey`. */
export interface RotateKeyQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
/** How the key is replaced. */
export interface Rotation {
    /** How long the old key works on */
    grace?: "none" | "1h" | "24h" | undefined;
}
/** One column. */
export interface SchemaColumn {
    /** Its name */
    name: string;
    /** Its type */
    type: string;
    /** Whether it may be null */
    nullable: boolean;
    /** What the column holds */
    description: string;
}
/** One hit of a search. */
export interface SearchHit {
    /** Item identifier */
    iid: string;
    /** Its name */
    name: string;
    brand: BrandRef | null;
    /** What kind of product it is */
    product_type: string | null;
    category: CategoryRef | null;
    /** How well it fits; only its order counts */
    score: number;
    /** Which of its texts have the words */
    matched_on: ("brand" | "product_type" | "category" | "name" | "iid_prefix" | "identifier")[];
    /** Whether it has all words, the last perhaps begun */
    all_words: boolean;
    links: HitLinks;
}
/** Query of `searchItems`. */
export interface SearchItemsQuery {
    /** Brand, product type, category, name, identifier, or the beginning of an IID */
    q: string;
    /** Entries on a page */
    limit?: number | undefined;
    /** Only this brand (slug) */
    brand?: string | undefined;
    /** Only this category (code) and those below it */
    category?: string | undefined;
    /** Only this product type */
    product_type?: string | undefined;
    /** `next_cursor` of the page before */
    cursor?: string | undefined;
}
/** One page of hits, best first; equal scores in the order of their IIDs. */
export interface SearchList {
    /** How many are in `data` */
    count: number;
    total: SearchTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    /** The question, as it was understood */
    query: Record<string, unknown>;
    /** The state of the index */
    data_version: number;
    data: SearchHit[];
}
/** How many hits there are, and how many of them have all words. */
export interface SearchTotal {
    /** How many there are */
    value: number;
    relation: Relation;
    /** Hits with all words, which come first; at least so many where `gte` */
    all_words: number;
}
/** Query of `sharingAllTables`. */
export interface SharingAllTablesQuery {
    /** Entries on a page */
    maxResults?: number | undefined;
    /** `nextPageToken` of the page before */
    pageToken?: string | undefined;
}
/** Query of `sharingChanges`. */
export interface SharingChangesQuery {
    /** The first version whose changes are listed */
    startingVersion?: number | undefined;
    /** The last one; default: the newest */
    endingVersion?: number | undefined;
    /** The first version at this moment or after it */
    startingTimestamp?: string | undefined;
    /** The newest version of this moment */
    endingTimestamp?: string | undefined;
    /** Taken and not needed */
    includeHistoricalMetadata?: string | undefined;
}
/** A list. */
export interface SharingList {
    items: SharingObject[];
    /** `pageToken` of the next page */
    nextPageToken?: string | undefined;
}
/** Query of `sharingMetadata`. */
export interface SharingMetadataQuery {
    /** This version; default: the newest */
    version?: number | undefined;
    /** The newest version of this moment */
    timestamp?: string | undefined;
}
/** A share, a schema or a table. */
export interface SharingObject {
    /** Its name */
    name: string;
    /** Name of the share */
    share?: string | undefined;
    /** Name of the schema */
    schema?: string | undefined;
    /** Its id */
    id?: string | undefined;
    /** Id of the share */
    shareId?: string | undefined;
}
/** A profile file, as the protocol defines it. */
export interface SharingProfile {
    /** Version of the profile's form */
    shareCredentialsVersion: number;
    /** Name of the operation */
    endpoint: string;
    /** The API key */
    bearerToken: string;
}
/** Body of a query. The protocol grows: members that are not known here are hints of its later versions. */
export interface SharingQuery {
    /** Predicates; hints are ignored */
    predicateHints?: string[] | undefined;
    /** A predicate in JSON; hints are ignored */
    jsonPredicateHints?: string | null | undefined;
    /** How many rows suffice; hints are ignored */
    limitHint?: number | null | undefined;
    /** Its version */
    version?: number | null | undefined;
    /** The newest version of this moment */
    timestamp?: string | null | undefined;
    /** The first version of changes */
    startingVersion?: number | null | undefined;
    /** The last version of changes */
    endingVersion?: number | null | undefined;
}
/** Query of `sharingSchemas`. */
export interface SharingSchemasQuery {
    /** Entries on a page */
    maxResults?: number | undefined;
    /** `nextPageToken` of the page before */
    pageToken?: string | undefined;
}
/** One share. */
export interface SharingShare {
    share: SharingObject;
}
/** Query of `sharingShares`. */
export interface SharingSharesQuery {
    /** Entries on a page */
    maxResults?: number | undefined;
    /** `nextPageToken` of the page before */
    pageToken?: string | undefined;
}
/** Query of `sharingTables`. */
export interface SharingTablesQuery {
    /** Entries on a page */
    maxResults?: number | undefined;
    /** `nextPageToken` of the page before */
    pageToken?: string | undefined;
}
/** Query of `sharingVersion`. */
export interface SharingVersionQuery {
    /** The first version at this moment or after it */
    startingTimestamp?: string | undefined;
}
/** Where the record's facts come from. */
export interface SourceRef {
    /** Name of the source */
    source: string;
    /** When the source was read, UTC */
    observed_at: string;
    /** Terms of use */
    license: string;
}
/** What one stage of the life cycle contributes; a credit is negative. */
export interface StageFigure {
    /** Stage of the life cycle */
    stage: string;
    /** Figure for one unit */
    per_unit: number;
    /** Where the figure comes from */
    basis: "measured" | "modelled";
    /** How it was computed */
    method: string;
}
/** Observations that count. */
export type StatisticKind = "listing" | "sale" | "both";
/** What one unit of an item causes, by indicator; basis, method and samples are those of the first known one. */
export interface Sustainability {
    basis: FigureBasis;
    /** How it was computed */
    method: string;
    /** Records that the figure is the mean of; 1 where it is the item's own */
    samples: number;
    /** Greenhouse gas emissions, kg CO2e */
    co2e_kg: number | null;
    /** Water consumption, l */
    water_l: number | null;
    /** Waste, kg */
    waste_kg: number | null;
    /** Land use, m²·a */
    land_use_m2a: number | null;
    /** Terrestrial acidification, kg SO2e */
    acidification_kg_so2e: number | null;
    /** Freshwater eutrophication, kg Pe */
    freshwater_eutrophication_kg_pe: number | null;
    /** Marine eutrophication, kg Ne */
    marine_eutrophication_kg_ne: number | null;
}
/** The meta of an item's figures. */
export interface SustainabilityMeta {
    /** The state of the index */
    data_version: number;
    /** Of the rows as NDJSON, whatever the format */
    result_sha256: string;
    /** Whether it had been computed before */
    cached: boolean;
    /** Units that are charged */
    cost_units: number;
    /** Number of rows */
    rows: number;
    /** First day */
    from: string;
    /** Last day */
    to: string;
    coverage: Coverage;
    units: AnalysisMetaUnits;
    /** How it was computed */
    method: string;
    rounding?: AnalysisMetaRounding | undefined;
    /** What cumulative figures count */
    basis: CumulativeBasis;
    displacement: DisplacementMeta | null;
}
/** The figures of an item, or with `dry_run` their cost. */
export interface SustainabilityReport {
    data: SustainabilityRow[];
    meta: SustainabilityMeta;
}
/** One indicator. What no source has is null. */
export interface SustainabilityRow {
    indicator: Effect;
    /** The unit of the figure */
    unit: string;
    /** Figure for one unit */
    per_unit: number | null;
    /** Units sold in the range */
    units_observed: number;
    /** Of the units sold; of one unit where the basis is the assortment */
    cumulative: number | null;
    basis: FigureBasis | null;
    /** Whether the figure is of the item, its product type or its category */
    scope: "item" | "product_type" | "category" | null;
    /** The product type or category */
    code: string | null;
    /** Figure for a kilogram */
    per_kg: number | null;
    /** Weight of one unit */
    weight_kg: number | null;
    /** Name of the source */
    source: string | null;
    /** Terms of use */
    license: string | null;
    /** How it was computed */
    method: string | null;
    /** Records that the figure is the mean of; 1: its own */
    samples: number | null;
    cumulative_basis: CumulativeBasis;
    /** Lower bound of the middle 95 % */
    low: number | null;
    /** Median, per unit */
    central: number | null;
    /** Upper bound of the middle 95 % */
    high: number | null;
    /** Cumulative figure, lower bound */
    cumulative_low: number | null;
    /** Cumulative figure, best estimate */
    cumulative_central: number | null;
    /** Cumulative figure, upper bound */
    cumulative_high: number | null;
    /** What the interval rests on */
    interval_from: "source" | "samples" | "pedigree" | null;
    /** Avoided, lower bound */
    avoided_low: number | null;
    /** Displacement rate times the median of all units */
    avoided: number | null;
    /** Avoided, upper bound */
    avoided_high: number | null;
    /** Stages that sources list; they need not add up to `per_unit` */
    stages: StageFigure[];
}
/** A brand with many observations in a category. */
export interface TopBrand {
    /** Slug */
    brand?: string | undefined;
    /** Name */
    name?: string | undefined;
    /** Observations */
    observations?: number | undefined;
    /** Share of the category's observations */
    share?: number | null | undefined;
    /** Median price; decimal amount in `currency` */
    median?: string | null | undefined;
}
/** The prices of the last days, for one unit of what the item holds. */
export interface UnitPrice {
    /** Number of days */
    days: 7 | 30 | 90 | 365;
    kind: ObservationKind;
    /** ISO 4217 */
    currency: string;
    /** Only with `convert`: the currency of the prices */
    original_currency?: string | undefined;
    /** Decimal amount in `currency` */
    low: string | null;
    /** Decimal amount in `currency` */
    median: string | null;
    /** Decimal amount in `currency` */
    high: string | null;
    /** The unit of measure */
    per: "kg" | "l" | "piece";
    /** How much an article holds */
    content: string;
    /** `name` or the attribute */
    read_in: string;
}
/** Statistics of use, a minute behind at most. */
export interface UsageList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: UsageRow[];
}
/** Calls of one day to one endpoint with one outcome, by one credential. */
export interface UsageRow {
    /** The day */
    day: string;
    /** Name of the operation */
    endpoint: string;
    /** How it ended */
    outcome: string;
    /** Kind of the credential */
    credential: string;
    /** Number of calls */
    calls: number;
    /** Units that were charged */
    units: number;
}
/** The rates of one currency on one day. */
export interface UsedRate {
    /** The currency of the observations */
    from: string;
    /** The day of the row */
    day: string;
    /** The day of the rates; earlier where it has none */
    rate_day: string;
    /** Units of `from` for a euro */
    from_per_euro: string;
    /** Units of `to` for a euro */
    to_per_euro: string;
}
/** A watch; members that are not for its condition are null. */
export interface Watch {
    /** Its id */
    id: string;
    /** Your own name for it */
    label: string | null;
    target: WatchTarget;
    /** Its code */
    code: string;
    condition: WatchCondition;
    kind: ObservationKind;
    /** Decimal amount; of `below` */
    amount: string | null;
    /** ISO 4217 */
    currency: string | null;
    /** Number of days */
    days: number | null;
    /** Percent */
    percent: number | null;
    /** When it was made, UTC */
    created_at: string;
    /** When it was paused, UTC */
    paused_at: string | null;
}
/** Whether it is paused. */
export interface WatchChange {
    /** Whether it is paused */
    paused: boolean;
}
/** What a watch waits for. */
export type WatchCondition = "below" | "new-low" | "returned" | "index-moved";
/** One page of watches, the newest first. */
export interface WatchList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: Watch[];
}
/** What a watch is about. */
export type WatchTarget = "article" | "brand" | "category";
/** A webhook. `secret` is shown when it is made or rotated, else it is null. */
export interface Webhook {
    /** Its id */
    id: string;
    /** Its address */
    url: string;
    /** Types of events that are sent */
    types: string[] | null;
    /** Its state */
    state: "active" | "retrying" | "disabled";
    /** Why nothing is sent to it */
    disabled_reason: string | null;
    /** In a row, of the event that is to be sent next */
    failures: number;
    /** When it is tried again, UTC */
    next_attempt_at: string | null;
    /** Events not accepted yet, counted up to 1000 */
    pending: number;
    /** Events up to this one were accepted */
    cursor: string;
    /** What signs; shown once */
    secret: string | null;
    /** Until then the secret before signs as well */
    secret_before_ends: string | null;
    /** When it was made, UTC */
    created_at: string;
}
/** All webhooks of the organization. */
export interface WebhookList {
    /** How many are in `data` */
    count: number;
    total: PageTotal;
    /** `cursor` of the next page; null on the last */
    next_cursor: string | null;
    query: PageQuery;
    /** The state of the index */
    data_version: number;
    data: Webhook[];
}
/** Query of `withdrawInvitation`. */
export interface WithdrawInvitationQuery {
    /** Id of one of your organizations; the first you joined if absent */
    organization?: string | undefined;
}
