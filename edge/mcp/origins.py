"""Origins that may send messages: a page of another origin must not use a browser as its way to this server. Pure."""

_EXPOSED = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
_METHODS, _MAX_AGE_SECONDS = "POST, OPTIONS", "86400"
_FIELDS = (
    "Authorization, Content-Type, Mcp-Method, Mcp-Name, MCP-Protocol-Version, X-Request-Id, X-Service-Public-Token"
)


class Origins:
    """The service's own origin, and those that its operator allows."""

    def __init__(self, own: str, allowed: str) -> None:
        self._allowed = {own.lower(), *(one.strip().lower() for one in allowed.split(",") if one.strip())}

    def accepts(self, origin: str | None) -> bool:
        """Whether a request of this origin may be answered; programs that are no browsers send none."""
        return origin is None or origin.lower() in self._allowed

    def fields(self, origin: str | None) -> dict[str, str]:
        """Return the CORS headers of an answer to an accepted origin."""
        if origin is None:
            return {"Vary": "Origin"}
        return {"Vary": "Origin", "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": _EXPOSED}

    def preflight_fields(self, origin: str) -> dict[str, str]:
        """Return the CORS headers of a pre-flight of an accepted origin."""
        requested = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Allow-Headers": _FIELDS}
        return {**self.fields(origin), **requested, "Access-Control-Max-Age": _MAX_AGE_SECONDS}
