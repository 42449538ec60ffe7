"""Types of parameters that click lacks: a finite number from a range, and an IID."""

import math

import click

from shared.index.iid import canonical_iid


class FiniteRange(click.FloatRange):
    """A number from a range. Infinity is above every bound that is not there, and NaN passes every comparison."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse a finite number; refuse everything else."""
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return float(super().convert(number, param, ctx))

    def _describe_range(self) -> str:
        """Return the range as the help shows it; nothing where it has no bounds, which click would show as `None`."""
        return "" if self.min is None and self.max is None else super()._describe_range()


class IidParameter(click.ParamType[str]):
    """An IID in any spelling, made canonical."""

    name = "iid"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Parse an IID and return it in canonical form; refuse everything else."""
        return canonical_iid(str(value)) or self.fail("an IID is `IID-` and groups of letters and digits", param, ctx)
