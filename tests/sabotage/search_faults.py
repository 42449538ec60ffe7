"""Faults in the identifiers of the search index: what it does not name is not looked for anywhere else."""

from tests.sabotage.planted import fault

SEARCH_FAULTS = (
    fault(
        "an index that is behind is asked which identifiers items have",
        "edge/search/engine.py",
        "newest = (LAYOUT, self._version.current, self._version.committed_at)\n",
        "newest = (index.identifiers, index.data_version, index.committed_at)\n",
        "tests/service/http/test_identifiers_in_searches.py::test_until_the_index_follows_a_load_its_identifiers_are_found_in_postgresql",
    ),
    fault(
        "a merge of segments loses the identifiers of the highest hashes",
        "workers/search/build.py",
        "for part in range(parts + 1)]",
        "for part in range(parts)]",
        "tests/unit/search/test_indexes.py::test_each_identifier_of_an_item_is_possible_and_no_former_one",
    ),
    fault(
        "an identifier of several items is not possible where one of them was deleted",
        "shared/search/live_segment.py",
        "not self._deleted[entries.astype(np.uint32)].all())",
        "not self._deleted[entries.astype(np.uint32)].any())",
        "tests/unit/search/test_indexes.py::test_an_identifier_of_several_items_is_possible_while_one_of_them_is_left",
    ),
)
