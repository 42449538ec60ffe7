/** Types of the API's documents and queries, made by `make clients`; answers may have more members. */

/** An aggregate index. */
export interface AggregateIndexReport {
  meta: ReportMeta;
  data: AggregateIndexRow[];
}

/** The index of one row of the table of weights, in one period and currency. */
export interface AggregateIndexRow {
  /** First day of the period */
  period?: string | undefined;
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** Code of the row: a category, an item's IID, or your own; `total` above several top rows */
  category?: string | undefined;
  /** Code of the row above; null of the top */
  parent?: string | null | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Which observations the row covers */
  kind?: "listing" | "sale" | undefined;
  /** Share of the weights below the same parent, in prices of the price reference period */
  weight?: number | null | undefined;
  /** Price index, price reference period = 100; null from the first period without any elementary index */
  index?: number | null | undefined;
  /** Change on the period before; null without it */
  change?: number | null | undefined;
  /** Part of the parent's `change`, in percentage points; those below one parent add up to it */
  contribution?: number | null | undefined;
  /** Change on the same period of the year before; null without it */
  change_year?: number | null | undefined;
  /** Part of the parent's `change_year`; those below one parent add up to it */
  contribution_year?: number | null | undefined;
  /** Whether no price of it could be compared: it changed as its parent since the period before */
  imputed?: boolean | undefined;
  /** Share of its weight whose leaves are imputed */
  share_imputed?: number | null | undefined;
  /** Distinct items with a price above zero */
  items?: number | undefined;
}

/** A report as JSON; other formats are files. */
export interface AnyResult {
  /** Rows */
  data: Record<string, unknown>[];
  /** Context of the rows */
  meta: Record<string, unknown>;
}

/** A link between two items, with its evidence. */
export interface ArticleMatch {
  /** IIDs of the two items */
  iids: string[];
  /** Kind of the link */
  kind: "identifier" | "likeness" | "review" | "merge";
  /** Probability; null if a person decided */
  score: number | null;
  evidence: MatchEvidence[];
  /** When they were linked */
  since: string | null;
}

/** A source's item that is part of this item. */
export interface ArticleMember {
  /** Item identifier */
  iid: string;
  /** Name of the source */
  source: string;
  /** The source's own ID */
  id: string;
  /** Name that the source uses; null if the source adds only figures */
  name: string | null;
  identifiers: Identifier[];
}

/** Attempts of one webhook, newest first. */
export interface AttemptList {
  data: DeliveryAttempt[];
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
}

/** One entry of the audit log. */
export interface AuditEntry {
  /** ID */
  id: string;
  /** RFC 3339, UTC */
  at: string;
  /** Person or key that made the change */
  actor: string;
  /** Action */
  act: string;
  /** Object of the action */
  subject: string;
}

/** One page of the audit log, newest first. */
export interface AuditList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: AuditEntry[];
}

/** The availability of items. */
export interface AvailabilityReport {
  meta: ReportMeta;
  data: AvailabilityRow[];
}

/** The items of a channel in a period. */
export interface AvailabilityRow {
  /** First day of the period */
  period?: string | undefined;
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | null | undefined;
  /** Which observations the row covers */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Days on which the channel was observed, of whatever item */
  observed_days?: number | undefined;
  /** Days on which an item was seen, over all items */
  item_days?: number | undefined;
  /** Days on which the channel was observed and an item was not seen, between the first and the last day on which it was, over all items */
  missing_days?: number | undefined;
  /** item_days / (item_days + missing_days); null below three items */
  share_seen?: number | null | undefined;
  /** Lower end of the 95 % interval; null below three items, or if all agree */
  share_seen_low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  share_seen_high?: number | null | undefined;
  /** First day with data */
  first_day?: string | null | undefined;
  /** Last day with data */
  last_day?: string | null | undefined;
  /** Items that the channel did not have in the whole previous period; null if it was not observed then */
  new_items?: number | null | undefined;
  /** Items of the whole previous period that the channel does not have */
  gone_items?: number | null | undefined;
  /** The other channels, by code */
  overlaps?: Overlap[] | undefined;
}

/** Avoided impact of the units sold, by one indicator. */
export interface Avoided {
  /** Code of the indicator */
  indicator: "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne";
  /** Displacement rate times the lower bound of the sum */
  low: number;
  /** Displacement rate times the median of the sum */
  central: number;
  /** Displacement rate times the upper bound of the sum */
  high: number;
}

/** A brand's figures in one category. */
export interface BrandCategory {
  /** Code */
  category?: string | null | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Observations */
  observations?: number | undefined;
  /** Share of the brand's items */
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
  /** ID */
  id: number;
  /** Name */
  name: string;
  /** Name in URLs */
  slug: string;
  /** Number of items */
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
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: BrandEntry[];
}

/** Reference to a brand. */
export interface BrandRef {
  /** ID */
  id: number;
  /** Name */
  name: string;
  /** Name in URLs */
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
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** Only with `measure=unit_price`: the unit that all prices of the row are for */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Which observations the row covers */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Observations */
  observations?: number | undefined;
  /** Outliers; price statistics exclude them unless `outliers=include` */
  set_aside?: number | undefined;
  /** Observations with a list price */
  list_price_n?: number | undefined;
  /** Share of `list_price_n` with a price below the list price */
  promotion_share?: number | null | undefined;
  /** Mean discount (1 − price / list price) of observations on promotion */
  discount_mean?: number | null | undefined;
  /** Median discount of observations on promotion */
  discount_median?: number | null | undefined;
  /** Change of the Jevons price index over the items that a channel has in both periods; null with `kind=both` */
  index_change?: number | null | undefined;
  /** Lower end of the 95 % interval; null below three matched items, or if all changed alike */
  index_change_low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  index_change_high?: number | null | undefined;
  /** Share of the period's items that are also in the previous period */
  share_matched?: number | null | undefined;
  /** Slug */
  brand?: string | undefined;
  /** Name */
  name?: string | undefined;
  /** Code; only with `group_by=channel` */
  channel?: string | undefined;
  /** Rank by items among all brands, within the filters */
  rank?: number | undefined;
  /** Rank in the whole previous period */
  rank_before?: number | null | undefined;
  /** Number of ranked brands */
  ranked?: number | undefined;
  /** Percentage of the other brands with fewer items */
  percentile?: number | undefined;
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
  /** Change of the median since the whole previous period; 0.1 means 10 % higher */
  median_change?: number | null | undefined;
  /** Mean of median / category median over the brand's categories, weighted by its items */
  against_categories?: number | null | undefined;
  categories?: BrandCategory[] | undefined;
  peers?: Peer[] | undefined;
}

/** Limit of bytes that are stored at the same time. */
export interface ByteLimit {
  /** Units or jobs allowed */
  limit: number;
  /** Units or jobs used */
  used: number;
}

/** One of several items that have an identifier. */
export interface Candidate {
  /** Item identifier */
  iid: string;
  /** Name */
  name: string;
  brand: BrandRef | null;
  /** Names of its sources */
  sources: string[];
  links: SelfLink;
}

/** One category of the tree. */
export interface CategoryEntry {
  /** Code of the category or channel */
  code: string;
  /** Last part of `path` */
  name: string;
  /** Names from the top of the tree */
  path: string[];
  /** Code of the parent category */
  parent: string | null;
  /** 1 at the top */
  level: number;
  /** Items of the category itself */
  item_count: number;
  /** Items of the category and its subcategories */
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
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: CategoryEntry[];
}

/** Reference to a category. */
export interface CategoryRef {
  /** Code of the category or channel */
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
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** Only with `measure=unit_price`: the unit that all prices of the row are for */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Which observations the row covers */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Observations */
  observations?: number | undefined;
  /** Outliers; price statistics exclude them unless `outliers=include` */
  set_aside?: number | undefined;
  /** Observations with a list price */
  list_price_n?: number | undefined;
  /** Share of `list_price_n` with a price below the list price */
  promotion_share?: number | null | undefined;
  /** Mean discount (1 − price / list price) of observations on promotion */
  discount_mean?: number | null | undefined;
  /** Median discount of observations on promotion */
  discount_median?: number | null | undefined;
  /** Change of the Jevons price index over the items that a channel has in both periods; null with `kind=both` */
  index_change?: number | null | undefined;
  /** Lower end of the 95 % interval; null below three matched items, or if all changed alike */
  index_change_low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  index_change_high?: number | null | undefined;
  /** Share of the period's items that are also in the previous period */
  share_matched?: number | null | undefined;
  /** Code */
  category?: string | undefined;
  /** Names from the top of the tree */
  path?: string[] | undefined;
  /** Code; only with `group_by=channel` */
  channel?: string | undefined;
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
  /** Median price of the whole previous period; decimal amount in `currency` */
  median_before?: string | null | undefined;
  /** median / median_before - 1 */
  median_change?: number | null | undefined;
  /** Observations of the whole previous period */
  observations_before?: number | null | undefined;
  /** Rank by items among categories of the same depth, within the filters */
  rank?: number | null | undefined;
  /** Rank in the whole previous period */
  rank_before?: number | null | undefined;
  /** Number of ranked categories */
  ranked?: number | null | undefined;
  channels?: ChannelMedian[] | undefined;
  top_brands?: TopBrand[] | undefined;
}

/** Query of `changeRole`. */
export interface ChangeRoleQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** One channel. */
export interface ChannelEntry {
  /** Code of the category or channel */
  code: string;
  /** Prices observed in this channel; listings and sales */
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
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: ChannelEntry[];
}

/** A channel's items and their median price. */
export interface ChannelMedian {
  /** Code */
  channel?: string | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Observations */
  observations?: number | undefined;
  /** Share of the row's items; an item of several channels counts in each */
  share?: number | null | undefined;
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
}

/** A channel in which the item was observed. */
export interface ChannelSeen {
  /** Code of the channel */
  channel: string;
  /** Observed asking prices */
  listings: number;
  /** Observed sales */
  sales: number;
  /** YYYY-MM-DD */
  last_seen_on: string;
}

/** A channel's share. */
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
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
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
  /** Only with `measure=unit_price`: the unit that all prices of the row are for */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Which observations the row covers */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Observations */
  observations?: number | undefined;
  /** Outliers; price statistics exclude them unless `outliers=include` */
  set_aside?: number | undefined;
  /** Observations with a list price */
  list_price_n?: number | undefined;
  /** Share of `list_price_n` with a price below the list price */
  promotion_share?: number | null | undefined;
  /** Mean discount (1 − price / list price) of observations on promotion */
  discount_mean?: number | null | undefined;
  /** Median discount of observations on promotion */
  discount_median?: number | null | undefined;
  /** Prices used in the statistics */
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
  /** Code of the indicator */
  indicator: "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne";
  /** IID of the item */
  iid: string;
  /** Its share of the sum */
  share: number;
}

/** How amounts were converted: the table, its source, the rule, and every rate that was used. */
export interface ConversionMeta {
  /** Currency of the answer */
  to: string;
  /** Name of the table of rates */
  rates: string;
  /** Name of the source */
  source: string;
  /** Address of the table of rates */
  url: string | null;
  /** Method of computation */
  method: string;
  used: UsedRate[];
}

/** Days of the range with and without data. Missing days are not interpolated. */
export interface Coverage {
  /** Number of days */
  days: number;
  /** Days with data */
  observed_days: number;
  /** Days without data */
  missing_days: number;
  /** YYYY-MM-DD */
  first: string | null;
  /** YYYY-MM-DD */
  last: string | null;
}

/** Query of `createExport`. */
export interface CreateExportQuery {
  /** Like `dry_run`, with the first ten rows */
  preview?: boolean | undefined;
}

/** The organization, its plan, and the plan that is awaiting approval (null if none). */
export interface CreatedOrganization {
  /** ID */
  id: string;
  /** Name of the plan */
  plan: string;
  /** Plan that is awaiting approval */
  requested_plan: string | null;
}

/** S3 credentials, and the bucket that they can read. */
export interface DataCredentials {
  /** ID of the credentials */
  access_key_id: string;
  /** Key that signs requests */
  secret_access_key: string;
  /** Token to be sent with each request */
  session_token: string;
  /** When they expire; earlier if the API key does */
  expires_at: string;
  /** Endpoint for S3 clients */
  endpoint: string;
  /** Region for signatures */
  region: string;
  /** Bucket of the releases */
  bucket: string;
}

/** One column. */
export interface DatasetColumn {
  /** Name */
  name: string;
  /** Type */
  type: string;
  /** Whether the column may be null */
  nullable: boolean;
  /** What the column contains */
  description: string;
}

/** A dataset in the list. */
export interface DatasetEntry {
  /** Name */
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
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: DatasetEntry[];
}

/** One attempt to send one event. */
export interface DeliveryAttempt {
  /** ID of the event */
  event_id: string;
  /** Position in the log */
  cursor: string;
  /** RFC 3339, UTC */
  at: string;
  /** Status of the receiver's response */
  status: number | null;
  /** Outcome of the calls */
  outcome: "accepted" | "answer-too-large" | "private-address" | "redirected" | "refused" | "secret-unreadable" | "timed-out" | "tls-failed" | "unreachable";
  /** Beginning of the receiver's response */
  answer: string;
  /** Time until the response */
  milliseconds: number;
}

/** The links of an item (RFC 9264). */
export interface DigitalLinkset {
  linkset: LinkContext[];
}

/** How many new items each unit displaces, the source of this rate, and which units are counted. */
export interface DisplacementMeta {
  /** Share of purchases of new items that are displaced */
  rate: number;
  /** Publication of the rate */
  citation: string;
  /** Which units are multiplied by the rate */
  counted: string;
}

/** A type, property or column. */
export interface EntityReference {
  /** ID */
  id: string;
  /** Name */
  name: string;
  /** What the column contains */
  description?: string | undefined;
}

/** An event. Types and members of `data` may be added: ignore those that you do not know. */
export interface Event {
  /** ID of the event, also sent as `webhook-id` */
  id: string;
  /** Value for `after`; later events have larger cursors */
  cursor: string;
  /** Type */
  type: string;
  /** RFC 3339, UTC */
  timestamp: string;
  /** Members by type; see the guide to events */
  data: Record<string, unknown>;
}

/** One page of events, oldest first. `next_cursor` is the `after` of the next page, null if there is none yet. */
export interface EventList {
  data: Event[];
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** The query in canonical form */
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
  /** ID */
  id: string;
  /** Kind of the computation */
  kind: string;
  /** State */
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
  /** When the result expires */
  expires_at: string | null;
  result: JobResult | null;
  error: Problem | null;
  links: JobLinks;
  /** The request in canonical form */
  request: Record<string, unknown>;
  manifest: ExportManifest | null;
}

/** Cost and size of an export. `rows_relation` is `about` for an estimate, and `gte` if counting stopped early. */
export interface ExportEstimate {
  /** Units that the call costs */
  cost_units: number;
  /** Number of rows */
  rows: number;
  /** Whether `rows` is exact, a lower bound or an estimate */
  rows_relation: "eq" | "gte" | "about";
  /** Version of the index's data */
  data_version: number;
  schema: DatasetColumn[];
  /** The request in canonical form */
  request: Record<string, unknown>;
  /** First rows */
  preview: Record<string, unknown>[] | null;
}

/** One file. `content` is `rows`, or `gone`: items whose rows must be deleted from an earlier copy. */
export interface ExportFile {
  /** Name */
  name: string;
  /** Address */
  url: string;
  /** Signed URL that needs no header; valid until `signed_until` */
  signed_url: string;
  /** Content of the file */
  content: "rows" | "gone";
  /** Number of rows */
  rows: number;
  /** Size in bytes */
  bytes: number;
  /** SHA-256 of its bytes */
  sha256: string;
  /** First key of the file */
  min_key: string | null;
  /** Last key of the file */
  max_key: string | null;
}

/** Row filters; if a filter has several values, any of them may match. */
export interface ExportFilter {
  /** Brands (slugs) */
  brand?: string[] | undefined;
  /** Categories (codes), including their subcategories */
  category?: string[] | undefined;
  /** Channels; only observations have them */
  channel?: string[] | undefined;
  /** First day; only observations have days */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
}

/** Limits of exports. */
export interface ExportLimits {
  stored_bytes: ByteLimit;
}

/** One page of exports, newest first. */
export interface ExportList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: ListedExport[];
}

/** Contents of an export. With `since`, rows replace those of the same items (observations: in `months`, or all). */
export interface ExportManifest {
  /** Name of the dataset */
  dataset: string;
  schema: DatasetColumn[];
  /** Format of the response or file */
  format: string;
  /** Compression of the files */
  compression: string;
  /** Media type */
  media_type: string;
  /** Version of the index's data */
  data_version: number;
  /** The data_version before the changes */
  since: number | null;
  /** Months with changes; empty if nothing has changed */
  months: string[];
  /** Whether rows replace those of all months; then `months` is empty */
  all_months: boolean;
  /** Prefix of CSV texts that a spreadsheet would run as formulas: those that begin with =, +, -, @, a tab or a line break, also after apostrophes, and are not negative numbers. Remove one to get the text. Null in other formats. */
  formula_prefix: string | null;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  expires_at: string;
  /** RFC 3339, UTC */
  signed_until: string;
  /** Number of rows */
  rows: number;
  /** Size in bytes */
  bytes: number;
  files: ExportFile[];
}

/** A value and how many hits have it. */
export interface FacetValue {
  /** What the filter takes: slug or code */
  value: string;
  /** Name */
  name: string;
  /** Number of entries in `data` */
  count: number;
}

/** Numbers of hits with all words, the most frequent values first. */
export interface Facets {
  brand?: FacetValue[] | undefined;
  /** Each including its subcategories */
  category?: FacetValue[] | undefined;
  channel?: FacetValue[] | undefined;
}

/** Query of `followDigitalLink`. */
export interface FollowDigitalLinkQuery {
  /** `linkset` (or `all`) for all links, or a type of GS1's vocabulary */
  linkType?: string | undefined;
  /** Item that had the number on this day, of those to which it was given at different times; with a GTIN */
  as_of?: string | undefined;
}

/** What another channel did after the first moves of the row's channel. */
export interface Follower {
  /** Code */
  channel?: string | undefined;
  /** Distinct items with a first move that the channel could follow */
  matched_items?: number | undefined;
  /** First moves that the channel could follow, as it had the item before and `follow_days` after */
  moves?: number | undefined;
  /** Those after which it changed its price the same way within `follow_days` */
  followed?: number | undefined;
  /** followed / moves; null below three items */
  share_followed?: number | null | undefined;
  /** Median number of days until it did; null below three items */
  days_median?: number | null | undefined;
}

/** A factor, or a source of items' own figures, with its part of the footprint; null are all others together. */
export interface FootprintAssumption {
  /** Whether it is of items themselves, of a product type, or of a category */
  scope?: "item" | "product_type" | "category" | null | undefined;
  /** Product type or category of a factor */
  code?: string | null | undefined;
  /** What a factor's kilogram is of */
  weight_basis?: "as_sold" | "as_consumed" | "dry" | null | undefined;
  /** Source of the figures */
  source?: string | null | undefined;
  /** Method of the figures */
  method?: string | null | undefined;
  /** Items whose figure rests on it */
  items?: number | undefined;
  /** Share of the footprint */
  share?: number | null | undefined;
  /** Share of the variance of the footprint; null if it has none */
  variance_share?: number | null | undefined;
}

/** A comparison of footprints. */
export interface FootprintComparisonReport {
  meta: ReportMeta;
  data: FootprintComparisonRow[];
}

/** The footprint of a period and group by one indicator, in relation to units, weight and money. */
export interface FootprintComparisonRow {
  /** First day of the period */
  period?: string | undefined;
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | null | undefined;
  /** Code of the indicator */
  indicator?: "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne" | undefined;
  /** Multiplier of the figures: units sold, or 1 for each item */
  basis?: "sales" | "assortment" | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Units sold; null if the basis is the assortment */
  units?: number | null | undefined;
  /** Items with a figure of the indicator */
  items_with_figure?: number | undefined;
  /** Sum over the items with a figure, in the unit of the indicator; null without any */
  footprint?: number | null | undefined;
  /** Lower bound of the middle 95 % */
  footprint_low?: number | null | undefined;
  /** Median */
  footprint_central?: number | null | undefined;
  /** Upper bound of the middle 95 % */
  footprint_high?: number | null | undefined;
  /** Footprint / units (or items) with a figure */
  per_unit?: number | null | undefined;
  /** Per kilogram, by basis of the weight */
  per_kg?: FootprintPerKg[] | undefined;
  /** Per unit of each currency */
  per_money?: FootprintPerMoney[] | undefined;
  /** Parts by stage of the life cycle, which add up to the footprint */
  stages?: FootprintStage[] | undefined;
  /** Share of the footprint whose source states the scores of the pedigree matrix */
  pedigree_share?: number | null | undefined;
  /** Mean score of reliability, 1 (best) to 5, weighted by footprint; null if no source states scores */
  reliability?: number | null | undefined;
  /** Mean score of completeness, 1 (best) to 5, weighted by footprint; null if no source states scores */
  completeness?: number | null | undefined;
  /** Mean score of temporal correlation, 1 (best) to 5, weighted by footprint; null if no source states scores */
  temporal?: number | null | undefined;
  /** Mean score of geographical correlation, 1 (best) to 5, weighted by footprint; null if no source states scores */
  geographical?: number | null | undefined;
  /** Mean score of further technological correlation, 1 (best) to 5, weighted by footprint; null if no source states scores */
  technology?: number | null | undefined;
  /** Share of the footprint whose source assigns it to a year */
  year_share?: number | null | undefined;
  /** Earliest such year */
  year_first?: number | null | undefined;
  /** Latest such year */
  year_last?: number | null | undefined;
  /** Up to five factors and sources with the largest shares of the variance, then all others together */
  assumptions?: FootprintAssumption[] | undefined;
  /** First day of the whole period before; null if it has no data, or the period is cut */
  compared_with?: string | null | undefined;
  /** Footprint of the period before */
  footprint_before?: number | null | undefined;
  /** `footprint` − `footprint_before` = `volume` + `mix` + `intensity`, exactly */
  change?: number | null | undefined;
  /** Part of the change that is due to the number of units, or items, with a figure */
  volume?: number | null | undefined;
  /** Part that is due to the shares of categories or brands (`mix`) among these units */
  mix?: number | null | undefined;
  /** Part that is due to the footprint per unit within categories or brands */
  intensity?: number | null | undefined;
}

/** The footprint of a kilogram, of the items whose weight is of one basis. */
export interface FootprintPerKg {
  /** What the kilograms are of */
  weight_basis?: "as_sold" | "as_consumed" | "dry" | undefined;
  /** Items with a figure and a weight */
  items?: number | undefined;
  /** Weight of their units */
  weight_kg?: number | null | undefined;
  /** Footprint of their units */
  footprint?: number | null | undefined;
  /** `footprint` / `weight_kg` */
  per_kg?: number | null | undefined;
}

/** The footprint of what one unit of a currency buys. */
export interface FootprintPerMoney {
  /** ISO 4217 */
  currency?: string | undefined;
  /** Items with a figure and a price in the currency */
  items?: number | undefined;
  /** Their units at the median price of each item in the period, without outliers */
  value?: number | null | undefined;
  /** Footprint of their units */
  footprint?: number | null | undefined;
  /** `footprint` / `value` */
  per_money?: number | null | undefined;
}

/** What a stage of the life cycle contributes to a footprint. */
export interface FootprintStage {
  /** Stage as its source names it; null is the rest of the footprint */
  stage?: string | null | undefined;
  /** Part of the footprint; credits are negative */
  sum?: number | null | undefined;
}

/** Query of `getAggregateIndex`. */
export interface GetAggregateIndexQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: month */
  granularity?: "month" | "quarter" | "year" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Your table of weights, uploaded with PUT /weights/{name}; `name@version` for an earlier version */
  weights: string;
  /** Prices to include: listings or sales; default: sales for methods that weight by units, otherwise listings if there are any */
  kind?: "listing" | "sale" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
  /** Index formula of the elementary indices; default: jevons */
  method?: "jevons" | "dutot" | "carli" | "harmonic" | "cswd" | "laspeyres" | "paasche" | "fisher" | "tornqvist" | "walsh" | "geks-jevons" | "geks-fisher" | "geks-tornqvist" | "geks-walsh" | "tpd" | "geary-khamis" | undefined;
  /** Periods in the window; for geks-*, tpd and geary-khamis; default: all with data */
  window?: number | undefined;
  /** How later periods are linked; default: mean */
  splice?: "movement" | "window" | "half" | "mean" | "window-published" | "half-published" | "mean-published" | "fbew" | "fbmw" | undefined;
  /** What is matched: an item in the same channel, or over all channels; default: channel */
  match?: "channel" | "item" | undefined;
}

/** Query of `getAudit`. */
export interface GetAuditQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
}

/** Query of `getAvailability`. */
export interface GetAvailabilityQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: the whole range is one period */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Group by; repeat for a second one */
  group_by?: ("brand" | "category")[] | undefined;
  /** Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings */
  kind?: "listing" | "sale" | "both" | undefined;
}

/** Query of `getBrandInsights`. */
export interface GetBrandInsightsQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: the whole range is one period */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion */
  convert?: string | undefined;
  /** Table of exchange rates */
  rates?: string | undefined;
  /** What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price */
  measure?: "price" | "unit_price" | undefined;
  /** With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
  /** Separate rows for each channel */
  group_by?: "channel"[] | undefined;
}

/** Query of `getCategoryInsights`. */
export interface GetCategoryInsightsQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: the whole range is one period */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion */
  convert?: string | undefined;
  /** Table of exchange rates */
  rates?: string | undefined;
  /** What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price */
  measure?: "price" | "unit_price" | undefined;
  /** With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
  /** Separate rows for each channel */
  group_by?: "channel"[] | undefined;
}

/** Query of `getCohorts`. */
export interface GetCohortsQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: month */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion */
  convert?: string | undefined;
  /** Table of exchange rates */
  rates?: string | undefined;
  /** What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price */
  measure?: "price" | "unit_price" | undefined;
  /** With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Group by; repeat for a second one */
  group_by?: ("brand" | "category" | "channel")[] | undefined;
  /** Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
}

/** Query of `getFootprintComparison`. */
export interface GetFootprintComparisonQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: month */
  granularity?: "day" | "week" | "month" | "quarter" | "year" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Group by; repeat for a second one */
  group_by?: ("brand" | "category" | "channel")[] | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Count each unit sold, or each item once; default: sales if there are any, otherwise the assortment */
  basis?: "sales" | "assortment" | undefined;
  /** Indicator, such as water_l; default: co2e_kg */
  indicator?: "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne" | undefined;
  /** What the mix is of; default: category */
  mix?: "category" | "brand" | undefined;
}

/** Query of `getOrganization`. */
export interface GetOrganizationQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** Query of `getPriceChanges`. */
export interface GetPriceChangesQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: month */
  granularity?: "day" | "week" | "month" | "quarter" | "year" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Group by; repeat for a second one */
  group_by?: ("brand" | "category")[] | undefined;
  /** Prices to follow: listings or sales; default: sales if there are only sales, otherwise listings */
  kind?: "listing" | "sale" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
  /** Whether changes of offers count; default: include */
  offers?: "include" | "exclude" | undefined;
  /** Days of an offer at most; default: 30 */
  offer_days?: number | undefined;
  /** Days in which a channel follows; default: 7 */
  follow_days?: number | undefined;
}

/** Query of `getPriceIndex`. */
export interface GetPriceIndexQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: month */
  granularity?: "day" | "week" | "month" | "quarter" | "year" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion */
  convert?: string | undefined;
  /** Table of exchange rates */
  rates?: string | undefined;
  /** What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price */
  measure?: "price" | "unit_price" | undefined;
  /** With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Prices to include: listings or sales; default: sales for methods that weight by units, otherwise listings if there are any */
  kind?: "listing" | "sale" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
  /** Index formula; common aliases such as ccdi are accepted; default: geks-jevons */
  method?: "jevons" | "dutot" | "carli" | "harmonic" | "cswd" | "laspeyres" | "paasche" | "fisher" | "tornqvist" | "walsh" | "geks-jevons" | "geks-fisher" | "geks-tornqvist" | "geks-walsh" | "tpd" | "geary-khamis" | undefined;
  /** Periods in the window; for geks-*, tpd and geary-khamis; default: all with data */
  window?: number | undefined;
  /** How later periods are linked; default: mean */
  splice?: "movement" | "window" | "half" | "mean" | "window-published" | "half-published" | "mean-published" | "fbew" | "fbmw" | undefined;
  /** What is matched; `channel`: each item with itself in the same channel; `item`: each item over all channels, whose mix then moves the index too; default: channel */
  match?: "channel" | "item" | undefined;
}

/** Query of `getPricePosition`. */
export interface GetPricePositionQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: month */
  granularity?: "day" | "week" | "month" | "quarter" | "year" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion */
  convert?: string | undefined;
  /** Table of exchange rates */
  rates?: string | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Group by; repeat for a second one */
  group_by?: ("brand" | "category" | "item")[] | undefined;
  /** Prices to compare: listings or sales; default: sales if there are only sales, otherwise listings */
  kind?: "listing" | "sale" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
  /** Channel that `gap` compares with; default: none, and `gap` is null */
  base_channel?: string | undefined;
}

/** Query of `getPricing`. */
export interface GetPricingQuery {
  /** First day; default: a range of 90 days */
  from?: string | undefined;
  /** Last day, inclusive; default: the last day with data, or `from` */
  to?: string | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion */
  convert?: string | undefined;
  /** Table of exchange rates */
  rates?: string | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Only listings or only sales; default: both, in separate rows and statistics */
  kind?: "listing" | "sale" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
}

/** Query of `getPriorPrice`. */
export interface GetPriorPriceQuery {
  /** Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion */
  convert?: string | undefined;
  /** Table of exchange rates */
  rates?: string | undefined;
  /** Whether Art. 6a(5) applies; a reduction in several steps is then compared with the price before its first step; if absent, it is left undecided */
  progressive?: boolean | undefined;
  /** Days after the first step; with `progressive=true`, further steps within them count */
  progressive_days?: number | undefined;
  /** Date to evaluate; default: each channel's last observed day */
  asked_on?: string | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Whether outliers count; default: they do, because every observed price does */
  outliers?: "exclude" | "include" | undefined;
  /** Day on which the item was first offered, if the market applies Art. 6a(4): fewer than 30 days may then suffice */
  first_offered?: string | undefined;
}

/** Query of `getPromotions`. */
export interface GetPromotionsQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: the whole range is one period */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Group by; repeat for a second one */
  group_by?: ("brand" | "category")[] | undefined;
  /** How offers are recognized; default: list_price */
  rule?: "list_price" | "return" | "prior_price" | undefined;
  /** Days of an offer at most; only with `rule=return`; default: 30 */
  offer_days?: number | undefined;
  /** Whether outliers count; default: they do, because every observed price does */
  outliers?: "exclude" | "include" | undefined;
}

/** Query of `getReconciliationManifest`. */
export interface GetReconciliationManifestQuery {
  /** Reconciliation query batch of the specification: an object of queries by their ids, as JSON */
  queries?: string | undefined;
  /** Data extension query of the specification: `ids` and `properties`, as JSON */
  extend?: string | undefined;
}

/** Query of `getReductions`. */
export interface GetReductionsQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: the whole range is one period */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Whether Art. 6a(5) applies; a reduction in several steps is then compared with the price before its first step; if absent, it is left undecided */
  progressive?: boolean | undefined;
  /** Days after the first step; with `progressive=true`, further steps within them count */
  progressive_days?: number | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Group by; repeat for a second one */
  group_by?: ("brand" | "category")[] | undefined;
  /** Whether outliers count; default: they do, because every observed price does */
  outliers?: "exclude" | "include" | undefined;
}

/** Query of `getSeasons`. */
export interface GetSeasonsQuery {
  /** First day; default: ten years before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; always a month */
  granularity?: "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Prices to include; default: listings if there are any */
  kind?: "listing" | "sale" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
}

/** Query of `getSignedExportFile`. */
export interface GetSignedExportFileQuery {
  /** Expiry, in seconds since 1970-01-01 UTC */
  expires: number;
  /** Organization for which it was created */
  organization: string;
  /** Signature of the URL */
  signature: string;
}

/** Query of `getSignedFile`. */
export interface GetSignedFileQuery {
  /** Expiry, in seconds since 1970-01-01 UTC */
  expires: number;
  /** Organization for which it was created */
  organization: string;
  /** Signature of the URL */
  signature: string;
}

/** Query of `getSustainability`. */
export interface GetSustainabilityQuery {
  /** First day; default: a range of 90 days */
  from?: string | undefined;
  /** Last day, inclusive; default: the last day with data, or `from` */
  to?: string | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Add the impact avoided by sales; at WRAP's displacement rate for resale or repair */
  displacement?: "resale" | "repair" | undefined;
  /** New items displaced per unit sold; alternative to `displacement` */
  displacement_rate?: number | undefined;
}

/** Query of `getSustainabilityRollup`. */
export interface GetSustainabilityRollupQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: month */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Add the impact avoided by sales; at WRAP's displacement rate for resale or repair */
  displacement?: "resale" | "repair" | undefined;
  /** New items displaced per unit sold; alternative to `displacement` */
  displacement_rate?: number | undefined;
  /** Group by; repeat for a second one */
  group_by?: ("brand" | "category" | "channel")[] | undefined;
  /** Brand (slug); repeat to select several, within the 8 kB of a URL */
  brand?: string[] | undefined;
  /** Category (code); with its subcategories; repeat to select several, within the 8 kB of a URL */
  category?: string[] | undefined;
  /** Count each unit sold, or each item once; default: sales if there are any, otherwise the assortment */
  basis?: "sales" | "assortment" | undefined;
}

/** Query of `getUsage`. */
export interface GetUsageQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
  /** First day; default: 30 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive; default: today */
  to?: string | undefined;
}

/** Query of `getWeights`. */
export interface GetWeightsQuery {
  /** Version; default: the newest */
  version?: number | undefined;
}

/** The process is alive. */
export interface HealthAnswer {
  /** Status */
  status: "ok";
  /** Build that is running */
  revision: string;
  /** RFC 3339, UTC */
  ts: string;
}

/** Query of `icebergConfig`. */
export interface IcebergConfigQuery {
  /** Any name; there is only one warehouse */
  warehouse?: string | undefined;
}

/** Query of `icebergNamespaces`. */
export interface IcebergNamespacesQuery {
  /** Parent namespace; namespaces are not nested */
  parent?: string | undefined;
  /** Not used */
  pageToken?: string | undefined;
  /** Not used */
  pageSize?: number | undefined;
}

/** Query of `icebergTable`. */
export interface IcebergTableQuery {
  /** `all` or `refs`; the response is the same */
  snapshots?: string | undefined;
}

/** Query of `icebergTables`. */
export interface IcebergTablesQuery {
  /** Parent namespace; namespaces are not nested */
  parent?: string | undefined;
  /** Not used */
  pageToken?: string | undefined;
  /** Not used */
  pageSize?: number | undefined;
}

/** An identifier assigned to the item by others. */
export interface Identifier {
  /** Kind of identifier */
  scheme: string;
  /** Identifier */
  value: string;
}

/** Exactly one identifier: gtin, ean, upc, isbn, mpn (with brand), sku (with source) or url. */
export interface IdentifierFields {
  /** GTIN of 8, 12, 13 or 14 digits; spaces and hyphens between digits are ignored */
  gtin?: string | null | undefined;
  /** The same as `gtin` */
  ean?: string | null | undefined;
  /** UPC-A (12 digits) or UPC-E (8 digits), with number system and check digit */
  upc?: string | null | undefined;
  /** ISBN of 10 or 13 digits */
  isbn?: string | null | undefined;
  /** Manufacturer part number; requires `brand` */
  mpn?: string | null | undefined;
  /** Brand of `mpn`, by name or slug */
  brand?: string | null | undefined;
  /** Number assigned by a source; requires `source` */
  sku?: string | null | undefined;
  /** Address of the item's page at a source */
  url?: string | null | undefined;
  /** Only this source; required for codes that shops assign themselves */
  source?: string | null | undefined;
  /** Item that had the number on this day, of those to which it was given at different times; with a GTIN */
  as_of?: string | null | undefined;
}

/** An identifier in its normalized form. */
export interface IdentifierRef {
  /** Kind of identifier */
  scheme: "gtin" | "mpn" | "sku" | "url";
  /** Number or text; a GTIN has 14 digits */
  value: string;
}

/** Body of a batch lookup. */
export interface IidBody {
  /** Item identifiers; as many as the plan allows and the body's 256 kB hold */
  iids: string[];
}

/** An invitation that can still be accepted. */
export interface Invitation {
  /** ID */
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
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: Invitation[];
}

/** Query of `invite`. */
export interface InviteQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** Query of `issueKey`. */
export interface IssueKeyQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** A new invitation. Its link is shown only once: send it to the invited person. */
export interface IssuedInvitation {
  /** ID */
  id: string;
  /** Address */
  link: string;
  /** RFC 3339, UTC */
  expires_at: string;
}

/** A new key. It is shown only once; the service stores only a keyed hash. */
export interface IssuedKey {
  /** API key */
  key: string;
  /** Beginning of the key */
  key_id: string;
  /** All keys that are valid now, the new one first */
  keys: KeyState[];
}

/** One item. A field that is unknown is present and null. */
export interface Item {
  /** Item identifier */
  iid: string;
  /** Name */
  name: string;
  /** Other names of the item */
  alt_names: string[];
  /** Status */
  status: "active";
  brand: BrandRef | null;
  /** Product type */
  product_type: string | null;
  category: CategoryRef | null;
  identifiers: Identifier[];
  /** Further attributes from its sources */
  attributes: Record<string, unknown>;
  channels: ChannelSeen[];
  price_band: PriceBand | null;
  sustainability: Sustainability | null;
  sources: SourceRef[];
  /** Source of each descriptive field; keys are like `name` or `attributes.color` */
  provenance: Record<string, string>;
  members: ArticleMember[];
  /** Links between its members; empty if the record has only one */
  matches: ArticleMatch[];
  /** Version */
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

/** An item that has no unit price. */
export interface ItemWithoutContent {
  /** IID of the item */
  iid: string;
  /** Name */
  name: string;
}

/** One job of your organization. */
export interface Job {
  /** ID */
  id: string;
  /** Kind of the computation */
  kind: string;
  /** State */
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
  /** When the result expires */
  expires_at: string | null;
  result: JobResult | null;
  error: Problem | null;
  links: JobLinks;
}

/** Limit of an organization's jobs in one state. */
export interface JobLimit {
  /** Units or jobs allowed */
  limit: number;
  /** Units or jobs used */
  used: number;
}

/** Limits of simultaneous jobs. */
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

/** One page of jobs, newest first. */
export interface JobList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** The query in canonical form */
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
  /** Rows processed so far */
  rows_done: number;
  /** Rows to process; null if unknown */
  rows_total: number | null;
}

/** Result of a job: its address, format and size. */
export interface JobResult {
  /** Address */
  url: string;
  /** Media type */
  media_type: string;
  /** Number of rows */
  rows: number;
  /** Size in bytes */
  bytes: number;
  /** SHA-256 of the file at `url`, also in its ETag */
  sha256: string;
}

/** A valid key; `expires_at` is the end of its grace period, null for the current key. */
export interface KeyState {
  /** Beginning of the key */
  key_id: string;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  expires_at: string | null;
  /** RFC 3339, UTC */
  last_used_at: string | null;
  /** Network address of its last use */
  last_used_network: string | null;
}

/** The key to revoke. */
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
  /** Maximum number of entries, newest first */
  limit?: number | undefined;
}

/** Query of `listBrandInsights`. */
export interface ListBrandInsightsQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: the whole range is one period */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion */
  convert?: string | undefined;
  /** Table of exchange rates */
  rates?: string | undefined;
  /** What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price */
  measure?: "price" | "unit_price" | undefined;
  /** With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
  /** Sort order; `-` reverses it; default: -items */
  sort?: "items" | "-items" | "observations" | "-observations" | "brand" | "-brand" | undefined;
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
}

/** Query of `listBrands`. */
export interface ListBrandsQuery {
  /** Beginning of the brand's name */
  q?: string | undefined;
  /** Sort order; `name`: by name; `items`: brands with the most items first */
  sort?: "name" | "items" | undefined;
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
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
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
}

/** Query of `listCategoryInsights`. */
export interface ListCategoryInsightsQuery {
  /** First day; default: 89 days before `to` */
  from?: string | undefined;
  /** Last day, inclusive */
  to?: string | undefined;
  /** Length of a period; default: the whole range is one period */
  granularity?: "day" | "week" | "month" | undefined;
  /** Only this channel; repeat to select several, within the 8 kB of a URL */
  channel?: string[] | undefined;
  /** Only this currency; an ISO 4217 code */
  currency?: string | undefined;
  /** Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion */
  convert?: string | undefined;
  /** Table of exchange rates */
  rates?: string | undefined;
  /** What figures of prices are of; `unit_price`: prices for one `unit` of the content; default: price */
  measure?: "price" | "unit_price" | undefined;
  /** With `measure=unit_price`; the unit that prices are for: items that state no content in it are left out */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Whether outliers count; these are implausible observations */
  outliers?: "exclude" | "include" | undefined;
  /** Sort order; `-` reverses it; default: category */
  sort?: "items" | "-items" | "observations" | "-observations" | "category" | "-category" | undefined;
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
  /** Only the children of this category; default: first level */
  parent?: string | undefined;
}

/** Query of `listChannels`. */
export interface ListChannelsQuery {
  /** Beginning of the channel's code */
  q?: string | undefined;
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
}

/** Query of `listEvents`. */
export interface ListEventsQuery {
  /** `cursor` of the last event that you have; default: start at the oldest of 30 days */
  after?: number | undefined;
  /** Entries per page */
  limit?: number | undefined;
  /** Only events of this type; repeat to select several */
  type?: ("job.ended" | "export.ready" | "release.cut" | "item.merged" | "item.split" | "item.withdrawn" | "item.restored" | "watch.fired" | "outliers.changed" | "quota.reached" | "key.rotated" | "key.revoked" | "webhook.disabled")[] | undefined;
}

/** Query of `listExports`. */
export interface ListExportsQuery {
  /** Only this state */
  state?: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired" | undefined;
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
}

/** Query of `listInvitations`. */
export interface ListInvitationsQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** Query of `listJobs`. */
export interface ListJobsQuery {
  /** Only this state */
  state?: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired" | undefined;
  /** Only this kind */
  kind?: "aggregate-index" | "availability" | "brand-insights" | "category-insights" | "cohorts" | "export" | "footprint-comparison" | "match-table" | "price-changes" | "price-index" | "price-position" | "promotions" | "reductions" | "seasons" | "sustainability-rollup" | undefined;
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
}

/** Query of `listMembers`. */
export interface ListMembersQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** Query of `listReleases`. */
export interface ListReleasesQuery {
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
}

/** Query of `listWatchEvents`. */
export interface ListWatchEventsQuery {
  /** `cursor` of the last event that you have; default: start at the oldest of 30 days */
  after?: number | undefined;
  /** Entries per page */
  limit?: number | undefined;
}

/** Query of `listWatches`. */
export interface ListWatchesQuery {
  /** Entries per page */
  limit?: number | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
}

/** One export: its job and its request. */
export interface ListedExport {
  /** ID */
  id: string;
  /** Kind of the computation */
  kind: string;
  /** State */
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
  /** When the result expires */
  expires_at: string | null;
  result: JobResult | null;
  error: Problem | null;
  links: JobLinks;
  /** The request in canonical form */
  request: Record<string, unknown>;
}

/** Result of one IID of a batch. */
export interface LookupEntry {
  /** IID of the item */
  iid: string;
  /** Status that a separate lookup would return */
  status: number;
  record: Item | null;
  /** IID that it was merged into */
  survivor: string | null;
  /** Slug of the problem */
  problem: string | null;
  /** With `fields`; null where the content is unknown */
  unit_price?: UnitPriceOfItem | null | undefined;
}

/** Query of `lookupItemsByBody`. */
export interface LookupItemsByBodyQuery {
  /** Members that entries have besides the record */
  fields?: "unit_price"[] | undefined;
}

/** Query of `lookupItems`. */
export interface LookupItemsQuery {
  /** Item identifiers; repeat the parameter. A URL holds 8 kB, some 300 of them: send more by `POST` */
  iid: string[];
  /** Members that entries have besides the record */
  fields?: "unit_price"[] | undefined;
}

/** Response to a batch lookup. */
export interface LookupList {
  /** Empty with `dry_run` */
  data: LookupEntry[];
  /** Number of entries in `data` */
  count: number;
  /** Only with `dry_run`, as are the members below */
  kind?: string | undefined;
  /** Units that the call costs */
  cost_units?: number | undefined;
  /** Whether the result is already stored */
  cached?: boolean | undefined;
  /** Format of the response or file */
  format?: string | undefined;
  /** Version of the index's data */
  data_version?: number | undefined;
}

/** Addresses of related calls. */
export interface ManifestLinks {
  /** Address */
  self: string;
  /** Address of the public keys that verify the signature */
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
  /** ID */
  id: string;
  /** Name */
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
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: Member[];
}

/** Request for an export. */
export interface NewExport {
  /** Name of the dataset */
  dataset: "items" | "observations" | "impacts" | "brands" | "categories" | "merged" | "items_changes" | "observations_changes" | "impacts_changes" | "brands_changes" | "categories_changes" | "merged_changes" | "training_pairs_changes" | "cards_changes";
  /** Columns, in the order of the file; default: all columns */
  columns?: string[] | null | undefined;
  filter?: ExportFilter | undefined;
  /** Only rows that changed after this data_version, with a file of removed items */
  since?: number | null | undefined;
  /** For datasets of changes: the release that they lead to; default: the newest */
  until?: number | null | undefined;
  /** Format of the response or file */
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
  /** Name */
  name: string;
  /** Plan to request; every organization starts on the free plan */
  plan?: string | undefined;
}

/** Request for a watch. */
export interface NewWatch {
  /** Kind of object that is watched */
  target: "article" | "brand" | "category";
  /** IID, slug of a brand, or code of a category */
  code: string;
  /** Condition of the watch; `below`: the lowest price of an item's newest day is below `amount`; `new-low`: that price is lower than on each of the previous `days` days; `returned`: an item is observed again after at least `days` days without a price; `index-moved`: prices of the same items changed by more than `percent` from one month to the next */
  condition: "below" | "new-low" | "returned" | "index-moved";
  /** Decimal amount, for `below` */
  amount?: string | null | undefined;
  /** Currency code (ISO 4217) */
  currency?: string | null | undefined;
  /** For `new-low`: 30, 90, 365; for `returned`: the length of the absence, 30 by default */
  days?: number | null | undefined;
  /** Percentage, for `index-moved` */
  percent?: number | null | undefined;
  /** `listing` (an observed offer) or `sale` */
  kind?: "listing" | "sale" | undefined;
  /** Your own name for the watch */
  label?: string | null | undefined;
}

/** A webhook to create. */
export interface NewWebhook {
  /** An https address on the public internet */
  url: string;
  /** Only events of these types; default: all */
  types?: ("job.ended" | "export.ready" | "release.cut" | "item.merged" | "item.split" | "item.withdrawn" | "item.restored" | "watch.fired" | "outliers.changed" | "quota.reached" | "key.rotated" | "key.revoked" | "webhook.disabled")[] | null | undefined;
}

/** A table of weights: a tree of rows. As CSV, its header is `code,parent,weight`. */
export interface NewWeights {
  /** A row that no other has as its parent is a category or an item of the index */
  rows: WrittenRow[];
}

/** Offers that began on a day of the week. */
export interface OfferStart {
  /** Day of the week, in English */
  weekday?: string | undefined;
  /** Offers */
  offers?: number | undefined;
  /** Share of the row's offers */
  share?: number | null | undefined;
}

/** An organization, as shown to its members. */
export interface Organization {
  /** ID */
  id: string;
  /** Name */
  name: string;
  /** Name of the plan */
  plan: string;
  /** Plan that is awaiting an operator's approval */
  requested_plan: string | null;
  /** State */
  state: "active" | "suspended";
  /** Role in the organization */
  role: "owner" | "admin" | "member" | "viewer";
  keys: KeyState[];
}

/** The organization that the credential belongs to. */
export interface OrganizationRef {
  /** ID */
  id: string;
  /** Name */
  name: string;
}

/** Outliers: whether statistics include them, and how many there are. */
export interface OutlierMeta {
  /** Whether statistics include outliers */
  mode: "exclude" | "include";
  /** Number of outliers (implausible observations), also of periods and groups without another price, which have no row */
  set_aside: number;
}

/** What the assortment of a channel has in common with that of another one. */
export interface Overlap {
  /** Code of the other channel */
  channel?: string | undefined;
  /** Distinct items that both have */
  items?: number | undefined;
  /** Jaccard index, items of both / items of either; null below three items of one of them */
  jaccard?: number | null | undefined;
  /** Share of the row's items that the other channel has too */
  share?: number | null | undefined;
  /** Share of the other channel's items that the row's channel has too */
  share_of_other?: number | null | undefined;
}

/** Number of entries; exact (`eq`) or a lower bound (`gte`). */
export interface PageTotal {
  /** Number of entries */
  value: number;
  /** Whether the number is exact or a lower bound */
  relation: "eq" | "gte";
}

/** A parameter that was refused. */
export interface ParameterFault {
  /** Its name */
  parameter: string;
  /** Values that are allowed */
  detail: string;
  /** The value that was sent, shortened */
  value?: string | undefined;
}

/** A dependency of the service. */
export interface PartState {
  /** Name */
  name: string;
  /** State */
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
  /** Distinct items */
  items?: number | undefined;
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

/** Prices of the 30 days up to the item's last observation, without outliers, in the most frequent currency. */
export interface PriceBand {
  /** Currency code (ISO 4217) */
  currency: string;
  /** `listing` (an observed offer) or `sale` */
  kind: "listing" | "sale";
  /** Decimal amount in `currency` */
  low: string;
  /** Decimal amount in `currency` */
  median: string;
  /** Decimal amount in `currency` */
  high: string;
  /** Number of observations */
  observations: number;
  /** Outliers; all other figures exclude them */
  set_aside: number;
  /** First of the 30 days */
  from: string;
  /** Last of the 30 days */
  to: string;
}

/** Changes of prices. */
export interface PriceChangesReport {
  meta: ReportMeta;
  data: PriceChangesRow[];
}

/** Changes of prices in a period, in one group, channel and currency. */
export interface PriceChangesRow {
  /** First day of the period */
  period?: string | undefined;
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Which observations the row covers */
  kind?: "listing" | "sale" | undefined;
  /** Distinct items with a comparison */
  items?: number | undefined;
  /** Daily prices that have another one of their item in the channel in the 31 days before */
  comparisons?: number | undefined;
  /** Distinct items with a change */
  changed_items?: number | undefined;
  /** Comparisons in which the price differs; with `offers=exclude` without those of offers */
  changes?: number | undefined;
  /** Changes to a higher price */
  increases?: number | undefined;
  /** Changes to a lower price */
  decreases?: number | undefined;
  /** Changes that begin, end or are within an offer: a fall with a return to the price before within `offer_days` */
  offer_changes?: number | undefined;
  /** changes / comparisons; null below three items */
  share_changed?: number | null | undefined;
  /** Lower end of the 95 % interval */
  share_changed_low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  share_changed_high?: number | null | undefined;
  /** Days that the comparisons span / changes; null below three items or without a change */
  days_between_changes?: number | null | undefined;
  /** Median size of increases; null below three items */
  increase_median?: number | null | undefined;
  /** Median size of decreases, below 0; null below three items */
  decrease_median?: number | null | undefined;
  /** 10th percentile of the sizes of changes, without their sign */
  size_p10?: number | null | undefined;
  /** 25th percentile */
  size_p25?: number | null | undefined;
  /** Median */
  size_p50?: number | null | undefined;
  /** 75th percentile */
  size_p75?: number | null | undefined;
  /** 90th percentile */
  size_p90?: number | null | undefined;
  /** Changes of items that another channel had too in the 31 days before */
  matched_changes?: number | undefined;
  /** Those that no other channel had made the same way in the `follow_days` before, nor made on the same day */
  first_moves?: number | undefined;
  /** Those that another channel made on the same day, and none before */
  joint_moves?: number | undefined;
  /** Those that another channel had made in the `follow_days` before */
  following_moves?: number | undefined;
  /** first_moves / matched_changes; null below three items */
  share_first?: number | null | undefined;
  /** Lower end of the 95 % interval */
  share_first_low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  share_first_high?: number | null | undefined;
  followers?: Follower[] | undefined;
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
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** Only with `measure=unit_price`: the unit that all prices of the row are for */
  unit?: "kg" | "l" | "piece" | "m" | undefined;
  /** Which observations the row covers */
  kind?: "listing" | "sale" | undefined;
  /** Price index, first period = 100; null if no matched items link the period to the first one */
  index?: number | null | undefined;
  /** Lower end of the 95 % interval; null below three matched items, or if all changed alike */
  low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  high?: number | null | undefined;
  /** Distinct items with a price above zero */
  items?: number | undefined;
  /** Outliers; price statistics exclude them unless `outliers=include` */
  set_aside?: number | undefined;
  /** Items with a price that the period `compared_with` has too (see `match`); null in the first period */
  matched_items?: number | null | undefined;
  /** Those prices: of an item one for each channel, unless `match=item` */
  matched_prices?: number | null | undefined;
  /** matched_items / items; null in the first period */
  share_matched?: number | null | undefined;
  /** Items without such a price */
  new_items?: number | null | undefined;
  /** Items of the period `compared_with` without such a price */
  vanished_items?: number | null | undefined;
  /** Previous period with data; null in the first period */
  compared_with?: string | null | undefined;
  /** Median of all observed prices, whatever the assortment; decimal amount in `currency` */
  median?: string | null | undefined;
  /** Median price, first period = 100 */
  median_index?: number | null | undefined;
}

/** Prices of the same items over channels. */
export interface PricePositionReport {
  meta: ReportMeta;
  data: PricePositionRow[];
}

/** A channel's prices of the items that other channels have too, in one period, group and currency. */
export interface PricePositionRow {
  /** First day of the period */
  period?: string | undefined;
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | undefined;
  /** Item; only with `group_by=item` */
  iid?: string | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** Which observations the row covers */
  kind?: "listing" | "sale" | undefined;
  /** Distinct items with a price above zero in the channel */
  items?: number | undefined;
  /** The item's price in the period; only with `group_by=item`; decimal amount in `currency` */
  price?: string | null | undefined;
  /** Those that `base_channel` has too */
  matched_items?: number | undefined;
  /** Geometric mean over the matched items of price / price in `base_channel`, less 1; null below three items, unless the row is one item */
  gap?: number | null | undefined;
  /** Lower end of the 95 % interval of `gap` */
  gap_low?: number | null | undefined;
  /** Upper end of the 95 % interval of `gap` */
  gap_high?: number | null | undefined;
  /** Those that any other channel has too */
  compared_items?: number | undefined;
  /** Geometric mean over the compared items of price / lowest price in any channel, less 1; null as `gap` is */
  gap_to_cheapest?: number | null | undefined;
  /** Lower end of the 95 % interval of `gap_to_cheapest` */
  gap_to_cheapest_low?: number | null | undefined;
  /** Upper end of the 95 % interval of `gap_to_cheapest` */
  gap_to_cheapest_high?: number | null | undefined;
  /** Compared items that no other channel sells for less */
  cheapest_items?: number | undefined;
  /** Those that another channel sells for the same price */
  tied_items?: number | undefined;
  /** cheapest_items / compared_items */
  share_cheapest?: number | null | undefined;
  /** Lower end of the 95 % interval of `share_cheapest` */
  share_cheapest_low?: number | null | undefined;
  /** Upper end of the 95 % interval of `share_cheapest` */
  share_cheapest_high?: number | null | undefined;
}

/** Prices of the last `days` days in one currency and kind. */
export interface PriceStatistic {
  /** Number of days */
  days: 7 | 30 | 90 | 365;
  /** Currency code (ISO 4217) */
  currency: string;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** `listing` (an observed offer) or `sale` */
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
  /** Number of prices */
  n: number;
  /** Days with data */
  observed_days: number;
  /** Number of outliers among the observations */
  set_aside: number;
}

/** Context of a price history. */
export interface PricingMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON, whatever the format */
  result_sha256: string;
  /** Whether the result is already stored */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** Number of rows */
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
  /** Precision of each rounded field; all other fields are exact */
  rounding?: Record<string, string> | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
  outliers: OutlierMeta;
  statistics: PriceStatistic[];
  /** Statistics per kilogram, litre, piece or metre; empty if the content is unknown */
  unit_prices: UnitPrice[];
  /** Each channel's current reduction; the evidence is at `/index/pricing/{iid}/reference` */
  reductions: ReductionSummary[];
}

/** A price history. */
export interface PricingReport {
  data: PricingRow[];
  meta: PricingMeta;
}

/** Prices of an item on one day in one channel. */
export interface PricingRow {
  /** YYYY-MM-DD */
  day: string;
  /** Code of the channel */
  channel: string;
  /** `listing` (an observed offer) or `sale` */
  kind: "listing" | "sale";
  /** Currency code (ISO 4217) */
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
  /** Number of prices */
  n: number;
}

/** Context of prior prices. */
export interface PriorPriceMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON, whatever the format */
  result_sha256: string;
  /** Whether the result is already stored */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** Number of rows */
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
  /** Precision of each rounded field; all other fields are exact */
  rounding?: Record<string, string> | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
}

/** The reductions of an item. */
export interface PriorPriceReport {
  data: PriorPriceRow[];
  meta: PriorPriceMeta;
}

/** A reduction with the days on which its evaluation is based. */
export interface PriorPriceRow {
  /** Code of the channel */
  channel: string;
  /** Currency code (ISO 4217) */
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
  /** Whether the prior price is known and the price is below it */
  applicable: boolean;
  /** Why the reduction does not hold or cannot be judged */
  reason: "no_reduction" | "not_below_prior_price" | "missing_days" | "fewer_than_30_days" | "new_arrival" | "progressive_reduction" | null;
  /** Whether the observations suffice for a decision */
  known: boolean;
  /** If the prior price is unknown: the lowest price observed in that period */
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
  /** Status of the response */
  status: number;
  /** Cause of this occurrence */
  detail: string;
  /** Request, as a URN */
  instance: string;
  /** All invalid parameters */
  errors?: ParameterFault[] | undefined;
}

/** A problem type. */
export interface ProblemEntry {
  /** Type */
  type: string;
  /** Name in URLs */
  slug: string;
  /** Title */
  title: string;
  /** Status */
  status: number;
  /** What the problem means */
  meaning: string;
  /** What to do about it */
  remedy: string;
}

/** All problem types. */
export interface ProblemList {
  data: ProblemEntry[];
  /** Number of entries in `data` */
  count: number;
}

/** Promotions. */
export interface PromotionsReport {
  meta: ReportMeta;
  data: PromotionsRow[];
}

/** The offers of a channel in a period and currency. */
export interface PromotionsRow {
  /** First day of the period */
  period?: string | undefined;
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | null | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Rule by which offers are recognized */
  rule?: "list_price" | "return" | "prior_price" | undefined;
  /** Distinct items with a listing */
  items?: number | undefined;
  /** Days on which an item was listed, over all items */
  item_days?: number | undefined;
  /** Those on which it was on offer */
  item_days_on_offer?: number | undefined;
  /** item_days_on_offer / item_days; null below three items */
  share_on_offer?: number | null | undefined;
  /** Lower end of the 95 % interval; null below three items, or if all agree */
  share_on_offer_low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  share_on_offer_high?: number | null | undefined;
  /** Distinct items that were on offer */
  items_on_offer?: number | undefined;
  /** Offers that began in the period */
  offers?: number | undefined;
  /** offers / items; null below three items */
  offers_per_item?: number | null | undefined;
  /** Mean depth of the offers that began, 0.25 for 25 %; null below three items */
  depth_mean?: number | null | undefined;
  /** Lower end of the 95 % interval */
  depth_mean_low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  depth_mean_high?: number | null | undefined;
  /** Median depth of these offers */
  depth_median?: number | null | undefined;
  /** Those of the offers whose end was observed */
  offers_ended?: number | undefined;
  /** Median of their days from the first to the last; null below three items */
  duration_median?: number | null | undefined;
  /** Days of the week on which offers began */
  starts?: OfferStart[] | undefined;
}

/** Query of `proposeColumns`. */
export interface ProposeColumnsQuery {
  /** Id of a type */
  type?: string | undefined;
  /** Largest number of columns */
  limit?: number | undefined;
}

/** Columns that data extension offers. */
export interface ProposedColumns {
  properties: EntityReference[];
  /** Type */
  type: string | null;
  /** Units or jobs allowed */
  limit: number;
}

/** Query of `putWeights`. */
export interface PutWeightsQuery {
  /** A day of the price reference period: indices are 100 in it */
  price_reference: string;
}

/** The account that calls are counted for, with its limits. */
export interface QuotaAnswer {
  /** Your network address, or your organization's ID */
  counted_as: string;
  /** Name of the plan */
  plan: string;
  limits: QuotaWindow[];
  /** Jobs of the key's organization; null for other credentials, or if the count is unavailable */
  jobs: JobLimits | null;
  /** Exports of the key's organization; null as `jobs`, and for plans without exports */
  exports: ExportLimits | null;
}

/** One limit. */
export interface QuotaWindow {
  /** Name of the limit */
  policy: string;
  /** Length of the window */
  window_seconds: number;
  /** Units or jobs allowed */
  limit: number;
  /** Units or jobs used */
  used: number;
  /** Units or jobs left */
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
  /** Whether the result is already stored */
  cached: boolean;
  /** Format of the response or file */
  format: string;
  /** Version of the index's data */
  data_version: number;
  /** Parameters of the report in canonical form */
  parameters?: Record<string, unknown> | undefined;
}

/** Readiness of the service. */
export interface ReadyAnswer {
  /** Status */
  status: "ready" | "degraded" | "not-ready";
  /** Version of the index's data */
  data_version: number;
  parts: PartState[];
  /** RFC 3339, UTC */
  ts: string;
}

/** An address of the service for tools that send no headers. */
export interface ReconcileAddress {
  /** It opens the service as your key does: keep it secret */
  url: string;
}

/** The manifest, results by the ids of queries, or extended data, as the specification has them. */
export type ReconcileAnswer = Record<string, unknown>;

/** A batch of queries, or a data extension query; as a form each is JSON text. */
export interface ReconcileBody {
  /** Reconciliation query batch of the specification: an object of queries by their ids */
  queries?: Record<string, unknown> | null | undefined;
  /** Data extension query of the specification: `ids` and `properties` */
  extend?: Record<string, unknown> | null | undefined;
}

/** Announced reductions that began in a period, in one channel and currency. */
export interface ReductionRow {
  /** First day of the period */
  period?: string | undefined;
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | null | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Distinct items with an announced reduction */
  items?: number | undefined;
  /** Announced reductions; each further step counts separately */
  announced?: number | undefined;
  /** Reductions whose list price is not above the prior price */
  holding?: number | undefined;
  /** Reductions below the prior price whose list price is above it */
  overstated?: number | undefined;
  /** Reductions whose price is not below the prior price */
  not_below?: number | undefined;
  /** Reductions that cannot be decided from the observations */
  undecided?: number | undefined;
  /** holding / (announced - undecided); null below three items with a decided one */
  share_holding?: number | null | undefined;
  /** Lower end of the 95 % interval; null if all items agree too */
  share_holding_low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  share_holding_high?: number | null | undefined;
}

/** The current reduction of one channel, according to the observations. */
export interface ReductionSummary {
  /** Code of the channel */
  channel: string;
  /** Currency code (ISO 4217) */
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
  /** Whether the prior price is known and the price is below it */
  applicable: boolean;
  /** Why the reduction does not hold or cannot be judged */
  reason: "no_reduction" | "not_below_prior_price" | "missing_days" | "fewer_than_30_days" | "new_arrival" | "progressive_reduction" | null;
  /** Whether the observations suffice for a decision */
  known: boolean;
  /** If the prior price is unknown: the lowest price observed in that period */
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
  /** Number of rows */
  rows: number;
  /** Size in bytes */
  bytes: number;
  /** Number of files */
  files: number;
  links: SelfLink;
}

/** One file of a release. Files are sorted by key: the first and last key show which file contains a key. */
export interface ReleaseFile {
  /** Name */
  name: string;
  /** URL for use with your API key */
  url: string;
  /** Signed URL that needs no header; valid until `signed_until` */
  signed_url: string;
  /** Number of rows */
  rows: number;
  /** Size in bytes */
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
  /** The query in canonical form */
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
  /** For datasets of changes: they lead from this data_version or a later one to `data_version` */
  since?: number | undefined;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  expires_at: string;
  /** RFC 3339, UTC */
  signed_until: string;
  /** Number of rows */
  rows: number;
  /** Size in bytes */
  bytes: number;
  files: ReleaseFile[];
  /** null if the release was published unsigned */
  signature: ManifestSignature | null;
  links: ManifestLinks;
}

/** Query of `removeMember`. */
export interface RemoveMemberQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** The events to send again: one by its ID, or all after a cursor. */
export interface Replay {
  /** ID of one event */
  event?: string | null | undefined;
  /** Later than this cursor */
  after?: number | string | null | undefined;
  /** Up to and including this cursor; default: all */
  to?: number | string | null | undefined;
}

/** How many events will be sent again. */
export interface Replayed {
  /** Number of events, at most 10000 in one call */
  events: number;
}

/** Context of a report. */
export interface ReportMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON, whatever the format */
  result_sha256: string;
  /** Whether the result is already stored */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** Number of rows */
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
  /** Precision of each rounded field; all other fields are exact */
  rounding?: Record<string, string> | undefined;
  /** Which observations price statistics include */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Multiplier of footprints: units sold, or 1 for each item */
  basis?: "sales" | "assortment" | undefined;
  /** Only in reports with price statistics */
  outliers?: OutlierMeta | undefined;
  /** Only with `measure=unit_price` */
  unit_prices?: UnitPriceMeta | undefined;
  /** Only in reports with `weights` */
  weights?: WeightsMeta | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
  /** Origin of `to`; the request, the last day with enough data for the filters, that of the whole index if the filters match no observation, or today if the index is empty */
  window_ended_by?: "request" | "data" | "index" | "today" | undefined;
  /** Number of brands or categories that the filters find, on all pages */
  total?: number | undefined;
  /** `cursor` of the next page of a list; null on the last. Also in `Link: rel=next` */
  next_cursor?: string | null | undefined;
}

/** Query of `requestPlan`. */
export interface RequestPlanQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** Body of a batch. */
export interface ResolveBody {
  /** Identifiers; as many as the plan allows (`batch_iids_max` at `GET /v1/`) and the body's 256 kB hold */
  identifiers: IdentifierFields[];
}

/** Result of one identifier of a batch. */
export interface ResolveEntry {
  identifier: IdentifierRef | null;
  /** Status that a separate call would return */
  status: number;
  record: Item | null;
  /** With status 300 */
  candidates: Candidate[];
  /** Slug of the problem */
  problem: string | null;
  /** Explanation of the problem */
  detail: string | null;
}

/** Query of `resolveIdentifier`. */
export interface ResolveIdentifierQuery {
  /** GTIN of 8, 12, 13 or 14 digits; spaces and hyphens between digits are ignored */
  gtin?: string | undefined;
  /** The same as `gtin` */
  ean?: string | undefined;
  /** UPC-A (12 digits) or UPC-E (8 digits), with number system and check digit */
  upc?: string | undefined;
  /** ISBN of 10 or 13 digits */
  isbn?: string | undefined;
  /** Manufacturer part number; requires `brand` */
  mpn?: string | undefined;
  /** Brand of `mpn`, by name or slug */
  brand?: string | undefined;
  /** Number assigned by a source; requires `source` */
  sku?: string | undefined;
  /** Address of the item's page at a source */
  url?: string | undefined;
  /** Only this source; required for codes that shops assign themselves */
  source?: string | undefined;
  /** Item that had the number on this day, of those to which it was given at different times; with a GTIN */
  as_of?: string | undefined;
  /** Item identifier */
  iid?: string | undefined;
}

/** Response to a batch; with `dry_run` only its price. */
export interface ResolveList {
  /** Empty with `dry_run` */
  data: ResolveEntry[];
  /** Number of entries in `data` */
  count: number;
  /** Only with `dry_run`, as are the members below */
  kind?: string | undefined;
  /** Units that the call costs */
  cost_units?: number | undefined;
  /** Whether the result is already stored */
  cached?: boolean | undefined;
  /** Format of the response or file */
  format?: string | undefined;
  /** Version of the index's data */
  data_version?: number | undefined;
}

/** The description file of a GS1-conformant resolver. */
export interface ResolverDescription {
  /** Name */
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
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** A role. */
export interface RoleChange {
  /** Role in the organization */
  role: "owner" | "admin" | "member" | "viewer";
}

/** Context of a rollup. */
export interface RollupMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON, whatever the format */
  result_sha256: string;
  /** Whether the result is already stored */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** Number of rows */
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
  /** Precision of each rounded field; all other fields are exact */
  rounding?: Record<string, string> | undefined;
  /** Which observations price statistics include */
  kind?: "listing" | "sale" | "both" | undefined;
  /** Multiplier of footprints: units sold, or 1 for each item */
  basis?: "sales" | "assortment" | undefined;
  /** Only in reports with price statistics */
  outliers?: OutlierMeta | undefined;
  /** Only with `measure=unit_price` */
  unit_prices?: UnitPriceMeta | undefined;
  /** Only in reports with `weights` */
  weights?: WeightsMeta | undefined;
  /** Only with `convert` */
  conversion?: ConversionMeta | undefined;
  /** Origin of `to`; the request, the last day with enough data for the filters, that of the whole index if the filters match no observation, or today if the index is empty */
  window_ended_by?: "request" | "data" | "index" | "today" | undefined;
  /** Number of brands or categories that the filters find, on all pages */
  total?: number | undefined;
  /** `cursor` of the next page of a list; null on the last. Also in `Link: rel=next` */
  next_cursor?: string | null | undefined;
  /** Rate used for `avoided`; only with `displacement` or `displacement_rate` */
  displacement?: DisplacementMeta | undefined;
}

/** A sustainability rollup. */
export interface RollupReport {
  meta: RollupMeta;
  data: RollupRow[];
}

/** Footprint of the items of a period and group: sums (null without figures), medians and 95 % intervals. */
export interface RollupRow {
  /** First day of the period */
  period?: string | undefined;
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** Slug */
  brand?: string | null | undefined;
  /** Code */
  category?: string | null | undefined;
  /** Code */
  channel?: string | null | undefined;
  /** Multiplier of the figures: units sold, or 1 for each item */
  basis?: "sales" | "assortment" | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Units sold; null if the basis is the assortment */
  units?: number | null | undefined;
  /** Share of items that have a figure */
  items_covered?: number | null | undefined;
  /** Share of items with a measured figure of their own */
  items_measured?: number | null | undefined;
  /** Items whose best figure is measured */
  measured_items?: number | undefined;
  /** Items whose best figure is modelled */
  modelled_items?: number | undefined;
  /** Items with only an average of their product type or category */
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
  /** Avoided impact by indicator, with a displacement rate and the basis `sales`; otherwise null */
  avoided?: Avoided[] | null | undefined;
  /** Parts of the sums by stage of the life cycle; together each is its sum */
  stages?: StageSum[] | undefined;
}

/** The service and the caller. */
export interface RootAnswer {
  /** Name of the service */
  service: string;
  /** Version */
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
  /** Largest number of IIDs in one batch lookup; 0 if the plan has no batches */
  batch_iids_max: number;
  quota: QuotaWindow[];
  /** Addresses of the next calls */
  links: Record<string, string>;
}

/** Query of `rotateKey`. */
export interface RotateKeyQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** Options of a key rotation. */
export interface Rotation {
  /** How long the old key remains valid */
  grace?: "none" | "1h" | "24h" | undefined;
}

/** A column that a release added, changed or removed. */
export interface SchemaChange {
  /** The first release that has the change */
  data_version: number;
  /** What happened to the column */
  change: "added" | "changed" | "removed";
  /** Name */
  name: string;
  /** Type */
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
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: SchemaChange[];
}

/** One hit of a search. */
export interface SearchHit {
  /** Item identifier */
  iid: string;
  /** Name */
  name: string;
  brand: BrandRef | null;
  /** Product type */
  product_type: string | null;
  category: CategoryRef | null;
  /** Score of the hit; only the order of scores is meaningful */
  score: number;
  /** Fields that contain the words */
  matched_on: ("brand" | "product_type" | "category" | "name" | "iid_prefix" | "identifier")[];
  /** Whether it has all words; for the last word, a prefix suffices */
  all_words: boolean;
  links: SelfLink;
  /** With `fields`, as the members below */
  price_band?: PriceBand | null | undefined;
  /** Null where the content is unknown or ambiguous */
  unit_price?: UnitPriceOfItem | null | undefined;
  identifiers?: Identifier[] | null | undefined;
  /** Further attributes from its sources */
  attributes?: Record<string, unknown> | null | undefined;
  channels?: ChannelSeen[] | null | undefined;
}

/** Query of `searchItems`. */
export interface SearchItemsQuery {
  /** Brand, product type, category, name, identifier, or the beginning of an IID */
  q: string;
  /** Entries per page */
  limit?: number | undefined;
  /** Only this brand (slug) */
  brand?: string | undefined;
  /** Only this category (code), including its subcategories */
  category?: string | undefined;
  /** Only this product type */
  product_type?: string | undefined;
  /** Only items observed in this channel (code) */
  channel?: string | undefined;
  /** Only items with a price in this currency; bounds and orders of prices require it */
  currency?: string | undefined;
  /** Lowest `price_band.median`, in units of `currency` */
  price_min?: number | undefined;
  /** Highest `price_band.median`, in units of `currency` */
  price_max?: number | undefined;
  /** Only items observed on this day or later */
  seen_since?: string | undefined;
  /** Order; all but `relevance` list the items with all words: the cheapest first, by `price_band.median` or by that for a kilogram or litre, or the last observed first */
  sort?: "relevance" | "price" | "unit_price" | "-seen" | undefined;
  /** Count the hits with all words by these, 20 values of each */
  facets?: ("brand" | "category" | "channel")[] | undefined;
  /** Members of the record that hits have too */
  fields?: ("price_band" | "unit_price" | "identifiers" | "attributes" | "channels")[] | undefined;
  /** Whether all of `q` is words: no price or quantity is read */
  verbatim?: boolean | undefined;
  /** `next_cursor` of the previous page */
  cursor?: string | undefined;
}

/** One page of hits, best first; equal scores are sorted by IID. */
export interface SearchList {
  /** Number of entries in `data` */
  count: number;
  total: SearchTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: SearchHit[];
  /** With the parameter `facets` */
  facets?: Facets | undefined;
  /** Where there is something to remark */
  meta?: SearchMeta | undefined;
}

/** Remarks on a search. */
export interface SearchMeta {
  understood?: UnderstoodQuestion | undefined;
  /** With `currency`: items with all words that it leaves out, having no price in it */
  unpriced?: number | undefined;
}

/** Number of hits, in total and with all words. */
export interface SearchTotal {
  /** Number of entries */
  value: number;
  /** Whether the number is exact or a lower bound */
  relation: "eq" | "gte";
  /** Hits that have all words, which come first; a lower bound if the relation is `gte` */
  all_words: number;
}

/** Seasonal patterns. */
export interface SeasonsReport {
  meta: ReportMeta;
  data: SeasonsRow[];
}

/** The prices of a month in a currency, with and without the season. */
export interface SeasonsRow {
  /** First day of the period */
  period?: string | undefined;
  /** Whether the range holds only a part of the period */
  partial_period?: boolean | undefined;
  /** ISO 4217 */
  currency?: string | undefined;
  /** Which observations the row covers */
  kind?: "listing" | "sale" | undefined;
  /** Chained Jevons index, first period = 100; null if the months before do not link it */
  index?: number | null | undefined;
  /** index / factor; null without a significant pattern */
  adjusted_index?: number | null | undefined;
  /** Change since the month before; null if they have fewer than three items in common */
  change?: number | null | undefined;
  /** Change without that of the factor; null without a significant pattern */
  adjusted_change?: number | null | undefined;
  /** Factor of the month of the year, mean of a year = 1; null without a significant pattern */
  factor?: number | null | undefined;
  /** Lower end of the 95 % interval */
  factor_low?: number | null | undefined;
  /** Upper end of the 95 % interval */
  factor_high?: number | null | undefined;
  /** Whether the pattern is significant at 0.1 %; null for fewer than two whole years */
  seasonal?: boolean | null | undefined;
  /** Probability of such differences between the months of a series without seasons */
  p_value?: number | null | undefined;
  /** Changes between neighbouring months that the pattern rests on */
  months?: number | undefined;
  /** Distinct items with a price above zero */
  items?: number | undefined;
  /** Items with a price in the month before too; null if it has no data */
  matched_items?: number | null | undefined;
}

/** Address of the whole record. */
export interface SelfLink {
  /** Address */
  self: string;
}

/** Query of `sharingAllTables`. */
export interface SharingAllTablesQuery {
  /** Entries per page */
  maxResults?: number | undefined;
  /** `nextPageToken` of the previous page */
  pageToken?: string | undefined;
}

/** Query of `sharingChanges`. */
export interface SharingChangesQuery {
  /** The first version whose changes are listed */
  startingVersion?: number | undefined;
  /** The last version; default: the newest */
  endingVersion?: number | undefined;
  /** First version published at or after this time */
  startingTimestamp?: string | undefined;
  /** The version that was current at this time */
  endingTimestamp?: string | undefined;
  /** Accepted, but ignored */
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
  /** The version that was current at this time */
  timestamp?: string | undefined;
}

/** A share, a schema or a table. */
export interface SharingObject {
  /** Name */
  name: string;
  /** Name of the share */
  share?: string | undefined;
  /** Name of the schema */
  schema?: string | undefined;
  /** ID */
  id?: string | undefined;
  /** ID of the share */
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

/** Body of a query. Unknown members are ignored: they are hints from later versions of the protocol. */
export interface SharingQuery {
  /** Predicates; hints are ignored */
  predicateHints?: string[] | undefined;
  /** Predicate in JSON; hints are ignored */
  jsonPredicateHints?: string | null | undefined;
  /** Number of rows that are sufficient; hints are ignored */
  limitHint?: number | null | undefined;
  /** Version */
  version?: number | null | undefined;
  /** The version that was current at this time */
  timestamp?: string | null | undefined;
  /** First version of changes */
  startingVersion?: number | null | undefined;
  /** Last version of changes */
  endingVersion?: number | null | undefined;
}

/** Query of `sharingSchemas`. */
export interface SharingSchemasQuery {
  /** Entries per page */
  maxResults?: number | undefined;
  /** `nextPageToken` of the previous page */
  pageToken?: string | undefined;
}

/** One share. */
export interface SharingShare {
  share: SharingObject;
}

/** Query of `sharingShares`. */
export interface SharingSharesQuery {
  /** Entries per page */
  maxResults?: number | undefined;
  /** `nextPageToken` of the previous page */
  pageToken?: string | undefined;
}

/** Query of `sharingTables`. */
export interface SharingTablesQuery {
  /** Entries per page */
  maxResults?: number | undefined;
  /** `nextPageToken` of the previous page */
  pageToken?: string | undefined;
}

/** Query of `sharingVersion`. */
export interface SharingVersionQuery {
  /** First version published at or after this time */
  startingTimestamp?: string | undefined;
}

/** A source of the record's data. */
export interface SourceRef {
  /** Name of the source */
  source: string;
  /** RFC 3339, UTC */
  observed_at: string;
  /** Terms of use */
  license: string;
}

/** Contribution of one life-cycle stage; a credit is negative. */
export interface StageFigure {
  /** Life-cycle stage */
  stage: string;
  /** Figure per unit */
  per_unit: number;
  /** Origin of the figure */
  basis: "measured" | "modelled";
  /** Method of computation */
  method: string;
}

/** What a stage of the life cycle contributes to a sum. */
export interface StageSum {
  /** Code of the indicator */
  indicator: "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne";
  /** Stage as its source names it; null is the rest of the sum */
  stage: string | null;
  /** Part of the sum; credits are negative */
  sum: number;
}

/** Query of `suggestEntities`. */
export interface SuggestEntitiesQuery {
  /** What has been typed so far */
  prefix?: string | undefined;
  /** How many suggestions to skip */
  cursor?: number | undefined;
}

/** Query of `suggestProperties`. */
export interface SuggestPropertiesQuery {
  /** What has been typed so far */
  prefix?: string | undefined;
  /** How many suggestions to skip */
  cursor?: number | undefined;
}

/** Query of `suggest`. */
export interface SuggestQuery {
  /** What has been typed so far */
  q: string;
  /** Entries per page */
  limit?: number | undefined;
}

/** Query of `suggestTypes`. */
export interface SuggestTypesQuery {
  /** What has been typed so far */
  prefix?: string | undefined;
  /** How many suggestions to skip */
  cursor?: number | undefined;
}

/** Suggested entities, best first. */
export interface SuggestedEntities {
  result: SuggestedEntity[];
}

/** An item, brand or category that may be meant. */
export interface SuggestedEntity {
  /** ID */
  id: string;
  /** Name */
  name: string;
  /** What the column contains */
  description?: string | undefined;
  /** Its type */
  notable: EntityReference[];
}

/** Suggested types or properties. */
export interface SuggestedReferences {
  result: EntityReference[];
}

/** A brand, a category or an item that may be meant. */
export interface SuggestionEntry {
  /** `listing` (an observed offer) or `sale` */
  kind: "brand" | "category" | "item";
  /** Slug of a brand and code of a category, as the filters of a search take them; IID of an item */
  value: string;
  /** Name */
  name: string;
  /** Parents of a category, brand of an item: tells apart what has the same name */
  context: string | null;
  /** Items of the brand or category; null for an item */
  items: number | null;
}

/** Suggestions, best first. */
export interface SuggestionList {
  data: SuggestionEntry[];
  /** Number of entries in `data` */
  count: number;
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
}

/** Footprint of one unit of an item, by indicator; what describes a figure is about the first known one. */
export interface Sustainability {
  /** Origin of the figure */
  basis: "measured" | "modelled" | "category_average";
  /** Method of computation */
  method: string;
  /** Number of records averaged; 1 if the figure is the item's own */
  samples: number;
  /** Scores 1 (best) to 5 that the source states of its data, by the pedigree matrix: reliability, completeness, temporal, geographical and technological correlation; null if it states none */
  pedigree: string | null;
  /** Year to which the source assigns the figure: its reference period, or the year of its report */
  reference_year: number | null;
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

/** Context of an item's figures. */
export interface SustainabilityMeta {
  /** Version of the index's data */
  data_version: number;
  /** SHA-256 of the rows as NDJSON, whatever the format */
  result_sha256: string;
  /** Whether the result is already stored */
  cached: boolean;
  /** Units that the call costs */
  cost_units: number;
  /** Number of rows */
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
  /** Precision of each rounded field; all other fields are exact */
  rounding?: Record<string, string> | undefined;
  /** What cumulative figures count: units sold, or each item once */
  basis: "sales" | "assortment";
  displacement: DisplacementMeta | null;
}

/** The figures of an item. */
export interface SustainabilityReport {
  data: SustainabilityRow[];
  meta: SustainabilityMeta;
}

/** One indicator. Unknown values are null. */
export interface SustainabilityRow {
  /** Code of the indicator */
  indicator: "co2e_kg" | "water_l" | "waste_kg" | "land_use_m2a" | "acidification_kg_so2e" | "freshwater_eutrophication_kg_pe" | "marine_eutrophication_kg_ne";
  /** Unit of the figure */
  unit: string;
  /** Figure per unit */
  per_unit: number | null;
  /** Units sold in the range */
  units_observed: number;
  /** Figure for all units sold, or for one unit if the basis is the assortment */
  cumulative: number | null;
  /** Origin of the figure */
  basis: "measured" | "modelled" | "category_average" | null;
  /** Scope of the figure: the item, its product type or its category */
  scope: "item" | "product_type" | "category" | null;
  /** Product type or category */
  code: string | null;
  /** Figure per kilogram */
  per_kg: number | null;
  /** Weight of one unit */
  weight_kg: number | null;
  /** Name of the source */
  source: string | null;
  /** Terms of use */
  license: string | null;
  /** Method of computation */
  method: string | null;
  /** Number of records averaged; 1 if the figure is the item's own */
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
  /** Cumulative figure, median */
  cumulative_central: number | null;
  /** Cumulative figure, upper bound */
  cumulative_high: number | null;
  /** Origin of the interval */
  interval_from: "source" | "samples" | "pedigree" | null;
  /** Avoided, lower bound */
  avoided_low: number | null;
  /** Displacement rate times `cumulative` */
  avoided: number | null;
  /** Avoided, upper bound */
  avoided_high: number | null;
  /** Stages listed by sources; they need not add up to `per_unit` */
  stages: StageFigure[];
  /** What the kilograms are of: the article as sold, as consumed, or dry */
  weight_basis: "as_sold" | "as_consumed" | "dry" | null;
  /** Day to which the source's figure for the item applies; null of an average */
  as_of: string | null;
  /** Scores 1 (best) to 5 that the source states of its data, by the pedigree matrix: reliability, completeness, temporal, geographical and technological correlation; null if it states none */
  pedigree: string | null;
  /** Year to which the source assigns the figure: its reference period, or the year of its report */
  reference_year: number | null;
}

/** A brand with many items in a category. */
export interface TopBrand {
  /** Slug */
  brand?: string | undefined;
  /** Name */
  name?: string | undefined;
  /** Distinct items */
  items?: number | undefined;
  /** Observations */
  observations?: number | undefined;
  /** Share of the category's items */
  share?: number | null | undefined;
  /** Decimal amount in `currency` */
  median?: string | null | undefined;
}

/** What was read of `q`. */
export interface UnderstoodQuestion {
  /** The words that were searched */
  q: string;
  /** Currency code (ISO 4217) */
  currency?: string | undefined;
  /** Decimal amount in `currency` */
  price_min?: string | undefined;
  /** Decimal amount in `currency` */
  price_max?: string | undefined;
  /** Quantities in base units; items may state them in any */
  quantities?: string[] | undefined;
}

/** Prices of the last `days` days per unit of content. */
export interface UnitPrice {
  /** Number of days */
  days: 7 | 30 | 90 | 365;
  /** Currency code (ISO 4217) */
  currency: string;
  /** Only with `convert`: the currency of the prices */
  original_currency?: string | undefined;
  /** `listing` (an observed offer) or `sale` */
  kind: "listing" | "sale";
  /** Unit of measure */
  per: "kg" | "l" | "piece" | "m";
  /** Content of an item */
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

/** The unit of all prices, and the items that are left out because they state no content in it. */
export interface UnitPriceMeta {
  /** Unit of the figure */
  unit: "kg" | "l" | "piece" | "m";
  /** Distinct items with prices and without a content in this unit; no figure counts them */
  items_without?: number | undefined;
  /** Of these up to 20, those with most observations first */
  without: ItemWithoutContent[];
}

/** `price_band.median` for a kilogram, litre, piece or metre of what the item holds. */
export interface UnitPriceOfItem {
  /** Currency code (ISO 4217) */
  currency: string;
  /** Unit of measure */
  per: "kg" | "l" | "piece" | "m";
  /** Decimal amount in `currency` */
  amount: string;
}

/** Usage statistics, at most a minute old. */
export interface UsageList {
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
  data: UsageRow[];
}

/** Calls of one day to one endpoint, with one outcome, by one credential. */
export interface UsageRow {
  /** YYYY-MM-DD */
  day: string;
  /** Name of the operation */
  endpoint: string;
  /** Outcome of the calls */
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
  /** Currency of the observations */
  from: string;
  /** Day of the row */
  day: string;
  /** Date of the rates; earlier if the day has none */
  rate_day: string;
  /** Units of `from` per euro */
  from_per_euro: string;
  /** Units of `to` per euro */
  to_per_euro: string;
}

/** A watch. Members that its condition does not use are null. */
export interface Watch {
  /** ID */
  id: string;
  /** Your own name for it */
  label: string | null;
  /** Kind of object that is watched */
  target: "article" | "brand" | "category";
  /** Code of the category or channel */
  code: string;
  /** Condition of the watch */
  condition: "below" | "index-moved" | "new-low" | "returned";
  /** `listing` (an observed offer) or `sale` */
  kind: "listing" | "sale";
  /** Decimal amount, for `below` */
  amount: string | null;
  /** Currency code (ISO 4217) */
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
  /** Whether the watch is paused */
  paused: boolean;
}

/** One page of watches, newest first. */
export interface WatchList {
  data: Watch[];
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
}

/** A webhook. `secret` is shown when it is created or rotated, and otherwise null. */
export interface Webhook {
  /** ID */
  id: string;
  /** Address that events are sent to */
  url: string;
  /** Event types that are sent */
  types: string[] | null;
  /** State */
  state: "active" | "disabled" | "retrying";
  /** Why it is disabled */
  disabled_reason: string | null;
  /** Consecutive failures of the next event */
  failures: number;
  /** RFC 3339, UTC */
  next_attempt_at: string | null;
  /** Pending events, counted up to 1000 */
  pending: number;
  /** Events up to this one were accepted */
  cursor: string;
  /** Signing secret; shown only once */
  secret: string | null;
  /** Until then, the previous secret also signs */
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
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
}

/** A version with its rows, parents before their children. */
export interface WeightsDocument {
  /** Name of the table */
  name: string;
  /** Number of the upload, from 1 */
  version: number;
  /** A day of the period in whose prices the weights are */
  price_reference: string;
  /** Digest of the rows and the price reference */
  sha256: string;
  /** Number of rows, with the root that was added */
  row_count: number;
  /** RFC 3339, UTC */
  created_at: string;
  /** Each after its parent */
  rows: WeightsRow[];
}

/** All versions of all tables, by name, the newest version first. */
export interface WeightsList {
  data: WeightsVersion[];
  /** Number of entries in `data` */
  count: number;
  total: PageTotal;
  /** `cursor` of the next page; null on the last */
  next_cursor: string | null;
  /** The query in canonical form */
  query: Record<string, unknown>;
  /** Version of the index's data */
  data_version: number;
}

/** The version of the table of weights that was used. */
export interface WeightsMeta {
  /** Its name */
  name?: string | undefined;
  /** Its version */
  version?: number | undefined;
  /** Digest of its rows and price reference */
  sha256?: string | undefined;
  /** A day of the period in whose prices the weights are */
  price_reference?: string | undefined;
}

/** A row as aggregates use it. */
export interface WeightsRow {
  /** Code of a category, IID of an item, or your own */
  code: string;
  /** Code of the row above; null of the root */
  parent: string | null;
  /** Decimal number, beside the other rows below the same parent */
  weight: string;
}

/** One version of a table of weights, which never changes. */
export interface WeightsVersion {
  /** Name of the table */
  name: string;
  /** Number of the upload, from 1 */
  version: number;
  /** A day of the period in whose prices the weights are */
  price_reference: string;
  /** Digest of the rows and the price reference */
  sha256: string;
  /** Number of rows, with the root that was added */
  row_count: number;
  /** RFC 3339, UTC */
  created_at: string;
}

/** Query of `withdrawInvitation`. */
export interface WithdrawInvitationQuery {
  /** ID of one of your organizations; default: the first that you joined */
  organization?: string | undefined;
}

/** A row of a table of weights. */
export interface WrittenRow {
  /** Code of a category, IID of an item, or one of your own that other rows have as `parent` */
  code: string;
  /** Code of the row above; default: the longest beginning of `code` up to a dot that has a row */
  parent?: string | null | undefined;
  /** Decimal number above zero, beside the other rows below the same parent; default for a row with others below it: their sum */
  weight?: string | null | undefined;
  /** Line of the file that the row comes from; problems name it */
  line?: number | null | undefined;
}
