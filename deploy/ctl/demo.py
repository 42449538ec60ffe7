"""The demo: a small real data set, loaded through the shipped mappings. Where it comes from: SOURCES.md."""

from pathlib import Path

from deploy.terminal import Terminal
from shared.db.connect import connect
from shared.db.queries import load_queries
from shared.settings.settings import Settings

DATA = Path(__file__).parents[1] / "demo" / "data"
MAPPINGS = Path(__file__).parents[1] / "mappings"
SQL = load_queries(__file__, "data.sql")
# The order matters once: emission factors are applied to items that exist already.
LOADS = (
    ("hk_pricewatch", "hk_pricewatch.csv.gz"),
    ("carbon_catalogue", "carbon_catalogue.csv.gz"),
    ("rivm_food_footprints", "rivm_food_footprints.csv"),
    ("stats_nz_food_prices", "stats_nz_food_prices.csv.gz"),
)


def load_demo(settings: Settings, console: Terminal) -> bool:
    """Load the demo data where the index never had any, with progress bars; return whether it was loaded."""
    with connect(settings.database_url, application="demo") as connection:
        if connection.execute(SQL.any_data_version).fetchone() is not None:
            return False
    # Imported here: a start that finds its data needs neither pyarrow nor tantivy.
    from deploy.ctl.ingest import load_with_bar
    from workers.ingest.mapping import read

    console.say("first start: loading the demo data (sources: deploy/demo/SOURCES.md)")
    for mapping, file in LOADS:
        load_with_bar(settings, read(MAPPINGS / f"{mapping}.toml"), [DATA / file])
    return True
