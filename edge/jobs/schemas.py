"""Parameters and answers of /jobs, declared once."""

from marshmallow import Schema, fields, validate

from edge.http.lists import list_of
from edge.http.parameters import CursorText, PathParameters, QueryParameters, WholeNumber, field_doc, one_of
from edge.http.problems import ProblemDocument
from shared.jobs.contract import JOB_KINDS

STATES = ["queued", "running", "succeeded", "failed", "cancelled", "expired"]
_TIME = {"description": "RFC 3339, UTC"}


class JobPath(PathParameters):
    """Path of one job."""

    id = fields.Str(
        required=True, metadata=field_doc("Its id", format="uuid", example="019aa2b4-5c10-7f7e-8a55-0a5f3b1c9d21")
    )


class JobsQuery(QueryParameters):
    """Query of the list of jobs."""

    state = one_of(STATES, "Only this state")
    kind = one_of(sorted(name for name, kind in JOB_KINDS.items() if kind.units), "Only this kind")
    limit = WholeNumber(1, 200, load_default=50)
    cursor = CursorText()


class JobProgress(Schema):
    """Progress of a job."""

    fraction = fields.Float(required=True, validate=validate.Range(0, 1))
    stage = fields.Str(required=True)
    rows_done = fields.Int(required=True)
    rows_total = fields.Int(required=True, allow_none=True)


class JobResult(Schema):
    """Result of a job: its address, format and size."""

    url = fields.Url(required=True)
    media_type = fields.Str(required=True)
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    sha256 = fields.Str(required=True, metadata=field_doc("SHA-256 of the file at `url`, also in its ETag"))


class JobLinks(Schema):
    """Addresses of related calls."""

    self = fields.Url(required=True)
    result = fields.Url(required=True)
    events = fields.Url(required=True)


class Job(Schema):
    """One job of your organization."""

    id = fields.Str(required=True)
    kind = fields.Str(required=True)
    state = fields.Str(required=True, validate=validate.OneOf(STATES))
    progress = fields.Nested(JobProgress(), required=True)
    attempt = fields.Int(required=True)
    data_version = fields.Int(required=True, allow_none=True)
    cost_units = fields.Int(required=True, metadata=field_doc("Units charged; 0 after a refund"))
    created_at = fields.DateTime(required=True, metadata=_TIME)
    started_at = fields.DateTime(required=True, allow_none=True, metadata=_TIME)
    finished_at = fields.DateTime(required=True, allow_none=True, metadata=_TIME)
    expires_at = fields.DateTime(required=True, allow_none=True, metadata=field_doc("When the result expires"))
    result = fields.Nested(JobResult(), required=True, allow_none=True)
    error = fields.Nested(ProblemDocument(), required=True, allow_none=True)
    links = fields.Nested(JobLinks(), required=True)


class AnyResult(Schema):
    """A report as JSON; other formats are files."""

    data = fields.List(fields.Dict(), required=True)
    meta = fields.Dict(required=True)


JobList = list_of(Job, "JobList", "One page of jobs, newest first.")
