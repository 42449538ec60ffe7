/** Types of the API's documents and queries, made by `make clients`; answers may have more members. */

/** A report as JSON; other formats are files. */
export interface AnyResult {
  /** Rows */
  data: Record<string, unknown>[];
  /** Context of the rows */
  meta: Record<string, unknown>;
}

/** A link between two items; with its evidence. */
export interface ArticleMatch {
  /** IIDs of the two items */
  iids: string[];
  /** Kind of the link */
  kind: "identifier" | "likeness" | "review" | "merge";
  /** Probability; null where a person decided */
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
  /** Source's name for it; null if the source adds figures only */
  name: string | null;
  identifiers: Identifier[];
}

/** Attempts of one webhook, the newest first. */
export interface AttemptList {
  data: DeliveryAttempt[];
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
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

/** One page of the audit log, the newest first. */
export interface AuditList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: AuditEntry[];
}

/** Avoided impact of the units sold, by one indicator. */
export interface Avoided {
  /** Code of the effect */
  indicator: "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne";
  /** Displacement rate times the lower bound of the sum */
  low: number;
  /** Displacement rate times the median of the sum */
  central: number;
  /** Displacement rate times the upper bound of the sum */
  high: number;
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

/** One page of brands. */
export interface BrandList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
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

/** Insights of brands. */
export interface BrandReport {
  meta: ReportMeta;
  data: BrandRow[];
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
  kind?: "listing" | "sale" | "both" | undefined;
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
  /** Median discount over observations on promotion */
  discount_median?: number | null | undefined;
  /** Jevons index of the items that both periods have, less 1; null for `kind=both` */
  index_change?: number | null | undefined;
  /** Lower end of the 95 % bootstrap interval over items */
  index_change_low?: number | null | undefined;
  /** Upper end of it */
  index_change_high?: number | null | undefined;
  /** Share of the period's items that the period before has too */
  share_matched?: number | null | undefined;
  /** Whether `median_change` is outside that interval; then the mix moved it, not prices */
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
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
  /** Median price against the period before; 0.1 is a tenth more */
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
  /** Last part of `path` */
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
  /** Number of its direct children */
  children: number;
}

/** One page of categories. */
export interface CategoryList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
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

/** Insights of categories. */
export interface CategoryReport {
  meta: ReportMeta;
  data: CategoryRow[];
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
  kind?: "listing" | "sale" | "both" | undefined;
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
  /** Median discount over observations on promotion */
  discount_median?: number | null | undefined;
  /** Jevons index of the items that both periods have, less 1; null for `kind=both` */
  index_change?: number | null | undefined;
  /** Lower end of the 95 % bootstrap interval over items */
  index_change_low?: number | null | undefined;
  /** Upper end of it */
  index_change_high?: number | null | undefined;
  /** Share of the period's items that the period before has too */
  share_matched?: number | null | undefined;
  /** Whether `median_change` is outside that interval; then the mix moved it, not prices */
  median_disagrees?: boolean | null | undefined;
  /** Code */
  category?: string | undefined;
  /** Names from the top of the tree */
  path?: string[] | undefined;
  /** Code; only with `group_by=channel` */
  channel?: string | undefined;
  /** Decimal amount in `currency` */
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
  /** Prices observed there; listings and sales */
  observations: number;
  /** Day of the newest observation */
  last_seen_on: string;
}

/** One page of channels. */
export interface ChannelList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
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

/** A cohort. */
export interface CohortReport {
  meta: ReportMeta;
  data: CohortRow[];
}

/** A cohort in one period, group and currency. */
export interface CohortRow {
  /** First day of the period */
  period?: string | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | null | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** Observations that count */
  kind?: "listing" | "sale" | "both" | undefined;
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
  /** Median discount over observations on promotion */
  discount_median?: number | null | undefined;
  /** Prices behind the statistics */
  price_n?: number | undefined;
  /** Decimal amount in `currency` */
  mean?: string | null | undefined;
  /** Sample standard deviation; null for a single price; decimal amount in `currency` */
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
  /** Code of the effect */
  indicator: "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne";
  /** IID of the item */
  iid: string;
  /** Its share of the sum */
  share: number;
}

/** Conversion of amounts; the table, its source, the rule, and every rate that was used. */
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

/** Days of the range with and without data. Missing days are never filled in. */
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

/** The organization, its plan, and the plan that waits for an operator's approval, null if none does. */
export interface CreatedOrganization {
  /** Its id */
  id: string;
  /** Name of the plan */
  plan: string;
  /** Plan that waits for approval */
  requested_plan: string | null;
}

/** Credentials of S3, and the bucket that they open. */
export interface DataCredentials {
  /** Names the credentials */
  access_key_id: string;
  /** Signs requests */
  secret_access_key: string;
  /** Comes along with each request */
  session_token: string;
  /** When they end; with the API key, if earlier */
  expires_at: string;
  /** Where clients of S3 ask */
  endpoint: string;
  /** Region that signatures name */
  region: string;
  /** Bucket of the releases */
  bucket: string;
}

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

/** All datasets. */
export interface DatasetList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
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
  outcome: "accepted" | "answer-too-large" | "private-address" | "redirected" | "refused" | "secret-unreadable" | "timed-out" | "tls-failed" | "unreachable";
  /** Beginning of the receiver's answer */
  answer: string;
  /** Time until the answer */
  milliseconds: number;
}

/** The links of an article (RFC 9264). */
export interface DigitalLinkset {
  linkset: LinkContext[];
}

/** New items that each unit displaces; with the source of the number, and which units are counted. */
export interface DisplacementMeta {
  /** Share of purchases that are replaced */
  rate: number;
  /** Publication of the rate */
  citation: string;
  /** Units that are multiplied by the rate */
  counted: string;
}

/** Something that happened. Types and members of `data` may be added: ignore those that you do not know. */
export interface Event {
  /** Id of the event; the same in the feed and as `webhook-id` */
  id: string;
  /** Value for `after`; larger cursors are later */
  cursor: string;
  /** Its type */
  type: string;
  /** RFC 3339, UTC */
  timestamp: string;
  /** Members by type; see the guide to events */
  data: Record<string, unknown>;
}

/** One page, the oldest first. `next_cursor` is the `after` of the next page, null where there is none yet. */
export interface EventList {
  data: Event[];
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
}

/** The lowest price of a day. */
export interface EvidenceDay {
  /** YYYY-MM-DD */
  day: string;
  /** Decimal amount in `currency` */
  price: string;
}

/** One export, with its files once it is complete. */
export interface Export {
  /** Its id */
  id: string;
  /** Kind of the computation */
  kind: string;
  /** Its state */
  state: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";
  progress: JobProgress;
  /** Number of attempts so far */
  attempt: number;
  /** Version of the index's data */
  data_version: number | null;
  /** Units charged; 0 after a refund */
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

/** Cost and size of an order. `rows_relation` is `about` for an estimate, and `gte` if counting stopped early. */
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

/** One file. `content` is `rows`, or `gone`: items whose rows an earlier copy must drop. */
export interface ExportFile {
  /** Its name */
  name: string;
  /** Address */
  url: string;
  /** Address for tools that send no header; valid until `signed_until` */
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

/** Filters of the rows; of several names of one kind, any may match. */
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
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: ListedExport[];
}

/** Contents of an export. With `since`, rows replace those of the same items; observations in `months` or all. */
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
  /** Months with changes; empty where nothing has changed */
  months: string[];
  /** Whether rows replace those of all months; `months` is empty then */
  all_months: boolean;
  /** Stands before texts of CSV that a spreadsheet would run; they begin with = + - @, tab or line break and are no negative number. Take it away for the text itself. Null in other formats. */
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
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat for more */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
  outliers?: "exclude" | "include" | undefined;
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
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat for more */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
  outliers?: "exclude" | "include" | undefined;
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
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat for more */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
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
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
  outliers?: "exclude" | "include" | undefined;
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
  /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Brand (slug); repeat for more: any of them */
  brand?: string[] | undefined;
  /** Category (code) and those below it; repeat for more: any of them */
  category?: string[] | undefined;
  /** Observations that count; offers seen or sales; default: sales for methods that weight by units, else listings where there are any */
  kind?: "listing" | "sale" | undefined;
  /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
  outliers?: "exclude" | "include" | undefined;
  /** Index formula; usual spellings of it, as ccdi, are the same; default: geks-jevons */
  method?: "jevons" | "dutot" | "carli" | "harmonic" | "cswd" | "laspeyres" | "paasche" | "fisher" | "tornqvist" | "walsh" | "geks-jevons" | "geks-fisher" | "geks-tornqvist" | "geks-walsh" | "tpd" | "geary-khamis" | undefined;
  /** Periods of a window, for geks-*, tpd and geary-khamis; default: all that have data */
  window?: number | undefined;
  /** Splice that links a further period to earlier windows; default: mean */
  splice?: "movement" | "window" | "half" | "mean" | "window-published" | "half-published" | "mean-published" | "fbew" | "fbmw" | undefined;
}

/** Query of `getPricing`. */
export interface GetPricingQuery {
  /** First day; default: the 90th up to the last */
  from?: string | undefined;
  /** Last day, inclusive; default: the last with data, or `from` */
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
  kind?: "listing" | "sale" | undefined;
  /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
  outliers?: "exclude" | "include" | undefined;
}

/** Query of `getPriorPrice`. */
export interface GetPriorPriceQuery {
  /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Day to judge; default: each channel's last observed day */
  asked_on?: string | undefined;
  /** Only this channel; repeat for more */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
  outliers?: "exclude" | "include" | undefined;
  /** Whether the market uses Art. 6a(5); a reduction of several steps then has the price before the first one; without it such a reduction is not judged */
  progressive?: boolean | undefined;
  /** Steps count that begin within so many days of the first */
  progressive_days?: number | undefined;
  /** The market uses Art. 6a(4) and the item was first offered on this day; fewer than 30 days may then suffice */
  first_offered?: string | undefined;
}

/** Query of `getReductions`. */
export interface GetReductionsQuery {
  /** First day; default: the last 90 days with data */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: the whole range is one period */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat for more */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Category (code) and those below it; repeat for more: any of them */
  category?: string[] | undefined;
  /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
  outliers?: "exclude" | "include" | undefined;
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
  /** First day; default: the 90th up to the last */
  from?: string | undefined;
  /** Last day, inclusive; default: the last with data, or `from` */
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
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat for more */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
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
  basis?: "sales" | "assortment" | undefined;
}

/** Query of `getUsage`. */
export interface GetUsageQuery {
  /** Id of one of your organizations; the first you joined if absent */
  organization?: string | undefined;
  /** 30 days before `to` if absent */
  from?: string | undefined;
  /** Today if absent */
  to?: string | undefined;
}

/** The process is alive. */
export interface HealthAnswer {
  /** Its status */
  status: "ok";
  /** Build that is running */
  revision: string;
  /** RFC 3339, UTC */
  ts: string;
}

/** Query of `icebergConfig`. */
export interface IcebergConfigQuery {
  /** Any name: there is one warehouse */
  warehouse?: string | undefined;
}

/** Query of `icebergNamespaces`. */
export interface IcebergNamespacesQuery {
  /** A namespace; none has others below it */
  parent?: string | undefined;
  /** Not used */
  pageToken?: string | undefined;
  /** Not used */
  pageSize?: number | undefined;
}

/** Query of `icebergTable`. */
export interface IcebergTableQuery {
  /** `all` or `refs`; all of them come */
  snapshots?: string | undefined;
}

/** Query of `icebergTables`. */
export interface IcebergTablesQuery {
  /** A namespace; none has others below it */
  parent?: string | undefined;
  /** Not used */
  pageToken?: string | undefined;
  /** Not used */
  pageSize?: number | undefined;
}

/** An identifier that others gave the item. */
export interface Identifier {
  /** Kind of identifier */
  scheme: string;
  /** Identifier */
  value: string;
}

/** Exactly one identifier; gtin, ean, upc, isbn, mpn (with brand), sku (with source) and url. */
export interface IdentifierFields {
  /** GTIN of 8, 12, 13 or 14 digits; spaces and hyphens between digits are ignored */
  gtin?: string | null | undefined;
  /** The same as `gtin` */
  ean?: string | null | undefined;
  /** UPC-A of 12 digits, or UPC-E of 8; with number system and check digit */
  upc?: string | null | undefined;
  /** ISBN of 10 or 13 digits */
  isbn?: string | null | undefined;
  /** Maker's part number; needs `brand` */
  mpn?: string | null | undefined;
  /** Brand of `mpn`, by name or slug */
  brand?: string | null | undefined;
  /** Source's own number; needs `source` */
  sku?: string | null | undefined;
  /** Address at which a source shows the article */
  url?: string | null | undefined;
  /** Only by this source; codes that shops assign themselves need it */
  source?: string | null | undefined;
}

/** An identifier in the form in which it is compared. */
export interface IdentifierRef {
  /** Kind of identifier */
  scheme: "gtin" | "mpn" | "sku" | "url";
  /** Number or text; a GTIN has 14 digits */
  value: string;
}

/** Body of a batch lookup. */
export interface IidBody {
  /** Item identifiers; as many as the plan allows */
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

/** The open invitations. */
export interface InvitationList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
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

/** A new invitation. Its link is shown only once: send it to the invited person. */
export interface IssuedInvitation {
  /** Its id */
  id: string;
  /** Address */
  link: string;
  /** RFC 3339, UTC */
  expires_at: string;
}

/** A new key. It is shown only once; the service keeps only a keyed hash of it. */
export interface IssuedKey {
  /** API key */
  key: string;
  /** Beginning of the key */
  key_id: string;
  /** Every key that is valid now; the new one first */
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
  /** Source of each known field; its key is like `name` or `attributes.color` */
  provenance: Record<string, string>;
  members: ArticleMember[];
  /** Links between its members; empty if the record has only one */
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
  /** Its state */
  state: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";
  progress: JobProgress;
  /** Number of attempts so far */
  attempt: number;
  /** Version of the index's data */
  data_version: number | null;
  /** Units charged; 0 after a refund */
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

/** One page of jobs, the newest first. */
export interface JobList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
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

/** Result of a job; its address, format and size. */
export interface JobResult {
  /** Address */
  url: string;
  /** Media type */
  media_type: string;
  /** How many there are */
  rows: number;
  /** How many there are */
  bytes: number;
  /** SHA-256 of the bytes at `url`; its ETag names it too */
  sha256: string;
}

/** A key that works; `expires_at` is the end of its grace, null for the current one. */
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

/** The key itself: any holder may revoke it. */
export interface LeakedKey {
  /** API key */
  key: string;
}

/** The links of one anchor; each further member is a link type with its links. */
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
  /** First day; default: the last 90 days with data */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: the whole range is one period */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat for more */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
  outliers?: "exclude" | "include" | undefined;
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
  /** Order of the list; `name`: by name; `items`: brands with the most items first */
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
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat for more */
  channel?: string[] | undefined;
  /** Only this currency (ISO 4217) */
  currency?: string | undefined;
  /** Convert amounts to this currency (ISO 4217), by `rates`; default: as they were observed */
  convert?: string | undefined;
  /** Table of exchange rates to convert by */
  rates?: string | undefined;
  /** Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count in the statistics; these are observations that their neighbours contradict */
  outliers?: "exclude" | "include" | undefined;
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
  type?: ("job.ended" | "export.ready" | "release.cut" | "item.merged" | "item.split" | "item.withdrawn" | "item.restored" | "watch.fired" | "quota.reached" | "key.rotated" | "key.revoked" | "webhook.disabled")[] | undefined;
}

/** Query of `listExports`. */
export interface ListExportsQuery {
  /** Only this state */
  state?: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired" | undefined;
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
  state?: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired" | undefined;
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

/** One export; its job and its order. */
export interface ListedExport {
  /** Its id */
  id: string;
  /** Kind of the computation */
  kind: string;
  /** Its state */
  state: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";
  progress: JobProgress;
  /** Number of attempts so far */
  attempt: number;
  /** Version of the index's data */
  data_version: number | null;
  /** Units charged; 0 after a refund */
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
  /** Item identifiers; repeat the parameter */
  iid: string[];
}

/** The answer of a batch lookup. */
export interface LookupList {
  /** Empty with `dry_run` */
  data: LookupEntry[];
  /** Number of entries in `data` */
  count: number;
  /** Only with `dry_run`; so are the members below */
  kind?: string | undefined;
  /** Units that the call costs */
  cost_units?: number | undefined;
  /** Whether it was stored before the call */
  cached?: boolean | undefined;
  /** Format of the answer or file */
  format?: string | undefined;
  /** Version of the index's data */
  data_version?: number | undefined;
}

/** Addresses of related calls. */
export interface ManifestLinks {
  /** Address */
  self: string;
  /** Public keys that check the signature */
  keys: string;
  /** Address */
  croissant: string;
  /** Address */
  schema_org: string;
  /** Address */
  dcat: string;
}

/** Signature of a manifest: Ed25519 over its members that never change, as canonical JSON (RFC 8785). */
export interface ManifestSignature {
  /** Signature scheme (RFC 8032) */
  algorithm: string;
  /** `kid` of the key at `links.keys` */
  key_id: string;
  /** base64url */
  value: string;
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
  /** Role in the organization */
  role: "owner" | "admin" | "member" | "viewer";
  /** RFC 3339, UTC */
  joined_at: string;
}

/** The people of the organization. */
export interface MemberList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: Member[];
}

/** An order of an export. */
export interface NewExport {
  /** Name of the dataset */
  dataset: "items" | "observations" | "impacts" | "brands" | "categories" | "merged" | "items_changes" | "observations_changes" | "impacts_changes" | "brands_changes" | "categories_changes" | "merged_changes" | "training_pairs_changes" | "cards_changes";
  /** Names of columns; in the order of the file; all columns if absent */
  columns?: string[] | null | undefined;
  filter?: ExportFilter | undefined;
  /** Only rows that changed after this data_version; with a file of removed items */
  since?: number | null | undefined;
  /** Of changes: the release that they lead to; the newest if absent */
  until?: number | null | undefined;
  /** Format of the answer or file */
  format?: "parquet" | "csv" | "ndjson" | "arrow" | undefined;
  /** Compression of the files; default: zstd inside Parquet, none for the others */
  compression?: "gzip" | "none" | "zstd" | null | undefined;
}

/** The person to invite, and the role. */
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
  /** Plan to request; every organization begins on the free plan */
  plan?: string | undefined;
}

/** A watch to create. */
export interface NewWatch {
  /** Kind of object that is watched */
  target: "article" | "brand" | "category";
  /** IID, slug of a brand, or code of a category */
  code: string;
  /** Condition of the watch; `below`: the lowest price of an article's newest day is below `amount`; `new-low`: that price is lower than on each of the `days` days before; `returned`: an article is observed again after it was not for `days` days; `index-moved`: prices of the same items changed by more than `percent` from one month to the next */
  condition: "below" | "new-low" | "returned" | "index-moved";
  /** Decimal amount, for `below` */
  amount?: string | null | undefined;
  /** ISO 4217 */
  currency?: string | null | undefined;
  /** For `new-low` one of 30, 90, 365; for `returned` the length of the absence, 30 by default */
  days?: number | null | undefined;
  /** Percentage, for `index-moved` */
  percent?: number | null | undefined;
  /** Whether observations are offers seen or sales */
  kind?: "listing" | "sale" | undefined;
  /** Your own name for it */
  label?: string | null | undefined;
}

/** A webhook to create. */
export interface NewWebhook {
  /** An https address on the public internet */
  url: string;
  /** Only events of these types; every type if absent */
  types?: ("job.ended" | "export.ready" | "release.cut" | "item.merged" | "item.split" | "item.withdrawn" | "item.restored" | "watch.fired" | "quota.reached" | "key.rotated" | "key.revoked" | "webhook.disabled")[] | null | undefined;
}

/** An organization, as its members see it. */
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
  /** Role in the organization */
  role: "owner" | "admin" | "member" | "viewer";
  keys: KeyState[];
}

/** The organization that the credential belongs to. */
export interface OrganizationRef {
  /** Its id */
  id: string;
  /** Its name */
  name: string;
}

/** Outliers; whether they count in the statistics, and how many there are. */
export interface OutlierMeta {
  /** Whether outliers count in statistics */
  mode: "exclude" | "include";
  /** Observations that their neighbours contradict; with `include` they count too */
  set_aside: number;
}

/** Number of entries; exact (`eq`) or a lower bound (`gte`). */
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

/** Request for a plan. */
export interface PlanRequest {
  /** Name of the plan */
  plan: string;
}

/** Prices of the last 30 days of the item's data; without outliers, listings, else sales, in the usual currency. */
export interface PriceBand {
  /** ISO 4217 */
  currency: string;
  /** Whether observations are offers seen or sales */
  kind: "listing" | "sale";
  /** Decimal amount in `currency` */
  low: string;
  /** Decimal amount in `currency` */
  median: string;
  /** Decimal amount in `currency` */
  high: string;
  /** How many there are */
  observations: number;
  /** Outliers among what was observed; the other figures are without them */
  set_aside: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
}

/** A price index. */
export interface PriceIndexReport {
  meta: ReportMeta;
  data: PriceIndexRow[];
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
  kind?: "listing" | "sale" | undefined;
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
  /** Period before that has data; null in the first period */
  compared_with?: string | null | undefined;
  /** Median price, whatever the mix; decimal amount in `currency` */
  median?: string | null | undefined;
  /** Median price, first period = 100 */
  median_index?: number | null | undefined;
  /** Whether `median_index` is outside `low` to `high` */
  median_disagrees?: boolean | null | undefined;
}

/** Prices of the last days; of one currency and kind. */
export interface PriceStatistic {
  /** Number of days */
  days: 7 | 30 | 90 | 365;
  /** ISO 4217 */
  currency: string;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** Whether observations are offers seen or sales */
  kind: "listing" | "sale";
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  /** Decimal amount in `currency` */
  low: string | null;
  /** Decimal amount in `currency` */
  median: string | null;
  /** Decimal amount in `currency` */
  high: string | null;
  /** How many there are */
  n: number;
  /** Number of days */
  observed_days: number;
  /** Outliers among what was observed */
  set_aside: number;
}

/** The meta of a pricing history. */
export interface PricingMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON; for every format */
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
  /** Unit of each column */
  units: Record<string, string>;
  /** Method of computation */
  method: string;
  /** Rounding of each rounded field; a field that is not named is exact */
  rounding?: Record<string, string> | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
  outliers: OutlierMeta;
  statistics: PriceStatistic[];
  /** Statistics for each kilogram, litre or piece; empty where the content is unknown */
  unit_prices: UnitPrice[];
  /** Each channel's running reduction; its evidence is at `/index/pricing/{iid}/reference` */
  reductions: ReductionSummary[];
}

/** A pricing history. */
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
  /** Whether observations are offers seen or sales */
  kind: "listing" | "sale";
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
  /** SHA-256 of the rows as NDJSON; for every format */
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
  /** Unit of each column */
  units: Record<string, string>;
  /** Method of computation */
  method: string;
  /** Rounding of each rounded field; a field that is not named is exact */
  rounding?: Record<string, string> | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
}

/** The reductions of an item. */
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
  /** Lowest price observed in its days; if the prior price is unknown */
  at_most: string | null;
  /** Day of the prior price */
  lowest_on: string[];
  evidence: EvidenceDay[];
}

/** A problem document (RFC 9457). A slug may add members. */
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

/** Every kind of problem. */
export interface ProblemList {
  data: ProblemEntry[];
  /** Number of entries in `data` */
  count: number;
}

/** The account that calls are counted for, and its limits. */
export interface QuotaAnswer {
  /** Your network, or your organization's id */
  counted_as: string;
  /** Name of the plan */
  plan: string;
  limits: QuotaWindow[];
  /** Jobs of the key's organization; null for other credentials, or if the count is unavailable */
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

/** Cost of a call. */
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
  /** Parameters of a report in their normal form */
  parameters?: Record<string, unknown> | undefined;
}

/** Whether the edge can do all of its work. */
export interface ReadyAnswer {
  /** Its status */
  status: "ready" | "degraded" | "not-ready";
  /** Version of the index's data */
  data_version: number;
  parts: PartState[];
  /** RFC 3339, UTC */
  ts: string;
}

/** Announced reductions that began in a period; of one channel and currency. */
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

/** The running reduction of one channel; as the observations show it. */
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
  /** Lowest price observed in its days; if the prior price is unknown */
  at_most: string | null;
}

/** Announced reductions. */
export interface ReductionsReport {
  meta: ReportMeta;
  data: ReductionRow[];
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

/** One file of a release. Files are in the order of their keys: first and last key show which file holds a key. */
export interface ReleaseFile {
  /** Its name */
  name: string;
  /** Address for use with your API key */
  url: string;
  /** Address that needs no header; valid until `signed_until` */
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

/** Releases of a dataset. */
export interface ReleaseList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: ReleaseEntry[];
}

/** One release with its files. */
export interface ReleaseManifest {
  /** Name of the dataset */
  dataset: string;
  schema: DatasetColumn[];
  /** Version of the index's data */
  data_version: number;
  /** Of changes: they lead from this data_version, or a later one, to `data_version` */
  since?: number | undefined;
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
  /** null: the release was published unsigned */
  signature: ManifestSignature | null;
  links: ManifestLinks;
}

/** Query of `removeMember`. */
export interface RemoveMemberQuery {
  /** Id of one of your organizations; the first you joined if absent */
  organization?: string | undefined;
}

/** The events to send again: one by its id, or those after a cursor. */
export interface Replay {
  /** Id of one event */
  event?: string | null | undefined;
  /** Later than this cursor */
  after?: number | null | undefined;
  /** Up to this cursor; all if absent */
  to?: number | null | undefined;
}

/** The number of events that will be sent again. */
export interface Replayed {
  /** Number of events, at most 10000 in one call */
  events: number;
}

/** The meta of a report. */
export interface ReportMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON; for every format */
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
  /** Unit of each column */
  units: Record<string, string>;
  /** Method of computation */
  method: string;
  /** Rounding of each rounded field; a field that is not named is exact */
  rounding?: Record<string, string> | undefined;
  /** Observations behind the statistics of prices */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Multiplier of footprints; units sold, or 1 for each item */
  basis?: "sales" | "assortment" | undefined;
  /** Only in reports with statistics of prices */
  outliers?: OutlierMeta | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
  /** Origin of `to`; the request, the last day with enough data for the filters, that of the whole index if the filters match no observation, or today if the index is empty */
  window_ended_by?: "request" | "data" | "index" | "today" | undefined;
  /** Number of brands or categories in the whole list */
  total?: number | undefined;
  /** `cursor` of the next page of a list; null on the last. Also in `Link: rel=next` */
  next_cursor?: string | null | undefined;
}

/** Query of `requestPlan`. */
export interface RequestPlanQuery {
  /** Id of one of your organizations; the first you joined if absent */
  organization?: string | undefined;
}

/** Body of a batch. */
export interface ResolveBody {
  /** Identifiers; as many as the plan allows (`batch_iids_max` at `GET /v1/`) */
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
  /** GTIN of 8, 12, 13 or 14 digits; spaces and hyphens between digits are ignored */
  gtin?: string | undefined;
  /** The same as `gtin` */
  ean?: string | undefined;
  /** UPC-A of 12 digits, or UPC-E of 8; with number system and check digit */
  upc?: string | undefined;
  /** ISBN of 10 or 13 digits */
  isbn?: string | undefined;
  /** Maker's part number; needs `brand` */
  mpn?: string | undefined;
  /** Brand of `mpn`, by name or slug */
  brand?: string | undefined;
  /** Source's own number; needs `source` */
  sku?: string | undefined;
  /** Address at which a source shows the article */
  url?: string | undefined;
  /** Only by this source; codes that shops assign themselves need it */
  source?: string | undefined;
  /** Item identifier */
  iid?: string | undefined;
}

/** The answer of a batch; with `dry_run` only its price. */
export interface ResolveList {
  /** Empty with `dry_run` */
  data: ResolveEntry[];
  /** Number of entries in `data` */
  count: number;
  /** Only with `dry_run`; so are the members below */
  kind?: string | undefined;
  /** Units that the call costs */
  cost_units?: number | undefined;
  /** Whether it was stored before the call */
  cached?: boolean | undefined;
  /** Format of the answer or file */
  format?: string | undefined;
  /** Version of the index's data */
  data_version?: number | undefined;
}

/** The description file of a GS1-conformant resolver. */
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
  /** Id of one of your organizations; the first you joined if absent */
  organization?: string | undefined;
}

/** A role. */
export interface RoleChange {
  /** Role in the organization */
  role: "owner" | "admin" | "member" | "viewer";
}

/** The meta of a rollup. */
export interface RollupMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON; for every format */
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
  /** Unit of each column */
  units: Record<string, string>;
  /** Method of computation */
  method: string;
  /** Rounding of each rounded field; a field that is not named is exact */
  rounding?: Record<string, string> | undefined;
  /** Observations behind the statistics of prices */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Multiplier of footprints; units sold, or 1 for each item */
  basis?: "sales" | "assortment" | undefined;
  /** Only in reports with statistics of prices */
  outliers?: OutlierMeta | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
  /** Origin of `to`; the request, the last day with enough data for the filters, that of the whole index if the filters match no observation, or today if the index is empty */
  window_ended_by?: "request" | "data" | "index" | "today" | undefined;
  /** Number of brands or categories in the whole list */
  total?: number | undefined;
  /** `cursor` of the next page of a list; null on the last. Also in `Link: rel=next` */
  next_cursor?: string | null | undefined;
  /** Rate of `avoided`; only with `displacement` or a rate */
  displacement?: DisplacementMeta | undefined;
}

/** A sustainability rollup. */
export interface RollupReport {
  meta: RollupMeta;
  data: RollupRow[];
}

/** Footprint of the items of a period and group; sums (null without figures), medians, bounds of the middle 95 %. */
export interface RollupRow {
  /** First day of the period */
  period?: string | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | null | undefined;
  /** Multiplier of the figures; units sold, or 1 for each item */
  basis?: "sales" | "assortment" | undefined;
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
  /** Items with only an average; that of their product type or category */
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
  /** Items with the largest shares; up to three for each indicator */
  contributors?: Contributor[] | undefined;
  /** Avoided impact by indicator; null unless with a displacement rate and the basis `sales` */
  avoided?: Avoided[] | null | undefined;
}

/** The service, and the caller. */
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
  /** Largest number of IIDs in one batch look-up; 0 if the plan has no batches */
  batch_iids_max: number;
  quota: QuotaWindow[];
  /** Addresses of the next calls */
  links: Record<string, string>;
}

/** Query of `rotateKey`. */
export interface RotateKeyQuery {
  /** Id of one of your organizations; the first you joined if absent */
  organization?: string | undefined;
}

/** Terms of a key's replacement. */
export interface Rotation {
  /** Time for which the old key remains valid */
  grace?: "none" | "1h" | "24h" | undefined;
}

/** A column that came, changed or went with a release. */
export interface SchemaChange {
  /** The first release that has the change */
  data_version: number;
  /** What happened to the column */
  change: "added" | "changed" | "removed";
  /** Its name */
  name: string;
  /** Its type */
  type: string;
  /** Whether the column may be null */
  nullable: boolean;
}

/** Changes of a dataset's schema. */
export interface SchemaChangeList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: SchemaChange[];
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
  /** Score of the hit; only the order of scores has a meaning */
  score: number;
  /** Fields that contain the words */
  matched_on: ("brand" | "product_type" | "category" | "name" | "iid_prefix" | "identifier")[];
  /** Whether it has all words; of the last word, its beginning suffices */
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

/** One page of hits, best first; equal scores in the order of their IIDs. */
export interface SearchList {
  /** Number of entries in `data` */
  count: number;
  total: SearchTotal;
  /** `cursor` of the next page; null on the last */
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
  /** Hits with all words; they come first; a lower bound if the relation is `gte` */
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
  /** The last one; default: the newest */
  endingVersion?: number | undefined;
  /** The first version at this moment or after it */
  startingTimestamp?: string | undefined;
  /** The version that was the newest at this time */
  endingTimestamp?: string | undefined;
  /** Accepted and ignored */
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

/** A profile file, as the protocol defines it. */
export interface SharingProfile {
  /** Version of the profile's format */
  shareCredentialsVersion: number;
  /** Name of the operation */
  endpoint: string;
  /** API key */
  bearerToken: string;
}

/** Body of a query. The protocol grows: members that are not known here are hints of its later versions. */
export interface SharingQuery {
  /** Predicates; hints are ignored */
  predicateHints?: string[] | undefined;
  /** Predicate in JSON; hints are ignored */
  jsonPredicateHints?: string | null | undefined;
  /** Number of rows that suffice; hints are ignored */
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

/** A source of the record's facts. */
export interface SourceRef {
  /** Name of the source */
  source: string;
  /** RFC 3339, UTC */
  observed_at: string;
  /** Terms of use */
  license: string;
}

/** Contribution of one stage of the life cycle; a credit is negative. */
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

/** Footprint of one unit of an item, by indicator; basis, method and samples are of the first known indicator. */
export interface Sustainability {
  /** Origin of the figure */
  basis: "measured" | "modelled" | "category_average";
  /** Method of computation */
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
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON; for every format */
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
  /** Unit of each column */
  units: Record<string, string>;
  /** Method of computation */
  method: string;
  /** Rounding of each rounded field; a field that is not named is exact */
  rounding?: Record<string, string> | undefined;
  /** What cumulative figures count; units sold, or each item once */
  basis: "sales" | "assortment";
  displacement: DisplacementMeta | null;
}

/** The figures of an item. */
export interface SustainabilityReport {
  data: SustainabilityRow[];
  meta: SustainabilityMeta;
}

/** One indicator. A value that no source has is null. */
export interface SustainabilityRow {
  /** Code of the effect */
  indicator: "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne";
  /** Unit of the figure */
  unit: string;
  /** Figure for one unit */
  per_unit: number | null;
  /** Units sold in the range */
  units_observed: number;
  /** Figure for the units sold; for one unit if the basis is the assortment */
  cumulative: number | null;
  /** Origin of the figure */
  basis: "measured" | "modelled" | "category_average" | null;
  /** Scope of the figure; the item, its product type or its category */
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
  /** Records that the figure is the mean of; 1: its own */
  samples: number | null;
  /** Basis of cumulative figures */
  cumulative_basis: "sales" | "assortment";
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
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
}

/** Prices of the last days; for one unit of what the item holds. */
export interface UnitPrice {
  /** Number of days */
  days: 7 | 30 | 90 | 365;
  /** ISO 4217 */
  currency: string;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** Whether observations are offers seen or sales */
  kind: "listing" | "sale";
  /** Unit of measure */
  per: "kg" | "l" | "piece";
  /** Content of an article */
  content: string;
  /** `name` or the attribute */
  read_in: string;
  /** Decimal amount in `currency` */
  low: string | null;
  /** Decimal amount in `currency` */
  median: string | null;
  /** Decimal amount in `currency` */
  high: string | null;
}

/** Statistics of use, a minute behind at most. */
export interface UsageList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: UsageRow[];
}

/** Calls of a day; to one endpoint, with one outcome, by one credential. */
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
  /** Day of the rates; earlier where it has none */
  rate_day: string;
  /** Units of `from` for a euro */
  from_per_euro: string;
  /** Units of `to` for a euro */
  to_per_euro: string;
}

/** A watch; members that its condition does not use are null. */
export interface Watch {
  /** Its id */
  id: string;
  /** Your own name for it */
  label: string | null;
  /** Kind of object that is watched */
  target: "article" | "brand" | "category";
  /** Its code */
  code: string;
  /** Condition of the watch */
  condition: "below" | "index-moved" | "new-low" | "returned";
  /** Whether observations are offers seen or sales */
  kind: "listing" | "sale";
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

/** Whether the watch is paused. */
export interface WatchChange {
  /** Whether it is paused */
  paused: boolean;
}

/** One page of watches, the newest first. */
export interface WatchList {
  data: Watch[];
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
}

/** A webhook. `secret` is shown when it is created or rotated, else it is null. */
export interface Webhook {
  /** Its id */
  id: string;
  /** Its address */
  url: string;
  /** Types of events that are sent */
  types: string[] | null;
  /** Its state */
  state: "active" | "disabled" | "retrying";
  /** Reason for which it is disabled */
  disabled_reason: string | null;
  /** Consecutive failures of the next event */
  failures: number;
  /** RFC 3339, UTC */
  next_attempt_at: string | null;
  /** Events not accepted yet; counted up to 1000 */
  pending: number;
  /** Events up to this one were accepted */
  cursor: string;
  /** Signing secret; shown only once */
  secret: string | null;
  /** Until then the previous secret signs as well */
  secret_before_ends: string | null;
  /** RFC 3339, UTC */
  created_at: string;
}

/** All webhooks of the organization. */
export interface WebhookList {
  data: Webhook[];
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** Query in its normal form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
}

/** Query of `withdrawInvitation`. */
export interface WithdrawInvitationQuery {
  /** Id of one of your organizations; the first you joined if absent */
  organization?: string | undefined;
}
