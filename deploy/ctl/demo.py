"""The demo: a small real data set, loaded through the shipped mappings. Where it comes from: SOURCES.md."""

from pathlib import Path

from deploy.local import identity
from deploy.terminal import Terminal
from shared.db.connect import connect
from shared.db.queries import load_queries
from shared.organizations.accounts import SQL as ORGANIZATIONS
from shared.settings.settings import Settings
from workers.operators.organizations import OPERATOR

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
    from deploy.ctl.run_load import load_with_bar
    from workers.ingest.mapping import read

    console.say("first start: loading the demo data (sources: deploy/demo/SOURCES.md)")
    for mapping, file in LOADS:
        load_with_bar(settings, read(MAPPINGS / f"{mapping}.toml"), [DATA / file])
    return True


def create_demo_organizations(settings: Settings, issuer: str) -> None:
    """Create the organizations of the local provider's people, so that they find something when they sign in."""
    with connect(settings.database_url, application="demo") as connection:
        for person in identity.PEOPLE:
            if not person.organization:
                continue
            known = (issuer, person.login, person.email, person.name, True)
            row = connection.execute(ORGANIZATIONS.join_person, known).fetchone()
            organization = connection.execute(
                ORGANIZATIONS.create_organization_as_operator, (person.organization, person.plan, OPERATOR)
            ).fetchone()
            assert row is not None
            assert organization is not None
            connection.execute(ORGANIZATIONS.add_member, (organization[0], row[0], "owner", OPERATOR))
