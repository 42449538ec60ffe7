"""The planted faults. Each would break a promise; the named tests, or the drill, must fail with it."""

from tests.sabotage.planted import drilled, fault

# Faults in what decides who may do what: keys, roles, sessions, tokens, signed addresses.


_TOKENS = "tests/unit/test_auth.py"

_SESSIONS = "tests/service/dashboard/test_sign_in.py"

_SIGN_IN = "tests/service/dashboard/test_sign_in.py"

_SIGN_OUT = "tests/service/dashboard/test_sign_in.py"

_IDEMPOTENT = "tests/service/org/test_credentials.py"

_ORG = "tests/service/org/test_organizations.py"

_API_KEYS = "tests/service/org/test_organizations.py"

ACCOUNT_FAULTS = (
    fault(
        "a mirror passes although its manifest was changed",
        "deploy/clients/python/itemindex_client/downloads.py",
        "    except (InvalidSignature, ValueError):\n        return False\n",
        "    except (InvalidSignature, ValueError):\n        return True\n",
        "tests/unit/clients/test_python_client.py::test_what_is_not_as_published_is_said_and_ends_with_one",
    ),
    fault(
        "a release forgets the key that signed it",
        "workers/bulk/releases.sql",
        "INSERT INTO release_keys (key_id, public_key) VALUES ($1, $2) ON CONFLICT DO NOTHING;",
        "SELECT $1::text, $2::text;",
        "tests/service/releases/test_downloads.py::test_a_manifest_is_signed_and_former_keys_stay",
    ),
    fault(
        "a row that a source withdrew is still in the changes' sum",
        "workers/bulk/changes.duckdb.sql",
        "FROM signed GROUP BY {columns} HAVING sum(_sign) <> 0",
        "FROM signed GROUP BY {columns} HAVING sum(_sign) > 0",
        "tests/service/releases/test_changes.py::test_yesterday_and_the_changes_are_today_byte_for_byte",
    ),
    fault(
        "observations that a split moved are said to be merged",
        "workers/bulk/changes.duckdb.sql",
        "WHERE observations.rowid = m.id;",
        "WHERE false;",
        "tests/service/releases/test_changes.py::test_where_one_item_is_split_and_merged_each_observation_has_the_reason_of_its_own_move",
    ),
    fault(
        "a release is not published where a file of the one before is lost",
        "workers/bulk/changes.py",
        "raise failures[0] from None",
        "raise error from None",
        "tests/service/releases/test_changes.py::test_a_release_is_published_without_changes_where_a_file_before_it_is_lost",
    ),
    fault(
        "a revocation of all keys does not wait for a rotation",
        "shared/db/migrations/0175_revocation_waits.sql",
        "    PERFORM FROM organizations WHERE id = p_organization FOR NO KEY UPDATE;\n",
        "",
        f"{_API_KEYS}::test_revoking_all_keys_beside_a_rotation_leaves_none_that_works",
    ),
    fault(
        "a revoked key stays in the memory of an edge",
        "edge/auth/credentials.py",
        "        self._changed[name] = self._changed[_ANY] = self._clock()\n",
        "",
        f"{_API_KEYS}::test_from_nothing_to_a_key_that_works_and_back",
        "tests/unit/test_auth.py::test_a_notice_ends_what_it_names_and_nothing_else",
        "tests/unit/test_auth.py::test_a_value_read_before_a_change_is_not_used_after_it",
    ),
    fault(
        "a key whose notice was lost works on",
        "edge/auth/credentials.py",
        "if self._confirmed > read >= self._unbroken_from else read",
        "if self._confirmed > read else read",
        "tests/unit/test_auth.py::test_after_a_gap_nothing_that_was_read_before_it_is_confirmed",
    ),
    fault(
        "credentials are asked for again though every notice arrives",
        "edge/auth/credentials.py",
        "        self._confirmed = moment\n",
        "",
        "tests/unit/test_auth.py::test_while_notices_arrive_a_key_is_asked_for_once",
    ),
    fault(
        "an expired certificate is read by nobody",
        "edge/storage/monitor.py",
        "context.check_hostname, context.verify_mode = False, ssl.CERT_NONE",
        "pass",
        "tests/unit/test_store.py::test_the_end_of_the_served_certificate_is_read",
    ),
    fault(
        "a plan opens what a higher one pays for",
        "edge/auth/middleware.py",
        "if plan.rank >= rule.rank_min:",
        "if True:",
        "tests/service/exports/test_api.py::test_only_institutional_plans_and_keys",
    ),
    fault(
        "an organization sees every order",
        "shared/db/migrations/0024_orders_by_organization.sql",
        "    USING (organization_id = (SELECT context_organization()) OR (SELECT context_task()) = 'jobs');",
        "    USING (true);",
        "tests/service/db/test_tenants.py::test_another_organizations_rows_are_not_seen",
    ),
    fault(
        "each member may do everything",
        "shared/organizations/accounts.py",
        "return role in _RIGHTS[right]",
        "return right in _RIGHTS",
        "tests/unit/test_values.py::test_each_role_has_its_rights_and_no_other",
    ),
    fault(
        "an admin makes owners",
        "shared/organizations/accounts.py",
        'return "manage-owners" if role == "owner" else "manage-members"',
        'return "manage-members"',
        "tests/unit/test_values.py::test_only_owners_touch_owners",
    ),
    fault(
        "forms are taken without their CSRF token",
        "edge/dashboard/session_guard.py",
        "or not own:",
        "or not token:",
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
        "edge/http/lists.py",
        "if not any(hmac.compare_digest(tag, expected) for expected in tags):",
        "if False:",
        "tests/unit/test_http.py::test_a_cursor_opens_only_with_its_query",
    ),
    fault(
        "signed addresses open any file",
        "edge/bulk/downloads.py",
        "return any(hmac.compare_digest(signature, link.signature) for signature in signatures)",
        "return True",
        "tests/service/releases/test_downloads.py::test_a_signed_address_that_was_changed_opens_nothing",
    ),
    fault(
        "a signed address outlives the contract",
        "edge/bulk/downloads.py",
        'if row is None or row["rank"] < INSTITUTIONAL:',
        "if row is None:",
        "tests/service/releases/test_downloads.py::test_a_signed_address_ends_with_its_time_or_with_the_contract",
    ),
    fault(
        "an account may hold all connections to PostgreSQL",
        "edge/storage/database.py",
        "FairShare(max(1, connections_max // 2))",
        "FairShare(connections_max)",
        "tests/service/db/test_statements.py::test_statements_of_one_account_that_hang_leave_a_connection_for_others",
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
        "edge/storage/idempotency.py",
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
        "shared/db/migrations/0155_credential_notices.sql",
        "\n      AND (k.expires_at IS NULL OR k.expires_at > statement_timestamp())\n",
        "\n",
        f"{_API_KEYS}::test_rotation_with_a_grace_keeps_both_keys_working",
    ),
    fault(
        "PostgreSQL lets every member ask for a plan",
        "shared/db/migrations/0022_acting_person.sql",
        "ARRAY['owner']);\n    RETURN QUERY SELECT a.granted_plan",
        "ARRAY['owner', 'admin', 'member', 'viewer']);\n    RETURN QUERY SELECT a.granted_plan",
        "tests/service/db/test_tenants.py::test_each_function_holds_the_acting_persons_role_itself",
    ),
    fault(
        "an end that is cut off the audit chain with its head is not seen",
        "shared/organizations/organizations.sql",
        "h FULL JOIN ends e",
        "h LEFT JOIN ends e",
        "tests/service/db/test_tenants.py::test_a_forged_removed_moved_or_reordered_entry_is_detected",
    ),
    fault(
        "calls of /org with wrong parameters are not counted",
        "edge/app.py",
        "            person_limit(services.person_limits),\n            validation,\n",
        "            validation,\n            person_limit(services.person_limits),\n",
        "tests/service/org/test_organizations.py::test_calls_about_organizations_have_a_limit_per_person_at_every_address",
    ),
    fault(
        "sign-ins have no limit",
        "edge/quota/billing.py",
        'return _allowed(await self._limiter.consume(f"sign-in:{network}", self._sign_ins, 1, charge_id), network)',
        'return await self._limiter.consume(f"sign-in:{network}", self._sign_ins, 1, charge_id)',
        f"{_SESSIONS}::test_sign_ins_of_an_address_and_forms_of_a_person_have_a_limit",
    ),
    fault(
        "forms of the dashboard have no limit",
        "edge/dashboard/session_guard.py",
        "        await self._limits.consume_call(visitor.person.id, context.network, context.charge_id)\n",
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
        "a logout token that could not be obeyed is lost",
        "edge/dashboard/sign_in.py",
        "            await self._obey(notice)\n",
        "            await self._sessions.note_obeyed(notice.id, 60)\n            await self._obey(notice)\n",
        f"{_SIGN_OUT}::test_a_logout_token_that_could_not_be_obeyed_is_obeyed_when_it_comes_again",
    ),
    fault(
        "discovery of another issuer is believed",
        "edge/auth/oidc_provider.py",
        'named = isinstance(document, dict) and document.get("issuer") == self.issuer',
        "named = isinstance(document, dict)",
        "tests/service/org/test_credentials.py::test_a_provider_that_names_another_issuer_is_not_believed",
    ),
    # What a refusal says.
    fault(
        "a refusal points elsewhere for its reason",
        "edge/http/problems.py",
        'text = ". ".join(sentences[:kept])',
        'text = "See `errors`"',
        "tests/unit/test_http.py::test_a_refusal_names_the_parameter_the_value_and_what_is_allowed",
    ),
    fault(
        "a refusal repeats a key that stood in the wrong place",
        "edge/http/problems.py",
        "or has_credential(text):",
        "or False:",
        "tests/unit/test_http.py::test_a_credential_in_the_wrong_place_is_not_repeated",
    ),
    fault(
        "a number whose zero was eaten is refused without the number that was meant",
        "edge/http/problems.py",
        'if error.suggestion else ""',
        'if error.suggestion == "" else ""',
        "tests/unit/test_http.py::test_a_number_whose_zero_was_eaten_comes_back_with_it",
    ),
    fault(
        "the Python client drops the faults of a refusal",
        "deploy/clients/python/itemindex_client/errors.py",
        "return [fault for fault in listed if isinstance(fault, dict)] if isinstance(listed, list) else []",
        "return []",
        "tests/unit/clients/test_python_client.py::test_a_refusal_carries_its_faults_and_its_text_has_each_of_them_once",
    ),
    fault(
        "the Python client hands out amounts and days as text",
        "deploy/clients/python/itemindex_client/results.py",
        "    if kind in _READ:",
        "    if kind in ():",
        "tests/unit/clients/test_python_client.py::test_arrow_and_polars_have_decimals_and_days",
    ),
    fault(
        "the Python client sends an argument that the API lacks",
        "deploy/clients/python/itemindex_client/calls.py",
        'if name.rstrip("_") not in names:',
        "if not name:",
        "tests/unit/clients/test_python_client.py::test_an_argument_that_the_api_lacks_is_refused_before_a_call",
    ),
    fault(
        "a guide of customers does not say how to install a client",
        "edge/docs/guides.py",
        'commands = self._commands if name in READERS["customers"] else {}',
        "commands: Mapping[str, str] = {}",
        "tests/service/http/test_clients.py::test_every_page_with_a_sample_shows_the_commands",
    ),
    fault(
        "a tool of MCP that declares its output answers with text alone",
        "edge/mcp/calls.py",
        '"structuredContent": page, "isError": False}',
        '"isError": False}',
        "tests/service/mcp/test_tools.py::test_what_each_tool_answers_fits_its_output_schema",
    ),
    fault(
        "a form that is too large is answered to a person with JSON",
        "edge/dashboard/session_guard.py",
        "except web.HTTPRequestEntityTooLarge:",
        "except ZeroDivisionError:",
        f"{_SESSIONS}::test_a_form_that_is_too_large_is_a_page_that_says_so",
    ),
)


# Faults in what programs hear of: the log of events, and webhooks.


_WEBHOOKS = "tests/service/webhooks/test_webhooks.py"

_POSTS = "tests/unit/test_webhooks.py"

EVENT_FAULTS = (
    fault(
        "a replay stays when its event is deleted",
        "workers/dispatcher/retention.sql",
        "WHERE r.number <= last.number)",
        "WHERE false)",
        f"{_WEBHOOKS}::test_a_replay_ends_with_the_event_that_it_is_of",
    ),
    fault(
        "events are numbered under the lock of releases",
        "workers/bulk/releases.sql",
        "SELECT pg_try_advisory_lock(7166003);",
        "SELECT pg_try_advisory_lock(7166002);",
        "tests/laws/test_code.py::test_each_fixed_advisory_key_has_one_purpose",
    ),
    fault(
        "a host of a webhook is resolved twice",
        "workers/events/webhooks.py",
        "    return addresses[0], port\n",
        "    return host, port\n",
        f"{_POSTS}::test_a_resolver_that_changes_its_answer_changes_nothing",
    ),
    fault(
        "one public address of a webhook's host is enough",
        "workers/events/webhooks.py",
        "if not private_allowed and not all(",
        "if not private_allowed and not any(",
        f"{_POSTS}::test_a_name_with_a_private_address_among_its_own_is_not_called",
    ),
    fault(
        "a webhook's receiver may answer as slowly as it likes",
        "workers/events/webhooks.py",
        "    alarm.start()\n",
        "",
        f"{_POSTS}::test_a_receiver_that_sends_a_byte_now_and_then_is_hung_up_on",
    ),
    fault(
        "only the newer secret signs during a rotation",
        "workers/events/webhooks.py",
        "(event.sealed_secret, event.sealed_secret_before) if",
        "(event.sealed_secret,) if",
        f"{_WEBHOOKS}::test_after_a_rotation_both_secrets_sign_and_then_the_new_one_alone",
    ),
    drilled(
        "a drill of webhooks: an event that was not accepted is passed over",
        "workers/events/webhooks.sql",
        "UPDATE webhook_endpoints SET failures = failures + 1, lease_until = NULL,\n    due_at",
        "UPDATE webhook_endpoints SET failures = failures + 1, lease_until = NULL, position = (SELECT max(number) FROM event_log),\n    due_at",
        *("webhooks", "--events", "200", "--receivers", "10", "--kills", "4", "--rate", "20", "--minutes", "5"),
    ),
)


# Faults in what is answered from memory: for whom, at which price, and what a refused call may cost.


_UNREAD = "tests/service/http/test_unread_records.py"

FAST_PATH_FAULTS = (
    fault(
        "cached records are keyed by the number of a data_version alone",
        "shared/redis/keys.py",
        'return f"{data_version}-{blake2b(committed_at.encode(), digest_size=6).hexdigest()}"',
        'return f"{data_version}"',
        f"{_UNREAD}::test_after_a_restore_a_record_of_before_it_is_not_served_under_the_same_number",
    ),
    fault(
        "an entry of the cache store that cannot be read is an error",
        "edge/index/versioned_cache.py",
        "                metrics.cache_unreadable.labels(self.kind.name).inc()\n                done(None)\n                return\n",
        "                raise\n",
        f"{_UNREAD}::test_an_entry_that_cannot_be_read_is_a_miss_is_counted_and_is_replaced",
    ),
    fault(
        "releases of another layout read each other's records",
        "shared/redis/keys.py",
        'return f"r{layout}:{snapshot}:{iid}"',
        'return f"r:{snapshot}:{iid}"',
        "tests/unit/test_edge.py::test_no_key_of_one_layout_is_a_key_of_another",
    ),
    fault(
        "a callback that fails takes the replies of all others with it",
        "edge/storage/redis_client.py",
        "            deliver(waiting.popleft()[1], reply)\n",
        "            waiting.popleft()[1](reply)\n",
        "tests/unit/test_store.py::test_a_callback_that_fails_is_given_its_error_and_costs_no_other_its_reply",
    ),
    fault(
        "the fast path responds twice where it fails after its response",
        "edge/server.py",
        "        if self._call is not call:  # it has a response: a second one would be taken for that of the next request\n"
        "            return\n",
        "",
        "tests/service/http/test_fast_path.py::"
        "test_where_the_fast_path_fails_the_ordinary_way_responds_once_and_the_call_is_charged_once",
    ),
    fault(
        "a document that could not be made once is never made again",
        "edge/http/representation.py",
        "if self._task is None or (self._task.done() and self._task.exception() is not None):",
        "if self._task is None:",
        "tests/service/http/test_docs.py::test_a_page_that_could_not_be_made_once_is_made_for_the_next_caller",
    ),
    fault(
        "the OpenAPI document describes each refusal as the default answer",
        "edge/docs/document.py",
        "answers[status] = self._problem(status, slugs)",
        'answers["default"] = self._problem(status, slugs)',
        "tests/laws/test_document.py::test_each_refusal_has_its_status_and_its_meaning",
    ),
    fault(
        "the OpenAPI document does not describe the members of a struct",
        "edge/docs/document.py",
        'in made["components"]["schemas"].items():',
        'in [one for one in made["components"]["schemas"].items() if one[0] in declared]:',
        "tests/laws/test_document.py::test_every_member_is_described_and_every_sentence_is_of_one",
    ),
    fault(
        "the fast path counts reads of refused calls",
        "edge/fast_path.py",
        "call.source if decision.allowed and not read else None",
        "call.source if not read else None",
        "tests/service/http/test_fast_path.py::test_the_fast_path_counts_the_same_metrics_as_the_ordinary_way",
    ),
    fault(
        "a stored report is kept for every organization at the price of the one that has ordered it",
        "edge/analytics/reports.py",
        "return None if quote.spec.kind.units_cached == _PAID_UNITS else organization_of(request)",
        "return None if quote.units == _PAID_UNITS else organization_of(request)",
        "tests/service/http/test_unread_searches.py::test_a_stored_report_has_the_same_bytes_in_every_format_for_every_organization_before_and_after_a_load",
    ),
    fault(
        "a refused caller makes the fast path read a record",
        "edge/fast_path.py",
        "            if decision.allowed and call.read is not None:\n",
        "            if call.read is not None:\n",
        "tests/service/http/test_unread_records.py::test_a_caller_who_has_used_the_day_up_makes_postgresql_read_nothing",
    ),
    fault(
        "prices that were read before a load are kept after it",
        "edge/http/answer_cache.py",
        "generation != self.generation or ",
        "",
        "tests/service/http/test_unread_records.py::test_prices_that_were_read_before_a_load_ended_are_not_kept_after_it",
    ),
    fault(
        "days go by the time zone of the database's server",
        "shared/db/connect.py",
        'SESSION = {"timezone": "UTC", "datestyle": "ISO"}',
        'SESSION = {"datestyle": "ISO"}',
        "tests/service/http/test_recorded_answers.py::test_every_answer_is_as_it_is_recorded",
    ),
    fault(
        "a variable that is set for another program changes how dates are written",
        "shared/db/connect.py",
        'OVERRIDING = ("PGTZ", "PGDATESTYLE")',
        "OVERRIDING = ()",
        "tests/service/db/test_pooler.py::test_what_variables_of_libpq_say_of_a_session_does_not_count",
    ),
    fault(
        "a part takes the broker of another program's Celery",
        "deploy/local/process.py",
        '= ("CELERY_", ',
        "= (",
        "tests/unit/test_processes.py::test_a_program_gets_no_settings_that_other_programs_would_take_from_variables",
    ),
    fault(
        "vowel signs cut the words of other scripts",
        "shared/text.py",
        "(?:[{SIGNS}]+{_LETTERS}*)*",
        "",
        "tests/unit/search/test_queries.py::test_vowel_signs_belong_to_their_word_and_points_are_left_out",
    ),
    fault(
        "the first index of a new format takes away that of the former one",
        "shared/search/directory.py",
        "            foreign[path] = manifest\n",
        "            superseded.append(path)\n",
        "tests/unit/search/test_indexes.py::test_an_index_of_the_former_format_stays_until_two_newer_ones_are_there",
    ),
    fault(
        "a folder with a space in its name ends nginx",
        "nginx.conf",
        'pid "@RUN_DIR@/nginx.pid";',
        "pid @RUN_DIR@/nginx.pid;",
        "tests/system/nginx/test_upstream.py::test_tls_is_ready_to_switch_on",
    ),
    fault(
        "a refusal is repeated to callers with credentials",
        "nginx.conf",
        '        default off;\n        "GET||@ANONYMOUS_TOKEN@||" refusals;\n',
        "        default refusals;\n",
        "tests/system/nginx/test_requests.py::test_nothing_else_is_repeated",
    ),
    fault(
        "one caller's refusal is repeated to all",
        "nginx.conf",
        "$time_iso8601 $remote_addr ",
        "$time_iso8601 ",
        "tests/system/nginx/test_requests.py::test_no_caller_gets_the_refusal_of_another_address",
    ),
    fault(
        "a refusal is repeated after its second",
        "nginx.conf",
        'proxy_cache_key "$time_iso8601 ',
        'proxy_cache_valid 429 60s;\n            proxy_ignore_headers X-Accel-Expires;\n            proxy_cache_key "',
        "tests/service/quota/test_repeated_refusals.py::test_a_refund_lifts_a_repeated_refusal_within_a_second",
    ),
    fault(
        "a refusal without the store is repeated",
        "edge/fast_path.py",
        "decision.verified and decision.plan",
        "decision.plan",
        "tests/service/quota/test_repeated_refusals.py::test_only_a_counted_refusal_by_the_day_of_a_network_is_marked",
    ),
)


# Faults in how files of each form are read.


_FORMS = "tests/unit/ingest/test_reading.py"

FORM_FAULTS = (
    fault(
        "XML is decoded a second time by what it declares",
        "workers/ingest/read_xml.py",
        '    "encoding": "utf-8",\n',
        "",
        f"{_FORMS}::test_xml_is_decoded_once_by_what_it_declares",
    ),
    fault(
        "months have English names alone",
        "workers/ingest/calendar_days.py",
        '_LANGUAGES = tuple("en de fr es it nl pl pt cs sk sv da nb fi hu ro tr ru uk el bg sl id ar he".split())',
        '_LANGUAGES = ("en",)',
        "tests/unit/ingest/test_guess.py::test_months_have_their_names_in_each_language",
    ),
    fault(
        "XML expands entities",
        "workers/ingest/read_xml.py",
        'if b"<!ENTITY" in seen:',
        'if b"<!NOTHING" in seen:',
        f"{_FORMS}::test_documents_that_cannot_be_read_are_refused_with_a_sentence",
    ),
    fault(
        "a path without a row fills the memory",
        "workers/ingest/text_stream.py",
        "if self.read_since_row > self._bytes_max:",
        "if False:",
        f"{_FORMS}::test_a_path_without_a_row_does_not_fill_the_memory",
    ),
    fault(
        "a second element of a name replaces the first",
        "workers/ingest/read_xml.py",
        'path = f"{prefix}{own}.{times}" if times else prefix + own',
        "path = prefix + own",
        f"{_FORMS}::test_parts_of_xml_are_columns_by_their_path",
    ),
    fault(
        "numbers of JSON lose digits",
        "workers/ingest/read_json.py",
        "ijson.items(source, prefix, multiple_values=True)",
        "ijson.items(source, prefix, multiple_values=True, use_float=True)",
        f"{_FORMS}::test_numbers_of_json_keep_every_digit",
    ),
    fault(
        "whole numbers of a sheet have a decimal point",
        "workers/ingest/read_sheet.py",
        "if cell.is_integer() and -_WHOLE_MAX < cell < _WHOLE_MAX:",
        "if False:",
        f"{_FORMS}::test_cells_keep_their_type",
    ),
    fault(
        "an error of a sheet is an empty cell",
        "workers/ingest/read_sheet.py",
        "suspected = _suspected(packed)",
        "_suspected(packed)",
        f"{_FORMS}::test_a_cell_with_an_error_or_a_formula_without_its_value_is_a_reject",
    ),
    fault(
        "the first file of an archive is taken, whichever it is",
        "workers/ingest/forms.py",
        "    if len(fitting) == 1:\n",
        "    if fitting:\n",
        f"{_FORMS}::test_an_archive_gives_its_one_file",
    ),
    fault(
        "an escaped quotation mark ends a cell",
        "workers/ingest/read_csv.py",
        'if but else b".") if escape else b""',
        'if but else b".") if False else b""',
        f"{_FORMS}::test_escaped_quotation_marks_are_read_as_duckdb_reads_them",
    ),
    fault(
        "cells are filled down beyond their group",
        "workers/ingest/readers.py",
        'if own not in (None, "") or own_group != group:',
        'if own not in (None, ""):',
        f"{_FORMS}::test_cells_are_filled_down_within_their_group",
    ),
    fault(
        "an amount that can be read in two ways is read in one",
        "workers/ingest/clean.py",
        "    doubtful = thousand if minor not in (0, 3) else None\n",
        "    doubtful = None\n",
        f"{_FORMS}::test_an_amount_is_read_as_people_write_it_or_not_at_all",
    ),
    fault(
        "a file with the day of its load is known again on another day",
        "workers/ingest/load.py",
        "mapping.loaded_on, ",
        "None, ",
        f"{_FORMS}::test_the_day_of_the_load_is_part_of_what_a_load_is_known_by",
    ),
)


# Faults in a guessed mapping: what it chooses silently where two readings are possible, and what it takes for
# another.


_GUESS = "tests/unit/ingest/test_guess.py"

_CASES = "tests/unit/ingest/test_guess.py"

_FILES = "tests/unit/ingest/test_guess.py"

_ROLES = "workers/ingest/column_roles.py"

GUESS_FAULTS = (
    fault(
        "variants that share a name all keep it unchanged",
        "workers/ingest/column_roles.py",
        "    if variants := _variants(sampled, roles):\n",
        "    if variants := []:\n",
        f"{_GUESS}::test_a_file_loads_with_nothing_edited_but_the_currency_that_it_does_not_state",
    ),
    fault(
        "equal stocks make two rows one product",
        "workers/ingest/column_roles.py",
        " and role_of(within) in _KEYS_OF_PRODUCTS:",
        ":",
        f"{_GUESS}::test_rows_with_one_stock_are_not_one_product",
    ),
    fault(
        "a description is taken for the name beside it",
        "workers/ingest/column_roles.py",
        '        roles.setdefault("name", described)\n',
        '        roles["name"] = described\n',
        "tests/unit/ingest/test_guess.py::test_a_description_is_the_name_only_where_no_column_is",
    ),
    fault(
        "the currency that one price states is that of all",
        "workers/ingest/guess/currencies.py",
        "elif not stated or bare > total - bare:",
        "elif not stated:",
        f"{_GUESS}::test_what_the_file_does_not_say_is_a_question_or_said",
    ),
    fault(
        "a price whose currency is another is read without its mark",
        "workers/ingest/guess/currencies.py",
        "return as_toml(spec), table",
        'return as_toml({"constant": "USD"}), table',
        f"{_GUESS}::test_each_price_has_the_currency_that_its_cell_states",
    ),
    fault(
        "digits of other scripts are none",
        "workers/ingest/clean.py",
        "plain = [None if text is None else in_ascii(text) for",
        "plain = [text for",
        f"{_CASES}::test_a_file_loads_with_nothing_edited_but_the_currency_that_it_does_not_state",
    ),
    fault(
        "a sign of several currencies is taken for one of them",
        "workers/ingest/column_roles.py",
        'else MARKS.get(_OF_TAX.sub("", mark), frozenset())\n',
        'else frozenset(sorted(MARKS.get(_OF_TAX.sub("", mark), ()))[:1])\n',
        f"{_CASES}::test_a_sign_of_several_currencies_is_a_question",
    ),
    fault(
        "the day stands before the month, whatever the file",
        "workers/ingest/guess/days.py",
        "if doubtful:",
        "if False:",
        f"{_CASES}::test_what_can_be_read_in_two_ways_is_refused_until_a_person_has_chosen",
    ),
    fault(
        "a mark before three digits is always the same",
        "workers/ingest/guess/prices.py",
        "if count == best and differing:",
        "if False:",
        f"{_CASES}::test_what_can_be_read_in_two_ways_is_refused_until_a_person_has_chosen",
    ),
    fault(
        "a mapping loads before a person has chosen",
        "workers/ingest/mapping_tables.py",
        "if _is_undecided(spec):",
        "if False:",
        f"{_CASES}::test_what_can_be_read_in_two_ways_is_refused_until_a_person_has_chosen",
    ),
    fault(
        "of two columns that may be the price the first is taken",
        "workers/ingest/guess/prices.py",
        'if rivals and "column" in spec and',
        'if False and "column" in spec and',
        f"{_CASES}::test_what_the_file_does_not_say_is_a_question_or_said",
    ),
    fault(
        "ids are taken from a column that a spreadsheet has shortened",
        _ROLES,
        'whole = [column for column in roles["gtin"] if not any(map(is_shortened, sampled.values(column)))]',
        'whole = list(roles["gtin"])',
        f"{_CASES}::test_no_id_is_taken_from_a_column_that_a_spreadsheet_has_shortened",
    ),
    fault(
        "a price that cannot be read is left out",
        _ROLES,
        "    _by_name_alone(sampled, roles, taken)\n",
        "",
        f"{_CASES}::test_a_price_or_a_day_that_cannot_be_read_is_not_left_out",
    ),
    fault(
        "a column is what any word of its name means",
        "workers/ingest/column_names.py",
        "head = _PREPOSITION.split(bare, maxsplit=1)[0]",
        "head = bare",
        f"{_CASES}::test_a_column_is_not_taken_for_what_another_word_of_its_name_means",
    ),
    fault(
        "a list price in another currency than the price is loaded",
        "workers/ingest/clean.py",
        "pc.if_else(_states_another(given, currency), ",
        "pc.if_else(pa.scalar(False), ",
        f"{_CASES}::test_a_list_price_of_another_currency_than_its_row_is_not_read",
    ),
    fault(
        "the price without a sale is a list price too",
        "workers/ingest/clean.py",
        "if not field.beside:",
        "if True:",
        f"{_CASES}::test_a_sale_price_is_the_price_in_the_currency_of_its_cell",
    ),
    fault(
        "quotation marks always open a cell",
        "workers/ingest/sample.py",
        '([("", "")] if b\'"\' in text else [])',
        "[]",
        f"{_CASES}::test_quotation_marks_may_be_plain_characters",
    ),
    fault(
        "a text is quoted as most lines are, and not as most rows",
        "workers/ingest/sample.py",
        "key=lambda form: fits[form].share)",
        "key=lambda form: fits[form].cells)",
        f"{_CASES}::test_the_lines_and_commas_of_quoted_texts_are_no_rows_and_cells",
    ),
    fault(
        "a number of days until delivery is a day",
        "workers/ingest/column_roles.py",
        "if not all(map(_NUMBER_OF_DAYS.fullmatch, sampled.values(column)))",
        "",
        f"{_CASES}::test_what_the_file_does_not_say_is_a_question_or_said",
    ),
    fault(
        "an id of several columns may lack all of them",
        "workers/ingest/clean.py",
        'parts[1:] = [pc.fill_null(part, "") for part in parts[1:]]',
        'parts = [pc.fill_null(part, "") for part in parts]',
        f"{_CASES}::test_an_id_of_several_columns_with_gaps_stays_exact",
    ),
    fault(
        "a part of XML with a name is a column by its place alone",
        "workers/ingest/read_xml.py",
        'row.setdefault(f"{prefix}{own}[{named}]", text)',
        'row.setdefault(f"{path}[{named}]", text)',
        "tests/unit/ingest/test_reading.py::test_parts_with_a_name_are_columns_by_it_wherever_they_stand",
    ),
    fault(
        "a row of another width that is no text breaks its file",
        "workers/ingest/read_csv.py",
        "if _is_utf8(block.records) else",
        "if True else",
        "tests/unit/ingest/test_reading.py::test_a_row_of_another_width_that_is_no_utf8_is_a_reject",
    ),
    fault(
        "rows of blanks have a value",
        "workers/ingest/readers.py",
        'texts = pc.utf8_trim_whitespace(pc.fill_null(batch.columns[column].cast(pa.string()), ""))',
        'texts = pc.fill_null(batch.columns[column].cast(pa.string()), "")',
        "tests/unit/ingest/test_reading.py::test_rows_without_a_value_in_a_named_column_are_not_read",
    ),
    fault(
        "a file with a few common columns is of a known shape",
        "workers/ingest/shapes.py",
        'if all(found) and len(further) >= rule.get("at_least", 0):',
        "if all(found):",
        f"{_FILES}::test_a_shape_is_known_by_its_columns_and_not_by_the_name_of_the_file",
    ),
)


# Faults in what a load says, refuses and keeps.


_REFUSED = "tests/service/ingest/test_refused_loads.py"

_FEEDS = "tests/service/ingest/test_feeds.py"

_LOADS = "tests/service/ingest/test_load.py"

INGEST_FAULTS = (
    fault(
        "items that come later take the places of others",
        "workers/ingest/item_tracker.py",
        "grown[: len(old)] = old",
        "grown[: len(old) // 2] = old[: len(old) // 2]",
        "tests/unit/ingest/test_steps.py::test_items_keep_their_keys_however_many_come_later",
    ),
    fault(
        "a load of which no row can be used ends with success",
        "workers/ingest/accounting.py",
        '    return rows > 0 and counts.get("rows_used", 0) > 0 and not fields_rejected\n',
        "    return True\n",
        f"{_REFUSED}::test_a_load_of_which_every_row_is_rejected_fails_and_says_why",
    ),
    fault(
        "a dry run commits",
        "workers/ingest/load.py",
        "        if self.dry_run:\n            self.connection.rollback()\n",
        "        if self.dry_run:\n            self.connection.commit()\n",
        f"{_REFUSED}::test_a_dry_run_is_refused_as_the_load_would_be_and_leaves_nothing",
    ),
    fault(
        "each load draws a number for each brand that is known",
        "workers/ingest/load.sql",
        "WHERE n.brand_slug IS NOT NULL AND NOT EXISTS (SELECT FROM brands b WHERE b.slug = n.brand_slug)\n"
        "ORDER BY n.brand_slug, n.brand_name;",
        "WHERE n.brand_slug IS NOT NULL ORDER BY n.brand_slug, n.brand_name ON CONFLICT (slug) DO NOTHING;",
        f"{_LOADS}::test_only_what_is_new_gets_a_number",
    ),
    fault(
        "each load that is rolled back uses up a number of a source",
        "workers/provenance/events.sql",
        "setval('sources_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM sources))",
        "nextval('sources_id_seq')",
        f"{_LOADS}::test_only_what_is_new_gets_a_number",
    ),
    fault(
        "what a load takes apart is not reported",
        "workers/provenance/standing.py",
        "if owner is not None and now.get(item_id, item_id) != now.get(owner, owner)",
        "if owner is not None and now.get(item_id, item_id) == item_id == owner",
        f"{_REFUSED}::test_what_a_load_takes_apart_is_said_and_is_an_event",
    ),
    fault(
        "rejects of one load are kept without a bound",
        "workers/ingest/accounting.py",
        "        kept = min(len(rejects), self._rows_left)\n",
        "        kept = len(rejects)\n",
        f"{_REFUSED}::test_rejects_are_kept_up_to_a_bound_and_counted_beyond_it",
    ),
    fault(
        "each try of a load keeps its rejects",
        "workers/ingest/load.sql",
        "l.id <> n.id AND l.state IN ('failed', 'unchanged')",
        "l.id <> n.id AND l.state = 'unchanged'",
        f"{_REFUSED}::test_a_load_that_is_tried_again_does_not_keep_its_rejects_twice",
    ),
    fault(
        "old rejects are never deleted",
        "workers/dispatcher/retention.sql",
        "DELETE FROM rejects r USING loads l WHERE l.id = r.load_id AND l.started_at < statement_timestamp()",
        "DELETE FROM rejects r USING loads l WHERE l.id = r.load_id AND l.started_at < statement_timestamp() - interval '1 year'",
        f"{_REFUSED}::test_rejects_loads_and_files_end_with_their_time_and_what_can_be_undone_stays",
    ),
    fault(
        "decisions are exported without the prefix against formulae",
        "deploy/ctl/matches.py",
        "bytes(csv_rows(batch, list(_EXPORTED)))",
        """bytes(csv_rows(batch, list(_EXPORTED))).replace(b"'", b"")""",
        "tests/service/articles/test_decisions.py::test_a_name_that_a_spreadsheet_would_compute_is_exported_as_text",
    ),
    fault(
        "a model is measured on records that it has seen",
        "workers/articles/matching/training.py",
        "np.flatnonzero(~judged & ~np.isin(right, right[judged]))",
        "np.flatnonzero(~judged)",
        "tests/unit/matching/test_model.py::test_no_pair_trains_a_model_that_judges_a_record_of_it",
    ),
    fault(
        "a few decisions are enough for links without a person",
        "workers/articles/matching/training.py",
        "(right / found >= PRECISION) & (limit >= _LEAST_LIMIT)",
        "(right / found >= PRECISION)",
        "tests/unit/matching/test_model.py::test_a_bound_needs_enough_decisions_that_support_it",
    ),
    fault(
        "a model may merge any part of the index",
        "workers/provenance/item_acts.py",
        "reindex(connection, None, seeds, check)",
        "reindex(connection, None, seeds)",
        "tests/service/articles/test_models.py::test_a_model_that_would_merge_a_tenth_of_the_index_is_used_only_if_that_is_meant",
    ),
    fault(
        "the undo of a bulk decision leaves its parts",
        "workers/provenance/undo.sql",
        "WHERE (no = $1 OR part_of = $1) AND undone_at IS NULL;",
        "WHERE no = $1 AND undone_at IS NULL;",
        "tests/service/articles/test_models.py::test_a_bulk_decision_is_one_event_that_one_undo_takes_back",
    ),
    fault(
        "loads go on with the shipped model",
        "workers/articles/links.py",
        "Matcher(models.active(connection), index)",
        "Matcher(models.Model.shipped(), index)",
        "tests/service/articles/test_models.py::test_a_model_that_is_activated_judges_all_pairs_and_undo_gives_the_links_back",
    ),
    fault(
        "a bulk decision in the dashboard takes pairs that were not shown",
        "edge/dashboard/matches.py",
        'if form.get("pairs") != _named(waiting):',
        'if not form.get("pairs"):',
        "tests/service/dashboard/test_matches.py::test_pairs_are_filtered_sampled_and_decided_in_bulk_and_the_bulk_is_undone",
    ),
    fault(
        "a feed whose bytes are unchanged is loaded again",
        "workers/ingest/feeds.py",
        "if fetched.sha256 != feed.sha256:",
        "if True:",
        f"{_FEEDS}::test_the_same_bytes_without_an_etag_are_not_loaded_again",
    ),
    fault(
        "a feed is fetched from inside the network",
        "workers/ingest/feeds.py",
        "self.tls, private_allowed=self.private_allowed) as connection",
        "self.tls, private_allowed=True) as connection",
        f"{_FEEDS}::test_a_name_that_resolves_into_a_network_is_not_fetched",
    ),
    fault(
        "a feed that ends early is loaded as far as it came",
        "workers/ingest/feeds.py",
        "        if response.length:\n",
        "        if False:\n",
        f"{_FEEDS}::test_what_cannot_be_fetched_or_loaded_is_an_event_with_its_reason",
    ),
    fault(
        "a file of a directory is refused for an outage",
        "workers/ingest/load.py",
        "kind = LoadInterrupted if is_interruption(error) else LoadRefused",
        "kind = LoadRefused",
        "tests/service/ingest/test_interrupted_loads.py::test_a_load_that_an_outage_ends_is_not_called_refused",
    ),
    fault(
        "an upload is loaded by another mapping than was previewed",
        "edge/dashboard/uploads.sql",
        "AND mapping = $2 RETURNING id",
        "AND $2::text IS NOT NULL RETURNING id",
        "tests/service/dashboard/test_uploads.py::test_what_was_not_previewed_by_this_mapping_is_not_loaded",
    ),
    fault(
        "a person who may not upload holds a place by a body",
        "edge/dashboard/uploads.py",
        "        person, _ = visitor.require_operator()\n",
        "        person = visitor.person.id\n",
        "tests/service/dashboard/test_hostile_uploads.py"
        "::test_who_may_not_upload_is_refused_before_anything_of_the_body_has_come",
    ),
    fault(
        "streams of events take the places of calls",
        "nginx.conf",
        "proxy_pass http://edge_streams;",
        "proxy_pass http://$pool;",
        "tests/system/nginx/test_upstream.py::test_streams_of_events_take_no_place_of_others",
    ),
    fault(
        "an upload is stored whatever its size",
        "edge/dashboard/uploads.py",
        "                if size > self._settings.upload_bytes_max:\n",
        "                if False:\n",
        "tests/service/dashboard/test_uploads.py::test_a_file_of_any_size_up_to_the_bound_is_stored_and_no_larger_one",
    ),
)


# Faults in what operators rely on: certificates, several hosts, backups, a pooler.


_TLS = "tests/system/test_tls.py"

_BACKUP = "tests/system/test_backup.py"

OPERATOR_FAULTS = (
    fault(
        "nginx is started with an expired certificate",
        "deploy/local/certificates.py",
        "if leaf.not_valid_after_utc <= utc_now():",
        "if False:",
        f"{_TLS}::test_a_certificate_that_cannot_serve_is_refused_with_a_sentence",
    ),
    fault(
        "plain HTTP is redirected to whatever host the caller names",
        "deploy/local/tls.py",
        "            return 421;\n",
        "            return 308 https://$http_host$request_uri;\n",
        f"{_TLS}::test_plain_http_redirects_to_the_service_and_nowhere_else",
    ),
    fault(
        "a host with a disk of its own starts",
        "shared/objects/shared_directories.py",
        "if row is not None and row[0] != place.identity:",
        "if row is None:",
        "tests/service/test_start.py::test_a_second_host_with_a_disk_of_its_own_is_refused_with_what_to_set",
    ),
    fault(
        "two stacks that start at one moment may be given one port",
        "deploy/local/paths.py",
        "_HELD.append(holder)",
        "holder.close()",
        "tests/unit/test_processes.py::test_a_port_that_was_given_is_given_to_no_one_else_and_a_server_may_take_it",
    ),
    fault(
        "a restore goes to the end of the log whatever moment is named",
        "deploy/local/backups.py",
        'return chosen if to is None else {**chosen, "recovery_target_time": to.isoformat()}',
        "return chosen",
        f"{_BACKUP}::test_a_deleted_database_comes_back_to_any_moment_that_was_received",
    ),
    fault(
        "a restore overwrites what is there",
        "deploy/local/backups.py",
        "if target.exists() and any(target.iterdir()):",
        "if False:",
        f"{_BACKUP}::test_what_cannot_be_backed_up_or_restored_is_a_sentence_and_nothing_is_lost",
    ),
    fault(
        "the worker that makes releases gets no key to sign them with",
        "deploy/docker/compose.yaml",
        ', "${RELEASE_SIGNING_KEY_FILE:-/dev/null}:/etc/itemindex/release-signing-key.pem:ro"]',
        "]",
        "tests/laws/test_deploy.py::test_the_worker_that_makes_releases_alone_has_the_key_that_signs_them",
    ),
    fault(
        "the log that the oldest kept backup needs is deleted in the bucket",
        "deploy/local/backup_bucket.py",
        '"/wal/" in key and Path(key).name[:24] < first',
        '"/wal/" in key and Path(key).name[:24] <= first',
        f"{_BACKUP}::test_a_bucket_that_refuses_is_a_sentence_and_gets_it_all_later",
    ),
    fault(
        "behind a pooler statements are remembered by name",
        "edge/storage/database.py",
        "statement_cache_size=0 if self._pooled else 100,",
        "statement_cache_size=100,",
        "tests/service/db/test_pooler.py::test_a_statement_is_prepared_and_run_on_one_connection_of_the_server",
    ),
)


# Faults in what people read: pictures that hide or mislead, tables without data in sight, pages that lead nowhere.


_PLOTS = "tests/browser/test_reports.py"

_RESULTS = "tests/service/dashboard/test_results.py"

PAGE_FAULTS = (
    fault(
        "the first reading of a doubt is taken, whichever was chosen",
        "edge/dashboard/doubts.py",
        "            if reading.line == decision:\n                return doubt, reading\n",
        "            if doubt.readings:\n                return doubt, doubt.readings[0]\n",
        "tests/service/dashboard/test_uploads.py::test_doubts_are_decided_by_a_click",
    ),
    fault(
        "a decision that the mapping lacks is ignored",
        "edge/dashboard/uploads.py",
        "        except LookupError:\n",
        "        except ZeroDivisionError:\n",
        "tests/service/dashboard/test_uploads.py::test_doubts_are_decided_by_a_click",
    ),
    fault(
        "the example of a reading is another than what it loads",
        "workers/ingest/guess/days.py",
        """f'"{text}" is {_day_shown(read[form])}'""",
        """f'"{text}" is {_day_shown(read[forms[0]])}'""",
        "tests/unit/ingest/test_guess.py::test_what_can_be_read_in_two_ways_is_refused_until_a_person_has_chosen",
    ),
    fault(
        "a line lies below another one of equal values",
        "edge/docs/static/plots.js",
        "lines[n][at] = back(middle + ((members.length - 1) / 2 - place) * lane);",
        "lines[n][at] = back(middle);",
        f"{_PLOTS}::test_lines_of_equal_values_are_all_seen",
    ),
    fault(
        "a scale that does not begin at zero is silent",
        "edge/docs/static/plots.js",
        'if (plot.kind !== "bars" && plot.scale !== "log" && min > 0)',
        "if (false)",
        f"{_PLOTS}::test_a_scale_begins_at_zero_or_says_that_it_does_not",
    ),
    fault(
        "an unfinished period is drawn like a whole one",
        "edge/dashboard/charts.py",
        "if reading.periods.is_partial(period)]",
        "if not period]",
        "tests/unit/test_pictures.py::test_a_title_states_the_days_with_data_and_unfinished_periods_are_marked",
    ),
    fault(
        "a title states a day without data",
        "edge/dashboard/tables.py",
        "        if self.granularity is None:\n            return self.span\n",
        "        if self.granularity is None:\n            return period\n",
        "tests/unit/test_dashboard.py::test_a_period_is_never_named_by_a_day_before_its_data",
    ),
    fault(
        "the headline of a footprint is the sum that no picture shows",
        "edge/dashboard/charts.py",
        'return f"{name}_central" if rows',
        "return name if rows",
        "tests/unit/test_pictures.py::test_groups_are_compared_by_bars_with_whiskers_on_one_scale",
    ),
    fault(
        "a row shows every member of its lists",
        "edge/dashboard/tables.py",
        "value[:_LISTED_MAX]",
        "value",
        "tests/unit/test_dashboard.py::test_eight_columns_are_shown_with_units_and_names_and_three_members_of_a_list",
    ),
    fault(
        "changes are drawn as shares under a title in per cent",
        "edge/dashboard/charts.py",
        "scale = 100 if SHARE.search(name) else 1",
        'scale = 100 if name.startswith("share_") else 1',
        "tests/unit/test_pictures.py::test_changes_and_shares_are_drawn_in_the_per_cent_that_their_titles_state",
    ),
    fault(
        "of many groups the first are drawn",
        "edge/dashboard/charts.py",
        "sorted(sorted(range(len(sizes)), key=lambda place: -sizes[place])[:most])",
        "list(range(len(sizes)))[:most]",
        "tests/unit/test_pictures.py::test_of_many_groups_the_largest_are_drawn",
    ),
    fault(
        "ixc refuses the hyphens of a report's parameter",
        "deploy/clients/python/itemindex_client/cli.py",
        'return name.replace("-", "_"), value',
        "return name, value",
        "tests/unit/clients/test_python_client.py::test_a_name_may_have_hyphens_and_values_may_follow_an_option",
    ),
    fault(
        "the reference loads its viewer with the page",
        "edge/docs/static/reference.js",
        '!index.isConnected || !location.hash.startsWith("#tag/")',
        "!index.isConnected",
        "tests/browser/test_docs.py::test_the_reference_begins_as_a_list_that_is_searched_and_opens_a_call",
    ),
    fault(
        "cells of a tall row are centred, out of sight",
        "edge/docs/static/dashboard.css",
        "padding: .45rem .8rem; vertical-align: top; }",
        "padding: .45rem .8rem; vertical-align: middle; }",
        "tests/browser/test_reports.py::test_a_report_of_all_brands_shows_its_data_at_first_look",
    ),
    fault(
        "the menu of a phone is open until the script runs",
        "edge/docs/static/dashboard.css",
        "  .sides:not(.shown) { display: none; }",
        "  .js .sides:not(.shown) { display: none; }",
        "tests/browser/test_every_page.py::test_a_phone_does_not_show_the_menu_open_until_the_script_runs",
    ),
    fault(
        "the reference shows regular expressions",
        "edge/docs/files.py",
        'if not (name == "pattern" and isinstance(one, str))',
        "if name",
        "tests/service/http/test_docs.py"
        "::test_customers_read_no_path_of_the_repository_no_decision_and_no_regular_expression",
    ),
    fault(
        "a button of the reference has no name",
        "edge/docs/static/reference.js",
        'button.setAttribute("aria-label", "Copy")',
        'button.setAttribute("title", "")',
        "tests/browser/test_docs.py::test_a_call_of_the_reference_is_accessible_and_its_bar_is_reachable_on_a_phone",
    ),
    fault(
        "a page in an outage has no way on",
        "edge/dashboard/session_guard.py",
        "signed_in=signed_in or visitor is not None,",
        "signed_in=visitor is not None,",
        f"{_RESULTS}::test_a_page_in_an_outage_keeps_the_navigation_says_what_is_down_and_reloads_itself",
    ),
    fault(
        "a filter of requests by status is ignored",
        "edge/dashboard/usage.py",
        'given["status"] in ("", status, f"{status[0]}xx")',
        "bool(status)",
        f"{_RESULTS}::test_requests_are_filtered_and_show_what_was_asked_and_which_problem_it_had",
    ),
)


# Faults in what statistics rest on: price indices, outliers, prior prices, watches, footprints, which items are one.


_MULTILATERAL = "tests/unit/price_index/test_formulae.py"

_OUTLIERS = "tests/unit/test_analytics.py"

_PRIOR = "tests/unit/test_prior_price.py"

_FILTERED = "tests/service/reports/test_filters_and_periods.py"

_WATCHES = "tests/service/events/test_watches.py"

_CLUSTERS = "tests/unit/matching/test_articles.py"

PRICE_FAULTS = (
    # Price indices.
    fault(
        "GEKS counts pairs of periods that share no item",
        "shared/price_index/series.py",
        "    known = ~np.isnan(logs)\n",
        "    known = np.ones(logs.shape, bool)\n",
        f"{_MULTILATERAL}::test_geks_leaves_out_pairs_of_periods_that_share_no_item",
    ),
    fault(
        "a later period changes published index numbers",
        "shared/price_index/series.py",
        "        published[end - 1] = _mean(steps) if np.isnan(linked) else linked",
        "        published[end - window : end] = linked * new / new[-1]",
        "tests/unit/price_index/test_formulae.py::test_adding_a_period_changes_no_earlier_value",
    ),
    fault(
        "the interval of an index takes no account of how few items there are",
        "shared/price_index/rows.py",
        "np.maximum(equal - 1, 0) / equal * (away**2)",
        "(away**2)",
        "tests/unit/price_index/test_intervals.py::test_the_interval_of_jevons_is_that_of_a_mean_of_logs",
    ),
    # Statistics of prices.
    fault(
        "the last day of data before 1970 is the last of 1969",
        "workers/analytics/reports/aggregator.py",
        "np.full(count, -_NEVER)",
        "np.full(count, -1)",
        f"{_OUTLIERS}::test_days_before_1970_are_first_and_last_days_too",
    ),
    fault(
        "prices of an item in a period on either side of 1970 come into two cells",
        "workers/analytics/reports/price_change.py",
        "order_by(period - period.min(initial=0), item, channel)",
        "order_by(period, item, channel)",
        f"{_OUTLIERS}::test_periods_before_1970_have_one_price_an_item_too",
    ),
    # Outliers.
    fault(
        "a price that another channel has on the same day is set aside",
        "workers/analytics/rollups/outliers.py",
        "    confirmed |= _near(rows, value, item, market.day) > _near(rows, value, groups.of_row, market.day)\n",
        "",
        f"{_OUTLIERS}::test_prices_that_something_confirms_stay",
    ),
    fault(
        "a deep offer with a list price is set aside",
        "workers/analytics/rollups/outliers.py",
        "(reduction > 0) & (reduction < STATED_MAX)",
        "reduction < -np.inf",
        f"{_OUTLIERS}::test_a_stated_list_price_confirms_a_reduction_and_the_price_after_it",
    ),
    fault(
        "price bands count outliers",
        "edge/index/record.sql",
        "'low', min(o.price_minor) FILTER (WHERE o.outlier IS NULL),",
        "'low', min(o.price_minor),",
        "tests/service/http/test_outliers.py::test_the_price_band_of_a_record_is_without_outliers_and_says_how_many",
    ),
    # Prior prices.
    fault(
        "a day without observation counts as a day not on offer",
        "shared/prior_price/__init__.py",
        "            fault, left = Reason.MISSING_DAYS, left - 1\n            continue\n",
        "            continue\n",
        f"{_PRIOR}::test_the_lowest_price_of_the_thirty_days_before_the_reduction_counts",
        f"{_PRIOR}::test_a_brute_force_twin_agrees_on_random_series",
    ),
    fault(
        "every fall of a price is an announced reduction",
        "shared/prior_price/__init__.py",
        "    return any(moment.list_price is not None for moment in offered)\n",
        "    return False\n",
        f"{_PRIOR}::test_a_fall_that_the_seller_does_not_announce_is_no_reduction_where_list_prices_are_known",
    ),
    fault(
        "a reduction is judged by thirty days that do not show where a step within them began",
        "workers/analytics/reports/reductions.py",
        "HISTORY_DAYS if options.progressive else WINDOW_DAYS + 1",
        "HISTORY_DAYS if options.progressive else WINDOW_DAYS",
        f"{_PRIOR}::test_a_reduction_deserves_the_verdict_that_its_whole_series_gives",
    ),
    fault(
        "one observation shows that no reduction runs",
        "shared/prior_price/__init__.py",
        "            return Reason.FEWER_DAYS if day < first else Reason.MISSING_DAYS\n",
        "            return Reason.NO_REDUCTION\n",
        f"{_PRIOR}::test_that_no_reduction_runs_is_known_after_a_rise_or_a_whole_window_alone",
        f"{_PRIOR}::test_a_brute_force_twin_agrees_on_random_series",
    ),
    # What insights count and compare.
    fault(
        "a list that is filtered by channel is that of all channels",
        "workers/analytics/reports/standings.py",
        "return self.by_channel or self.channels is not None",
        "return self.by_channel",
        f"{_FILTERED}::test_pages_of_a_filtered_list_are_those_of_the_channel_alone",
    ),
    fault(
        "the period before is cut where the range begins",
        "workers/analytics/reports/aggregator.py",
        "ends if first < self.first and ends < self.last else last",
        "last",
        f"{_FILTERED}::test_moving_the_first_day_changes_only_its_own_period",
        f"{_FILTERED}::test_a_period_is_compared_with_the_whole_one_before_it",
    ),
    # Watches.
    fault(
        "a watch reports one fall again and again",
        "workers/events/watches.sql",
        "AND coalesce(s.armed, true)",
        "AND true",
        f"{_WATCHES}::test_below_an_amount_fires_once_and_again_after_the_price_was_clearly_above",
    ),
    fault(
        "an older day that a load fills in arms a watch again",
        "workers/events/watches.sql",
        "WHERE r.day < $1 AND r.item_id",
        "WHERE false AND r.day < $1 AND r.item_id",
        "tests/service/events/test_causes.py::test_loads_report_what_a_twin_finds_day_by_day",
    ),
    fault(
        "a low is new although the span before is not known",
        "workers/events/watches.sql",
        "WHERE f.is_known ORDER BY f.condition",
        "ORDER BY f.condition",
        f"{_WATCHES}::test_a_new_low_needs_the_whole_span_and_a_lower_price_than_any_day_of_it",
    ),
    fault(
        "a watch reports days of the past",
        "workers/events/watches.sql",
        "WHERE NOT coalesce(s.later, false)\n  AND",
        "WHERE",
        f"{_WATCHES}::test_older_days_and_higher_prices_report_nothing",
    ),
    # Footprints.
    fault(
        "items of one factor average its error out",
        "workers/analytics/reports/sustainability_rollup.py",
        "own = numbers == OWN",
        "own = numbers >= OWN",
        "tests/unit/test_analytics.py::test_sums_of_own_and_borrowed_figures_agree_with_monte_carlo",
    ),
    fault(
        "a figure is the median of its distribution, and the total of many is below their interval",
        "workers/analytics/reports/sustainability_rollup.py",
        "medians = means * np.exp(-np.square(sigmas) / 2)",
        "medians = means",
        "tests/unit/test_footprint_totals.py::test_of_simulated_worlds_whose_figures_are_means_nineteen_of_twenty_totals_are_inside",
    ),
    # Which items are one article.
    fault(
        "what a person rejected is joined by a chain",
        "workers/articles/matching/clusters.py",
        " or _sorted((one, other)) in self._rejected:",
        ":",
        f"{_CLUSTERS}::test_a_pair_that_a_person_rejected_stays_apart_even_in_a_chain_of_identifiers",
    ),
    fault(
        "two records of one source become one article",
        "workers/articles/matching/clusters.py",
        'return first.source != second.source or (first.article != "" and first.article == second.article)',
        "return True",
        f"{_CLUSTERS}::test_no_two_records_of_one_source_are_in_one_article",
    ),
    fault(
        "records that contradict each other are linked without a person",
        "workers/articles/matching/judging.py",
        "sure = score >= link_bound(left, right, self.model)",
        "sure = score >= self.model.link_coded",
        "tests/unit/matching/test_articles.py::test_records_with_different_part_numbers_wait_for_a_person_however_alike_they_are",
    ),
    fault(
        "a pair is left out for features that were not read yet",
        "workers/articles/matching/scoring.py",
        "model.probabilities(rows[positions], known)",
        "model.probabilities(rows[positions])",
        "tests/unit/matching/test_model.py::test_a_pair_that_is_left_out_early_is_below_the_bound_and_the_others_have_the_probability_of_all_features",
    ),
    fault(
        "a pack and an article without one are linked without a person",
        "workers/articles/matching/evidence.py",
        " or bool(left.amounts.packs) != bool(right.amounts.packs):",
        ":",
        "tests/unit/matching/test_articles.py::test_a_likeness_is_linked_without_a_person_only_where_something_confirms_it",
    ),
    fault(
        "two names that each have a number of their own are linked without a person",
        "workers/articles/matching/evidence.py",
        "if all(_own_numbers(left, right)) and not same_code(left, right):",
        "if False:",
        "tests/unit/matching/test_articles.py::test_each_naming_a_number_of_its_own_waits_whatever_was_learned",
    ),
    # Windows, footprints.
    fault(
        "a report from a day after the last data is refused",
        "workers/analytics/reports/window.py",
        "if first is not None and first > last:",
        "if False:",
        "tests/service/reports/test_whole_way.py::test_a_window_that_begins_after_the_last_data_is_an_empty_answer_with_its_coverage",
    ),
    fault(
        "a read of one item from a day after the last data is refused",
        "edge/analytics/light_reads.py",
        "last = to or max(observed or utc_now().date(), first or date.min)",
        "last = to or observed or utc_now().date()",
        "tests/service/http/test_light_reads.py::test_a_range_that_begins_after_the_last_data_is_an_empty_answer_with_its_coverage",
    ),
    fault(
        "a category with few samples is as wide as Student's quantile of these",
        "shared/uncertainty/stated.py",
        "if others.degrees >= BORROWED_DEGREES:",
        "if others.degrees < 0:",
        "tests/unit/test_uncertainty.py::test_of_published_footprints_about_nineteen_of_twenty_are_inside",
    ),
    fault(
        "units sold new are counted as avoiding without a word",
        "shared/uncertainty/stated.py",
        "those sold new included",
        "second-hand ones",
        "tests/service/http/test_light_reads.py::test_second_hand_sales_avoid_by_the_rate_that_the_caller_or_wrap_states",
    ),
    fault(
        "a pack and a single article are linked by their GTIN",
        "workers/articles/matching/quantities.py",
        "if _disjoint(left.packs, right.packs) or _packed_differently(left, right):",
        "if _disjoint(left.packs, right.packs):",
        "tests/unit/matching/test_records.py::test_a_pack_a_size_or_a_colour_that_differs_waits_for_a_person",
    ),
    fault(
        "names in another language hold a GTIN's link back though the quantity agrees",
        "workers/articles/matching/identifiers.py",
        "if not (against or confirmed or _alike(left.words, right.words)):",
        "if not (against or _alike(left.words, right.words)):",
        "tests/unit/matching/test_records.py::test_names_in_two_languages_need_something_else_that_agrees",
    ),
    fault(
        "a record that comes later takes a link of equal strength away",
        "workers/articles/matching/clusters.py",
        "return _STRENGTH[link.kind], -link.score, younger, older, link.left, link.right",
        "return _STRENGTH[link.kind], -link.score, link.left, link.right",
        f"{_CLUSTERS}::test_a_younger_record_takes_no_link_of_equal_strength_away",
    ),
    fault(
        "what contradicts its identifier is joined by a chain",
        "workers/articles/matching/clusters.py",
        "if _sorted((one, other)) in self.opposed:",
        "if (one, other) in ():",
        f"{_CLUSTERS}::test_a_pair_that_contradicts_its_identifier_stays_apart_even_in_a_chain_of_identifiers",
    ),
    # Sizes in names.
    fault(
        "bars of chocolate are a pressure",
        "shared/units/reader.py",
        'return "bar of pressure" if context & _PRESSURE else "bar to eat"',
        'return "bar of pressure"',
        "tests/unit/test_units.py::test_all_spellings_of_one_quantity_are_equal",
    ),
)


# Faults in what a load reads: what it is known again by, line ends and encodings, items it joins.


_INPUTS = "tests/service/ingest/test_load.py"

_READING = "tests/unit/ingest/test_reading.py"

READING_FAULTS = (
    fault(
        "lines that explain the columns of a sheet are rows",
        "workers/ingest/read_csv.py",
        "    rows = (row for row in rows if row.number >= mapping.first_row)\n",
        "",
        f"{_READING}::test_lines_below_the_header_that_explain_it_are_left_out",
    ),
    fault(
        "a file is known again whatever its name",
        "workers/ingest/load.py",
        "return InputFile(path.name, path.stat()",
        'return InputFile("", path.stat()',
        f"{_INPUTS}::test_the_same_bytes_under_the_name_of_another_day_are_of_that_day",
    ),
    fault(
        "a corrected file of other names is not noticed",
        "workers/ingest/load.py",
        "others = [] if beside is None else [input_file(beside)]",
        "others = [] if beside is None else [beside.name]",
        f"{_INPUTS}::test_a_corrected_file_of_other_names_is_read",
    ),
    fault(
        "rows that were rejected for what the index lacked are never read again",
        "workers/ingest/load.py",
        "return None if summary.rejects or summary.field_rejects or joins or self.dayless else self.inputs",
        "return self.inputs",
        f"{_INPUTS}::test_prices_that_found_no_item_are_loaded_when_it_is_there",
    ),
    fault(
        "other terms of the same exchange rates are dropped",
        "workers/ingest/rates.py",
        "if changed or new_terms:",
        "if changed:",
        "tests/service/ingest/test_exchange_rates.py::test_the_same_rates_under_other_terms_change_what_answers_cite",
    ),
    fault(
        "a header ends at a line feed alone",
        "workers/ingest/read_csv.py",
        're.compile(rb"\\r\\n|\\n|\\r")',
        're.compile(rb"\\n")',
        f"{_READING}::test_lines_may_end_in_each_way_that_pandas_reads",
    ),
    fault(
        "a file without a row is loaded in silence",
        "workers/ingest/readers.py",
        "        if not rows:\n",
        "        if False:\n",
        f"{_READING}::test_a_file_with_bytes_and_no_row_is_refused",
    ),
    fault(
        "UTF-32 is read as UTF-16",
        "workers/ingest/text_stream.py",
        '    codecs.BOM_UTF32_LE: "utf-32-le",\n',
        "",
        f"{_READING}::test_a_byte_order_mark_of_each_encoding_is_heeded",
    ),
    fault(
        "an item whose source calls its GTIN an EAN is not joined",
        "workers/ingest/item_tracker.py",
        "values = (SCHEMES[scheme], ",
        "values = (scheme, ",
        "tests/service/ingest/test_values.py::test_an_identifier_joins_whatever_its_source_calls_it",
    ),
    fault(
        "the code of one shop joins the item of another",
        "workers/ingest/item_tracker.py",
        "elif not source and identifier",
        "elif False and identifier",
        "tests/service/ingest/test_values.py::test_a_code_that_a_shop_gave_out_joins_within_its_source_alone",
    ),
    fault(
        "what the name of a later file says of an item is dropped",
        "workers/ingest/transform.py",
        "for pattern in self._mapping.item_file_names]",
        "for pattern in ()]",
        "tests/service/ingest/test_values.py::test_what_the_names_of_files_say_of_an_item_is_that_of_its_newest_row",
    ),
    fault(
        "each text that is no currency costs a reading of the batch",
        "workers/ingest/observations.py",
        "pc.filter(met, pc.is_in(met, value_set=_CURRENCIES)).to_pylist()",
        "met.drop_null().to_pylist()",
        "tests/unit/ingest/test_steps.py::test_a_column_that_is_no_currency_is_read_no_oftener_than_one_that_is",
    ),
)


# Faults in the identifiers of the search index: what it does not name is not looked for anywhere else.


SEARCH_FAULTS = (
    fault(
        "an index that is behind is asked which identifiers items have",
        "edge/search/engine.py",
        "newest = (LAYOUT, self._version.current, self._version.committed_at)\n",
        "newest = (index.identifiers, index.data_version, index.committed_at)\n",
        "tests/service/http/test_unread_searches.py::test_until_the_index_follows_a_load_its_identifiers_are_found_in_postgresql",
    ),
    fault(
        "a merge of segments loses the identifiers of the highest hashes",
        "workers/search/build.py",
        "for part in range(parts + 1)]",
        "for part in range(parts)]",
        "tests/unit/search/test_search_segments.py::test_segments_answer_byte_for_byte_as_one_whole_build",
    ),
    fault(
        "an identifier of several items is not possible where one of them was deleted",
        "shared/search/live_segment.py",
        "not self._deleted[entries.astype(np.uint32)].all())",
        "not self._deleted[entries.astype(np.uint32)].any())",
        "tests/unit/search/test_indexes.py::test_an_identifier_of_several_items_is_possible_while_one_of_them_is_left",
    ),
)


# The planted faults. Each would break a promise; the named tests, or the drill, must fail with it.


_JOBS = ("jobs", "--jobs", "30", "--kills", "4", "--seed", "7", "--minutes", "4")

_QUOTA = ("outages", "--seconds", "3", "--only", "the state store hangs")

_FENCE = (
    "SET state = 'succeeded', result = $3, progress_fraction = 1, progress_stage = 'done', lease_until = NULL,\n    "
)

_BILLING = "tests/service/quota/test_usage.py"

FAULTS = (
    # Jobs.
    fault(
        "a job that has ended is claimed again",
        "workers/jobs/leases.sql",
        "WHERE id = $1 AND state = 'queued'\nRETURNING id::text, kind",
        "WHERE id = $1\nRETURNING id::text, kind",
        "tests/service/jobs/test_jobs.py::test_three_messages_at_once_run_the_job_once",
    ),
    fault(
        "a report is published without the attempt fence",
        "workers/jobs/leases.sql",
        "WHERE id = $1 AND attempt = $2 AND state = 'running'\nRETURNING id;\n\n-- name: fail",
        "WHERE id = $1 AND $2 > 0\nRETURNING id;\n\n-- name: fail",
        "tests/service/reports/test_jobs_api.py::test_a_stale_attempt_publishes_nothing",
    ),
    fault(
        "the sweeper deletes nothing",
        "workers/dispatcher/retention.py",
        "unnamed = [attempt for attempt in batch if attempt not in named]",
        "unnamed = [attempt for attempt in batch if attempt not in named][:0]",
        "tests/service/exports/test_api.py::test_ending_one_that_is_done_deletes_its_files",
    ),
    fault(
        "a day's counter is forgotten before the day can no longer come back",
        "edge/quota/take.lua",
        "redis.call('EXPIRE', key, 93600)",
        "redis.call('EXPIRE', key, 39600)",
        "tests/service/quota/test_meter.py::test_a_clock_that_crosses_midnight_and_goes_back_gives_one_further_allowance",
    ),
    fault(
        "a message that was sent by a clock that was ahead is not sent again",
        "workers/dispatcher/dispatch.sql",
        "relayed_at = CASE WHEN relayed_at IS NOT NULL THEN least(relayed_at, statement_timestamp()) END,",
        "relayed_at = relayed_at,",
        "tests/service/jobs/test_jobs.py::test_a_message_that_was_lost_while_the_clock_was_ahead_is_sent_again",
    ),
    fault(
        "an error that is no outage ends the renewing of a lease",
        "workers/jobs/leases.py",
        "            except Exception as error:  # noqa: BLE001 - an error that ended this thread",
        "            except psycopg.OperationalError as error:  # noqa: BLE001 - an error that ended this thread",
        "tests/service/jobs/test_jobs.py::test_however_the_renewing_of_a_lease_ends_its_job_notices",
    ),
    fault(
        "an unclaimed job is sent again without a look at its queue",
        "workers/dispatcher/dispatch.py",
        "(new + again[:lost])[:room]",
        "(new + again)[:room]",
        "tests/service/jobs/test_jobs.py::test_while_workers_are_stopped_each_job_has_one_message",
    ),
    fault(
        "a queue of the broker has no bound",
        "workers/dispatcher/dispatch.py",
        "room = max(0, self._messages_max - held)",
        "room = len(due)",
        "tests/service/jobs/test_jobs.py::test_a_queue_holds_no_more_messages_than_its_bound_whoever_orders_and_cancels",
    ),
    fault(
        "all parts of an export are sent to workers at once",
        "workers/dispatcher/dispatch.sql",
        "is_due AND place <= $3",
        "is_due AND place <= 1000 * $3",
        "tests/service/exports/test_parts.py::"
        "test_other_workers_get_three_parts_of_an_export_that_runs_and_none_while_another_one_waits",
    ),
    fault(
        "parts of exports fill the queue of orders",
        "edge/jobs/orders.sql",
        "WHERE state = 'queued' AND parent_id IS NULL LIMIT $1) q;",
        "WHERE state = 'queued' LIMIT $1) q;",
        "tests/service/exports/test_parts.py::test_no_list_no_price_and_no_limit_counts_them",
    ),
    fault(
        "the parts of an export that has failed stay done",
        "shared/db/migrations/0216_parts_are_jobs.sql",
        "IF NEW.state <> 'succeeded' THEN",
        "IF false THEN",
        "tests/service/exports/test_parts.py::test_an_export_that_has_failed_is_retried_with_all_its_parts",
    ),
    fault(
        "an export publishes parts of two versions",
        "workers/bulk/exports.sql",
        "WHERE id = ANY($1::uuid[]) AND state = 'succeeded' ORDER BY",
        "WHERE kind = 'export-part' AND state IN ('succeeded', 'expired') AND result IS NOT NULL AND $1 IS NOT NULL ORDER BY",
        "tests/service/exports/test_faults.py::test_after_a_load_between_two_workers_nothing_old_is_beside_the_new",
    ),
    fault(
        "a thread that repeats its work ends with the first error",
        "shared/telemetry/log.py",
        "except Exception as error:",
        "except ArithmeticError as error:",
        "tests/unit/test_processes.py::test_a_heartbeat_that_could_not_be_written_once_is_written_again",
    ),
    fault(
        "a row that cannot be handled ends the sweep",
        "workers/jobs/failed_rows.py",
        "            if self._is_outage(error):\n                raise",
        "            raise",
        "tests/service/jobs/test_poisoned_rows.py::"
        "test_more_unreadable_results_than_are_looked_at_at_once_keep_no_other_from_its_turn",
    ),
    fault(
        "rows that failed are looked at first each time",
        "workers/dispatcher/missing_results.sql",
        "  AND id <> ALL($1::uuid[])",
        "  AND $1::uuid[] IS NOT NULL",
        "tests/service/jobs/test_poisoned_rows.py::"
        "test_more_unreadable_results_than_are_looked_at_at_once_keep_no_other_from_its_turn",
    ),
    fault(
        "bytes of exports are not counted when one is published",
        "workers/bulk/exports.py",
        "            read_stored(connection, context).require_room(outcome.bytes)\n",
        "",
        "tests/service/exports/test_api.py::"
        "test_an_organization_stores_as_many_bytes_as_its_plan_allows_however_many_are_ordered_at_once",
    ),
    fault(
        "leases never lapse",
        "workers/dispatcher/dispatch.sql",
        "WHERE state = 'running' AND lease_until < statement_timestamp()",
        "WHERE state = 'running' AND lease_until < statement_timestamp() - interval '1 day'",
        "tests/service/jobs/test_jobs.py::test_a_job_whose_worker_died_is_taken_up_and_given_up_after_three",
    ),
    fault(
        "the beat of a stale attempt keeps the lease",
        "workers/jobs/leases.sql",
        "rows_done = $6, rows_total = $7\nWHERE id = $1 AND attempt = $2 AND state = 'running'",
        "rows_done = $6, rows_total = $7\nWHERE id = $1 AND $2 > 0 AND state = 'running'",
        "tests/service/jobs/test_jobs.py::test_the_beat_of_a_stale_attempt_keeps_no_lease",
    ),
    fault(
        "an outage of PostgreSQL costs a job its attempt",
        "workers/jobs/outages.py",
        'if unavailable(error):\n        return "database"',
        "if unavailable(error):\n        return None",
        "tests/service/db/test_outages.py::test_an_outage_of_postgresql_costs_a_job_no_attempt",
    ),
    fault(
        "a failed attempt leaves no trace",
        "workers/jobs/runner.py",
        "            _log_failure(log, error)\n",
        "",
        "tests/service/test_telemetry.py::test_a_failed_attempt_logs_where_it_failed_with_its_job_and_its_trace",
    ),
    fault(
        "LOG_LEVEL is ignored by workers",
        "workers/jobs/context.py",
        "Log(part, level=settings.log_level)",
        "Log(part)",
        "tests/service/test_telemetry.py::test_log_level_decides_which_lines_a_worker_writes",
    ),
    # Money.
    fault(
        "a quota never refuses",
        "edge/quota/take.lua",
        "if used + units > tonumber(ARGV[2]) then",
        "if used + units > 1000 * tonumber(ARGV[2]) then",
        "tests/service/quota/test_meter.py::test_exactly_the_limit_is_served_in_every_round",
    ),
    fault(
        "one charge is taken twice",
        "edge/quota/take.lua",
        "if marker then",
        "if false then",
        "tests/service/quota/test_meter.py::test_the_same_charge_twice_is_taken_once",
    ),
    fault(
        "a debt is paid back twice",
        "shared/jobs/refund_order.lua",
        "if gave then",
        "if false then",
        "tests/service/reports/test_jobs_api.py::test_a_failed_job_says_why_and_costs_nothing_however_often_it_is_settled",
        "tests/service/reports/test_jobs_api.py::test_an_order_whose_caller_got_no_answer_is_refunded_once",
    ),
    fault(
        "a sample of an interval counts items that a period does not have",
        "shared/price_index/series.py",
        "np.where(both, term, 0.0)",
        "np.nan_to_num(term)",
        "tests/unit/price_index/test_intervals.py::test_what_remains_without_a_group_is_the_index_of_the_other_items",
    ),
    fault(
        "a picture counts groups that it has no figure of",
        "edge/dashboard/charts.py",
        "for label, row in labelled if row.get(name) is not None]",
        "for label, row in labelled]",
        "tests/unit/test_pictures.py::test_a_figure_that_no_group_has_is_not_drawn_and_groups_without_one_are_not_counted",
    ),
    fault(
        "a report without rows keeps its charge",
        "shared/db/migrations/0170_free_empty_reports.sql",
        "NEW.rows_total = 0",
        "NEW.rows_total < 0",
        "tests/service/reports/test_jobs_api.py::test_a_report_without_rows_costs_nothing_whoever_waits_for_it_and_however_it_is_read_again",
    ),
    fault(
        "an order of a report that came without rows meanwhile keeps its charge",
        "edge/jobs/orders.sql",
        "is_free AND $13::integer > 0",
        "is_free AND $13::integer < 0",
        "tests/service/reports/test_jobs_api.py::test_a_report_that_has_come_without_rows_since_it_was_priced_is_refunded",
    ),
    fault(
        "the charge of an order is refunded with the call as well",
        "edge/quota/billing.py",
        "self._owned_by_order = order.new",
        "self._owned_by_order = False",
        "tests/service/dashboard/test_billing.py::test_a_report_of_the_builder_is_charged_once_and_an_equal_one_costs_nothing",
    ),
    fault(
        "a call that joined an order is refunded when its answer is ready, and no more where it waited for long",
        "edge/quota/billing.py",
        "if not order.new:",
        "if False:",
        "tests/service/jobs/test_worker.py"
        "::test_a_call_that_joins_an_order_and_waits_for_it_longer_than_a_charge_can_be_refunded_costs_nothing",
    ),
    fault(
        "calls of the bucket have no limit",
        "edge/bulk/s3.py",
        "await self._billing.count_call(context)",
        "pass",
        "tests/service/releases/test_bucket.py::test_calls_have_the_burst_of_calls_that_cost_nothing",
    ),
    fault(
        "a credential in a path is kept for the pages of an organization",
        "edge/http/request_context.py",
        "                without_credentials(request.path),",
        "                request.path,",
        "tests/service/hostile/test_accounts.py::test_no_secret_of_a_caller_comes_to_rest",
    ),
    fault(
        "an ETag leaves out what meta says",
        "edge/analytics/envelope.py",
        "hashlib.sha256(body)",
        'hashlib.sha256(head["result_sha256"].encode())',
        "tests/unit/test_edge.py::test_an_answer_whose_meta_changed_has_another_etag",
    ),
    fault(
        "a failed call keeps its charge",
        "edge/quota/billing.py",
        "            await self._finish(counts=_is_answer(error))\n",
        "",
        f"{_BILLING}::test_of_all_errors_only_those_that_answer_a_valid_question_are_counted",
        "tests/service/dashboard/test_billing.py::test_records_and_searches_are_counted_as_the_api_counts_them",
    ),
    fault(
        "an outage of the state store allows a thousand calls",
        "edge/quota/limiter.py",
        '_ALLOWED = {"anonymous": 1}',
        '_ALLOWED = {"anonymous": 1_000}',
        "tests/service/quota/test_meter.py::test_without_the_store_a_little_is_served_and_no_number_is_stated",
    ),
    fault(
        "a charge id is believed from everyone",
        "edge/http/context.py",
        "if address is None or _is_trusted(address, trusted) else None",
        "if True else None",
        "tests/service/hostile/test_accounts.py::test_a_charge_id_is_believed_only_from_nginx",
    ),
    fault(
        "a call is counted twice in the statistics",
        "edge/quota/usage.py",
        "                counts = {}  # kept now",
        "                # kept now",
        "tests/service/quota/test_usage.py::test_an_outage_behind_the_statistics_counts_no_call_twice",
    ),
    fault(
        "a refund lowers the burst of another second",
        "edge/quota/refund_call.lua",
        "if kept[2] == second and burst >= units then",
        "if burst >= units then",
        "tests/service/quota/test_meter.py::test_the_meter_keeps_to_its_model",
    ),
    fault(
        "an order's refund leaves its charge to be refunded with the call",
        "shared/jobs/refund_order.lua",
        "    redis.call('SET', KEYS[3], '0 ' .. second, 'KEEPTTL')\n",
        "",
        "tests/service/quota/test_meter.py::test_the_meter_keeps_to_its_model",
    ),
    fault(
        "a charge that was repeated after midnight is refunded to the new day",
        "edge/quota/take.lua",
        "math.floor(tonumber(string.match(marker, ' (%d+)') or second) / 86400)",
        "day",
        "tests/service/quota/test_meter.py::test_the_meter_keeps_to_its_model",
    ),
    fault(
        "an edge that stops while an order is placed refunds it twice",
        "edge/quota/billing.py",
        "except BaseException:  # a stopping",
        "except StoreUnavailable:  # a stopping",
        f"{_BILLING}::test_an_order_of_unknown_fate_is_refunded_once_even_if_it_is_refunded_again_later",
    ),
    fault(
        "a call that was cancelled while it was charged keeps its charge",
        "edge/quota/limiter.py",
        "            if not future.cancelled():  # it was decided just before\n"
        "                self._refund_then(future.result(), lambda reply: None)\n",
        "",
        f"{_BILLING}::test_a_charge_whose_call_was_cancelled_just_after_its_decision_is_refunded",
    ),
    fault(
        "an outage loses when keys were last used",
        "edge/quota/usage.py",
        "self._keys = keys | self._keys",
        "self._keys = self._keys",
        "tests/service/quota/test_usage.py::test_an_outage_keeps_the_counts_and_the_last_use_of_each_key",
    ),
    fault(
        "an organization with many calls takes the places of all others",
        "edge/quota/usage.py",
        "            self._halve()\n",
        "            break\n",
        "tests/service/quota/test_usage.py::test_one_organizations_many_calls_cost_another_none_of_its_own",
    ),
    fault(
        "access lines are written by the event loop",
        "edge/http/request_context.py",
        "            self._writer.write(bytes(self._buffer))\n",
        "            self._writer.write(bytes(self._buffer))\n            self._writer.drain()\n",
        "tests/unit/test_edge.py::test_a_pipe_that_nobody_reads_stops_no_loop_and_each_line_is_written_or_counted",
    ),
    fault(
        "the broker shares a database with the quotas",
        "shared/redis/urls.py",
        'database = 0 if (parts.path.strip("/") or named) == "1" else 1',
        "database = 1",
        "tests/unit/test_values.py::test_the_broker_gets_another_database_of_the_same_server",
    ),
    fault(
        "a setting refuses the value that its sentence states",
        "shared/settings/settings.py",
        '    "REQUEST_LOG_CALLS",\n',
        "",
        "tests/unit/test_values.py::test_each_special_value_that_a_sentence_states_is_accepted",
    ),
    fault(
        "a HEAD costs the bytes of the file",
        "edge/bulk/downloads.py",
        "if organization is not None and request.method == hdrs.METH_GET:",
        "if organization is not None:",
        "tests/service/releases/test_allowance.py::test_whole_files_ranges_and_signed_addresses_are_counted_to_the_byte",
    ),
    fault(
        "any signature opens the bucket",
        "edge/bulk/data_credentials.py",
        "if not hmac.compare_digest(expected, signature):",
        "if False:",
        "tests/service/releases/test_bucket.py::test_unsigned_changed_and_foreign_requests_are_refused",
    ),
    fault(
        "credentials of the bucket never expire",
        "edge/bulk/data_credentials.py",
        "if int(form[1]) <= self._clock().timestamp():",
        "if False:",
        "tests/service/releases/test_bucket.py::test_credentials_last_an_hour_and_clocks_may_differ_by_a_quarter",
    ),
    fault(
        "credentials of the bucket outlive their key",
        "edge/bulk/s3.py",
        "if principal is None:",
        "if False:",
        "tests/service/releases/test_bucket.py::test_credentials_end_with_their_key",
    ),
    fault(
        "the id of a key opens what the key opens",
        "edge/auth/credentials.py",
        "            if not any(same):\n                return None\n",
        "",
        "tests/unit/test_auth.py::test_another_secret_of_a_known_id_is_refused_without_a_question",
    ),
    fault(
        "bytes of the bucket are not counted",
        "edge/bulk/s3.py",
        "send(request, file, organization, part",
        "send(request, file, None, part",
        "tests/service/releases/test_bucket.py::test_bytes_are_counted_as_those_of_other_downloads",
    ),
    fault(
        "nginx drops headers that a client of S3 has signed",
        "deploy/nginx/signed.conf",
        "proxy_pass_request_headers on;",
        "proxy_pass_request_headers off;",
        "tests/system/releases/test_releases.py::test_a_client_of_s3_reads_the_releases_through_nginx",
    ),
    fault(
        "a file that was replaced stays in the DuckLake catalogue",
        "workers/bulk/catalogue.py",
        "yield *held.pop(sha256), version",
        "yield *held.pop(sha256), None",
        "tests/service/releases/test_catalogues.py::test_each_kept_version_is_a_snapshot_with_the_files_of_its_manifest",
    ),
    fault(
        "a card knows prices of days after its release",
        "workers/bulk/sources/release_rows.sql",
        "o.outlier IS NULL AND o.day <= (SELECT max(committed_at AT TIME ZONE 'UTC')::date FROM data_versions)",
        "o.outlier IS NULL",
        "tests/service/releases/test_releases.py::test_a_card_knows_nothing_of_later_days",
    ),
    fault(
        "a pair across two splits is in one of them",
        "workers/bulk/sources/release_rows.sql",
        "CASE WHEN split_of_item(a.survivor_iid) = split_of_item(b.survivor_iid) THEN split_of_item(a.survivor_iid) END",
        "split_of_item(a.survivor_iid)",
        "tests/service/releases/test_releases.py::test_no_item_is_in_two_splits_and_its_split_follows_from_its_iid",
    ),
    fault(
        "the DuckLake catalogue names releases that have expired",
        "workers/bulk/releases.py",
        "return held and catalogue.refresh(connection, store, base_url)",
        "return held",
        "tests/service/releases/test_catalogues.py::test_the_catalogue_follows_what_is_kept",
    ),
    fault(
        "an idempotency key is taken for any body",
        "edge/storage/idempotency.py",
        'if not known["same"]:',
        "if False:",
        "tests/service/exports/test_api.py::test_the_same_key_and_body_are_one_export_paid_once",
    ),
    *(*ACCOUNT_FAULTS, *EVENT_FAULTS, *FAST_PATH_FAULTS, *FORM_FAULTS),
    *(*GUESS_FAULTS, *INGEST_FAULTS, *PAGE_FAULTS, *PRICE_FAULTS, *READING_FAULTS),
    *SEARCH_FAULTS,
    *OPERATOR_FAULTS,
    # Text of others.
    fault(
        "pages show names as markup",
        "edge/http/html.py",
        'autoescape=select_autoescape(disabled_extensions=("md",), default=True),',
        "autoescape=False,",
        f"{_SESSIONS}::test_a_name_is_text_on_every_page",
    ),
    fault(
        "a table on the terminal reads cells as markup",
        "deploy/terminal.py",
        "Text(printable(cell)) if isinstance(cell, str) else cell",
        "cell",
        "tests/unit/test_cli.py::test_no_text_breaks_a_table_or_a_template",
    ),
    fault(
        "escape sequences reach the log",
        "shared/printable.py",
        'if not encoded.isascii() or b"\\x7f" in encoded:',
        "if False:",
        "tests/unit/test_cli.py::test_a_log_escapes_what_a_terminal_acts_on",
    ),
    # Outages.
    fault(
        "a store is waited for without end",
        "edge/storage/redis_client.py",
        "        if left <= 0:\n            self.abort()\n",
        "        if left <= 0:\n            return\n",
        "tests/unit/test_store.py::test_a_store_that_never_answers_is_given_up",
    ),
    fault(
        "a read-only PostgreSQL is an error of ours",
        "shared/db/connect.py",
        '_STATES = ("25006", ',
        "_STATES = (",
        "tests/service/db/test_outages.py::test_each_outage_of_postgresql_is_one_error_of_ours",
    ),
    fault(
        "a deadlock is an error of the caller",
        "shared/db/connect.py",
        '_CLASSES = ("08", "28", "40", "53"',
        '_CLASSES = ("08", "28", "53"',
        "tests/service/db/test_outages.py::test_a_statement_that_was_rolled_back_for_another_is_sent_once_more",
    ),
    fault(
        "an object missing once expires its result",
        "workers/dispatcher/missing_results.sql",
        "AND missing_since <= statement_timestamp() - make_interval(secs => $2)",
        "AND $2 >= 0",
        "tests/service/exports/test_api_results.py::test_an_object_that_is_put_back_is_served_again",
    ),
    fault(
        "a result that is too short is begun to be sent",
        "edge/http/stream.py",
        "if not is_whole:",
        "if False:",
        "tests/service/reports/test_answer.py::test_a_result_that_is_cut_off_is_not_taken_for_whole",
    ),
    fault(
        "a job that was cancelled is ordered anew for nothing",
        "edge/jobs/service.py",
        "if joins and new:",
        "if False:",
        "tests/service/reports/test_answer.py::"
        "test_a_job_that_is_cancelled_while_another_call_joins_it_is_paid_when_it_is_ordered_anew",
    ),
    fault(
        "an edge sees answers of others that have expired",
        "shared/db/migrations/0194_own_idempotent_requests.sql",
        "USING (person_id = (SELECT context_person()));",
        "USING (true);",
        "tests/service/db/test_tenants.py",
    ),
    # Answers.
    fault(
        "a download continues in another file",
        "edge/http/stream.py",
        "or (if_range is not None and if_range.strip() != etag)",
        "",
        "tests/service/reports/test_answer.py::test_if_range_continues_only_with_the_very_same_result",
    ),
    fault(
        "a day is compared as text",
        "edge/bulk/delta_sharing_predicates.py",
        'if type == "date" and literal == "text" and _DAY.fullmatch(text):',
        'if type == "date" and literal == "text":\n        return text\n    if False:',
        "tests/unit/test_bulk.py::test_a_hint_leaves_out_what_it_proves_and_nothing_else",
    ),
    # What the drills notice.
    drilled(
        "a drill of jobs: published without the attempt fence",
        "workers/jobs/leases.sql",
        "WHERE id = $1 AND attempt = $2 AND state = 'running'\nRETURNING id;\n\n-- name: fail",
        "WHERE id = $1 AND $2 > 0\nRETURNING id;\n\n-- name: fail",
        *_JOBS,
    ),
    drilled(
        "a drill of jobs: jobs that have ended are claimed again",
        "workers/jobs/leases.sql",
        "WHERE id = $1 AND state = 'queued'\nRETURNING id::text, kind",
        "WHERE id = $1\nRETURNING id::text, kind",
        *_JOBS,
    ),
    drilled(
        "a drill of jobs: the sweeper deletes nothing",
        "workers/dispatcher/retention.py",
        "unnamed = [attempt for attempt in batch if attempt not in named]",
        "unnamed = [attempt for attempt in batch if attempt not in named][:0]",
        *_JOBS,
    ),
    drilled(
        "a drill of outages: a quota never refuses",
        "edge/quota/take.lua",
        "if used + units > tonumber(ARGV[2]) then",
        "if used + units > 1000 * tonumber(ARGV[2]) then",
        *_QUOTA,
    ),
    drilled(
        "a drill of outages: what a clock that was ahead put off stays so",
        "workers/dispatcher/dispatch.py",
        'self._steps.run("settle-clock", lambda: self.settle_clock(connection))',
        "pass",
        "outages",
        "--seconds",
        "3",
        "--only",
        "PostgreSQL's clock is set back",
    ),
    drilled(
        "a drill of outages: an emptied state store is not counted",
        "edge/storage/monitor.py",
        "self._losses.inc()",
        "self._losses.inc(0)",
        "outages",
        "--seconds",
        "3",
        "--only",
        "the state store is emptied",
    ),
    drilled(
        "a drill of outages: an outage allows a thousand calls",
        "edge/quota/limiter.py",
        '_ALLOWED = {"anonymous": 1}',
        '_ALLOWED = {"anonymous": 1_000}',
        *_QUOTA,
    ),
)
