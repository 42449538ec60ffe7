"""How many requests of one holder may be under way at the same time in this process; each holder has a bound."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class ConcurrencyLimit:
    """Counts what is under way for each holder, such as a person or an organization, and in all.

    For requests that last as long as their client likes: a limit of calls a second does not bound how many there are.
    """

    def __init__(self, most: int, most_in_all: int) -> None:
        self.most = most
        self._most_in_all = most_in_all
        self._under_way: Counter[str] = Counter()
        self._in_all = 0

    def is_reached(self, *holders: str) -> bool:
        """Return whether one of the holders has as many under way as it may have."""
        return any(self._under_way[holder] >= self.most for holder in holders)

    @property
    def is_reached_in_all(self) -> bool:
        """Return whether as many are under way as this process takes."""
        return self._in_all >= self._most_in_all

    @contextmanager
    def hold(self, *holders: str) -> Iterator[None]:
        """Count one more for each holder until the block ends. Refuses nothing: the caller asks first."""
        self._under_way.update(holders)
        self._in_all += 1
        try:
            yield
        finally:
            self._in_all -= 1
            for holder in holders:
                self._under_way[holder] -= 1
                if not self._under_way[holder]:
                    del self._under_way[holder]
