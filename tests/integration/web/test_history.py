"""The history as page, file and command; and the addresses that show the calendar and what arrived."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import httpx2
import pytest
from tests.integration.web.conftest import Site
from typer.testing import CliRunner

from kurabito.cli.commands import app
from kurabito.clock import SECOND
from kurabito.db import Connection
from kurabito.errors import InvalidInput

DAY = 86_400 * SECOND
LONG = "夜の蔵人; その, 長い \\ 題名" + "、とても長い" * 12
only_sqlite = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


def fill(conn: Connection) -> None:
    """Two shows, one of them followed; a release that was taken, completed and placed, and one that would be a formula."""
    for number, (title, state) in enumerate(((LONG, "followed"), ("Hidden", "ignored")), 1):
        conn.run(
            "INSERT INTO series (id, title, state, created_at, updated_at) VALUES (:id, :title, :state, 5, 5)",
            {"id": number, "title": title, "state": state},
        )
        conn.run(
            "INSERT INTO episodes (id, series_id, kind, number, aired_at, created_at, updated_at)"
            f" VALUES (:id, :id, 'tv', 7, :now + {DAY}, 5, 5)",
            {"id": number},
        )
    for number, title in enumerate(("[Kura] Yoru - 07", "=HYPERLINK(0)"), 1):
        conn.run(
            "INSERT INTO anime_links (id, release_key, series_id, episode_id, title, url, created_at)"
            " VALUES (:id, :title, :id, :id, :title, 'magnet:?secret', :now - :id)",
            {"id": number, "title": title},
        )
    conn.run(
        "INSERT INTO downloads (id, link_id, status, queued_at, completed_at, created_at, updated_at)"
        " VALUES (1, 1, 'completed', 1, :now, :now, :now)"
    )
    conn.run(
        "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'Anime', '/private/anime', 5, 5)"
    )
    conn.run(
        "INSERT INTO placements (id, download_id, library_id, mode, size_bytes, target_path, status, created_at, updated_at,"
        " finished_at) VALUES (1, 1, 1, 'link', 7, 'Yoru/07.mkv', 'completed', :now, :now, :now)"
    )
    conn.run("INSERT INTO placement_episodes (placement_id, episode_id) VALUES (1, 1)")


async def filled(site: Site) -> None:
    await site.queue.database.write(fill)


def unfolded(text: str) -> list[tuple[str, str]]:
    """The lines of a calendar: name with its parameters, and value as it is meant."""
    assert text.endswith("\r\n")
    for line in text.split("\r\n"):
        assert len(line.encode()) <= 75
        assert "\n" not in line
    lines = re.sub("\r\n[ \t]", "", text).removesuffix("\r\n").split("\r\n")
    meant = {"\\n": "\n", "\\N": "\n"}
    return [
        (name, re.sub(r"\\(.)", lambda found: meant.get(found[0], found[1]), value))
        for name, _, value in (line.partition(":") for line in lines)
    ]


async def make_address(site: Site, name: str = "phone") -> dict[str, Any]:
    made = await site.client.post("/api/v1/shared-addresses", json={"name": name})
    assert made.status_code == 201, made.text
    return dict(made.json())


async def read(site: Site, url: str, **query: str) -> httpx2.Response:
    """Ask as a calendar does, which has no key."""
    return await site.client.get(urlsplit(url).path, params=query or None, headers={"X-Api-Key": "not one of ours"})


@only_sqlite
async def test_the_page_shows_filters_and_links_what_happened(site: Site) -> None:
    assert "Nothing yet." in await site.read("/history")
    await filled(site)
    page = await site.get("/history")
    assert re.findall(r'id="entry-\d+-(\w+)-', page.text) == ["placed", "completed", "taken", "seen", "seen"]
    assert 'href="/downloads/1"' in page.text
    of_show = await site.read("/history", series="2")
    assert ("History of Hidden" in of_show, "Yoru" in of_show) == (True, False)
    assert "No entry matches" in await site.read("/history", kind="failed")
    assert "No entry matches" in await site.read("/history", until="2020-01-01")
    assert (await site.get("/history", since="yesterday")).status_code == 422
    assert (await site.get("/history", kind="none")).status_code == 422
    for language, word in (("ja", "ライブラリに追加"), ("zh-Hans", "已入库"), ("zh-Hant", "已入庫")):
        site.client.headers["Accept-Language"] = language
        assert word in await site.read("/history")


async def test_the_history_is_paged_and_exported(site: Site) -> None:
    await filled(site)
    first = (await site.get("/api/v1/history", limit="2")).json()
    rest = (await site.get("/api/v1/history", cursor=first["next_cursor"])).json()
    kinds = [one["kind"] for one in first["items"] + rest["items"]]
    assert kinds == ["placed", "completed", "taken", "seen", "seen"]
    assert (await site.get("/api/v1/history", cursor="1-none-1")).status_code == 422
    exported = await site.get("/api/v1/history/export", format="csv")
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert [row["kind"] for row in rows] == kinds
    assert rows[-1]["title"] == "'=HYPERLINK(0)"
    assert exported.headers["content-disposition"] == 'attachment; filename="kurabito-history.csv"'
    as_json = (await site.get("/api/v1/history/export", format="json", kind="placed")).json()
    assert [(one["path"], one["series"]) for one in as_json] == [("Yoru/07.mkv", LONG)]
    assert (await site.get("/api/v1/history/export", format="json", kind="failed")).json() == []


async def test_a_calendar_reads_the_days_of_followed_shows(site: Site) -> None:
    made = await make_address(site)
    empty = unfolded((await read(site, made["calendar_url"])).text)
    assert ("BEGIN", "VTIMEZONE") in empty
    await filled(site)
    answer = await read(site, made["calendar_url"])
    assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
    lines = unfolded(answer.text)
    event = dict(lines[lines.index(("BEGIN", "VEVENT")) :])
    assert lines.count(("BEGIN", "VEVENT")) == 1
    assert event["SUMMARY"] == f"{LONG} S01E07"
    assert re.fullmatch(r"\d{8}T\d{6}Z", event["DTSTAMP"])
    assert re.fullmatch(r"\d{8}", event["DTSTART;VALUE=DATE"])
    renewed = (await site.client.post(f"/api/v1/shared-addresses/{made['address']['id']}/renew")).json()
    again = dict(unfolded((await read(site, renewed["calendar_url"])).text))
    assert again["UID"] == event["UID"]
    assert ("BEGIN", "VEVENT") not in unfolded((await read(site, renewed["calendar_url"], future_days="0")).text)


async def test_a_reader_sees_what_arrived_and_nothing_else(site: Site) -> None:
    await filled(site)
    made = await make_address(site)
    answer = await read(site, made["arrivals_url"])
    (item,) = ElementTree.fromstring(answer.text).iter("item")
    assert item.findtext("title") == f"{LONG} S01E07"
    assert item.findtext("category") == "placed"
    everything = await read(site, made["arrivals_url"], kind="seen")
    assert everything.text == answer.text
    for secret in ("magnet:", "/private", "Yoru/07.mkv", "HYPERLINK", "Hidden"):
        assert secret not in answer.text
    token = made["arrivals_url"].split("/")[-2]
    assert (await read(site, f"/shared/{token}/history")).status_code == 404
    assert (await site.client.get("/api/v1/history", headers={"X-Api-Key": token})).status_code == 401


async def test_an_address_is_renewed_and_revoked_and_guesses_are_slowed_down(site: Site) -> None:
    made = await make_address(site)
    address_id = made["address"]["id"]
    renewed = (await site.client.post(f"/api/v1/shared-addresses/{address_id}/renew")).json()
    assert (await read(site, made["calendar_url"])).status_code == 404
    assert (await read(site, renewed["calendar_url"])).status_code == 200
    stored = await site.queue.database.read(lambda conn: str(conn.all("SELECT * FROM shared_addresses")))
    assert renewed["calendar_url"].split("/")[-2] not in stored
    refusals = [(await read(site, f"/shared/{'x' * 43}/calendar.ics")).status_code for _ in range(6)]
    assert refusals == [404, 404, 404, 404, 429, 429]
    assert (await read(site, renewed["calendar_url"])).status_code == 200
    assert (await site.client.delete(f"/api/v1/shared-addresses/{address_id}")).json()["revoked_at"] is not None
    assert (await read(site, renewed["calendar_url"])).status_code == 429
    assert (await site.client.delete("/api/v1/shared-addresses/none")).status_code == 404


@only_sqlite
async def test_an_address_is_made_renewed_and_revoked_on_the_page(site: Site) -> None:
    assert (await site.post("/history/addresses", name=" ")).status_code == 422
    made = await site.post("/history/addresses", name="phone")
    (url,) = re.findall(r"<code>(\S+calendar\.ics)</code>", made.text)
    assert (await read(site, url)).status_code == 200
    assert url not in (await site.get("/history/addresses")).text
    (address_id,) = re.findall(r'id="address-(\w+)"', made.text)
    renewed = await site.post(f"/history/addresses/{address_id}/renew")
    (other,) = re.findall(r"<code>(\S+calendar\.ics)</code>", renewed.text)
    assert "Revoked" in (await site.post(f"/history/addresses/{address_id}/revoke")).text
    assert {(await read(site, one)).status_code for one in (url, other)} == {404}


@only_sqlite
async def test_the_commands_show_the_history_and_make_addresses(
    site: Site, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(site)
    monkeypatch.setenv("KURABITO_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("KURABITO_DATABASE", url)

    async def kurabito(*words: str) -> str:
        said = await asyncio.to_thread(CliRunner(env={"NO_COLOR": "1"}).invoke, app, list(words))
        assert said.exit_code == 0, said.output
        return said.stdout

    assert re.search("placed .* S01E07", await kurabito("history"))
    lines = (await kurabito("history", "--json", "--limit", "2")).splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["placed", "completed"]
    assert "'=HYPERLINK(0)" in await kurabito("history", "hyperlink", "--csv", "--kind", "seen")
    refused = await asyncio.to_thread(CliRunner().invoke, app, ["history", "--kind", "none"])
    assert isinstance(refused.exception, InvalidInput)
    calendar, arrivals = (await kurabito("address", "create", "phone")).split()
    assert (await read(site, calendar)).status_code == (await read(site, arrivals)).status_code == 200
    (listed,) = json.loads(await kurabito("address", "list", "--json"))["items"]
    assert listed["name"] == "phone"
    other, _ = (await kurabito("address", "renew", listed["id"])).split()
    assert "revoked" in await kurabito("address", "revoke", listed["id"])
    assert {(await read(site, one)).status_code for one in (calendar, other)} == {404}
    assert "phone" in await kurabito("address", "list")


async def test_any_day_can_be_chosen(site: Site) -> None:
    for day in ("0001-01-01", "9999-12-31"):
        for name in ("since", "until"):
            assert (await site.get("/history", **{name: day})).status_code == 200
    assert (await site.get("/history", until="2026-02-30")).status_code == 422
