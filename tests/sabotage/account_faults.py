"""Faults in what decides who may do what: keys, roles, sessions, tokens, signed addresses."""

from tests.sabotage.planted import fault

_TOKENS = "tests/unit/auth/test_id_token.py"
_SESSIONS = "tests/service/dashboard/test_sessions.py"
_SIGN_IN = "tests/service/dashboard/test_sign_in.py"
_SIGN_OUT = "tests/service/dashboard/test_sign_out.py"
_IDEMPOTENT = "tests/service/org/test_idempotency.py"
_ORG = "tests/service/org/test_organization.py"
_API_KEYS = "tests/service/org/test_api_keys.py"

ACCOUNT_FAULTS = (
    fault(
        "a revoked key stays in the memory of an edge",
        "edge/auth/credentials.py",
        "        self._cache.clear()\n        self._loads.clear()\n        self._invalidations += 1\n",
        "        self._loads.clear()\n",
        f"{_API_KEYS}::test_revoking_stops_every_key_and_a_new_one_can_be_issued",
        f"{_ORG}::test_a_change_of_plan_counts_within_a_second",
        "tests/unit/auth/test_credential_store.py::test_a_value_read_before_a_change_is_not_remembered_after_it",
    ),
    fault(
        "a plan opens what a higher one pays for",
        "edge/middleware/authentication.py",
        "if plan.rank >= rule.rank_min:",
        "if True:",
        "tests/service/exports/test_api.py::test_only_institutional_plans_and_keys",
    ),
    fault(
        "a refusal does not say which plan is needed where accounts change meanwhile",
        "edge/middleware/authentication.py",
        "plans = await self._credentials.all_plans()",
        "plans = self._credentials.plans.values()",
        "tests/service/exports/test_api.py::test_a_refusal_names_the_plan_that_is_needed_also_where_accounts_change_meanwhile",
    ),
    fault(
        "an organization sees every order",
        "shared/db/migrations/0024_orders_by_organization.sql",
        "    USING (organization_id = (SELECT context_organization()) OR (SELECT context_task()) = 'jobs');",
        "    USING (true);",
        "tests/service/db/test_row_level_security.py::test_another_organizations_rows_are_not_seen",
    ),
    fault(
        "each member may do everything",
        "shared/organizations/roles.py",
        "return role in _RIGHTS[right]",
        "return right in _RIGHTS",
        "tests/unit/shared/test_roles.py::test_each_role_has_its_rights_and_no_other",
    ),
    fault(
        "an admin makes owners",
        "shared/organizations/roles.py",
        'return "manage-owners" if role == "owner" else "manage-members"',
        'return "manage-members"',
        "tests/unit/shared/test_roles.py::test_only_owners_touch_owners",
    ),
    fault(
        "forms are taken without their CSRF token",
        "edge/dashboard/session_guard.py",
        'or not hmac.compare_digest(\n            form.get("csrf", "").encode(), visitor.session.csrf.encode()\n        ):',
        'or "csrf" not in form:',
        f"{_SESSIONS}::test_a_form_from_elsewhere_does_nothing",
    ),
    fault(
        "a sign-in may end in another browser",
        "edge/dashboard/sign_in.py",
        'if not hmac.compare_digest(request.cookies.get(binding, "").encode(), digest_of(state).encode()):',
        "if False:",
        f"{_SIGN_IN}::test_a_state_works_once_and_only_in_the_browser_that_began",
    ),
    fault(
        "signing in leads to any address",
        "edge/dashboard/sign_in.py",
        "return text if text and _DESTINATION.fullmatch(text) else HOME",
        "return text or HOME",
        f"{_SIGN_IN}::test_signing_in_never_redirects_to_another_site",
    ),
    fault(
        "an ID token for another client is believed",
        "edge/auth/id_token.py",
        "return bool(audience == client_id and party in (None, client_id))",
        "return True",
        f"{_TOKENS}::test_a_wrong_claim_is_refused",
    ),
    fault(
        "signatures of ID tokens are not checked",
        "edge/auth/id_token.py",
        "return bool(_METHODS[token.algorithm].verify(token.signed, key.key, token.signature))",
        "return True",
        f"{_TOKENS}::test_any_changed_byte_is_refused",
    ),
    fault(
        "cursors are not signed",
        "edge/http/cursors.py",
        "if not any(hmac.compare_digest(tag, one) for one in tags):",
        "if False:",
        "tests/unit/http/test_pure.py::test_a_cursor_opens_only_with_its_query",
    ),
    fault(
        "signed addresses open any file",
        "edge/http/signed_urls.py",
        "return any(hmac.compare_digest(signature, link.signature) for signature in signatures)",
        "return True",
        "tests/service/releases/test_files.py::test_a_signed_address_that_was_changed_opens_nothing",
    ),
    fault(
        "an account may hold all connections to PostgreSQL",
        "edge/storage/database.py",
        "FairShare(max(1, connections_max // 2))",
        "FairShare(connections_max)",
        "tests/service/db/test_fair_share.py::test_statements_of_one_account_that_hang_leave_a_connection_for_others",
    ),
    fault(
        "two requests under one Idempotency-Key run at once",
        "edge/storage/idempotency.sql",
        "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7166005)) AS got;",
        "SELECT true AS got WHERE $1::text IS NOT NULL;",
        f"{_IDEMPOTENT}::test_while_a_request_is_under_way_its_repetition_is_refused_at_once",
    ),
    fault(
        "an Idempotency-Key means any organization",
        "edge/http/idempotency_key.py",
        '"organization": organization,\n        "body"',
        '"body"',
        f"{_IDEMPOTENT}::test_the_same_call_about_another_organization_is_another_request",
    ),
    fault(
        "an Idempotency-Key is forgotten after an hour",
        "edge/storage/idempotency.sql",
        "WHERE person_id = $1::uuid AND key_sha256 = $2 AND created_at > statement_timestamp() - interval '24 hours';",
        "WHERE person_id = $1::uuid AND key_sha256 = $2 AND created_at > statement_timestamp() - interval '1 hour';",
        f"{_IDEMPOTENT}::test_the_stored_answer_shows_no_key_and_is_gone_after_a_day",
    ),
    fault(
        "a key works on after its grace",
        "shared/db/migrations/0022_acting_person.sql",
        "\n      AND (k.expires_at IS NULL OR k.expires_at > statement_timestamp())\n$$;",
        "\n$$;",
        f"{_API_KEYS}::test_rotation_with_a_grace_keeps_both_keys_working",
    ),
    fault(
        "PostgreSQL lets every member ask for a plan",
        "shared/db/migrations/0022_acting_person.sql",
        "ARRAY['owner']);\n    RETURN QUERY SELECT a.granted_plan",
        "ARRAY['owner', 'admin', 'member', 'viewer']);\n    RETURN QUERY SELECT a.granted_plan",
        "tests/service/db/test_definer_functions.py::test_each_function_holds_the_acting_persons_role_itself",
    ),
    fault(
        "an end that is cut off the audit chain with its head is not seen",
        "shared/organizations/organizations.sql",
        "h FULL JOIN ends e",
        "h LEFT JOIN ends e",
        "tests/service/db/test_audit_chain.py::test_a_forged_removed_moved_or_reordered_entry_is_detected",
    ),
    fault(
        "calls of /org with wrong parameters are not counted",
        "edge/app.py",
        "            person_limit(services.person_limits),\n            validation,\n",
        "            validation,\n            person_limit(services.person_limits),\n",
        "tests/service/org/test_plans.py::test_calls_about_organizations_with_wrong_parameters_count_as_well",
    ),
    fault(
        "sign-ins have no limit",
        "edge/quota/people.py",
        'return _allowed(await self._limiter.consume(f"sign-in:{network}", self._sign_ins, 1, charge_id), network)',
        'return await self._limiter.consume(f"sign-in:{network}", self._sign_ins, 1, charge_id)',
        f"{_SESSIONS}::test_sign_ins_of_an_address_and_forms_of_a_person_have_a_limit",
    ),
    fault(
        "forms of the dashboard have no limit",
        "edge/dashboard/session_guard.py",
        "                await self._limits.consume_call(visitor.person.id, context.network, context.charge_id)\n",
        "",
        f"{_SESSIONS}::test_sign_ins_of_an_address_and_forms_of_a_person_have_a_limit",
    ),
    fault(
        "a visit does not prolong its session",
        "edge/dashboard/sessions.py",
        '"GETEX", _session_key(cookie), "EX", self._idle_seconds)',
        '"GET", _session_key(cookie))',
        f"{_SESSIONS}::test_each_visit_lets_a_session_go_on_for_another_while",
    ),
    fault(
        "a request under way revives a session that was ended",
        "edge/dashboard/sessions.py",
        'packed, "XX", "EX"',
        'packed, "EX"',
        f"{_SIGN_OUT}::test_a_session_that_was_ended_stays_ended_whatever_was_under_way_in_it",
    ),
    fault(
        "a logout token that came in an outage is lost",
        "edge/dashboard/sign_out.py",
        "                await self._sessions.forget_notice(notice.id)\n",
        "",
        f"{_SIGN_OUT}::test_a_logout_token_that_came_in_an_outage_is_obeyed_when_it_comes_again",
    ),
    fault(
        "discovery of another issuer is believed",
        "edge/auth/oidc_provider.py",
        'named = isinstance(document, dict) and document.get("issuer") == self.issuer',
        "named = isinstance(document, dict)",
        "tests/service/org/test_bearer.py::test_a_provider_that_names_another_issuer_is_not_believed",
    ),
)
