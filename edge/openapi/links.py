"""Where an answer leads, as OpenAPI links: which of its members is a parameter of which other operation.

Read by people, by client generators, and by tests that walk from answer to answer.
"""

from collections.abc import Sequence
from typing import Any

_FIRST = "$response.body#/data/0"
_ITEM = ("lookupItem", "getPricing", "getSustainability")
_JOB = ("getJob", "getJobEvents", "getJobResult", "cancelJob")
_ACCEPTED = [(job, "id", "$response.body#/id") for job in _JOB]
# (operation, status) → the operations that its answer leads to, the parameter of each, and where its value is.
_LEADS: dict[tuple[str, str], list[tuple[str, str, str]]] = {
    ("searchItems", "200"): [(item, "iid", f"{_FIRST}/iid") for item in _ITEM],
    ("lookupItem", "200"): [
        ("getPricing", "iid", "$response.body#/iid"),
        ("getSustainability", "iid", "$response.body#/iid"),
        ("getCategoryInsights", "code", "$response.body#/category/code"),
        ("getBrandInsights", "slug", "$response.body#/brand/slug"),
    ],
    ("listBrands", "200"): [("getBrandInsights", "slug", f"{_FIRST}/slug"), ("getCohorts", "brand", f"{_FIRST}/slug")],
    ("listJobs", "200"): [(job, "id", f"{_FIRST}/id") for job in _JOB],
    ("createOrganization", "201"): [
        (operation, "organization", "$response.body#/id")
        for operation in ("getOrganization", "issueKey", "invite", "listMembers", "getAudit", "getUsage")
    ],
    ("listMembers", "200"): [("changeRole", "person", f"{_FIRST}/id"), ("removeMember", "person", f"{_FIRST}/id")],
    ("invite", "201"): [("withdrawInvitation", "invitation", "$response.body#/id")],
    ("listInvitations", "200"): [("withdrawInvitation", "invitation", f"{_FIRST}/id")],
    ("listProblems", "200"): [("getProblem", "slug", f"{_FIRST}/slug")],
}


def links_of(operation: str, status: str, tags: Sequence[str] = ()) -> dict[str, Any]:
    """Return the links of an operation's answer; empty where it leads nowhere. Every report's 202 leads to its job."""
    accepted = status == "202" and "reports" in tags
    leads = _ACCEPTED if accepted else _LEADS.get((operation, status), [])
    return {name: {"operationId": name, "parameters": {parameter: value}} for name, parameter, value in leads}
