"""Which column has which role, decided for all roles at once. Pure."""

from workers.ingest.guess.candidates import may_have_several
from workers.ingest.guess.field_guess import ColumnCandidate

# Of columns that fit as well the first one of the file is taken.
_OF_A_PLACE = 1e-6
_INFINITE = float("inf")


def assigned(candidates: dict[str, list[ColumnCandidate]]) -> dict[str, list[str]]:
    """Return the columns of each role, so that the scores of all of them together are the highest.

    A column has one role, and most roles one column. A role that several columns may have takes all that fit no other
    one better.
    """
    several: dict[str, tuple[float, str]] = {}
    for role in sorted(filter(may_have_several, candidates)):
        for one in candidates[role]:
            several[one.column] = max(several.get(one.column, (0.0, "")), (one.score, role))
    single = {
        role: {one.column: one.score for one in those if one.score > several.get(one.column, (0.0, ""))[0]}
        for role, those in candidates.items()
        if not may_have_several(role)
    }
    roles = {role: [column] for role, column in _best_pairs(single).items()}
    taken = {column for columns in roles.values() for column in columns}
    for role in filter(may_have_several, candidates):
        if left := [
            one.column for one in candidates[role] if one.column not in taken and several[one.column][1] == role
        ]:
            roles[role] = left
    return roles


def _best_pairs(scores: dict[str, dict[str, float]]) -> dict[str, str]:
    """Return for each role at most one column, no column twice, so that the sum of their scores is the highest.

    The method of Kuhn and Munkres with potentials: Burkard, Dell'Amico, Martello, Assignment Problems (2012), 4.1. It
    augments one role at a time; a role without a column takes a place of its own, which costs nothing.
    """
    roles = list(scores)
    columns = list(dict.fromkeys(column for those in scores.values() for column in those))
    places = [*columns, *roles]
    cost = [
        [_OF_A_PLACE * n - scores[role].get(column, 0.0) for n, column in enumerate(columns)] + [0.0] * len(roles)
        for role in roles
    ]
    of_role, of_place = [0.0] * len(roles), [0.0] * len(places)
    holder: list[int | None] = [None] * len(places)
    for begun in range(len(roles)):
        least, before = [_INFINITE] * len(places), [-1] * len(places)
        seen: list[int] = []
        role, last = begun, -1
        while True:
            for place in range(len(places)):
                reduced = cost[role][place] - of_role[role] - of_place[place]
                if place not in seen and reduced < least[place]:
                    least[place], before[place] = reduced, last
            last = min((place for place in range(len(places)) if place not in seen), key=lambda place: least[place])
            step = least[last]
            for place in seen:
                of_place[place] -= step
            for held in [begun, *(holder[place] for place in seen)]:
                assert held is not None
                of_role[held] += step
            least = [one - step for one in least]
            seen.append(last)
            held = holder[last]
            if held is None:
                break
            role = held
        while last >= 0:
            earlier = before[last]
            holder[last] = holder[earlier] if earlier >= 0 else begun
            last = earlier
    return {
        roles[role]: columns[place]
        for place, role in enumerate(holder[: len(columns)])
        if role is not None and columns[place] in scores[roles[role]]
    }
