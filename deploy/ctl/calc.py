"""`itemindex calc`: the formulae of the reports over files of your own. Nothing is loaded and no store is needed."""

import click

from deploy.ctl.index_numbers import index_numbers
from deploy.ctl.outliers import outliers
from deploy.ctl.prior_price import prior_price


@click.group()
def calc() -> None:
    """Compute price indices, reductions and outliers from files of your own."""


for command in (outliers, prior_price, index_numbers):
    calc.add_command(command)
