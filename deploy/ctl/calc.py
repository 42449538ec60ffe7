"""`itemindex calc`: the formulae of the reports over files of your own. Nothing is loaded and no store is needed."""

import click

from deploy.ctl.footprint import evaluate
from deploy.ctl.index_numbers import index_numbers
from deploy.ctl.outliers import find
from deploy.ctl.prior_price import prior_price
from deploy.ctl.units import parse


@click.group()
def calc() -> None:
    """Compute price indices, reductions, outliers, quantities and footprint intervals from files of your own."""


for _name, _command in {
    "index-numbers": index_numbers,
    "prior-price": prior_price,
    "outliers": find,
    "units": parse,
    "footprint": evaluate,
}.items():
    calc.add_command(_command, _name)
