"""The folders of a library as pages: whatever they are called, a page at a time, with places for pictures."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf
    from tests.integration.web.conftest import Site

KNOW = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, is_missing, hash_last_error, created_at, "
    "updated_at) VALUES (1, :path, 1, :mtime, :missing, :error, :now, :now)"
)
HOSTILE = "<img src=x onerror=alert(1)>&view=list#\n\N{RIGHT-TO-LEFT OVERRIDE}שלום?+%2e"
LATIN_1 = "caf\uefe9"


def links_to(text: str, name: str) -> str:
    """Where the entry of this name leads."""
    (found,) = {unescape(one) for one in re.findall(rf'href="(/library/1/folders\?[^"]*)"[^>]*>[^\n]*{name}', text)}
    return found


async def test_a_keeper_goes_down_into_a_folder_and_up_again(shelf: Shelf, furnished: Site) -> None:
    for number in (1, 2):
        shelf.put(f"shows/season 1/episode {number}.mkv", b"the same")
    shelf.put("shows/poster.png", b"a picture")
    shelf.put("readme.txt", b"a text")
    shelf.put("alone/film.mkv", b"film")
    shelf.run(KNOW, path="lost/gone.mkv", mtime=2**62, missing=1, error=None)
    shelf.run(KNOW, path="shows/bad.mkv", mtime=1, missing=0, error="FILE_UNREADABLE: <why>")

    for start in ("/library", "/library/1"):
        assert 'href="/library/1/folders"' in (await furnished.get(start)).text
    root = await furnished.get("/library/1/folders")
    # Folders come first, with what lies anywhere below them; one of which nothing is left says so.
    assert re.findall(r"<bdi>(alone|lost|shows|readme\.txt)</bdi>", root.text) == [
        "alone",
        "lost",
        "shows",
        "readme.txt",
    ]
    seen = await furnished.read("/library/1/folders")
    assert "shows 4 files · 26 B" in seen
    assert "lost Missing" in seen
    assert "alone 1 file · 4 B" in seen
    assert "readme.txt 6 B · Hashed" in seen
    # A text has no picture; everything else has a place for one.
    assert root.text.count("data-thumb=") == 0

    shows = await furnished.get(links_to(root.text, "shows"))
    assert shows.text.count("data-thumb=") == 2
    assert 'data-kind="image"' in shows.text
    seen = await furnished.read("/library/1/folders", folder="shows")
    assert "bad.mkv 1 B · Not hashed Unreadable: FILE_UNREADABLE: <why>" in seen
    season = await furnished.get(links_to(shows.text, "season 1"))
    (group,) = set(re.findall('href="(/duplicates/groups/[^"]+)">2 copies', season.text))
    assert (await furnished.get(group)).status_code == 200
    # Up again: to the library, to its folders, and to the folder above.
    assert 'href="/library/1">' in season.text
    assert 'href="/library/1/folders">Folders' in season.text
    assert links_to(season.text, "shows") == "/library/1/folders?folder=shows"

    # As a list, and everything that it leads to as well.
    listed = await furnished.get("/library/1/folders", view="list")
    assert "<table" in listed.text
    assert links_to(listed.text, "shows") == "/library/1/folders?folder=shows&view=list"
    lost = await furnished.read("/library/1/folders", folder="lost", view="list")
    assert re.search(r"gone\.mkv 1 B .* Not hashed Missing", lost)
    page = await furnished.client.get("/library/1/folders", headers={"Accept-Language": "ja"})
    assert "フォルダー" in page.text


async def test_names_lead_where_they_say_and_nowhere_else(shelf: Shelf, furnished: Site) -> None:
    for name in (HOSTILE, LATIN_1):
        shelf.run(KNOW, path=f"{name}/{name}/{name}.mkv", mtime=1, missing=0, error=None)
    for view in ("grid", "list"):
        page = await furnished.get("/library/1/folders", view=view)
        for shown, name in (("onerror", HOSTILE), (r"\\xe9", LATIN_1)):
            inner = await furnished.get(links_to(page.text, shown))
            inner = await furnished.get(links_to(inner.text, shown))
            assert inner.status_code == 200
            assert inner.text.count('id="file-') == 1
            assert "<img" not in inner.text
            # What cannot be seen is written out, in the title too.
            assert '<span class="odd">' in inner.text
            assert name not in unescape(inner.text)
    for folder in ("..", "../library2", "/etc", "a\0b", "caf"):
        page = await furnished.get("/library/1/folders", folder=folder)
        assert (page.status_code, "No known files in this folder" in page.text) == (404, True), folder
    assert (await furnished.get("/library/1/folders", cursor="x")).status_code == 422
    assert (await furnished.get("/library/7/folders")).status_code == 404
    assert "No files yet" in (await furnished.get("/library/2/folders")).text


async def test_a_large_folder_is_shown_a_page_at_a_time(shelf: Shelf, furnished: Site) -> None:
    for number in range(70):
        shelf.run(KNOW, path=f"many/{number:02}/one.mkv", mtime=1, missing=0, error=None)
        shelf.run(KNOW, path=f"many/{number:02}.mkv", mtime=1, missing=0, error=None)
    address, sizes, shown = "/library/1/folders?folder=many&view=list", [], []
    while address:
        page = await furnished.get(address)
        names = re.findall(r"<bdi>(\d\d(?:\.mkv)?)</bdi>", page.text)
        sizes.append(len(names))
        shown += names
        following = re.search(r'rel="next" href="([^"]+)"', page.text)
        address = unescape(following[1]) if following else ""
    assert sizes == [60, 60, 20]
    assert shown == [f"{number:02}" for number in range(70)] + [f"{number:02}.mkv" for number in range(70)]
