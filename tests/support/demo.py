"""Demo data for stacks of tests and drills."""

from deploy.ctl.demo import DATA, LOADS, MAPPINGS
from shared.settings.settings import Settings
from workers.ingest.load.load import load
from workers.ingest.mapping import read


def load_prices(settings: Settings) -> None:
    """Load the first and largest source of the demo alone."""
    mapping, file = LOADS[0]
    load(settings, read(MAPPINGS / f"{mapping}.toml"), [DATA / file])
