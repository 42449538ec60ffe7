"""Rows of rollups are written in pieces that together are the same bytes."""

from datetime import date

from workers.analytics.rollups.rows import written

ROWS = [("b", number, date(2026, 7, 1), "HKD", "l", 3, 2, 9, *([b"packed"] * 6)) for number in range(50)]


def test_pieces_of_any_size_are_the_same_bytes_and_no_row_is_in_two() -> None:
    [whole] = written(ROWS)
    [first] = written(ROWS[:1])
    for piece_bytes in (1, 300, 5_000):
        pieces = list(written(ROWS, piece_bytes))
        assert b"".join(pieces) == whole
        assert all(len(piece) % len(first) == 0 for piece in pieces)
        assert len(pieces) > 1
