"""Numbers among the options of commands."""

from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A number from a range. Infinity is above every bound that is not there, and NaN passes every comparison."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; refuse one that is not finite."""
        number = super().convert(value, param, ctx)
        if not float("-inf") < number < float("inf"):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return float(number)
