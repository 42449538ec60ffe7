"""Domain errors. They know nothing of HTTP; the edge gives each one a status, a slug and a public sentence."""

import copyreg


class CopyableError(Exception):
    """An exception whose copies have all its attributes, also those that another process gets as a pickle.

    Python makes a copy by a call of the class with `args`, which fails where the class takes other arguments, and in a
    process pool ends the pool.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class ItemIndexError(CopyableError):
    """The root of every error that this project raises on purpose."""


class InvalidParameter(ItemIndexError):
    """A value that a caller sent is not allowed: the parameter and what it allows; the text never has the value.

    `value` is None where the parameter itself is at fault, not what it holds.
    """

    def __init__(self, parameter: str, detail: str, value: object = None) -> None:
        super().__init__(f"{parameter}: {detail}")
        self.parameter = parameter
        self.detail = detail
        self.value = value


class UnknownTerm(InvalidParameter):
    """The index has no entry of this `kind` (brand, category, channel or item) with the value that a caller sent."""

    def __init__(self, parameter: str, kind: str, value: object) -> None:
        super().__init__(parameter, f"is not a known {kind}", value)
        self.kind = kind


class MissingParameter(InvalidParameter):
    """A parameter is required and not there."""


class WrongIdentifier(InvalidParameter):
    """A parameter's text is no identifier; `expected` and `suggestion` are those of InvalidIdentifier."""

    def __init__(
        self, parameter: str, detail: str, value: str | None, expected: str | None, suggestion: str | None
    ) -> None:
        super().__init__(parameter, detail, value)
        self.expected = expected
        self.suggestion = suggestion


class InvalidCursor(ItemIndexError):
    """The cursor is not one of ours, was changed, or belongs to another query."""


class CursorExpired(ItemIndexError):
    """The cursor is one of ours, and the state of the data whose pages it goes through is not kept any more."""


class InvalidJson(ItemIndexError):
    """A JSON text that a caller sent is refused; `detail` is the public sentence that says why."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class InvalidFile(ItemIndexError):
    """A file given to a command cannot be read; the text says where and why."""


class InvalidIid(ItemIndexError):
    """The text is not an IID."""

    def __init__(self) -> None:
        super().__init__("the text is not an IID")


class InvalidIdentifier(ItemIndexError):
    """The text is not a valid identifier of its scheme. `detail` says why and never quotes the text.

    `expected`: the check digit that would fit; `suggestion`: the identifier that was probably meant.
    """

    def __init__(self, detail: str, *, expected: str | None = None, suggestion: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.expected = expected
        self.suggestion = suggestion


class ItemNotFound(ItemIndexError):
    """No item has this well-formed IID."""


class IdentifierNotFound(ItemNotFound):
    """No item has this well-formed identifier."""


class ItemMistyped(ItemNotFound):
    """No item has this IID, nor could we have minted it: its check character does not fit."""


class ItemWithdrawn(ItemIndexError):
    """The item was withdrawn and will not come back."""


class ItemMerged(ItemIndexError):
    """The item lives on under another IID."""

    def __init__(self, survivor: str) -> None:
        super().__init__(survivor)
        self.survivor = survivor


class StoreUnavailable(ItemIndexError):
    """A store did not do its work in time. `store`: state, cache, database, results or search; `state`: how it is."""

    def __init__(self, store: str, retry_after_seconds: int = 2, state: str = "is not responding") -> None:
        super().__init__(f"the {store} store {state}")
        self.store = store
        self.state = state
        self.retry_after_seconds = retry_after_seconds


class StoreFull(StoreUnavailable):
    """The disk of a store is full; more room on it ends that."""

    def __init__(self, store: str) -> None:
        super().__init__(store, state="is full")


class RollupsOutdated(StoreUnavailable):
    """The reports' rollups are in the layout of another version; `itemindex migrate` or the next load derives them."""

    def __init__(self) -> None:
        super().__init__("database", state="has the rollups of reports in the layout of another version")


class ConfigurationError(ItemIndexError):
    """A setting is missing or unusable; the text says which one and what to write there."""


class MigrationRefused(ItemIndexError):
    """A migration could not be applied now; nothing of it stays, and it may be tried again."""


class LoadRefused(ItemIndexError):
    """A load cannot start or continue; nothing of it stays."""


class LoadInterrupted(ItemIndexError):
    """An outage ended a load; nothing of it stays, and the same load may be tried again."""


class ResultGone(ItemIndexError):
    """The bytes of a result are not there: it expired, or its store lost it."""

    def __init__(self, key: str) -> None:
        super().__init__("the result is not there any more")
        self.key = key


class JobRefused(ItemIndexError):
    """A job cannot be done, however often it is tried: the slug and a public sentence say why."""

    def __init__(self, slug: str, detail: str) -> None:
        super().__init__(detail)
        self.slug = slug


class BrandNotFound(JobRefused):
    """No brand has this slug."""

    def __init__(self, slug: str) -> None:
        super().__init__("brand-not-found", f"`{slug}` is not a known brand.")
        self.brand = slug


class WeightsNotFound(JobRefused):
    """An organization has no such table of weights, or no longer."""

    def __init__(self, name: str) -> None:
        super().__init__("weights-not-found", f"`{name}` is not a table of weights of your organization.")


class CategoryNotFound(JobRefused):
    """No category has this code."""

    def __init__(self, code: str) -> None:
        super().__init__("category-not-found", f"`{code}` is not a known category.")
        self.category = code


class JobNotFound(ItemIndexError):
    """The caller's organization has no such job."""


def copy_of(error: Exception) -> Exception:
    """Return an equal error, caused by the given one, for one of several who wait for the same outcome.

    Each `raise` of one object adds its own traceback to it, with the requests of all who raised it before.
    """
    copied = type(error).__new__(type(error), *error.args)  # without __init__, whose arguments are others
    copied.__dict__.update(error.__dict__)
    copied.__cause__ = error
    return copied
