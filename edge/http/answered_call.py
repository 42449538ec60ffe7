"""An answered call, as usage statistics and the call log record it."""

import msgspec


class AnsweredCall(msgspec.Struct, frozen=True):
    """One call as it was answered. `path` has no query; `problem` is the slug of its problem, empty without one."""

    endpoint: str
    status: int
    units: int
    seconds: float
    request_id: str
    method: str = ""
    path: str = ""
    problem: str = ""
