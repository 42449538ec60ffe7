"""`itemindex orgs`: create, list and audit organizations, and set their plan and state."""

import sys

import click

from deploy.ctl.accounts import ACCOUNTS, organization_of
from deploy.ctl.console import database, limit_option, report, reveal, rows_of, show, store_options
from shared.errors import ItemIndexError
from shared.organizations.accounts import ORGANIZATION_STATES, SQL
from workers.operators.organizations import DECISIONS, change_organization, create_organization


@click.group()
def orgs() -> None:
    """Organizations: create, list, set plan and state, decide on requested plans, audit."""


@orgs.command(epilog="Example: itemindex orgs create 'Acme Ltd' --plan brand")
@click.argument("name")
@click.option("--plan", default="brand", help="Name of a plan; see `itemindex plans list`.")
@store_options
def create(name: str, plan: str) -> None:
    """Create an organization and print its id. People join it with `itemindex people role`."""
    with database("orgs") as connection:
        organization = create_organization(connection, name, plan)
    reveal(organization, id=organization, name=name, plan=plan)


@orgs.command("list", epilog="Example: itemindex orgs list --requests")
@click.option(
    "--requests", is_flag=True, help="Only organizations that have requested another plan, oldest request first."
)
@store_options
def list_(requests: bool) -> None:
    """List the organizations."""
    with database("orgs") as connection:
        rows = rows_of(connection, SQL.plan_requests if requests else ACCOUNTS.organizations)
    show(rows, title="requested plans" if requests else "organizations")


@orgs.command("set", epilog="Example: itemindex orgs set 'Acme Ltd' --plan institutional")
@click.argument("organization")
@click.option("--plan", help="Plan to assign; see `itemindex plans list`.")
@click.option(
    "--state",
    type=click.Choice(ORGANIZATION_STATES),
    help="While it is suspended, its key is refused, and its members can see why.",
)
@click.option(
    "--request",
    type=click.Choice(DECISIONS),
    help="Decide on the plan that it has requested; --plan assigns another one. After `decline` it can request again.",
)
@store_options
def set_organization(organization: str, plan: str | None, state: str | None, request: str | None) -> None:
    """Change an organization's plan or state, or decide on the plan that it has requested.

    It takes effect on every edge within a second.
    """
    if not (plan or state or request):
        raise click.UsageError("name what to change: --plan, --state or --request")
    if plan and request == "decline":
        raise click.UsageError("--plan names the plan to assign; none is with `--request decline`")
    with database("orgs") as connection:
        named = organization_of(connection, organization)
        change_organization(connection, named, plan=plan, state=state, request=request)
    report("changed", organization=named, changed=True)


@orgs.command(epilog="Example: itemindex orgs audit 01a1… --json; itemindex orgs audit --verify")
@click.argument("organization", required=False)
@limit_option(50)
@click.option("--verify", is_flag=True, help="Verify the chain of rows; of all organizations if none is given.")
@store_options
def audit(organization: str | None, limit: int, verify: bool) -> None:
    """Show an organization's audit log, newest first; or check that no row was changed or removed.

    --verify also prints each organization's last row and its hash. Keep them elsewhere: another hash under the same
    number in a later --verify means that the whole chain was rewritten. Exit code 1 if the chain is broken.
    """
    if verify:
        _verify(organization)
        return
    if organization is None:
        raise ItemIndexError("name the organization; see `itemindex orgs list`")
    with database("orgs") as connection:
        rows = rows_of(connection, SQL.audit, organization_of(connection, organization), None, limit, None, None, None)
    listed = ({name: row[name] for name in ("at", "actor", "act", "subject")} for row in rows)
    show(listed, title="audit")


def _verify(organization: str | None) -> None:
    with database("orgs") as connection:
        organization_id = organization_of(connection, organization) if organization else None
        faults = rows_of(connection, SQL.audit_faults, organization_id)
        heads = rows_of(connection, SQL.audit_heads, organization_id)
    show(faults or heads, title="faults" if faults else "unbroken")
    if faults:
        sys.exit(1)
