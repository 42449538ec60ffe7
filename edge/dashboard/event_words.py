"""An event in words as pages show it: those of reports have their titles, which only the edge knows."""

from edge.analytics.reports.declared import REPORTS_BY_KIND
from shared.events.words import Data, EventWords
from shared.events.words import words_of as shared_words_of

# What pages call the types of events.
TITLES = {
    "job.ended": "Answer or export",
    "export.ready": "Files of an export",
    "release.cut": "New release",
    "item.merged": "Items that are one",
    "item.split": "Items taken apart",
    "item.withdrawn": "Item withdrawn",
    "item.restored": "Item active again",
    "watch.fired": "Alert",
    "outliers.changed": "Outliers changed",
    "quota.reached": "Units used",
    "key.rotated": "New key",
    "key.revoked": "Key revoked",
    "webhook.disabled": "Webhook disabled",
}
_ENDED = {"succeeded": "is done", "cancelled": "was cancelled"}


def words_of(type_: str, data: Data) -> EventWords:
    """Return an event in words. A type or a member that is not known here is left to the sentence of its type."""
    if type_ != "job.ended" or not {"kind", "state", "job"} <= data.keys():
        return shared_words_of(type_, data)
    kind = str(data["kind"])
    report = REPORTS_BY_KIND.get(kind)
    title = f"{report.title} report" if report else kind.replace("-", " ").capitalize()
    return EventWords(f"{title} {_ENDED.get(str(data['state']), data['state'])}", f"/dashboard/jobs/{data['job']}")
