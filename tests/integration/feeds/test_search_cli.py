"""`kurabito search`, against an indexer on a server of the test's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.integration.feeds.test_cli import kurabito
from tests.support.indexers import KEY, Answered, caps, channel, jackett_item, prowlarr_item, standing_in

from kurabito.app.database import prepare_database
from kurabito.db import open_database
from kurabito.indexers import store
from kurabito.indexers.model import IndexerKind, IndexerSettings
from kurabito.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_a_search_shows_what_would_be_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KURABITO_STATE", str(tmp_path))
    status, _, err = await kurabito("search", "Kura")
    assert status != 0
    assert "no database yet" in err
    prepare_database(load())
    status, _, err = await kurabito("search", "Kura")
    assert (status, "no indexer is switched on" in err) == (1, True)

    def respond(_path: str, query: dict[str, str]) -> Answered:
        items = (jackett_item(server.url(), 3), prowlarr_item(server.url(), 4))
        return Answered(caps() if query["t"] == "caps" else channel(*items))

    async with standing_in(respond) as server:
        settings = IndexerSettings(
            kind=IndexerKind.TORZNAB, name="Kura", url=server.url("/1/api"), api_key=KEY, allows_private=True
        )
        database = open_database(f"sqlite:///{tmp_path / 'kurabito.db'}")
        database.open()
        await database.write(lambda conn: store.add(conn, settings))
        database.close()
        status, out, err = await kurabito("search", "Yoru no Kurabito", "--season", "1", "--json")
        _, shown, _ = await kurabito("search", "Yoru no Kurabito")
    _, missing, _ = await kurabito("wanted", "--search")
    assert "0 episodes" in missing
    found = [json.loads(line) for line in out.splitlines()]
    assert (status, {one["reason"] for one in found}) == (0, {"series_new"})
    assert [one["episodes"] for one in found] == [[3], [4]]
    assert "2 releases" in shown
    assert KEY not in out + err + shown
