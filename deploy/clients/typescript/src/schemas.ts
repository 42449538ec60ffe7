/** Types of the API's documents and queries, made by `make clients`; answers may have more members. */

/** Metadata of every analysis. */
export interface AnalysisMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON */
  result_sha256: string;
  /** Whether it was stored before the call */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** How many there are */
  rows: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  coverage: Coverage;
  units: AnalysisMetaUnits;
  /** Method of computation */
  method: string;
  rounding?: AnalysisMetaRounding | undefined;
}

/** Rounding of each rounded field */
export type AnalysisMetaRounding = Record<string, string>;

/** Unit of each column */
export type AnalysisMetaUnits = Record<string, string>;

export interface AnyResult {
  /** Rows */
  data: Record<string, unknown>[];
  /** Context of the rows */
  meta: Record<string, unknown>;
}

/** A link between two items. */
export interface ArticleMatch {
  /** IIDs of the two items */
  iids: string[];
  /** Kind of the link */
  kind: "identifier" | "likeness" | "review" | "merge";
  /** Probability */
  score: number | null;
  evidence: MatchEvidence[];
  /** When they were linked */
  since: string | null;
}

/** An item of a source that is part of the article. */
export interface ArticleMember {
  /** Item identifier */
  iid: string;
  /** Name of the source */
  source: string;
  /** Source's own id */
  id: string;
  /** Source's name for it */
  name: string | null;
  identifiers: Identifier[];
}

export interface AttemptList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: DeliveryAttempt[];
}

/** One entry of the audit log. */
export interface AuditEntry {
  /** Its id */
  id: string;
  /** RFC 3339, UTC */
  at: string;
  /** Person or key that did it */
  actor: string;
  /** Action */
  act: string;
  /** Object of the action */
  subject: string;
}

export interface AuditList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: AuditEntry[];
}

/** Avoided impact of the units sold, by one indicator. */
export interface Avoided {
  indicator: Effect;
  /** Displacement rate times the lower bound of the sum */
  low: number;
  /** Displacement rate times the median of the sum */
  central: number;
  /** Displacement rate times the upper bound of the sum */
  high: number;
}

/** Members of every batch answer. */
export interface BatchAnswer {
  /** Only with `dry_run` */
  kind?: string | undefined;
  /** Format of the answer or file */
  format?: string | undefined;
  /** Whether it was stored before the call */
  cached?: boolean | undefined;
  /** Units that the call costs */
  cost_units?: number | undefined;
  /** Number of entries in `data` */
  count: number;
  /** Version of the index's data */
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
  /** Median price of the brand in the category */
  median?: string | null | undefined;
  /** Median price of the category */
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
  /** Its name in URLs */
  slug: string;
  /** How many there are */
  item_count: number;
  /** Codes of its largest categories */
  top_categories: string[];
  /** Codes of its channels */
  channels: string[];
  /** YYYY-MM-DD */
  first_seen_on: string | null;
  /** RFC 3339, UTC */
  updated_at: string;
}

export interface BrandList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: BrandEntry[];
}

/** A brand, named. */
export interface BrandRef {
  /** Its id */
  id: number;
  /** Its name */
  name: string;
  /** Its name in URLs */
  slug: string;
}

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
  /** Outliers among what was observed */
  set_aside?: number | undefined;
  /** Observations with a list price */
  list_price_n?: number | undefined;
  /** Share of them whose price is below the list price */
  promotion_share?: number | null | undefined;
  /** Mean of 1 - price / list price over observations on promotion */
  discount_mean?: number | null | undefined;
  /** Median discount over observations on promotion */
  discount_median?: number | null | undefined;
  /** Jevons index of the items that both periods have, less 1 */
  index_change?: number | null | undefined;
  /** Lower end of the 95 % bootstrap interval over items */
  index_change_low?: number | null | undefined;
  /** Upper end of it */
  index_change_high?: number | null | undefined;
  /** Share of the period's items that the period before has too */
  share_matched?: number | null | undefined;
  /** Whether `median_change` is outside that interval */
  median_disagrees?: boolean | null | undefined;
  /** Slug */
  brand?: string | undefined;
  /** Name */
  name?: string | undefined;
  /** Code */
  channel?: string | undefined;
  /** Place by observations among all brands */
  rank?: number | undefined;
  /** The same in the period before */
  rank_before?: number | null | undefined;
  /** Brands that are ranked */
  ranked?: number | undefined;
  /** Percent of brands with fewer observations */
  percentile?: number | undefined;
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
  /** Median price against the period before */
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
  links: SelfLink;
}

/** One category of the tree. */
export interface CategoryEntry {
  /** Its code */
  code: string;
  /** Names from the top of the tree */
  path: string[];
  /** Last part of `path` */
  name: string;
  /** Code of the category above */
  parent: string | null;
  /** 1 at the top */
  level: number;
  /** Items of the category itself */
  item_count: number;
  /** Items of it and of all below it */
  item_count_total: number;
  /** Number of its direct children */
  children: number;
}

export interface CategoryList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
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
  /** Outliers among what was observed */
  set_aside?: number | undefined;
  /** Observations with a list price */
  list_price_n?: number | undefined;
  /** Share of them whose price is below the list price */
  promotion_share?: number | null | undefined;
  /** Mean of 1 - price / list price over observations on promotion */
  discount_mean?: number | null | undefined;
  /** Median discount over observations on promotion */
  discount_median?: number | null | undefined;
  /** Jevons index of the items that both periods have, less 1 */
  index_change?: number | null | undefined;
  /** Lower end of the 95 % bootstrap interval over items */
  index_change_low?: number | null | undefined;
  /** Upper end of it */
  index_change_high?: number | null | undefined;
  /** Share of the period's items that the period before has too */
  share_matched?: number | null | undefined;
  /** Whether `median_change` is outside that interval */
  median_disagrees?: boolean | null | undefined;
  /** Code */
  category?: string | undefined;
  /** Names from the top of the tree */
  path?: string[] | undefined;
  /** Code */
  channel?: string | undefined;
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
  /** Median price of the period before */
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
  /** Id of one of your organizations */
  organization?: string | undefined;
}

/** One channel. */
export interface ChannelEntry {
  /** Its code */
  code: string;
  /** Prices observed there */
  observations: number;
  /** Day of the newest observation */
  last_seen_on: string;
}

export interface ChannelList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
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
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
}

/** A channel in which the item was observed. */
export interface ChannelSeen {
  /** Code of the channel */
  channel: string;
  /** How many there are */
  listings: number;
  /** YYYY-MM-DD */
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
  /** Outliers among what was observed */
  set_aside?: number | undefined;
  /** Observations with a list price */
  list_price_n?: number | undefined;
  /** Share of them whose price is below the list price */
  promotion_share?: number | null | undefined;
  /** Mean of 1 - price / list price over observations on promotion */
  discount_mean?: number | null | undefined;
  /** Median discount over observations on promotion */
  discount_median?: number | null | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | null | undefined;
  /** Prices behind the statistics */
  price_n?: number | undefined;
  /** Decimal amount in `currency` */
  mean?: string | null | undefined;
  /** Sample standard deviation */
  stddev?: string | null | undefined;
  /** Decimal amount in `currency` */
  p10?: string | null | undefined;
  /** Decimal amount in `currency` */
  p25?: string | null | undefined;
  /** Decimal amount in `currency` */
  p50?: string | null | undefined;
  /** Decimal amount in `currency` */
  p75?: string | null | undefined;
  /** Decimal amount in `currency` */
  p90?: string | null | undefined;
  /** Decimal amount in `currency` */
  min?: string | null | undefined;
  /** Decimal amount in `currency` */
  max?: string | null | undefined;
  channels?: ChannelShare[] | undefined;
  /** First day with data */
  first_day?: string | undefined;
  /** Last day with data */
  last_day?: string | undefined;
}

/** An item with a large share of a sum. */
export interface Contributor {
  indicator: Effect;
  /** IID of the item */
  iid: string;
  /** Its share of the sum */
  share: number;
}

/** Conversion of amounts. */
export interface ConversionMeta {
  /** Currency of the answer */
  to: string;
  /** Name of the table of rates */
  rates: string;
  /** Name of the source */
  source: string;
  /** Its address */
  url: string | null;
  /** Method of computation */
  method: string;
  used: UsedRate[];
}

/** Days of the range with and without data. */
export interface Coverage {
  /** Number of days */
  days: number;
  /** Number of days */
  observed_days: number;
  /** Number of days */
  missing_days: number;
  /** YYYY-MM-DD */
  first: string | null;
  /** YYYY-MM-DD */
  last: string | null;
}

/** Query of `createExport`. */
export interface CreateExportQuery {
  /** As `dry_run`, with the first ten rows */
  preview?: boolean | undefined;
}

export interface CreatedOrganization {
  /** Its id */
  id: string;
  /** Name of the plan */
  plan: string;
  /** Plan that waits for approval */
  requested_plan: string | null;
}

/** Basis of cumulative footprints. */
export type CumulativeBasis = "sales" | "assortment";

/** One column. */
export interface DatasetColumn {
  /** Its name */
  name: string;
  /** Its type */
  type: string;
  /** Whether the column may be null */
  nullable: boolean;
  /** Content of the column */
  description: string;
}

/** A dataset in the list. */
export interface DatasetEntry {
  /** Its name */
  name: string;
  /** Title */
  title: string;
  schema: DatasetColumn[];
  /** Order of rows in the files */
  sorted_by: string[];
  latest: ReleaseEntry | null;
  links: DatasetLinks;
}

/** Addresses of related calls. */
export interface DatasetLinks {
  /** Address */
  releases: string;
  /** Address */
  latest: string;
}

export interface DatasetList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: DatasetEntry[];
}

/** One attempt to send one event. */
export interface DeliveryAttempt {
  /** Id of the event */
  event_id: string;
  /** Its position in the log */
  cursor: string;
  /** RFC 3339, UTC */
  at: string;
  /** Status of the receiver's answer */
  status: number | null;
  /** Outcome of the calls */
  outcome: "accepted" | "refused" | "redirected" | "timed-out" | "unreachable" | "tls-failed" | "private-address" | "answer-too-large" | "secret-unreadable";
  /** Beginning of the receiver's answer */
  answer: string;
  /** Time until the answer */
  milliseconds: number;
}

export interface DigitalLinkset {
  linkset: LinkContext[];
}

/** New items that each unit displaces. */
export interface DisplacementMeta {
  /** Share of purchases that are replaced */
  rate: number;
  /** Publication of the rate */
  citation: string;
  /** Units that are multiplied by the rate */
  counted: string;
}

/** Code of the effect. */
export type Effect = "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne";

/** Figures of each effect. */
export interface EffectFigures {
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
}

/** Something that happened. */
export interface Event {
  /** Id of the event */
  id: string;
  /** Value for `after` */
  cursor: string;
  /** Its type */
  type: string;
  /** RFC 3339, UTC */
  timestamp: string;
  /** Members by type */
  data: Record<string, unknown>;
}

export interface EventList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: Event[];
}

/** The lowest price of a day. */
export interface EvidenceDay {
  /** YYYY-MM-DD */
  day: string;
  /** Decimal amount in `currency` */
  price: string;
}

export interface Export {
  /** Its id */
  id: string;
  /** Kind of the computation */
  kind: string;
  state: JobState;
  progress: JobProgress;
  /** Number of attempts so far */
  attempt: number;
  /** Version of the index's data */
  data_version: number | null;
  /** Units charged */
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
  error: Problem | null;
  links: JobLinks;
  /** Order in its normal form */
  request: Record<string, unknown>;
  manifest: ExportManifest | null;
}

export interface ExportEstimate {
  /** Units that the call costs */
  cost_units: number;
  /** How many there are */
  rows: number;
  /** Whether `rows` is exact, a lower bound or an estimate */
  rows_relation: "eq" | "gte" | "about";
  /** Version of the index's data */
  data_version: number;
  schema: DatasetColumn[];
  /** Order in its normal form */
  request: Record<string, unknown>;
  /** First rows */
  preview: Record<string, unknown>[] | null;
}

/** One file. */
export interface ExportFile {
  /** Its name */
  name: string;
  /** Address */
  url: string;
  /** Address for tools that send no header */
  signed_url: string;
  /** Content of the file */
  content: "rows" | "gone";
  /** How many there are */
  rows: number;
  /** How many there are */
  bytes: number;
  /** SHA-256 of its bytes */
  sha256: string;
  /** First key of the file */
  min_key: string | null;
  /** Last key of the file */
  max_key: string | null;
}

/** Filters of the rows. */
export interface ExportFilter {
  /** Brands (slugs) */
  brand?: string[] | undefined;
  /** Categories (codes) and those below them */
  category?: string[] | undefined;
  /** Channels */
  channel?: string[] | undefined;
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
}

export interface ExportList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: ListedExport[];
}

/** Contents of an export. */
export interface ExportManifest {
  /** Name of the dataset */
  dataset: string;
  schema: DatasetColumn[];
  /** Format of the answer or file */
  format: string;
  /** Compression of the files */
  compression: string;
  /** Media type */
  media_type: string;
  /** Version of the index's data */
  data_version: number;
  /** The data_version before the changes */
  since: number | null;
  /** Months with changes */
  months: string[];
  /** Whether rows replace those of all months */
  all_months: boolean;
  /** Stands before texts of CSV that a spreadsheet would run. */
  formula_prefix: string | null;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  expires_at: string;
  /** RFC 3339, UTC */
  signed_until: string;
  /** How many there are */
  rows: number;
  /** How many there are */
  bytes: number;
  files: ExportFile[];
}

/** Origin of a footprint. */
export type FigureBasis = "measured" | "modelled" | "category_average";

/** Query of `followDigitalLink`. */
export interface FollowDigitalLinkQuery {
  /** `linkset` (or `all`) for all links, or a type of GS1's vocabulary */
  linkType?: string | undefined;
}

/** Query of `getAudit`. */
export interface GetAuditQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
  /** Entries on a page */
  limit?: number | undefined;
  /** `next_cursor` of the page before */
  cursor?: string | undefined;
}

/** Query of `getBrandInsights`. */
export interface GetBrandInsightsQuery {
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period */
  granularity?: Granularity | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates` */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Observations that count */
  kind?: StatisticKind | undefined;
  /** Whether outliers count in the statistics */
  outliers?: OutlierMode | undefined;
  /** Rows for each channel apart */
  group_by?: "channel"[] | undefined;
}

/** Query of `getCategoryInsights`. */
export interface GetCategoryInsightsQuery {
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period */
  granularity?: Granularity | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates` */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Observations that count */
  kind?: StatisticKind | undefined;
  /** Whether outliers count in the statistics */
  outliers?: OutlierMode | undefined;
  /** Rows for each channel apart */
  group_by?: "channel"[] | undefined;
}

/** Query of `getCohorts`. */
export interface GetCohortsQuery {
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period */
  granularity?: Granularity | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates` */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Brand (slug) */
  brand?: string[] | undefined;
  /** Category (code) and those below it */
  category?: string[] | undefined;
  /** Group by this */
  group_by?: ("brand" | "category" | "channel")[] | undefined;
  /** Observations that count */
  kind?: StatisticKind | undefined;
  /** Whether outliers count in the statistics */
  outliers?: OutlierMode | undefined;
}

/** Query of `getOrganization`. */
export interface GetOrganizationQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
}

/** Query of `getPriceIndex`. */
export interface GetPriceIndexQuery {
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period */
  granularity?: "day" | "week" | "month" | "quarter" | "year" | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates` */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Brand (slug) */
  brand?: string[] | undefined;
  /** Category (code) and those below it */
  category?: string[] | undefined;
  /** Observations that count */
  kind?: ObservationKind | undefined;
  /** Whether outliers count in the statistics */
  outliers?: OutlierMode | undefined;
  /** Index formula */
  method?: "jevons" | "dutot" | "carli" | "harmonic" | "cswd" | "laspeyres" | "paasche" | "fisher" | "tornqvist" | "walsh" | "geks-jevons" | "geks-fisher" | "geks-tornqvist" | "geks-walsh" | "tpd" | "geary-khamis" | undefined;
  /** Periods of a window, for geks-*, tpd and geary-khamis */
  window?: number | undefined;
  /** Splice that links a further period to earlier windows */
  splice?: "movement" | "window" | "half" | "mean" | "window-published" | "half-published" | "mean-published" | "fbew" | "fbmw" | undefined;
}

/** Query of `getPricing`. */
export interface GetPricingQuery {
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates` */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Only offers seen, or only sales */
  kind?: ObservationKind | undefined;
  /** Whether outliers count in the statistics */
  outliers?: OutlierMode | undefined;
}

/** Query of `getPriorPrice`. */
export interface GetPriorPriceQuery {
  /** Convert amounts to this currency (ISO 4217), by `rates` */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Day to judge */
  asked_on?: string | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Whether outliers count in the statistics */
  outliers?: OutlierMode | undefined;
  /** Whether the market uses Art. 6a(5) */
  progressive?: boolean | undefined;
  /** Steps count that begin within so many days of the first */
  progressive_days?: number | undefined;
  /** The market uses Art. 6a(4) and the item was first offered on this day */
  first_offered?: string | undefined;
}

/** Query of `getReductions`. */
export interface GetReductionsQuery {
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period */
  granularity?: Granularity | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Category (code) and those below it */
  category?: string[] | undefined;
  /** Whether outliers count in the statistics */
  outliers?: OutlierMode | undefined;
}

/** Query of `getSignedExportFile`. */
export interface GetSignedExportFileQuery {
  /** When it ends, in seconds since 1970 */
  expires: number;
  /** Organization that it was made for */
  organization: string;
  /** Signature of the address */
  signature: string;
}

/** Query of `getSignedFile`. */
export interface GetSignedFileQuery {
  /** When it ends, in seconds since 1970 */
  expires: number;
  /** Organization that it was made for */
  organization: string;
  /** Signature of the address */
  signature: string;
}

/** Query of `getSustainability`. */
export interface GetSustainabilityQuery {
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Add what the units sold avoid */
  displacement?: "resale" | "repair" | undefined;
  /** New items displaced by each unit sold */
  displacement_rate?: number | undefined;
}

/** Query of `getSustainabilityRollup`. */
export interface GetSustainabilityRollupQuery {
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period */
  granularity?: Granularity | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Add what the units sold avoid */
  displacement?: "resale" | "repair" | undefined;
  /** New items displaced by each unit sold */
  displacement_rate?: number | undefined;
  /** Group by this */
  group_by?: ("brand" | "category" | "channel")[] | undefined;
  /** Brand (slug) */
  brand?: string[] | undefined;
  /** Category (code) and those below it */
  category?: string[] | undefined;
  /** Multiply figures by units sold, or take each item once */
  basis?: CumulativeBasis | undefined;
}

/** Query of `getUsage`. */
export interface GetUsageQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
  /** 30 days before `to` if absent */
  from?: string | undefined;
  /** Today if absent */
  to?: string | undefined;
}

/** Length of a period. */
export type Granularity = "day" | "week" | "month";

export interface HealthAnswer {
  /** Its status */
  status: "ok";
  /** Build that is running */
  revision: string;
  /** RFC 3339, UTC */
  ts: string;
}

/** An identifier that others gave the item. */
export interface Identifier {
  /** Kind of identifier */
  scheme: string;
  /** Identifier */
  value: string;
}

/** Exactly one identifier. */
export interface IdentifierFields {
  /** GTIN of 8, 12, 13 or 14 digits */
  gtin?: string | null | undefined;
  /** The same as `gtin` */
  ean?: string | null | undefined;
  /** UPC-A of 12 digits, or UPC-E of 8 */
  upc?: string | null | undefined;
  /** ISBN of 10 or 13 digits */
  isbn?: string | null | undefined;
  /** Maker's part number */
  mpn?: string | null | undefined;
  /** Brand of `mpn`, by name or slug */
  brand?: string | null | undefined;
  /** Source's own number */
  sku?: string | null | undefined;
  /** Address at which a source shows the article */
  url?: string | null | undefined;
  /** Only by this source */
  source?: string | null | undefined;
}

/** An identifier in the form in which it is compared. */
export interface IdentifierRef {
  /** Kind of identifier */
  scheme: "gtin" | "mpn" | "sku" | "url";
  /** Number or text */
  value: string;
}

export interface IidBody {
  /** Item identifiers */
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
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  expires_at: string;
}

export interface InvitationList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: Invitation[];
}

/** Query of `invite`. */
export interface InviteQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
}

/** Query of `issueKey`. */
export interface IssueKeyQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
}

export interface IssuedInvitation {
  /** Its id */
  id: string;
  /** Address */
  link: string;
  /** RFC 3339, UTC */
  expires_at: string;
}

export interface IssuedKey {
  /** API key */
  key: string;
  /** Beginning of the key */
  key_id: string;
  /** Every key that is valid now */
  keys: KeyState[];
}

/** One item. */
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
  /** Its product type */
  product_type: string | null;
  category: CategoryRef | null;
  identifiers: Identifier[];
  /** Further attributes from its sources */
  attributes: Record<string, unknown>;
  channels: ChannelSeen[];
  price_band: PriceBand | null;
  sustainability: Sustainability | null;
  sources: SourceRef[];
  /** Source of each known field */
  provenance: Record<string, string>;
  members: ArticleMember[];
  /** Links between its members */
  matches: ArticleMatch[];
  /** Its version */
  version: number;
  /** YYYY-MM-DD */
  first_seen_on: string;
  /** RFC 3339, UTC */
  updated_at: string;
  links: ItemLinks;
}

/** Addresses of related calls. */
export interface ItemLinks {
  /** Address */
  self: string;
  /** Address of the brand's insights */
  brand: string | null;
  /** Address */
  pricing: string;
  /** Address */
  sustainability: string;
}

/** One job of your organization. */
export interface Job {
  /** Its id */
  id: string;
  /** Kind of the computation */
  kind: string;
  state: JobState;
  progress: JobProgress;
  /** Number of attempts so far */
  attempt: number;
  /** Version of the index's data */
  data_version: number | null;
  /** Units charged */
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
  error: Problem | null;
  links: JobLinks;
}

/** Limit of an organization's jobs in one state. */
export interface JobLimit {
  /** Largest number allowed */
  limit: number;
  /** Number used */
  used: number;
}

/** Jobs at a time. */
export interface JobLimits {
  running: JobLimit;
  queued: JobLimit;
}

/** Addresses of related calls. */
export interface JobLinks {
  /** Address */
  self: string;
  /** Address */
  result: string;
  /** Address */
  events: string;
}

export interface JobList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: Job[];
}

/** Progress of a job. */
export interface JobProgress {
  /** Completed share */
  fraction: number;
  /** Current stage */
  stage: string;
  /** How many there are */
  rows_done: number;
  /** How many there are */
  rows_total: number | null;
}

/** Result of a job. */
export interface JobResult {
  /** Address */
  url: string;
  /** Media type */
  media_type: string;
  /** How many there are */
  rows: number;
  /** How many there are */
  bytes: number;
  /** SHA-256 of the bytes at `url` */
  sha256: string;
}

/** State of a job. */
export type JobState = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";

/** A key that works. */
export interface KeyState {
  /** Beginning of the key */
  key_id: string;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  expires_at: string | null;
  /** RFC 3339, UTC */
  last_used_at: string | null;
  /** Network of its last use */
  last_used_network: string | null;
}

export interface LeakedKey {
  /** API key */
  key: string;
}

/** The links of one anchor. */
export interface LinkContext {
  /** Address */
  anchor: string;
  /** Name of the item */
  itemDescription: string;
}

/** A vocabulary of link types. */
export interface LinkNamespace {
  /** Address */
  namespace: string;
  /** Abbreviation of the vocabulary */
  prefix: string;
}

/** Query of `listAttempts`. */
export interface ListAttemptsQuery {
  /** Entries at most, newest first */
  limit?: number | undefined;
}

/** Query of `listBrandInsights`. */
export interface ListBrandInsightsQuery {
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period */
  granularity?: Granularity | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates` */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Observations that count */
  kind?: StatisticKind | undefined;
  /** Whether outliers count in the statistics */
  outliers?: OutlierMode | undefined;
  /** Order of the list, `-` from the end */
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
  /** Order of the list */
  sort?: "name" | "items" | undefined;
  /** Entries on a page */
  limit?: number | undefined;
  /** `next_cursor` of the page before */
  cursor?: string | undefined;
}

/** Query of `listCategories`. */
export interface ListCategoriesQuery {
  /** Only direct children of this category (code) */
  parent?: string | undefined;
  /** Only this level */
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
  /** First day */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period */
  granularity?: Granularity | undefined;
  /** Only this channel */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates` */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Observations that count */
  kind?: StatisticKind | undefined;
  /** Whether outliers count in the statistics */
  outliers?: OutlierMode | undefined;
  /** Order of the list, `-` from the end */
  sort?: "observations" | "-observations" | "category" | "-category" | undefined;
  /** Entries on a page */
  limit?: number | undefined;
  /** `next_cursor` of the page before */
  cursor?: string | undefined;
  /** Only the children of this category */
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
  /** `cursor` of the last event that you have */
  after?: number | undefined;
  /** Entries on a page */
  limit?: number | undefined;
  /** Only events of this type */
  type?: ("job.ended" | "export.ready" | "release.cut" | "item.merged" | "item.split" | "item.withdrawn" | "item.restored" | "watch.fired" | "quota.reached" | "key.rotated" | "key.revoked" | "webhook.disabled")[] | undefined;
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
  /** Id of one of your organizations */
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
  /** Id of one of your organizations */
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
  /** `cursor` of the last event that you have */
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

/** One export. */
export interface ListedExport {
  /** Its id */
  id: string;
  /** Kind of the computation */
  kind: string;
  state: JobState;
  progress: JobProgress;
  /** Number of attempts so far */
  attempt: number;
  /** Version of the index's data */
  data_version: number | null;
  /** Units charged */
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
  error: Problem | null;
  links: JobLinks;
  /** Order in its normal form */
  request: Record<string, unknown>;
}

/** Result of one IID of a batch. */
export interface LookupEntry {
  /** IID of the item */
  iid: string;
  /** Status a single lookup would have had */
  status: number;
  record: Item | null;
  /** IID that it was merged into */
  survivor: string | null;
  /** Slug of the problem */
  problem: string | null;
}

/** Query of `lookupItems`. */
export interface LookupItemsQuery {
  /** Item identifiers */
  iid: string[];
}

export interface LookupList {
  /** Only with `dry_run` */
  kind?: string | undefined;
  /** Format of the answer or file */
  format?: string | undefined;
  /** Whether it was stored before the call */
  cached?: boolean | undefined;
  /** Units that the call costs */
  cost_units?: number | undefined;
  /** Number of entries in `data` */
  count: number;
  /** Version of the index's data */
  data_version?: number | undefined;
  /** Empty with `dry_run` */
  data: LookupEntry[];
}

/** A field of two items, compared. */
export interface MatchEvidence {
  /** Field that is compared */
  field: string;
  /** Value of the first of `iids` */
  left: string;
  /** Value of the other item */
  right: string;
  /** Whether both values agree */
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
  /** RFC 3339, UTC */
  joined_at: string;
}

export interface MemberList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: Member[];
}

/** Role of a member in the organization. */
export type MemberRole = "owner" | "admin" | "member" | "viewer";

export interface NewExport {
  /** Name of the dataset */
  dataset: "items" | "observations" | "impacts" | "brands" | "categories" | "merged";
  /** Names of columns */
  columns?: string[] | null | undefined;
  filter?: ExportFilter | undefined;
  /** Only rows that changed after this data_version */
  since?: number | null | undefined;
  /** Format of the answer or file */
  format?: "parquet" | "csv" | "ndjson" | "arrow" | undefined;
  /** Compression of the files */
  compression?: "gzip" | "none" | "zstd" | null | undefined;
}

export interface NewInvitation {
  /** E-mail address */
  email: string;
  /** Role in the organization */
  role: "admin" | "member" | "viewer";
}

export interface NewOrganization {
  /** Its name */
  name: string;
  /** Plan to request */
  plan?: string | undefined;
}

export interface NewWatch {
  target: WatchTarget;
  /** IID, slug of a brand, or code of a category */
  code: string;
  /** Condition of the watch */
  condition: WatchCondition;
  /** Decimal amount, for `below` */
  amount?: string | null | undefined;
  /** ISO 4217 */
  currency?: string | null | undefined;
  /** For `new-low` one of 30, 90, 365 */
  days?: number | null | undefined;
  /** Percentage, for `index-moved` */
  percent?: number | null | undefined;
  kind?: ObservationKind | undefined;
  /** Your own name for it */
  label?: string | null | undefined;
}

export interface NewWebhook {
  /** An https address on the public internet */
  url: string;
  /** Only events of these types */
  types?: ("job.ended" | "export.ready" | "release.cut" | "item.merged" | "item.split" | "item.withdrawn" | "item.restored" | "watch.fired" | "quota.reached" | "key.rotated" | "key.revoked" | "webhook.disabled")[] | null | undefined;
}

/** Whether observations are offers seen or sales. */
export type ObservationKind = "listing" | "sale";

export interface Organization {
  /** Its id */
  id: string;
  /** Its name */
  name: string;
  /** Name of the plan */
  plan: string;
  /** Plan that waits for an operator's approval */
  requested_plan: string | null;
  /** Its state */
  state: "active" | "suspended";
  role: MemberRole;
  keys: KeyState[];
}

/** The organization that the credential belongs to. */
export interface OrganizationRef {
  /** Its id */
  id: string;
  /** Its name */
  name: string;
}

/** Outliers. */
export interface OutlierMeta {
  mode: OutlierMode;
  /** Observations that their neighbours contradict */
  set_aside: number;
}

/** Whether outliers count in statistics. */
export type OutlierMode = "exclude" | "include";

/** One page of a list. */
export interface Page {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
}

/** Query in its normal form */
export type PageQuery = Record<string, unknown>;

/** Number of entries. */
export interface PageTotal {
  /** How many there are */
  value: number;
  /** Whether the number is exact or a lower bound */
  relation: "eq" | "gte";
}

/** A refused parameter. */
export interface ParameterFault {
  /** Its name */
  parameter: string;
  /** What is allowed */
  detail: string;
  /** What came, shortened */
  value?: string | undefined;
}

/** One part that the edge needs. */
export interface PartState {
  /** Its name */
  name: string;
  /** Its state */
  state: "ok" | "down" | "read-only" | "empty" | "late" | "off";
  /** Explanation */
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
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
}

export interface PlanRequest {
  /** Name of the plan */
  plan: string;
}

/** Prices of the last 30 days of the item's data. */
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
  /** How many there are */
  observations: number;
  /** Outliers among what was observed */
  set_aside: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
}

/** The change of prices of the same items, beside that of the median. */
export interface PriceChange {
  /** Jevons index of the items that both periods have, less 1 */
  index_change?: number | null | undefined;
  /** Lower end of the 95 % bootstrap interval over items */
  index_change_low?: number | null | undefined;
  /** Upper end of it */
  index_change_high?: number | null | undefined;
  /** Share of the period's items that the period before has too */
  share_matched?: number | null | undefined;
  /** Whether `median_change` is outside that interval */
  median_disagrees?: boolean | null | undefined;
}

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
  /** Price index, first period = 100 */
  index?: number | null | undefined;
  /** Lower end of the 95 % bootstrap interval over items */
  low?: number | null | undefined;
  /** Upper end of it */
  high?: number | null | undefined;
  /** Distinct items with a price above zero */
  items?: number | undefined;
  /** Outliers among what was observed */
  set_aside?: number | undefined;
  /** Items that the period compared with has too */
  matched_items?: number | null | undefined;
  /** matched_items / items */
  share_matched?: number | null | undefined;
  /** Items that the period compared with has not */
  new_items?: number | null | undefined;
  /** Items that only the period compared with has */
  vanished_items?: number | null | undefined;
  /** Period before that has data */
  compared_with?: string | null | undefined;
  /** Median price, whatever the mix */
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

/** Prices of the last days. */
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
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  /** How many there are */
  n: number;
  /** Number of days */
  observed_days: number;
  /** Outliers among what was observed */
  set_aside: number;
}

/** Members of every statistic of prices. */
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
  /** Outliers among what was observed */
  set_aside?: number | undefined;
  /** Observations with a list price */
  list_price_n?: number | undefined;
  /** Share of them whose price is below the list price */
  promotion_share?: number | null | undefined;
  /** Mean of 1 - price / list price over observations on promotion */
  discount_mean?: number | null | undefined;
  /** Median discount over observations on promotion */
  discount_median?: number | null | undefined;
}

/** The meta of a pricing history. */
export interface PricingMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON */
  result_sha256: string;
  /** Whether it was stored before the call */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** How many there are */
  rows: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  coverage: Coverage;
  units: AnalysisMetaUnits;
  /** Method of computation */
  method: string;
  rounding?: AnalysisMetaRounding | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
  outliers: OutlierMeta;
  statistics: PriceStatistic[];
  /** Statistics for each kilogram, litre or piece */
  unit_prices: UnitPrice[];
  /** Each channel's running reduction */
  reductions: ReductionSummary[];
}

export interface PricingReport {
  data: PricingRow[];
  meta: PricingMeta;
}

/** A day of an item in one channel. */
export interface PricingRow {
  /** YYYY-MM-DD */
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
  /** How many there are */
  n: number;
}

/** The meta of prior prices. */
export interface PriorPriceMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON */
  result_sha256: string;
  /** Whether it was stored before the call */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** How many there are */
  rows: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  coverage: Coverage;
  units: AnalysisMetaUnits;
  /** Method of computation */
  method: string;
  rounding?: AnalysisMetaRounding | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
}

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
  /** YYYY-MM-DD */
  as_of: string;
  /** Decimal amount in `currency` */
  price: string | null;
  /** YYYY-MM-DD */
  reduction_began_on: string | null;
  /** Decimal amount in `currency` */
  prior_price: string | null;
  /** Percent */
  percent: string | null;
  /** Whether the price is below a prior price that is known */
  applicable: boolean;
  /** Reason for which it cannot be judged */
  reason: "no_reduction" | "not_below_prior_price" | "missing_days" | "fewer_than_30_days" | "new_arrival" | "progressive_reduction" | null;
  /** Whether the observations suffice to judge */
  known: boolean;
  /** Lowest price observed in its days */
  at_most: string | null;
  /** Day of the prior price */
  lowest_on: string[];
  evidence: EvidenceDay[];
}

/** A problem document (RFC 9457). */
export interface Problem {
  /** `{problem_base_url}/{slug}`: the page with its meaning and remedy */
  type: string;
  /** Reason phrase of the status */
  title: string;
  /** Status of the answer */
  status: number;
  /** Cause of this occurrence */
  detail: string;
  /** Request, as a URN */
  instance: string;
  /** All faults of parameters */
  errors?: ParameterFault[] | undefined;
}

/** One kind of problem. */
export interface ProblemEntry {
  /** Its type */
  type: string;
  /** Its name in URLs */
  slug: string;
  /** Title */
  title: string;
  /** Its status */
  status: number;
  /** Its meaning */
  meaning: string;
  /** Remedy */
  remedy: string;
}

export interface ProblemList {
  data: ProblemEntry[];
  /** Number of entries in `data` */
  count: number;
}

export interface QuotaAnswer {
  /** Your network, or your organization's id */
  counted_as: string;
  /** Name of the plan */
  plan: string;
  limits: QuotaWindow[];
  /** Jobs of the key's organization */
  jobs: JobLimits | null;
}

/** One limit. */
export interface QuotaWindow {
  /** Name of the limit */
  policy: string;
  /** Length of the window */
  window_seconds: number;
  /** Largest number allowed */
  limit: number;
  /** Number used */
  used: number;
  /** Number left */
  remaining: number;
  /** RFC 3339, UTC */
  resets_at: string | null;
}

export interface Quote {
  /** Name of the call */
  kind: string;
  /** Units that the call costs */
  cost_units: number;
  /** Whether it was stored before the call */
  cached: boolean;
  /** Format of the answer or file */
  format: string;
  /** Version of the index's data */
  data_version: number;
  /** Parameters in their normal form */
  parameters?: Record<string, unknown> | undefined;
}

export interface ReadyAnswer {
  /** Its status */
  status: "ready" | "degraded" | "not-ready";
  /** Version of the index's data */
  data_version: number;
  parts: PartState[];
  /** RFC 3339, UTC */
  ts: string;
}

/** Announced reductions that began in a period. */
export interface ReductionRow {
  /** First day of the period */
  period?: string | undefined;
  /** Code */
  channel?: string | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Distinct items with an announced reduction */
  items?: number | undefined;
  /** Announced reductions */
  announced?: number | undefined;
  /** Reductions whose list price is not above the prior price */
  holding?: number | undefined;
  /** Reductions below the prior price whose list price is above it */
  overstated?: number | undefined;
  /** Reductions whose price is not below the prior price */
  not_below?: number | undefined;
  /** Reductions that the observations do not suffice to judge */
  undecided?: number | undefined;
  /** holding / (announced - undecided) */
  share_holding?: number | null | undefined;
}

/** The running reduction of one channel. */
export interface ReductionSummary {
  /** Code of the channel */
  channel: string;
  /** ISO 4217 */
  currency: string;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** YYYY-MM-DD */
  as_of: string;
  /** Decimal amount in `currency` */
  price: string | null;
  /** YYYY-MM-DD */
  reduction_began_on: string | null;
  /** Decimal amount in `currency` */
  prior_price: string | null;
  /** Percent */
  percent: string | null;
  /** Whether the price is below a prior price that is known */
  applicable: boolean;
  /** Reason for which it cannot be judged */
  reason: "no_reduction" | "not_below_prior_price" | "missing_days" | "fewer_than_30_days" | "new_arrival" | "progressive_reduction" | null;
  /** Whether the observations suffice to judge */
  known: boolean;
  /** Lowest price observed in its days */
  at_most: string | null;
}

export interface ReductionsReport {
  data: ReductionRow[];
  meta: ReportMeta;
}

/** A release in a list. */
export interface ReleaseEntry {
  /** Version of the index's data */
  data_version: number;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  expires_at: string;
  /** How many there are */
  rows: number;
  /** How many there are */
  bytes: number;
  /** How many there are */
  files: number;
  links: SelfLink;
}

/** One file of a release. */
export interface ReleaseFile {
  /** Its name */
  name: string;
  /** Address for use with your API key */
  url: string;
  /** Address that needs no header */
  signed_url: string;
  /** How many there are */
  rows: number;
  /** How many there are */
  bytes: number;
  /** SHA-256 of its bytes */
  sha256: string;
  /** First key of the file */
  min_key: string;
  /** Last key of the file */
  max_key: string;
}

export interface ReleaseList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: ReleaseEntry[];
}

export interface ReleaseManifest {
  /** Name of the dataset */
  dataset: string;
  schema: DatasetColumn[];
  /** Version of the index's data */
  data_version: number;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  expires_at: string;
  /** RFC 3339, UTC */
  signed_until: string;
  /** How many there are */
  rows: number;
  /** How many there are */
  bytes: number;
  files: ReleaseFile[];
  links: SelfLink;
}

/** Query of `removeMember`. */
export interface RemoveMemberQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
}

export interface Replay {
  /** Id of one event */
  event?: string | null | undefined;
  /** Later than this cursor */
  after?: number | null | undefined;
  /** Up to this cursor */
  to?: number | null | undefined;
}

export interface Replayed {
  /** Number of events, at most 10000 in one call */
  events: number;
}

/** The meta of a report. */
export interface ReportMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON */
  result_sha256: string;
  /** Whether it was stored before the call */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** How many there are */
  rows: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  coverage: Coverage;
  units: AnalysisMetaUnits;
  /** Method of computation */
  method: string;
  rounding?: AnalysisMetaRounding | undefined;
  /** Observations behind the statistics of prices */
  kind?: StatisticKind | undefined;
  /** Multiplier of footprints */
  basis?: CumulativeBasis | undefined;
  /** Only in reports with statistics of prices */
  outliers?: OutlierMeta | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
  /** Origin of `to` */
  window_ended_by?: "request" | "data" | "index" | "today" | undefined;
  /** Number of brands or categories in the whole list */
  total?: number | undefined;
  /** `cursor` of the next page of a list */
  next_cursor?: string | null | undefined;
}

/** Query of `requestPlan`. */
export interface RequestPlanQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
}

export interface ResolveBody {
  /** Identifiers */
  identifiers: IdentifierFields[];
}

/** Result of one identifier of a batch. */
export interface ResolveEntry {
  identifier: IdentifierRef | null;
  /** Status that a call of its own would have had */
  status: number;
  record: Item | null;
  /** With status 300 */
  candidates: Candidate[];
  /** Slug of the problem */
  problem: string | null;
  /** Problem in a sentence */
  detail: string | null;
}

/** Query of `resolveIdentifier`. */
export interface ResolveIdentifierQuery {
  /** GTIN of 8, 12, 13 or 14 digits */
  gtin?: string | undefined;
  /** The same as `gtin` */
  ean?: string | undefined;
  /** UPC-A of 12 digits, or UPC-E of 8 */
  upc?: string | undefined;
  /** ISBN of 10 or 13 digits */
  isbn?: string | undefined;
  /** Maker's part number */
  mpn?: string | undefined;
  /** Brand of `mpn`, by name or slug */
  brand?: string | undefined;
  /** Source's own number */
  sku?: string | undefined;
  /** Address at which a source shows the article */
  url?: string | undefined;
  /** Only by this source */
  source?: string | undefined;
  /** Item identifier */
  iid?: string | undefined;
}

export interface ResolveList {
  /** Only with `dry_run` */
  kind?: string | undefined;
  /** Format of the answer or file */
  format?: string | undefined;
  /** Whether it was stored before the call */
  cached?: boolean | undefined;
  /** Units that the call costs */
  cost_units?: number | undefined;
  /** Number of entries in `data` */
  count: number;
  /** Version of the index's data */
  data_version?: number | undefined;
  /** Empty with `dry_run` */
  data: ResolveEntry[];
}

export interface ResolverDescription {
  /** Its name */
  name: string;
  /** Address */
  resolverRoot: string;
  /** Kinds of identifiers */
  supportedPrimaryKeys: string[];
  supportedLinkType: LinkNamespace[];
  /** Whether a linkset may be the default */
  linkTypeDefaultCanBeLinkset: boolean;
  /** Address */
  jsonLdContextLocation: string;
}

/** Query of `revokeKeys`. */
export interface RevokeKeysQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
}

export interface RoleChange {
  role: MemberRole;
}

/** The meta of a rollup. */
export interface RollupMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON */
  result_sha256: string;
  /** Whether it was stored before the call */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** How many there are */
  rows: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  coverage: Coverage;
  units: AnalysisMetaUnits;
  /** Method of computation */
  method: string;
  rounding?: AnalysisMetaRounding | undefined;
  /** Observations behind the statistics of prices */
  kind?: StatisticKind | undefined;
  /** Multiplier of footprints */
  basis?: CumulativeBasis | undefined;
  /** Only in reports with statistics of prices */
  outliers?: OutlierMeta | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
  /** Origin of `to` */
  window_ended_by?: "request" | "data" | "index" | "today" | undefined;
  /** Number of brands or categories in the whole list */
  total?: number | undefined;
  /** `cursor` of the next page of a list */
  next_cursor?: string | null | undefined;
  /** Rate of `avoided` */
  displacement?: DisplacementMeta | undefined;
}

export interface RollupReport {
  data: RollupRow[];
  meta: RollupMeta;
}

/** Footprint of the items of a period and group. */
export interface RollupRow {
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
  /** First day of the period */
  period?: string | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | null | undefined;
  /** Multiplier of the figures */
  basis?: CumulativeBasis | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Units sold */
  units?: number | null | undefined;
  /** Share of items that have a figure */
  items_covered?: number | null | undefined;
  /** Share of items with a measured figure of their own */
  items_measured?: number | null | undefined;
  /** Items whose best figure is measured */
  measured_items?: number | undefined;
  /** Items whose best figure is modelled */
  modelled_items?: number | undefined;
  /** Items with only an average */
  category_average_items?: number | undefined;
  /** Lower bound of the middle 95 % */
  co2e_kg_low?: number | null | undefined;
  /** Median */
  co2e_kg_central?: number | null | undefined;
  /** Upper bound of the middle 95 % */
  co2e_kg_high?: number | null | undefined;
  /** Lower bound of the middle 95 % */
  water_l_low?: number | null | undefined;
  /** Median */
  water_l_central?: number | null | undefined;
  /** Upper bound of the middle 95 % */
  water_l_high?: number | null | undefined;
  /** Lower bound of the middle 95 % */
  waste_kg_low?: number | null | undefined;
  /** Median */
  waste_kg_central?: number | null | undefined;
  /** Upper bound of the middle 95 % */
  waste_kg_high?: number | null | undefined;
  /** Lower bound of the middle 95 % */
  land_use_m2a_low?: number | null | undefined;
  /** Median */
  land_use_m2a_central?: number | null | undefined;
  /** Upper bound of the middle 95 % */
  land_use_m2a_high?: number | null | undefined;
  /** Lower bound of the middle 95 % */
  acidification_kg_so2e_low?: number | null | undefined;
  /** Median */
  acidification_kg_so2e_central?: number | null | undefined;
  /** Upper bound of the middle 95 % */
  acidification_kg_so2e_high?: number | null | undefined;
  /** Lower bound of the middle 95 % */
  freshwater_eutrophication_kg_pe_low?: number | null | undefined;
  /** Median */
  freshwater_eutrophication_kg_pe_central?: number | null | undefined;
  /** Upper bound of the middle 95 % */
  freshwater_eutrophication_kg_pe_high?: number | null | undefined;
  /** Lower bound of the middle 95 % */
  marine_eutrophication_kg_ne_low?: number | null | undefined;
  /** Median */
  marine_eutrophication_kg_ne_central?: number | null | undefined;
  /** Upper bound of the middle 95 % */
  marine_eutrophication_kg_ne_high?: number | null | undefined;
  /** Items with the largest shares */
  contributors?: Contributor[] | undefined;
  /** Avoided impact by indicator */
  avoided?: Avoided[] | null | undefined;
}

export interface RootAnswer {
  /** Name of the service */
  service: string;
  /** Its version */
  version: string;
  /** Build that is running */
  revision: string;
  organization: OrganizationRef | null;
  /** Kind of the credential */
  credential: string;
  /** Name of the plan */
  plan: string;
  /** Calls that the plan includes */
  entitlements: string[];
  /** Largest number of IIDs in one batch look-up */
  batch_iids_max: number;
  quota: QuotaWindow[];
  /** Addresses of the next calls */
  links: Record<string, string>;
}

/** Query of `rotateKey`. */
export interface RotateKeyQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
}

export interface Rotation {
  /** Time for which the old key remains valid */
  grace?: "none" | "1h" | "24h" | undefined;
}

/** One hit of a search. */
export interface SearchHit {
  /** Item identifier */
  iid: string;
  /** Its name */
  name: string;
  brand: BrandRef | null;
  /** Its product type */
  product_type: string | null;
  category: CategoryRef | null;
  /** Score of the hit */
  score: number;
  /** Fields that contain the words */
  matched_on: ("brand" | "product_type" | "category" | "name" | "iid_prefix" | "identifier")[];
  /** Whether it has all words */
  all_words: boolean;
  links: SelfLink;
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

export interface SearchList {
  /** Number of entries in `data` */
  count: number;
  total: SearchTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: SearchHit[];
}

/** Number of hits, and of those with all words. */
export interface SearchTotal {
  /** How many there are */
  value: number;
  /** Whether the number is exact or a lower bound */
  relation: "eq" | "gte";
  /** Hits with all words */
  all_words: number;
}

/** Address of the whole record. */
export interface SelfLink {
  /** Address */
  self: string;
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
  /** The last one */
  endingVersion?: number | undefined;
  /** The first version at this moment or after it */
  startingTimestamp?: string | undefined;
  /** The version that was the newest at this time */
  endingTimestamp?: string | undefined;
  /** Accepted and ignored */
  includeHistoricalMetadata?: string | undefined;
}

export interface SharingList {
  items: SharingObject[];
  /** `pageToken` of the next page */
  nextPageToken?: string | undefined;
}

/** Query of `sharingMetadata`. */
export interface SharingMetadataQuery {
  /** This version */
  version?: number | undefined;
  /** The version that was the newest at this time */
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

export interface SharingProfile {
  /** Version of the profile's format */
  shareCredentialsVersion: number;
  /** Name of the operation */
  endpoint: string;
  /** API key */
  bearerToken: string;
}

export interface SharingQuery {
  /** Predicates */
  predicateHints?: string[] | undefined;
  /** Predicate in JSON */
  jsonPredicateHints?: string | null | undefined;
  /** Number of rows that suffice */
  limitHint?: number | null | undefined;
  /** Its version */
  version?: number | null | undefined;
  /** The version that was the newest at this time */
  timestamp?: string | null | undefined;
  /** First version of changes */
  startingVersion?: number | null | undefined;
  /** Last version of changes */
  endingVersion?: number | null | undefined;
}

/** Query of `sharingSchemas`. */
export interface SharingSchemasQuery {
  /** Entries on a page */
  maxResults?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
}

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

/** A source of the record's facts. */
export interface SourceRef {
  /** Name of the source */
  source: string;
  /** RFC 3339, UTC */
  observed_at: string;
  /** Terms of use */
  license: string;
}

/** Contribution of one stage of the life cycle. */
export interface StageFigure {
  /** Stage of the life cycle */
  stage: string;
  /** Figure for one unit */
  per_unit: number;
  /** Origin of the figure */
  basis: "measured" | "modelled";
  /** Method of computation */
  method: string;
}

/** Observations that count. */
export type StatisticKind = "listing" | "sale" | "both";

/** Footprint of one unit of an item, by indicator. */
export interface Sustainability {
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
  basis: FigureBasis;
  /** Method of computation */
  method: string;
  /** Records that the figure is the mean of */
  samples: number;
}

/** The meta of an item's figures. */
export interface SustainabilityMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON */
  result_sha256: string;
  /** Whether it was stored before the call */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** How many there are */
  rows: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  coverage: Coverage;
  units: AnalysisMetaUnits;
  /** Method of computation */
  method: string;
  rounding?: AnalysisMetaRounding | undefined;
  /** What cumulative figures count */
  basis: CumulativeBasis;
  displacement: DisplacementMeta | null;
}

export interface SustainabilityReport {
  data: SustainabilityRow[];
  meta: SustainabilityMeta;
}

/** One indicator. */
export interface SustainabilityRow {
  indicator: Effect;
  /** Unit of the figure */
  unit: string;
  /** Figure for one unit */
  per_unit: number | null;
  /** Units sold in the range */
  units_observed: number;
  /** Figure for the units sold */
  cumulative: number | null;
  basis: FigureBasis | null;
  /** Scope of the figure */
  scope: "item" | "product_type" | "category" | null;
  /** Product type or category */
  code: string | null;
  /** Figure for a kilogram */
  per_kg: number | null;
  /** Weight of one unit */
  weight_kg: number | null;
  /** Name of the source */
  source: string | null;
  /** Terms of use */
  license: string | null;
  /** Method of computation */
  method: string | null;
  /** Records that the figure is the mean of */
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
  /** Origin of the interval */
  interval_from: "source" | "samples" | "pedigree" | null;
  /** Avoided, lower bound */
  avoided_low: number | null;
  /** Displacement rate times the median of all units */
  avoided: number | null;
  /** Avoided, upper bound */
  avoided_high: number | null;
  /** Stages that sources list */
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
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
  /** Share of the category's observations */
  share?: number | null | undefined;
}

/** Prices of the last days. */
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
  /** Unit of measure */
  per: "kg" | "l" | "piece";
  /** Content of an article */
  content: string;
  /** `name` or the attribute */
  read_in: string;
}

export interface UsageList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: UsageRow[];
}

/** Calls of a day. */
export interface UsageRow {
  /** YYYY-MM-DD */
  day: string;
  /** Name of the operation */
  endpoint: string;
  /** Outcome of the calls */
  outcome: string;
  /** Kind of the credential */
  credential: string;
  /** How many there are */
  calls: number;
  /** Units that were charged */
  units: number;
}

/** The rates of one currency on one day. */
export interface UsedRate {
  /** Currency of the observations */
  from: string;
  /** Day of the row */
  day: string;
  /** Day of the rates */
  rate_day: string;
  /** Units of `from` for a euro */
  from_per_euro: string;
  /** Units of `to` for a euro */
  to_per_euro: string;
}

/** A watch. */
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
  /** Decimal amount, for `below` */
  amount: string | null;
  /** ISO 4217 */
  currency: string | null;
  /** Number of days */
  days: number | null;
  /** Percent */
  percent: number | null;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  paused_at: string | null;
}

export interface WatchChange {
  /** Whether it is paused */
  paused: boolean;
}

/** Condition of a watch. */
export type WatchCondition = "below" | "new-low" | "returned" | "index-moved";

export interface WatchList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: Watch[];
}

/** Kind of object that is watched. */
export type WatchTarget = "article" | "brand" | "category";

/** A webhook. */
export interface Webhook {
  /** Its id */
  id: string;
  /** Its address */
  url: string;
  /** Types of events that are sent */
  types: string[] | null;
  /** Its state */
  state: "active" | "retrying" | "disabled";
  /** Reason for which it is disabled */
  disabled_reason: string | null;
  /** Consecutive failures of the next event */
  failures: number;
  /** RFC 3339, UTC */
  next_attempt_at: string | null;
  /** Events not accepted yet */
  pending: number;
  /** Events up to this one were accepted */
  cursor: string;
  /** Signing secret */
  secret: string | null;
  /** Until then the previous secret signs as well */
  secret_before_ends: string | null;
  /** RFC 3339, UTC */
  created_at: string;
}

export interface WebhookList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page */
  next_cursor: string | null;
  query: PageQuery;
  /** Version of the index's data */
  data_version: number;
  data: Webhook[];
}

/** Query of `withdrawInvitation`. */
export interface WithdrawInvitationQuery {
  /** Id of one of your organizations */
  organization?: string | undefined;
}
