"""The commands that find shows: grab, follow, wanted, profile and blocklist, over the database of a site."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from tests.integration.web.conftest import Site
from tests.support.indexers import KEY, Answered, StandIn, caps, channel, jackett_item, private_torrent, standing_in
from typer.testing import CliRunner

from kurabito.cli.commands import app
from kurabito.db import Connection, Dialect
from kurabito.errors import KurabitoError

pytestmark = pytest.mark.parametrize("url", ["sqlite"], indirect=True)
Commanded = Callable[..., Awaitable[str]]
MAGNET = f"magnet:?xt=urn:btih:{99:040x}&dn=%5BKura%5D%20Asa%20-%2001"


@pytest.fixture
async def kurabito(site: Site, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commanded:
    """Runs a command on the database of the site; what it prints."""
    assert site.queue.database.dialect is Dialect.SQLITE
    monkeypatch.setenv("KURABITO_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("KURABITO_DATABASE", url)

    async def run(*words: str, stdin: str | None = None) -> str:
        said = await asyncio.to_thread(CliRunner(env={"NO_COLOR": "1"}).invoke, app, list(words), stdin)
        if isinstance(said.exception, KurabitoError):
            raise said.exception
        assert said.exit_code == 0, said.output
        return said.stdout

    return run


@pytest.fixture
async def jackett() -> AsyncIterator[StandIn]:
    def respond(_path: str, query: dict[str, str]) -> Answered:
        return Answered(caps() if query["t"] == "caps" else channel(jackett_item(server.url(), 7)))

    async with standing_in(respond) as server:
        yield server


async def test_a_show_is_followed_by_a_group_and_an_episode_grabbed(
    site: Site, jackett: StandIn, kurabito: Commanded, tmp_path: Path
) -> None:
    await site.post("/search/indexers", name="Jackett", url=jackett.url(f"/?apikey={KEY}"), allows_private="yes")
    (offer,) = (await kurabito("follow", "Yoru no Kurabito", "--json")).splitlines()
    assert re.search(rf"1 +{json.loads(offer)['group']}", await kurabito("follow", "Yoru no Kurabito"))
    with pytest.raises(KurabitoError, match="none has the number 2"):
        await kurabito("follow", "Yoru no Kurabito", "--group", "2")
    followed = await kurabito("follow", "Yoru no Kurabito", "--group", "1")
    assert "is followed by" in followed
    assert "searched for automatically" in followed
    assert re.search(r"`kurabito backfill \d+` shows", followed)
    titles = "SELECT title FROM anime_links JOIN downloads ON link_id = anime_links.id ORDER BY anime_links.id"
    taken = await site.queue.database.read(lambda conn: conn.all(titles))
    assert "grabbed [Kura] Asa" in await kurabito("grab", MAGNET)
    assert await site.queue.database.read(lambda conn: conn.all(titles)) == [*taken, ("[Kura] Asa - 01",)]
    nothing = await asyncio.to_thread(CliRunner().invoke, app, ["grab", "Yoru no Kurabito", "--key", "unknown"])
    assert nothing.exit_code == 1
    content, known = private_torrent("deadbeef0123456789deadbeef012345", 9)
    (tmp_path / "Kura.torrent").write_bytes(content)
    assert "grabbed [Kura] Yoru" in await kurabito("grab", str(tmp_path / "Kura.torrent"))
    urls = "SELECT url FROM anime_links JOIN downloads ON link_id = anime_links.id ORDER BY anime_links.id DESC"
    assert (await site.queue.database.read(lambda conn: conn.all(urls)))[0] == (f"torrent:{known}",)
    listed = await kurabito("search", "Yoru no Kurabito")
    (short,) = re.findall(r"^(\S{12}) +\[Kura\]", listed, re.MULTILINE)
    assert "grabbed [Kura] Yoru" in await kurabito("grab", "Yoru no Kurabito", "--key", short)
    assert KEY not in followed + offer + nothing.output


async def test_indexers_are_added_changed_tested_and_removed(jackett: StandIn, kurabito: Commanded) -> None:
    url = jackett.url(f"/api?apikey={KEY}")
    assert "indexer 1;" in await kurabito("indexers", "add", url, "--name", "Jackett")
    refused = await asyncio.to_thread(CliRunner().invoke, app, ["indexers", "test", "1"])
    assert (refused.exit_code, KEY in refused.output) == (1, False)
    limits = (
        "--per-hour",
        "30",
        "--min-seeders",
        "2",
        "--priority",
        "-3",
        "--seed-ratio",
        "1.5",
        "--seed-minutes",
        "60",
    )
    asked = ("--private", "--categories", "5070,2000", "--proxy", "http://me:secret@nas:3128")
    await kurabito("indexers", "change", "1", *limits, *asked)
    shown = json.loads(await kurabito("indexers", "list", "--json"))
    assert (shown["per_hour"], shown["min_seeders"], shown["priority"]) == (30, 2, -3)
    assert (shown["categories"], shown["proxy"], shown["has_key"]) == ([5070, 2000], "http://nas:3128", True)
    await kurabito("indexers", "change", "1", "--proxy", "", "--name", "Other")
    assert await kurabito("indexers", "test", "1") == "it answers, with 1 result\n"
    assert re.search(r"1  +$", await kurabito("indexers", "queries", "1"), re.MULTILINE)
    assert "indexer 2;" in await kurabito("indexers", "add", "mikan", "--mirror", "https://mirror.example")
    table = await kurabito("indexers", "list")
    assert re.search(r"2 +Mikan +site +new +https://mirror.example", table)
    assert re.search(r"animetosho +AnimeTosho +\(untested\)", await kurabito("indexers", "sites"))
    with pytest.raises(KurabitoError, match="categories"):
        await kurabito("indexers", "change", "1", "--categories", "anime")
    await kurabito("indexers", "remove", "1")
    assert "Other" not in await kurabito("indexers", "list")
    assert KEY not in table


async def test_a_show_is_searched_for_by_its_names_and_what_is_missing_is_fetched(
    site: Site, jackett: StandIn, kurabito: Commanded
) -> None:
    await kurabito("indexers", "add", jackett.url(f"/api?apikey={KEY}"), "--private")

    def fill(conn: Connection) -> None:
        conn.run(
            "INSERT INTO series (id, title, state, created_at, updated_at) VALUES (7, 'Yoru no Kurabito', 'followed', 5, 5)"
        )
        conn.run(
            "INSERT INTO series_aliases (series_id, name, folded, season, kind, source) "
            "VALUES (7, 'Yoru no Kurabito', 'yorunokurabito', 1, 'tv', 'keeper')"
        )
        conn.run(
            "INSERT INTO episodes (series_id, kind, number, aired_at, created_at, updated_at) VALUES (7, 'tv', 7, 5, 5, 5)"
        )

    await site.queue.database.write(fill)
    (found,) = (await kurabito("search", "--series", "7", "--episode", "7", "--json")).splitlines()
    assert json.loads(found)["series"] == "Yoru no Kurabito"
    with pytest.raises(KurabitoError, match="--series"):
        await kurabito("search")
    count = "SELECT count(*) FROM downloads"
    assert "[Kura] Yoru no Kurabito - 07" in await kurabito("backfill", "7")
    assert await site.queue.database.read(lambda conn: conn.value(count)) == 0
    await kurabito("backfill", "7", "--fetch")
    assert await site.queue.database.read(lambda conn: conn.value(count)) == 1


async def test_profiles_are_stored_chosen_and_removed(site: Site, kurabito: Commanded) -> None:
    insert = "INSERT INTO series (id, title, created_at, updated_at) VALUES (7, 'Yoru', 5, 5)"
    await site.queue.database.write(lambda conn: conn.run(insert))
    profile = {"name": "HD", "is_default": True, "preferences": {"resolutions": [1080]}}
    assert await kurabito("profile", "set", "-", stdin=json.dumps(profile)) == "stored as 1\n"
    assert await kurabito("profile", "set", "-", stdin=json.dumps({**profile, "upgrade": True})) == "stored as 1\n"
    with pytest.raises(KurabitoError, match="upgrade"):
        await kurabito("profile", "set", "-", stdin=json.dumps({**profile, "upgrade": "often"}))
    (shown,) = (await kurabito("profile", "list", "--json")).splitlines()
    assert (json.loads(shown)["upgrade"], json.loads(shown)["is_default"]) == (True, True)
    assert await kurabito("profile", "use", "7", "1") == "HD is used\n"
    assert await kurabito("profile", "remove", "1") == "1 removed\n"
    assert "HD" not in await kurabito("profile", "list")


async def test_failed_releases_are_allowed_again_and_the_search_is_switched(site: Site, kurabito: Commanded) -> None:
    def fill(conn: Connection) -> None:
        for number in (1, 2, 3):
            conn.run(
                "INSERT INTO release_blocklist (id, release_key, title, created_at) VALUES (:id, :key, :key, :now)",
                {"id": number, "key": f"release {number}"},
            )

    await site.queue.database.write(fill)
    assert re.search("3 +release 3 .*for good", await kurabito("blocklist", "list"))
    assert "1 release can be taken" in await kurabito("blocklist", "clear", "2")
    with pytest.raises(KurabitoError, match="--all"):
        await kurabito("blocklist", "clear")
    assert "2 releases can be taken" in await kurabito("blocklist", "clear", "--all")
    assert await kurabito("blocklist", "list", "--json") == ""
    await kurabito("wanted", "--automatic")
    assert "is_automatic" in (await site.get("/wanted")).text
    assert 'value="off"' in (await site.get("/wanted")).text
    await kurabito("wanted", "--no-automatic")
    assert 'value="on"' in (await site.get("/wanted")).text
