"""Questions in plain words: asked without scripts, priced, charged once, kept under a name, of one's organization only."""

import asyncio
import io
import itertools
import re
from urllib.parse import quote

from openpyxl import load_workbook

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import contents, member, used_by, visit
from tests.support.database import execute
from tests.support.reports import queued
from tests.support.workers import run

__all__ = ["contents"]
_CHARGES = itertools.count(10**6)
QUESTION = "question=cost&what=brand:vita&when=all&by=time"


async def send(browser: Browser, path: str, form: dict[str, str]) -> int:
    """Send a form, under a charge of its own as nginx does."""
    return await browser.ask("POST", path, form, head={"X-Charge-Id": f"{next(_CHARGES):032x}"})


async def ask(browser: Browser, asked: str = QUESTION, **fields: str) -> int:
    """Open a question and send its form."""
    assert await visit(browser, f"/dashboard/questions?{asked}") == 200
    return await send(browser, "/dashboard/questions", browser.form(asked=asked, **fields))


async def test_a_question_is_asked_by_its_address_alone(visitor: Browser) -> None:
    await member(visitor)
    assert await visit(visitor, "/dashboard/questions") == 200
    assert visitor.text.count("/dashboard/questions?question=") >= 6
    assert await visit(visitor, "/dashboard/questions?question=cost&add=vit") == 200
    assert "what=brand%3Avita" in visitor.text, "what is typed is suggested without a script too"
    assert await visit(visitor, f"/dashboard/questions?{QUESTION}") == 200
    assert "Show the answer" in visitor.text and "costs 10 units" in visitor.text
    assert re.search(r'aria-current="true">All data', visitor.text)


async def test_what_a_person_names_takes_the_place_of_an_example_and_is_added_to_what_was_chosen(
    visitor: Browser,
) -> None:
    await member(visitor)
    kept = '<input type="hidden" name="what" value="brand:vita">'
    for example, stays in (("", True), ("&example=1", False)):
        assert await visit(visitor, f"/dashboard/questions?question=cost&what=brand:vita{example}") == 200
        assert (kept in visitor.text.partition('class="adding"')[2].partition("</form>")[0]) is stays
    assert "&amp;example=1" not in visitor.text.partition("<main")[2].partition("</main>")[0], (
        "a choice of days makes it the person's own"
    )


async def test_an_answer_is_charged_once_and_has_its_files(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    assert await ask(browser) == 303
    job = browser.last.headers["Location"]
    assert await used_by(browser, organization) == 10
    [number] = await asyncio.to_thread(queued, settings)
    assert await asyncio.to_thread(run, settings, number) == "succeeded"
    assert await visit(browser, job) == 200
    assert "<h1>What does it cost?</h1>" in browser.text
    assert 'href="/dashboard/questions?question=cost&amp;what=brand%3Avita' in browser.text
    for kind in ("csv", "parquet", "xlsx"):
        assert f'href="{job}/files/{kind}"' in browser.text
    assert await visit(browser, f"{job}/files/csv") == 200
    assert re.search(r'filename="vita-cohort-[0-9-]+(-to-[0-9-]+)?\.csv"', browser.last.headers["Content-Disposition"])
    assert "Median" in browser.text
    async with browser.edge.session.get(
        f"http://testserver{job}/files/xlsx",
        headers={"X-Real-IP": browser.address, "Cookie": "; ".join(f"{k}={v}" for k, v in browser.cookies.items())},
    ) as answer:
        book = load_workbook(io.BytesIO(await answer.read()))
    assert book.sheetnames == ["Rows", "About"] and book["Rows"].max_row > 1
    assert await visit(browser, f"{job}/files/exe") == 404
    assert await used_by(browser, organization) == 10, "files are of the one run"


async def test_a_question_is_kept_asked_again_renamed_and_deleted(browser: Browser) -> None:
    organization = await member(browser)
    name = '"><img src=x onerror=alert(1)>'
    assert await ask(browser, name=name) == 303
    await visit(browser, "/dashboard/jobs")
    assert "<img src=x" not in browser.text and "&#34;&gt;&lt;img" in browser.text
    [saved] = set(re.findall(r"/dashboard/questions/([0-9a-f-]{36})/runs", browser.text))
    csrf = {"csrf": browser.csrf()}
    assert await send(browser, f"/dashboard/questions/{saved}/runs", csrf) == 303
    assert browser.last.headers["Location"].startswith("/dashboard/jobs/")
    assert await used_by(browser, organization) == 10, "the same question of the same data was paid"
    assert await send(browser, f"/dashboard/questions/{saved}/name", {**csrf, "name": " Vita "}) == 303
    await visit(browser, "/dashboard/jobs")
    assert "<bdi>Vita</bdi>" in browser.text
    assert await send(browser, f"/dashboard/questions/{saved}/name", {**csrf, "name": "  "}) == 400
    assert await send(browser, f"/dashboard/questions/{saved}/removal", csrf) == 303
    assert await send(browser, f"/dashboard/questions/{saved}/removal", csrf) == 404


async def test_nothing_of_another_organization_is_seen_or_run(browser: Browser) -> None:
    await member(browser)
    assert await ask(browser, name="Ours") == 303
    await visit(browser, "/dashboard/jobs")
    [saved] = set(re.findall(r"/dashboard/questions/([0-9a-f-]{36})/runs", browser.text))
    other = Browser(browser.edge, browser.issuer, address="198.51.100.9")
    await other.sign_in("grace")
    await other.create_organization("Others")
    await visit(other, "/dashboard/jobs")
    assert "Ours" not in other.text
    csrf = {"csrf": other.csrf()}
    for act in ("runs", "name", "removal"):
        assert await send(other, f"/dashboard/questions/{saved}/{act}", {**csrf, "name": "Stolen"}) == 404


async def test_a_form_without_its_token_asks_nothing(visitor: Browser) -> None:
    organization = await member(visitor)
    assert await visitor.ask("POST", "/dashboard/questions", {"csrf": "x", "asked": QUESTION}) == 403
    assert await used_by(visitor, organization) == 0


async def test_a_question_of_nothing_or_of_what_is_gone_is_no_dead_end(visitor: Browser) -> None:
    organization = await member(visitor)
    assert await visit(visitor, "/dashboard/questions?question=cost&what=brand:gone") == 200
    assert "Show the answer" not in visitor.text and "For example" in visitor.text
    asked = visitor.form(asked="question=cost&what=brand:gone")
    assert await visitor.ask("POST", "/dashboard/questions", asked) == 400
    assert await visitor.ask("POST", "/dashboard/questions", visitor.form(asked="question=none")) == 400
    assert await used_by(visitor, organization) == 0


async def test_a_plan_that_lacks_answers_shows_the_question_and_the_way_to_them(
    browser: Browser, settings: Settings
) -> None:
    await member(browser)
    execute(settings, "UPDATE organizations SET plan = 'free'")
    browser.edge.forget_accounts()
    assert await visit(browser, f"/dashboard/questions?{QUESTION}") == 200
    assert 'href="/dashboard/plan"' in browser.text and "Show the answer" not in browser.text
    form = browser.form(asked=QUESTION)
    assert await send(browser, "/dashboard/questions", form) == 403


async def test_hostile_text_in_an_address_stays_text(visitor: Browser) -> None:
    await member(visitor)
    hostile = quote("\"><script>alert('x')</script>")
    for address in (f"question=cost&add={hostile}", f"{QUESTION}&when=own&from={hostile}", f"{QUESTION}&by={hostile}"):
        assert await visit(visitor, f"/dashboard/questions?{address}") == 200
        assert "<script>alert" not in visitor.text
