"""The map of the pages: what the navigation lists for whom, and the tabs of each part."""

from typing import NamedTuple

from edge.dashboard.visitor import SignedIn
from shared.text import indexed_words, query_words

_HOME = "/dashboard"
_PAGES_SUGGESTED = 3


class Tab(NamedTuple):
    """One page of a part: its name and its path below /dashboard."""

    name: str
    path: str


class Part(NamedTuple):
    """A part of the dashboard: its name, its icon, and its pages; the first one opens with it."""

    name: str
    icon: str
    tabs: tuple[Tab, ...]

    @property
    def address(self) -> str:
        """The address of its first page."""
        return _HOME + self.tabs[0].path

    def current(self, address: str) -> Tab | None:
        """Return the tab that an address is below, the longest path first; None for an address of another part."""
        fitting = [tab for tab in self.tabs if _is_below(address, tab.path)]
        return max(fitting, key=lambda tab: len(tab.path), default=None)


_START = Part("Home", "overview", (Tab("Home", ""),))
_EXPLORE = Part(
    "Explore", "explorer", (Tab("Explore", "/explorer"), Tab("Brands", "/brands"), Tab("Categories", "/categories"))
)
_OF_ORGANIZATION = (
    Part(
        "Reports",
        "reports",
        (Tab("My reports", "/jobs"), Tab("Ask a question", "/questions"), Tab("All options", "/reports")),
    ),
    Part(
        "Alerts",
        "watches",
        (
            Tab("Alerts", "/watches"),
            Tab("What happened", "/events"),
            Tab("Mails", "/mails"),
            Tab("Webhooks", "/webhooks"),
        ),
    ),
    Part("Data", "datasets", (Tab("Exports", "/exports"), Tab("Datasets", "/datasets"), Tab("Connect", "/connect"))),
    Part("Usage & plan", "usage", (Tab("Usage", "/usage"), Tab("Requests", "/requests"), Tab("Plan", "/plan"))),
    Part(
        "Team & key",
        "members",
        (Tab("Team", "/members"), Tab("API key", "/key"), Tab("Public token", "/token"), Tab("Audit log", "/audit")),
    ),
)
_OF_NOBODY = (Part("Your token", "token", (Tab("Public token", "/token"),)),)
_PERSON = Part("You", "sessions", (Tab("Sessions", "/sessions"), Tab("New organization", "/organizations/new")))
_OPERATOR = (
    Part("Overview", "overview", (Tab("Overview", "/operator"), Tab("What operators did", "/operator/acts"))),
    Part(
        "Organizations",
        "members",
        (Tab("Organizations", "/operator/organizations"), Tab("Plan requests", "/operator/requests")),
    ),
    Part("People", "sessions", (Tab("People", "/operator/people"),)),
    Part("Plans", "token", (Tab("Plans", "/operator/plans"),)),
    Part(
        "Loads & feeds",
        "uploads",
        (Tab("Upload", "/data"), Tab("Loads", "/operator/loads"), Tab("Feeds", "/operator/feeds")),
    ),
    Part("Matches", "matches", (Tab("Matches", "/matches"), Tab("Models", "/operator/models"))),
    Part("Jobs", "jobs", (Tab("Jobs", "/operator/jobs"),)),
    Part("Releases", "datasets", (Tab("Releases", "/operator/releases"),)),
    Part("Health", "usage", (Tab("Health", "/operator/health"),)),
    Part("Outbox", "events", (Tab("Outbox", "/outbox"),)),
)


class Navigation(NamedTuple):
    """What a visitor's pages list: the parts for everybody, those of operators, and the tabs of the page's part."""

    parts: tuple[Part, ...]
    operator: tuple[Part, ...]
    here: Part | None

    @classmethod
    def of(cls, visitor: SignedIn | None, address: str) -> "Navigation":
        """Return the navigation of a page. A page whose visitor could not be looked up lists what members have."""
        member = visitor is None or visitor.membership is not None
        parts = (_START, _EXPLORE, *(_OF_ORGANIZATION if member else _OF_NOBODY))
        operator = _OPERATOR if visitor is not None and visitor.staff else ()
        return cls(parts, operator, _holding((*parts, *operator, _PERSON), address))

    def pages_called(self, words: str) -> list[tuple[Part, Tab]]:
        """Return the pages whose name, or whose part's, has a word that begins with each of these, at most three."""
        wanted = query_words(words)
        listed = [(part, tab) for part in (*self.parts, *self.operator, _PERSON) for tab in part.tabs]
        fitting = [(part, tab) for part, tab in listed if _are_begun(wanted, indexed_words(f"{part.name} {tab.name}"))]
        by_name = sorted(fitting, key=lambda one: not _are_begun(wanted, indexed_words(one[1].name)))
        return by_name[:_PAGES_SUGGESTED] if wanted else []


def _are_begun(wanted: list[str], words: list[str]) -> bool:
    return all(any(word.startswith(begun) for word in words) for begun in wanted)


def _holding(parts: tuple[Part, ...], address: str) -> Part | None:
    """Return the part with the page that an address is below, the longest path first."""
    found = [(len(tab.path), part) for part in parts if (tab := part.current(address)) is not None]
    return max(found, key=lambda one: one[0])[1] if found else None


def _is_below(address: str, path: str) -> bool:
    whole = _HOME + path
    return address == whole or (bool(path) and address.startswith(f"{whole}/"))
