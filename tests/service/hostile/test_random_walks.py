"""Random walks through an organization's life against a model: who may call, and how many units are left."""

import asyncio
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed
from hypothesis import settings as options
from hypothesis import strategies as st

from shared.db.connect import connect
from shared.organizations.accounts import SQL
from shared.organizations.credentials import KEY_PREFIX, keyed_hash, mint
from shared.redis import keys
from shared.settings.settings import Settings
from tests.support.client import Edge, running_edge

LIMITS = {"brand": 7, "institutional": 12}

STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["issue", "rotate", "rotate-with-grace", "revoke", "suspend", "resume", "midnight"]),
            st.just(0),
        ),
        st.tuples(st.just("plan"), st.integers(0, 1)),
        st.tuples(st.sampled_from(["call", "exhaust"]), st.integers(0, 3)),
        st.tuples(st.just("batch"), st.integers(1, 45)),
    ),
    min_size=8,
    max_size=25,
)


class Model:
    """What the contract says of one organization. `keys` are all ever issued; True: it works."""

    def __init__(self) -> None:
        self.keys: dict[str, bool] = {}
        self.current: str | None = None
        self.active = True
        self.plan = "brand"
        self.used = 0

    def may_call(self, key: str) -> bool:
        return self.active and self.keys[key]

    def charge(self, key: str, units: int) -> int:
        """Return the status of a call that costs so many units."""
        if not self.may_call(key):
            return 401
        if self.used + units > LIMITS[self.plan]:
            return 429
        self.used += units
        return 200

    def replaced(self, key: str, *, keep: bool) -> None:
        """A new key works at once; the old one is kept or not, and one in an earlier grace goes."""
        for other in self.keys:
            self.keys[other] = self.keys[other] and keep and other == self.current
        self.keys[key], self.current = True, key


class Walk:
    """One organization in a running edge, and its model."""

    def __init__(self, edge: Edge, organization: str) -> None:
        self.edge, self.organization, self.model = edge, organization, Model()
        self.day = 0

    async def step(self, act: str, number: int) -> None:
        match act:
            case "issue" | "rotate" | "rotate-with-grace" | "revoke":
                await self.change_keys(act)
            case "suspend" | "resume" | "plan":
                await self.change_organization(act, number)
            case "midnight":
                await self.midnight()
            case "call" | "exhaust" | "batch":
                await self.calls(act, number)

    def run(self, query: Any, *values: Any) -> Any:
        with connect(self.edge.settings.database_url, application="tests") as connection:
            return connection.execute(query, (self.organization, *values)).fetchone()

    async def change_keys(self, act: str) -> None:
        key = mint(KEY_PREFIX)
        key_id, digest = key[len(KEY_PREFIX) :][:10], keyed_hash(key, self.edge.settings.token_pepper)
        grace = 3600 if act == "rotate-with-grace" else 0
        model = self.model
        if act == "issue":
            done = await asyncio.to_thread(self.run, SQL.issue_key, key_id, digest, None, "tests")
            assert (done is not None) == (model.current is None and model.active)
        elif act == "revoke":
            await asyncio.to_thread(self.run, SQL.revoke_keys, None, "tests")
            model.keys = dict.fromkeys(model.keys, False)
            model.current = None
            done = None
        else:
            done = await asyncio.to_thread(self.run, SQL.rotate_key, key_id, digest, grace, None, "tests")
            assert (done is not None) == (model.current is not None)
        if done is not None:
            model.replaced(key, keep=bool(grace))
        self.edge.forget_accounts()

    async def change_organization(self, act: str, number: int) -> None:
        if act == "plan":
            self.model.plan = sorted(LIMITS)[number]
            await asyncio.to_thread(self.run, SQL.change_plan, self.model.plan, "tests")
        else:
            self.model.active = act == "resume"
            await asyncio.to_thread(self.run, SQL.change_state, "active" if self.model.active else "suspended", "tests")
        self.edge.forget_accounts()

    async def midnight(self) -> None:
        """The store's clock cannot be moved, so the counters are: yesterday's have another day in their name."""
        state, account = self.edge.resources.state, f"org:{self.organization}"
        today = int((await state.command("TIME"))[0]) // 86_400
        self.day += 1
        if await state.command("EXISTS", keys.quota(account, today)):
            await state.command("RENAME", keys.quota(account, today), keys.quota(account, today - self.day))
        self.model.used = 0

    async def calls(self, act: str, number: int) -> None:
        keys = list(self.model.keys)
        if not keys:
            return
        key = keys[number % len(keys)]
        path, units = "/index/brands", 1
        if act == "batch":
            path, units = "/index/lookup?" + "&".join(f"iid=IID-{n}" for n in range(number)), -(-number // 10)
        for _ in range(LIMITS["institutional"] + 1 if act == "exhaust" else 1):
            answer = await self.edge.get(path, key=key)
            assert answer.status == self.model.charge(key, units), (act, answer)

    async def check(self) -> None:
        for key in self.model.keys:
            answer = await self.edge.get("/quota", key=key)
            assert answer.status == (200 if self.model.may_call(key) else 401)
            if answer.status == 200:
                limit = answer.json["limits"][0]
                left = max(0, LIMITS[self.model.plan] - self.model.used)
                assert (limit["used"], limit["remaining"]) == (self.model.used, left)


def _organization(settings: Settings) -> str:
    with connect(settings.database_url, application="tests") as connection:
        for plan, units in LIMITS.items():
            connection.execute(
                "UPDATE plans SET daily_units = $2, burst_units = 1000000 WHERE name = $1", (plan, units)
            )
        row = connection.execute(SQL.create_organization_as_operator, ("Acme", "brand", "tests")).fetchone()
    assert row is not None
    return str(row[0])


async def _walk(settings: Settings, folder: Path, all_steps: list[list[tuple[str, int]]]) -> None:
    async with running_edge(settings, folder) as edge:
        for steps in all_steps:
            walk = Walk(edge, await asyncio.to_thread(_organization, settings))
            for act, number in steps:
                await walk.step(act, number)
                await walk.check()


def test_permissions_and_remaining_units_are_those_of_the_model(settings: Settings, tmp_path: Path) -> None:
    """E8, E11, G1, G6: whatever happens in whatever order. Several walks share an edge; each has an organization."""

    @seed(20261121)
    @options(max_examples=2, suppress_health_check=list(HealthCheck), database=None)
    @given(st.lists(STEPS, min_size=5, max_size=5))
    def walk(all_steps: Any) -> None:
        asyncio.run(_walk(settings, tmp_path, all_steps))

    walk()
