"""The routes of enterprise data access: releases, Delta Sharing, exports."""

from dataclasses import replace
from typing import TYPE_CHECKING

from edge import rules
from edge.auth.oauth_errors import error_members as oauth_error_members
from edge.bulk.data_credentials import BUCKET
from edge.bulk.delta_sharing import Sharing
from edge.bulk.delta_sharing import error_members as sharing_error_members
from edge.bulk.exports import Exports
from edge.bulk.iceberg import Iceberg
from edge.bulk.iceberg import error_members as iceberg_error_members
from edge.bulk.iceberg_tables import PREFIX as ICEBERG_PREFIX
from edge.bulk.release_repository import KEYS_PATH
from edge.bulk.releases import Datasets
from edge.bulk.s3 import S3
from edge.bulk.s3_errors import error_document as s3_error
from edge.http.routing import API_PATH as PREFIX
from edge.http.routing import KEY, NO_ROUTE, Route, Rule, RulePrice
from edge.jobs.handlers import RESULT_PROBLEMS
from shared.jobs.contract import EXPORT
from shared.organizations.accounts import INSTITUTIONAL

if TYPE_CHECKING:
    from edge.composition import Services

SHARING_PATH = f"{PREFIX}/delta-sharing"
# nginx.conf leads signed requests for the path `/` here; nobody else reaches it.
BUCKETS_PATH = "/_buckets"


def export_routes(services: "Services") -> tuple[Route, ...]:
    """Return the routes of custom exports."""
    exports = Exports(
        services.exports,
        services.billing,
        services.export_serializer,
        services.links,
        services.lists,
    )
    repeatable = ("idempotency-in-progress", "idempotency-key-reused", "missing-parameter")
    above = f"{PREFIX}/index/exports"
    problems = ("export-not-found", "result-expired")
    link_problems = ("invalid-signature", "expired-signature", "rate-limited", *problems, *RESULT_PROBLEMS)
    return (
        Route("POST", above, exports.create, rules.export("export-order", *repeatable, price=RulePrice(EXPORT.units))),
        Route("GET", above, exports.list, rules.export("exports")),
        Route("GET", f"{above}/{{id}}", exports.show, rules.export("export", *problems)),
        Route("DELETE", f"{above}/{{id}}", exports.end, rules.export("export-end", *problems)),
        Route(
            "GET",
            f"{above}/{{id}}/files/{{file}}",
            exports.file,
            rules.export("export-file", *problems, *RESULT_PROBLEMS),
        ),
        Route(
            "GET",
            f"{above}/{{id}}/signed/{{file}}",
            exports.signed_file,
            Rule(name="export-signed", problems=link_problems),
        ),
    )


def dataset_routes(services: "Services") -> tuple[Route, ...]:
    """Return the routes of released datasets, as files and through Delta Sharing."""
    datasets = Datasets(
        services.releases,
        services.release_urls,
        services.links,
        services.downloads,
        services.lists,
        services.resources.version,
    )
    path = f"{PREFIX}/index/datasets"
    release = f"{path}/{{name}}/releases/{{release}}"
    signed = Rule(
        name="dataset-signed", problems=("invalid-signature", "expired-signature", "rate-limited", *rules.FILE_PROBLEMS)
    )
    return (
        Route("GET", path, datasets.list, rules.dataset("datasets")),
        Route("GET", f"{path}/{{name}}/releases", datasets.releases, rules.dataset("releases", "dataset-not-found")),
        Route("GET", release, datasets.manifest, rules.dataset("release", "dataset-not-found")),
        Route(
            "GET",
            f"{path}/{{name}}/schema-changes",
            datasets.schema_changes,
            rules.dataset("schema-changes", "dataset-not-found"),
        ),
        Route("GET", f"{release}/descriptions/{{form}}", datasets.description, rules.description()),
        Route("GET", f"{release}/files/{{file}}", datasets.file, rules.dataset("release-file", *rules.FILE_PROBLEMS)),
        Route("GET", f"{release}/signed/{{file}}", datasets.signed_file, signed),
        Route("GET", KEYS_PATH, datasets.keys, Rule(name="docs"), documented=False),
        Route(
            "GET",
            f"{PREFIX}/catalog/ducklake/latest.ducklake",
            datasets.ducklake,
            rules.dataset("ducklake", *rules.FILE_PROBLEMS),
        ),
        *_s3_routes(services),
        *_iceberg_routes(Iceberg(services.releases, services.iceberg, services.data_credentials, services.origin)),
        *_sharing_routes(Sharing(services.releases, services.release_urls, services.settings.base_url)),
    )


def _s3_routes(services: "Services") -> tuple[Route, ...]:
    keys, made = services.resources.credentials, services.data_credentials
    s3 = S3(services.releases, services.downloads, keys, made, services.iceberg, services.billing, services.origin)
    rule = Rule(name="s3", page=True, fails_as=s3_error)
    issue = Rule(name="data-credentials", accepts=KEY, rank_min=INSTITUTIONAL, key_as_bearer=True)
    paths = ((f"/{BUCKET}", s3.bucket), (f"/{BUCKET}/", s3.bucket), (f"/{BUCKET}/{{key:.+}}", s3.object))
    writes = ("PUT", "POST", "DELETE")
    return (
        Route("POST", f"{PREFIX}/org/data-credentials", s3.issue, issue),
        Route("GET", BUCKETS_PATH, s3.buckets, rule, documented=False),
        *(Route("GET", path, handler, rule, documented=False) for path, handler in paths),
        *(Route(method, path, s3.refuse, rule, documented=False) for path, _ in paths for method in writes),
    )


def unrouted_rules() -> dict[str, Rule]:
    """Return the rules of what the protocols have and this service has not, by path: their clients read the refusal."""
    in_iceberg = replace(NO_ROUTE, error_members=iceberg_error_members)
    return {
        f"/{BUCKET}": replace(NO_ROUTE, fails_as=s3_error),
        f"{PREFIX}/{ICEBERG_PREFIX}": in_iceberg,
        f"{PREFIX}/config": in_iceberg,
        SHARING_PATH: replace(NO_ROUTE, error_members=sharing_error_members),
    }


def _iceberg_routes(iceberg: Iceberg) -> tuple[Route, ...]:
    rule = Rule(
        name="iceberg",
        accepts=KEY,
        rank_min=INSTITUTIONAL,
        problems=("dataset-not-found",),
        key_as_bearer=True,
        error_members=iceberg_error_members,
    )
    # A page: the form is not read.
    token_rule = Rule(name="iceberg-token", page=True, error_members=oauth_error_members)
    namespaces = f"{PREFIX}/{ICEBERG_PREFIX}/namespaces"
    tables = f"{namespaces}/{{namespace}}/tables"
    return (
        Route("GET", f"{PREFIX}/config", iceberg.config, rule),
        Route("POST", f"{PREFIX}/oauth/tokens", iceberg.token, token_rule, documented=False),
        Route("GET", namespaces, iceberg.namespaces, rule),
        Route("GET", f"{namespaces}/{{namespace}}", iceberg.namespace, rule),
        Route("GET", tables, iceberg.tables, rule),
        Route("GET", f"{tables}/{{table}}", iceberg.table, rule),
        Route("GET", f"{tables}/{{table}}/credentials", iceberg.credentials, rule),
    )


def _sharing_routes(sharing: Sharing) -> tuple[Route, ...]:
    shares = f"{SHARING_PATH}/shares"
    share = f"{shares}/{{share}}"
    tables = f"{share}/schemas/{{schema}}/tables"
    table = f"{tables}/{{table}}"
    rule = Rule(
        name="sharing",
        accepts=KEY,
        rank_min=INSTITUTIONAL,
        problems=("dataset-not-found",),
        key_as_bearer=True,
        error_members=sharing_error_members,
    )
    return (
        Route("GET", f"{SHARING_PATH}/profile", sharing.profile, rule),
        Route("GET", shares, sharing.shares, rule),
        Route("GET", share, sharing.share, rule),
        Route("GET", f"{share}/schemas", sharing.schemas, rule),
        Route("GET", tables, sharing.tables, rule),
        Route("GET", f"{share}/all-tables", sharing.all_tables, rule),
        Route("GET", f"{table}/version", sharing.version, rule),
        # How earlier clients of the protocol ask for a table's version.
        Route("HEAD", table, sharing.version, rule, documented=False),
        Route("GET", f"{table}/metadata", sharing.metadata, rule),
        Route("POST", f"{table}/query", sharing.query, rule),
        Route("GET", f"{table}/changes", sharing.changes, rule),
    )
