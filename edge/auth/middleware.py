"""Authentication: from a request's headers to a principal, by the rule of the route."""

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from edge.auth.credentials import CredentialStore
from edge.auth.id_token import ExpiredToken, InvalidToken
from edge.auth.path_keys import PathKeys
from edge.auth.users import UserService
from edge.http.context import CONTEXT, Context
from edge.http.problems import Problem
from edge.http.routing import Rule, rule_of
from shared.organizations.accounts import CredentialKind, Principal
from shared.organizations.credentials import KEY_PREFIX

PUBLIC_TOKEN_FIELD = "X-Service-Public-Token"  # noqa: S105 - the name of a header
_NOT_VALID = "The credential is not valid. Check that the whole of it was copied; if it was rotated, use the new one."
_NOT_OF_ITS_FORM = (
    "The credential is not of the form that its header takes. Send an API key as `Authorization: ApiKey …`, "
    f"an ID token as `Authorization: Bearer …`, or a public token as `{PUBLIC_TOKEN_FIELD}: …`."
)
_CHALLENGES = {
    "public-token": f'PublicToken realm="item-index", header="{PUBLIC_TOKEN_FIELD}"',
    "api-key": 'ApiKey realm="item-index"',
    "bearer": 'Bearer realm="item-index"',
}
_FORMS = {
    "api-key": "`Authorization: ApiKey …` with the key of your organization",
    "bearer": "`Authorization: Bearer …` with an ID token",
}


class Authentication:
    """Admits the callers that the rule accepts. Routes that accept no credential are open to all and read none."""

    def __init__(
        self,
        credentials: CredentialStore,
        users: UserService,
        path_keys: PathKeys,
        anonymous_token: str,
        sign_up_url: str,
    ) -> None:
        self._credentials = credentials
        self._path_keys = path_keys
        self._users = users
        self._anonymous_token = anonymous_token
        self._sign_up_url = sign_up_url

    def middleware(self) -> Middleware:
        """Return the aiohttp middleware."""

        @web.middleware
        async def auth(request: web.Request, handler: Handler) -> web.StreamResponse:
            rule = rule_of(request)
            if rule.accepts:
                await self.admit(request, rule)
            return await handler(request)

        return auth

    async def admit(self, request: web.Request, rule: Rule) -> None:
        """Set the context's principal and account. Raises the problem of a caller that the rule does not accept."""
        context = request[CONTEXT]
        context.act_as(await self._principal(request, rule, context))

    async def _principal(self, request: web.Request, rule: Rule, context: Context) -> Principal:
        if rule.key_in_path:
            return await self._principal_of_path(request.match_info["address"], rule)
        kind, credential = credential_of(request)
        if rule.key_as_bearer and kind == "bearer" and credential.startswith(KEY_PREFIX):
            kind = "api-key"
        if kind is None:
            raise self._unauthorized_problem(
                rule, "missing-credentials", f"This call requires a credential. {self._hint(rule)}"
            )
        if kind == "bearer":
            principal = await self._principal_of_token(credential, rule, context)
        else:
            resolved = await self._credentials.resolve(kind, credential)
            if resolved is None:
                raise self._unauthorized_problem(rule, "invalid-credentials", _refusal(kind, credential))
            principal = resolved
        if kind not in rule.accepts:
            raise self._not_accepted(rule, kind)
        await self._check_plan(rule, principal)
        return principal

    async def _principal_of_path(self, credential: str, rule: Rule) -> Principal:
        key_id = self._path_keys.key_id(credential)
        principal = None if key_id is None else await self._credentials.of_key(key_id)
        if principal is None:
            detail = "The address is not valid. Ask for the present one; it ends with its key."
            raise self._unauthorized_problem(rule, "invalid-credentials", detail)
        await self._check_plan(rule, principal)
        return principal

    async def _principal_of_token(self, token: str, rule: Rule, context: Context) -> Principal:
        try:
            # Charged calls are many and do not depend on memberships.
            person = await self._users.authenticate(token, fresh=not rule.is_charged)
        except ExpiredToken:
            raise self._unauthorized_problem(
                rule, "expired-credentials", "The ID token has expired. Sign in again."
            ) from None
        except InvalidToken:
            raise self._unauthorized_problem(rule, "invalid-credentials", _refusal("bearer", token)) from None
        context.person = person
        first = person.membership(None)
        organization = (first.organization_id, first.name) if first is not None else (None, None)
        return Principal("bearer", person.id, await self._credentials.plan("free"), *organization)

    async def _check_plan(self, rule: Rule, principal: Principal) -> None:
        plan = principal.plan
        if plan.rank >= rule.rank_min:
            return
        # Not those read last: a change of accounts while the credential was read has left none.
        plans = await self._credentials.all_plans()
        required = next((other for other in plans if other.rank >= rule.rank_min), None)
        detail = (
            f"This call requires {f'the {required.title}' if required else 'a higher'} plan; yours is {plan.title}. "
            f"An owner of the organization requests it at {self._sign_up_url} or from the operator."
        )
        names = {"required_plan": required.name if required else None, "current_plan": plan.name}
        raise Problem("insufficient-plan", detail, extra=names)

    def _not_accepted(self, rule: Rule, kind: CredentialKind) -> Problem:
        accepted = sorted(rule.accepts)
        detail = f"This call accepts {' or '.join(accepted)}, not {kind}. {self._hint(rule)}"
        return Problem("credential-not-accepted", detail, extra={"accepted": accepted})

    def _hint(self, rule: Rule) -> str:
        """Return how to send a credential that the rule accepts; a token on a paid call would only be refused next."""
        if "public-token" in rule.accepts:
            token = f"{PUBLIC_TOKEN_FIELD}: {self._anonymous_token}"
            return f"Send `{token}`, or sign up at {self._sign_up_url} for a token of your own."
        forms = " or ".join(_FORMS[kind] for kind in sorted(rule.accepts))
        return f"Send {forms}. Sign up at {self._sign_up_url}."

    def _unauthorized_problem(self, rule: Rule, slug: str, detail: str) -> Problem:
        kinds = dict.fromkeys([*sorted(rule.accepts, reverse=True), *(["bearer"] if rule.key_as_bearer else [])])
        challenge = ", ".join(_CHALLENGES[kind] for kind in kinds)
        return Problem(slug, detail, fields={"WWW-Authenticate": challenge})


def _refusal(kind: CredentialKind, credential: str) -> str:
    """Return why a credential is refused: by its form alone, so that nobody learns which credentials exist."""
    is_key = credential.startswith(KEY_PREFIX)
    return _NOT_VALID if is_key == (kind == "api-key") else _NOT_OF_ITS_FORM


def credential_of(request: web.Request) -> tuple[CredentialKind | None, str]:
    """Return the one credential of a request. Raises the problem `ambiguous-credentials` if there are two."""
    tokens = request.headers.getall(PUBLIC_TOKEN_FIELD, [])
    authorizations = request.headers.getall("Authorization", [])
    # A proxy may join two headers of one name with a comma, which no credential contains.
    if len(tokens) + len(authorizations) > 1 or any("," in text for text in tokens + authorizations):
        raise Problem("ambiguous-credentials", "Send one credential: a public token, an API key, or an ID token.")
    if tokens:
        return "public-token", tokens[0]
    if not authorizations:
        return None, ""
    scheme, _, credential = authorizations[0].partition(" ")
    match scheme.lower():
        case "apikey":
            return "api-key", credential
        case "bearer":
            return "bearer", credential
        case _:
            return "api-key", ""
