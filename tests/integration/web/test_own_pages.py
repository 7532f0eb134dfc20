"""Password, sessions, keys, backups and logs on the page, by a person who is logged in there."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from html import unescape
from pathlib import Path

import httpx2
import pytest
from tests.integration.web.conftest import KEY, Opened, Site

from kurabito import logs
from kurabito.access import Passwords, Sessions
from kurabito.access.sessions import SESSION_COOKIE
from kurabito.attention import ActionId
from kurabito.demo.feeds import DAWN
from kurabito.settings import load
from kurabito.web.home.remedies import PLACES

PASSWORD = "correct horse battery"


@pytest.fixture
async def keeper(url: str, tmp_path: Path, opened: Opened) -> AsyncIterator[Site]:
    """The site as the keeper sees it who came by the link."""
    async with opened(url, tmp_path, settings=load(state=tmp_path, database=url, api_key=KEY)) as site:
        token = await Sessions(site.queue.database).open()
        del site.client.headers["X-Api-Key"]
        site.client.cookies.set(SESSION_COOKIE, token, domain="127.0.0.1")
        yield site


async def send(site: Site, path: str, **fields: str | list[str]) -> httpx2.Response:
    return await site.post(f"/settings/{path}", **fields)


async def test_the_first_password_is_set_after_the_link_and_changed_only_by_who_knows_it(keeper: Site) -> None:
    passwords = Passwords(keeper.queue.database)
    assert "Current password" not in (await keeper.get("/settings/security")).text
    short = await send(keeper, "security/password", password="short", repeated="short")
    assert (short.status_code, "at least 8" in short.text) == (422, True)
    different = await send(keeper, "security/password", password=PASSWORD, repeated="another one")
    assert "differ" in different.text
    saved = await send(keeper, "security/password", password=PASSWORD, repeated=PASSWORD)
    assert (saved.status_code, saved.url.path) == (200, "/settings/security")
    assert await passwords.fits(PASSWORD)
    wrong = await send(keeper, "security/password", present="a guess", password="new password", repeated="new password")
    assert (wrong.status_code, "not the current password" in wrong.text) == (422, True)
    assert PASSWORD not in wrong.text
    assert "new password" not in wrong.text
    await send(keeper, "security/password", present=PASSWORD, password="new password", repeated="new password")
    assert await passwords.fits("new password")


async def test_sessions_are_listed_and_ended(keeper: Site) -> None:
    sessions = Sessions(keeper.queue.database)
    other, third = await sessions.open(), await sessions.open()
    page = (await keeper.get("/settings/security")).text
    assert page.count('id="session-') == 3
    assert "This browser" in page
    assert other not in page
    ids = re.findall(r"/sessions/([0-9a-f]{16})/end", page)
    assert len(ids) == 2
    await send(keeper, f"security/sessions/{ids[0]}/end")
    assert len(await sessions.all()) == 2
    await send(keeper, "security/sessions/end-others")
    assert len(await sessions.all()) == 1
    assert await sessions.holder(third) is None
    assert (await keeper.get("/settings/security")).status_code == 200


async def test_a_key_is_shown_once_and_revoked(keeper: Site) -> None:
    refused = await send(keeper, "security/keys", name="script")
    assert "Choose at least one" in refused.text
    made = await send(keeper, "security/keys", name="script", scopes=["read"])
    (secret,) = re.findall(r"kura_[0-9a-f]{8}_[\w-]{43}", made.text)
    page = (await keeper.get("/settings/security")).text
    assert "script" in page
    assert secret not in page
    (key_id,) = re.findall(r"/keys/([0-9a-f]{8})/revoke", page)
    await send(keeper, f"security/keys/{key_id}/revoke")
    answer = await keeper.client.get("/api/v1/settings", headers={"X-Api-Key": secret})
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "path", ["security/password", "security/keys", "security/sessions/end-others", "backups", "backups/x.db/restore"]
)
async def test_a_program_with_a_key_is_not_the_keeper(site: Site, path: str) -> None:
    assert (await send(site, path, password=PASSWORD, repeated=PASSWORD)).status_code == 403
    assert (await site.get("/settings/backups/anything.db")).status_code == 403


async def test_a_program_with_a_key_does_not_become_the_keeper_by_the_set_up(site: Site) -> None:
    answer = await site.post("/setup/welcome", password=PASSWORD, repeated=PASSWORD)
    assert answer.status_code == 403
    assert not answer.cookies
    assert not await Passwords(site.queue.database).is_set()


async def test_a_set_up_that_was_left_is_gone_on_with_from_the_first_page(
    url: str, tmp_path: Path, opened: Opened, feeds: str
) -> None:
    async with opened(url, tmp_path, is_first_run=True) as site:
        assert 'id="unfinished-setup"' in (await site.get("/")).text
        await site.post("/setup/downloader/skip")
        # Whoever follows the first feed comes back to the end of the set-up.
        page = await site.post("/following/new", url=feeds + DAWN, next="/setup/show")
        assert "Allow this host" in page.text
        answers = {"url": feeds + DAWN, "allows_private": feeds.removeprefix("http://"), "next": "/setup/show"}
        page = await site.post("/following/new", **answers)
        assert 'name="next" value="/setup/show"' in page.text
        page = await site.post("/following", **answers, name="Dawn")
        assert page.url.path == "/setup/show"
        assert "<bdi>Dawn</bdi>" in page.text
        home = (await site.get("/")).text
        assert 'href="/setup"' in home.split('id="unfinished-setup"')[1].split("</form>")[0]
        assert (await site.post("/setup/show")).url.path == "/"
        assert 'id="unfinished-setup"' not in (await site.get("/")).text


async def test_a_backup_is_made_and_downloaded_and_no_other_file_is(keeper: Site, url: str, tmp_path: Path) -> None:
    page = await send(keeper, "backups")
    if not url.startswith("sqlite"):
        assert "pg_dump" in page.text
        return
    (name,) = re.findall(r'data-copy="([^"]+)"', page.text)
    copy = await keeper.get(f"/settings/backups/{name}")
    assert copy.content.startswith(b"SQLite format 3")
    assert "attachment" in copy.headers["content-disposition"]
    # What was restored is said, if there is such a copy.
    assert 'id="restored"' in (await keeper.get("/settings/backups", restored=name)).text
    assert 'id="restored"' not in (await keeper.get("/settings/backups", restored="another.db")).text
    (tmp_path / "secret.db").write_text("no backup")
    (tmp_path / "backups" / "kurabito-link.db").symlink_to(tmp_path / "secret.db")
    for other in ("..%2Fsecret.db", "../secret.db", "%2e%2e/kurabito.db", "kurabito-link.db", "/etc/passwd"):
        assert (await keeper.get(f"/settings/backups/{other}")).status_code in (404, 405)


async def test_a_hostile_file_is_not_restored(keeper: Site, url: str, tmp_path: Path) -> None:
    if not url.startswith("sqlite"):
        pytest.skip("a PostgreSQL server is restored with its own tools")
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "kurabito-20200101T000000.000000Z.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    answer = await send(keeper, "backups/kurabito-20200101T000000.000000Z.db/restore")
    assert answer.status_code == 409
    assert "no SQLite database" in answer.text
    assert not list(folder.glob("trial*"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DROP TABLE sessions", "lacks what it should have"),
        ("ALTER TABLE passwords DROP COLUMN changed_at", "passwords.changed_at"),
        ("INSERT INTO stored_settings VALUES ('lease_seconds', '1e300', 0)", "lease_seconds"),
        ("INSERT INTO stored_settings VALUES ('tz', '{', 0)", "settings that cannot be read"),
    ],
)
async def test_a_copy_with_which_nothing_could_go_on_is_not_restored(
    keeper: Site, url: str, tmp_path: Path, change: str, said: str
) -> None:
    if not url.startswith("sqlite"):
        pytest.skip("a PostgreSQL server is restored with its own tools")
    page = await send(keeper, "backups")
    (name,) = re.findall(r'data-copy="([^"]+)"', page.text)
    with closing(sqlite3.connect(tmp_path / "backups" / name)) as copy, copy:
        copy.execute(change)
    answers = await asyncio.gather(*(send(keeper, f"backups/{name}/restore") for _ in range(3)))
    for answer in answers:
        assert (answer.status_code, said in unescape(answer.text)) == (409, True)
    assert [file.name for file in (tmp_path / "backups").iterdir()] == [name]


async def test_the_log_is_filtered_and_downloaded_without_secrets(keeper: Site) -> None:
    logs.configure(format="json", level="info")
    log = logs.get_logger("kurabito.feeds.test")
    log.info("a feed was read", url="https://example.org/rss?passkey=hunter2", password="hunter3")
    logs.get_logger("kurabito.library.test").warning("a disk is slow")
    page = await keeper.read("/settings/logs", part="feeds")
    assert "a feed was read" in page
    assert "a disk is slow" not in page
    assert "a feed was read" not in await keeper.read("/settings/logs", level="warning")
    assert "a disk is slow" in await keeper.read("/settings/logs", text="DISK")
    file = await keeper.get("/settings/logs/download")
    assert "a disk is slow" in file.text
    assert "hunter" not in file.text + page


async def test_the_button_of_a_notice_that_asks_for_a_restart_leads_to_one(site: Site) -> None:
    page, _, anchor = PLACES[ActionId.RESTART].partition("#")
    seen = (await site.get(page)).text
    assert f'id="{anchor}"' in seen
    assert 'action="/settings/restart"' in seen
