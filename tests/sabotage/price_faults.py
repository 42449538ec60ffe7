"""Faults in what statistics rest on: price indices, outliers, prior prices, watches, footprints, which items are one."""

from tests.sabotage.planted import fault

_MULTILATERAL = "tests/unit/price_index/test_formulae.py"
_OUTLIERS = "tests/unit/test_analytics.py"
_PRIOR = "tests/unit/test_prior_price.py"
_WATCHES = "tests/service/events/test_watches.py"
_CLUSTERS = "tests/unit/matching/test_articles.py"

PRICE_FAULTS = (
    # Price indices.
    fault(
        "GEKS counts pairs of periods that share no item",
        "shared/price_index/series.py",
        "    known = ~np.isnan(logs)\n",
        "    known = np.ones(logs.shape, bool)\n",
        f"{_MULTILATERAL}::test_geks_leaves_out_pairs_of_periods_that_share_no_item",
    ),
    fault(
        "a later period changes published index numbers",
        "shared/price_index/series.py",
        "        published[end - 1] = _mean(steps) if np.isnan(linked) else linked",
        "        published[end - window : end] = linked * new / new[-1]",
        "tests/unit/price_index/test_formulae.py::test_adding_a_period_changes_no_earlier_value",
    ),
    fault(
        "the interval of an index is drawn anew with each request",
        "shared/price_index/rows.py",
        "np.random.default_rng(seed)",
        "np.random.default_rng()",
        "tests/unit/price_index/test_command.py::test_same_seed_gives_the_same_interval_and_another_seed_another",
    ),
    # Outliers.
    fault(
        "a price that another channel has on the same day is set aside",
        "workers/analytics/rollups/outliers.py",
        "return confirmed | (same_day > 0)",
        "return confirmed",
        f"{_OUTLIERS}::test_prices_that_others_explain_stay",
    ),
    fault(
        "a channel that is wrong on all days confirms itself",
        "workers/analytics/rollups/outliers.py",
        "np.where(by_channels, in_item - in_channel, in_item - 1)",
        "in_item - 1",
        f"{_OUTLIERS}::test_a_channel_that_is_wrong_on_all_days_is_contradicted_by_the_others",
    ),
    fault(
        "price bands count outliers",
        "edge/index/record.sql",
        "'low', min(o.price_minor) FILTER (WHERE o.outlier IS NULL),",
        "'low', min(o.price_minor),",
        "tests/service/http/test_outliers.py::test_the_price_band_of_a_record_is_without_outliers_and_says_how_many",
    ),
    # Prior prices.
    fault(
        "a day without observation counts as a day not on offer",
        "shared/prior_price/reduction.py",
        "            fault, left = Reason.MISSING_DAYS, left - 1\n            continue\n",
        "            continue\n",
        f"{_PRIOR}::test_the_lowest_price_of_the_thirty_days_before_the_reduction_counts",
        f"{_PRIOR}::test_a_brute_force_twin_agrees_on_random_series",
    ),
    fault(
        "every fall of a price is an announced reduction",
        "shared/prior_price/reduction.py",
        "    announces = any(one.list_price is not None for one in offered)\n",
        "    announces = False\n",
        f"{_PRIOR}::test_a_fall_that_the_seller_does_not_announce_is_no_reduction_where_list_prices_are_known",
    ),
    # Watches.
    fault(
        "a watch reports one fall again and again",
        "workers/events/watches.sql",
        "AND coalesce(s.armed, true)",
        "AND true",
        f"{_WATCHES}::test_below_an_amount_fires_once_and_again_after_the_price_was_clearly_above",
    ),
    fault(
        "an older day that a load fills in arms a watch again",
        "workers/events/watches.sql",
        "WHERE r.day < $1 AND r.item_id",
        "WHERE false AND r.day < $1 AND r.item_id",
        "tests/service/events/test_twin.py::test_loads_report_what_a_twin_finds_day_by_day",
    ),
    fault(
        "a low is new although the span before is not known",
        "workers/events/watches.sql",
        "WHERE f.is_known ORDER BY f.condition",
        "ORDER BY f.condition",
        f"{_WATCHES}::test_a_new_low_needs_the_whole_span_and_a_lower_price_than_any_day_of_it",
    ),
    fault(
        "a watch reports days of the past",
        "workers/events/watches.sql",
        "WHERE NOT coalesce(s.later, false)\n  AND",
        "WHERE",
        f"{_WATCHES}::test_older_days_and_higher_prices_report_nothing",
    ),
    # Footprints.
    fault(
        "items of one factor average its error out",
        "workers/analytics/reports/sustainability_rollup.py",
        "own = numbers[entries] == OWN",
        "own = numbers[entries] >= OWN",
        "tests/unit/test_analytics.py::test_sums_of_own_and_borrowed_figures_agree_with_monte_carlo",
    ),
    # Which items are one article.
    fault(
        "what a person rejected is joined by a chain",
        "workers/articles/matching/clusters.py",
        " or _sorted((one, other)) in self._rejected:",
        ":",
        f"{_CLUSTERS}::test_a_pair_that_a_person_rejected_stays_apart_even_in_a_chain_of_identifiers",
    ),
    fault(
        "two records of one source become one article",
        "workers/articles/matching/clusters.py",
        'return first.source != second.source or (first.article != "" and first.article == second.article)',
        "return True",
        f"{_CLUSTERS}::test_no_two_records_of_one_source_are_in_one_article",
    ),
    fault(
        "records that contradict each other are linked without a person",
        "workers/articles/matching/judging.py",
        "sure = scores[at] >= link_bound(left, right, self.model)",
        "sure = scores[at] >= self.model.link_coded",
        "tests/unit/matching/test_articles.py::test_records_with_different_part_numbers_wait_for_a_person_however_alike_they_are",
    ),
    # Windows, footprints.
    fault(
        "a report from a day after the last data is refused",
        "workers/analytics/reports/filters.py",
        "if first is not None and first > last:",
        "if False:",
        "tests/service/reports/test_whole_way.py::test_a_window_that_begins_after_the_last_data_is_an_empty_answer_with_its_coverage",
    ),
    fault(
        "a read of one item from a day after the last data is refused",
        "edge/analytics/light_reads.py",
        "last = to or max(observed or utc_now().date(), first or date.min)",
        "last = to or observed or utc_now().date()",
        "tests/service/http/test_light_reads.py::test_a_range_that_begins_after_the_last_data_is_an_empty_answer_with_its_coverage",
    ),
    fault(
        "a category with few samples is as wide as Student's quantile of these",
        "shared/uncertainty/stated.py",
        "if others.degrees >= BORROWED_DEGREES:",
        "if others.degrees < 0:",
        "tests/unit/test_uncertainty.py::test_of_published_footprints_about_nineteen_of_twenty_are_inside",
    ),
    fault(
        "a category without samples is estimated from all others",
        "shared/uncertainty/evaluation.py",
        "    if not nearest:\n        return None, 0",
        "    if not nearest:\n        nearest = [one for group in logs.values() for one in group]",
        "tests/unit/test_uncertainty.py::test_a_category_without_samples_is_unknown_unless_one_above_it_has_some",
    ),
    fault(
        "units sold new are counted as avoiding without a word",
        "shared/uncertainty/stated.py",
        "those sold new included",
        "second-hand ones",
        "tests/service/http/test_light_reads.py::test_second_hand_sales_avoid_by_the_rate_that_the_caller_or_wrap_states",
    ),
    fault(
        "a pack and a single article are linked by their GTIN",
        "workers/articles/matching/quantities.py",
        "if _disjoint(left.packs, right.packs) or _packed_differently(left, right):",
        "if _disjoint(left.packs, right.packs):",
        "tests/unit/matching/test_records.py::test_a_pack_and_a_single_one_wait_for_a_person",
    ),
    fault(
        "names in another language hold a GTIN's link back though the quantity agrees",
        "workers/articles/matching/identifiers.py",
        "if not (against or confirmed or _alike(left.words, right.words)):",
        "if not (against or _alike(left.words, right.words)):",
        "tests/unit/matching/test_records.py::test_names_in_two_languages_need_something_else_that_agrees",
    ),
    fault(
        "a record that comes later takes a link of equal strength away",
        "workers/articles/matching/clusters.py",
        "return _STRENGTH[link.kind], -link.score, younger, older, link.left, link.right",
        "return _STRENGTH[link.kind], -link.score, link.left, link.right",
        f"{_CLUSTERS}::test_a_younger_record_takes_no_link_of_equal_strength_away",
    ),
    fault(
        "what contradicts its identifier is joined by a chain",
        "workers/articles/matching/clusters.py",
        "if _sorted((one, other)) in self.opposed:",
        "if (one, other) in ():",
        f"{_CLUSTERS}::test_a_pair_that_contradicts_its_identifier_stays_apart_even_in_a_chain_of_identifiers",
    ),
    fault(
        "the bound of links is chosen by models that have seen the record",
        "workers/articles/matching/supervised.py",
        "[~np.isin(right, right[one]) & ~one for one in judged]",
        "[~one for one in judged]",
        "tests/unit/matching/test_model.py::test_no_model_that_chooses_the_bound_has_seen_a_record_that_it_judges",
    ),
    # Sizes in names.
    fault(
        "bars of chocolate are a pressure",
        "shared/units/reader.py",
        'return "bar of pressure" if context & _PRESSURE else "bar to eat"',
        'return "bar of pressure"',
        "tests/unit/test_units.py::test_all_spellings_of_one_quantity_are_equal",
    ),
)
