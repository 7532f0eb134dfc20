"""`kurabito fetch`, against a feed on a server of the test's own."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from tests.support.commands import KURABITO, run
from tests.support.waiting import PATIENCE

from kurabito.app.database import prepare_database
from kurabito.db import open_database
from kurabito.settings import load
from kurabito.titles import fold_title

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from tests.integration.feeds.conftest import FeedSite


async def kurabito(*arguments: str) -> tuple[int, str, str]:
    done = await asyncio.to_thread(run, [*KURABITO, *arguments], timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


async def test_a_preview_shows_each_item_and_why_it_would_not_be_taken(site: FeedSite) -> None:
    unread = "<item><title>[Kura] Yoru no Kurabito</title><link>magnet:?xt=urn:btih:aa</link></item>"
    site.put(site.feed(1, more=unread + "<item><title>\x1b[31mYoru</title></item>"))
    status, out, _ = await kurabito("fetch", site.url(), "--preview", "--allow-private", "--json")
    first, second = map(json.loads, out.splitlines())
    assert (status, first["series"], first["episodes"], first["reason"]) == (0, "Yoru no Kurabito", [1], None)
    assert (first["download_type"], second["download_type"], second["reason"]) == ("torrent", "magnet", "no_episode")
    status, out, _ = await kurabito("fetch", site.url(), "--preview", "--allow-private")
    assert status == 0
    assert "2 items of Kura" in out
    assert "item 3 cannot be used: it links to nothing" in out
    assert "\x1b" not in out


async def test_a_preview_says_which_series_an_item_would_go_to(
    site: FeedSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.put(site.feed(1))
    monkeypatch.setenv("KURABITO_STATE", str(tmp_path))
    command = ("fetch", site.url(), "--preview", "--allow-private")
    _, out, _ = await kurabito(*command, "--json")
    assert json.loads(out)["goes_to"] is None
    # Looking makes no database.
    assert list(tmp_path.iterdir()) == []
    assert "a new series" in (await kurabito(*command))[1]

    prepare_database(load())
    database = open_database(f"sqlite:///{tmp_path / 'kurabito.db'}")
    database.open()
    added = "INSERT INTO series (title, created_at, updated_at) VALUES ('Kept as this', 1, 1)"
    alias = "INSERT INTO series_aliases (folded, kind, season, name, series_id) VALUES (:folded, 'tv', 1, 'Yoru', 1)"
    database.write_blocking(lambda conn: conn.run(added))
    database.write_blocking(lambda conn: conn.run(alias, {"folded": fold_title("Yoru no Kurabito")}))
    database.close()
    _, out, _ = await kurabito(*command, "--json")
    assert json.loads(out)["goes_to"] == {"id": 1, "title": "Kept as this"}
    assert "Kept as this" in (await kurabito(*command))[1]


async def test_a_private_host_has_to_be_allowed_and_a_preview_asked_for(site: FeedSite) -> None:
    status, _, err = await kurabito("fetch", site.url(), "--preview")
    assert status == 1
    assert "error: 127.0.0.1 is not fetched from" in err
    assert (await kurabito("fetch", site.url()))[0] == 2
    assert site.asked == []
