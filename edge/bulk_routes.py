"""The routes of enterprise data access: releases, Delta Sharing, exports."""

from edge import rules
from edge.container import Services, file_responder
from edge.delta_sharing.handlers import Sharing
from edge.exports.handlers import Exports
from edge.exports.repository import ExportRepository
from edge.exports.serializers import ExportSerializer
from edge.exports.service import ExportService
from edge.http.lists import Paginator
from edge.http.routing import API_PATH as PREFIX
from edge.http.routing import KEY, Route, Rule
from edge.http.signed_urls import SignedUrls
from edge.jobs.handlers import RESULT_PROBLEMS
from edge.jobs.serializers import JobSerializer
from edge.jobs.service import JobOrders
from edge.releases.handlers import Datasets
from edge.releases.repository import ReleaseRepository
from edge.releases.serializers import UrlSigner
from shared.plans import INSTITUTIONAL


def export_routes(resources: Services, lists: Paginator) -> tuple[Route, ...]:
    """Return the routes of custom exports."""
    settings = resources.settings
    orders = JobOrders(resources.database, resources.watch, settings.jobs_waiting_max, resources.log)
    jobs, links = (
        JobSerializer(settings.base_url, settings.problem_base_url),
        SignedUrls(*settings.signing_secrets),
    )
    documents = ExportSerializer(settings.base_url, jobs, links, settings.signed_url_seconds)
    desk = ExportService(resources.database, resources.version, settings.jobs_waiting_max)
    shelf = ExportRepository(resources.database, orders, file_responder(resources))
    exports = Exports(
        resources.database, desk, shelf, resources.meter, documents, links, lists, resources.version, INSTITUTIONAL
    )
    booked = ("idempotency-in-progress", "idempotency-key-reused", "missing-parameter")
    above = f"{PREFIX}/index/exports"
    one = ("export-not-found", "result-expired")
    link_problems = ("invalid-signature", "expired-signature", "rate-limited", *one, *RESULT_PROBLEMS)
    return (
        Route("POST", above, exports.create, rules.export("export-order", *booked, units=exports.units)),
        Route("GET", above, exports.list, rules.export("exports")),
        Route("GET", f"{above}/{{id}}", exports.show, rules.export("export", *one)),
        Route("DELETE", f"{above}/{{id}}", exports.end, rules.export("export-end", *one)),
        Route(
            "GET",
            f"{above}/{{id}}/files/{{file}}",
            exports.file,
            rules.export("export-file", *one, *RESULT_PROBLEMS),
        ),
        Route(
            "GET", f"{above}/{{id}}/signed/{{file}}", exports.signed, Rule(name="export-signed", problems=link_problems)
        ),
    )


def dataset_routes(resources: Services, lists: Paginator) -> tuple[Route, ...]:
    """Return the routes of released datasets, as files and through Delta Sharing."""
    settings = resources.settings
    shelf, links = (
        ReleaseRepository(resources.database),
        SignedUrls(*settings.signing_secrets),
    )
    signer = UrlSigner(links, settings.base_url, settings.signed_url_seconds)
    downloads = file_responder(resources)
    datasets = Datasets(shelf, signer, links, downloads, lists, resources.version, INSTITUTIONAL)
    path = f"{PREFIX}/index/datasets"
    release = f"{path}/{{name}}/releases/{{release}}"
    signed = Rule(
        name="dataset-signed", problems=("invalid-signature", "expired-signature", "rate-limited", *rules.FILE_PROBLEMS)
    )
    return (
        Route("GET", path, datasets.list, rules.dataset("datasets")),
        Route("GET", f"{path}/{{name}}/releases", datasets.releases, rules.dataset("releases", "dataset-not-found")),
        Route("GET", release, datasets.manifest, rules.dataset("release", "dataset-not-found")),
        Route("GET", f"{release}/files/{{file}}", datasets.file, rules.dataset("release-file", *rules.FILE_PROBLEMS)),
        Route("GET", f"{release}/signed/{{file}}", datasets.signed, signed),
        *_sharing_routes(Sharing(shelf, signer, settings.base_url)),
    )


def _sharing_routes(sharing: Sharing) -> tuple[Route, ...]:
    shares = f"{PREFIX}/delta-sharing/shares"
    share = f"{shares}/{{share}}"
    tables = f"{share}/schemas/{{schema}}/tables"
    table = f"{tables}/{{table}}"
    rule = Rule(
        name="sharing", accepts=KEY, rank_min=INSTITUTIONAL, problems=("dataset-not-found",), key_as_bearer=True
    )
    return (
        Route("GET", f"{PREFIX}/delta-sharing/profile", sharing.profile, rule),
        Route("GET", shares, sharing.shares, rule),
        Route("GET", share, sharing.share, rule),
        Route("GET", f"{share}/schemas", sharing.schemas, rule),
        Route("GET", tables, sharing.tables, rule),
        Route("GET", f"{share}/all-tables", sharing.all_tables, rule),
        Route("GET", f"{table}/version", sharing.version, rule),
        Route("GET", f"{table}/metadata", sharing.metadata, rule),
        Route("POST", f"{table}/query", sharing.query, rule),
        Route("GET", f"{table}/changes", sharing.changes, rule),
    )
