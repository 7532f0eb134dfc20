"""The panel of a file, and the ways between folders, shows, episodes and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kurabito.library.deletion.delete_jobs import order_delete_job

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf
    from tests.integration.web.conftest import Opened, Site

SERIES = (
    "INSERT INTO series (id, title, season, kind, episode_offset, state, created_at, updated_at) "
    "VALUES (1, 'The Lantern', 1, 'tv', 0, 'followed', :now, :now)"
)
EPISODE = (
    "INSERT INTO episodes (id, series_id, kind, number, state, aired_at, created_at, updated_at) "
    "VALUES (:id, 1, 'tv', :id, :state, 1, :now, :now)"
)
HAD = "INSERT INTO episode_files (episode_id, file_id, created_at) VALUES (:episode, :file, :now)"
PLACED = (
    "INSERT INTO placements (library_id, mode, method, source_root, source_path, size_bytes, target_path, status, finished_at, "
    "created_at, updated_at) VALUES (1, 'link', 'link', '/srv/downloads', 'lantern 01.mkv', 8, :path, 'completed', :now, :now, :now)"
)
LINK = (
    "INSERT INTO anime_links (id, release_key, series_id, episode_id, title, url, download_type, is_filtered, created_at) "
    "VALUES (7, 'key', 1, 2, '[Kura] The Lantern - 02 [720p]', 'https://feeds.example/2.torrent', 'torrent', 1, :now)"
)

MATCH = (
    "INSERT INTO folder_matches (id, library_id, folder, reading, file_id, job_id, created_at, updated_at) "
    "VALUES (5, 1, 'other', '{}', 1, 'job', :now, :now)"
)


def shelve(shelf: Shelf) -> int:
    """A show with two episodes, the first of which is had."""
    path = "The Lantern/[Kura] The Lantern - 01 [1080p].mkv"
    file = shelf.put(path)
    shelf.run(SERIES)
    shelf.run(EPISODE, id=1, state="have")
    shelf.run(EPISODE, id=2, state="wanted")
    shelf.run(HAD, episode=1, file=file)
    shelf.run(PLACED, path=path)
    return file


async def test_a_file_says_what_it_is_where_it_came_from_and_what_happened_to_it(
    shelf: Shelf, furnished: Site, plane: Callable[[], None]
) -> None:
    file = shelve(shelf)
    copy = shelf.put("elsewhere/copy.mkv", mtime=9)
    page = (await furnished.get(f"/files/{file}")).text
    for link in (
        'href="/series/1#episode-1"',
        'href="/library/1/folders?folder=The+Lantern"',
        f'href="/files/{copy}"',
        "sha256:",
    ):
        assert link in page, link
    seen = await furnished.read(f"/files/{file}")
    assert "The Lantern · Episode 1" in seen
    assert "lantern 01.mkv" in seen.partition("Source")[2]
    assert "Added to the library" in seen
    assert "Found in the library" in seen
    assert (await furnished.get("/files/99")).status_code == 404

    # In the trash it says so, wherever it is shown, and comes back from there.
    await furnished.post("/duplicates", keep="oldest")
    await furnished.post("/duplicates/plans/1/apply", confirm="yes")
    plane()
    for path in (f"/files/{file}", "/library/1", "/library/1/folders?folder=The+Lantern", "/series/1"):
        assert "In the trash" in (await furnished.get(path)).text, path
    (entry,) = (await furnished.get("/api/v1/trash")).json()["items"]
    await furnished.post(f"/trash/{entry['id']}/restore")
    plane()
    seen = await furnished.read(f"/files/{file}")
    assert "In the trash" not in seen
    assert "Moved to the trash" in seen
    assert "Restored" in seen
    unread = shelf.put("text.txt", b"alone")
    assert "No other file has this content." in await furnished.read(f"/files/{unread}")


async def test_folders_and_shows_lead_to_each_other(shelf: Shelf, furnished: Site) -> None:
    file = shelve(shelf)
    shelf.put("other/film.mkv", b"film")
    root = (await furnished.get("/library/1/folders")).text
    assert 'href="/series/1"' in root
    assert root.count('class="poster poster-none"') == 1
    inside = (await furnished.get("/library/1/folders", folder="The Lantern")).text
    assert 'href="/series/1"' in inside
    assert f'href="/files/{file}"' in inside
    other = (await furnished.get("/library/1/folders", folder="other")).text
    assert 'href="/series/1"' not in other
    assert "/matches/search" not in other
    shelf.run(MATCH)
    assert 'href="/matches/search?folder=5"' in (await furnished.get("/library/1/folders", folder="other")).text
    show = (await furnished.get("/series/1")).text
    assert 'href="/library/1/folders?folder=The+Lantern"' in show
    assert f'href="/files/{file}"' in show


async def test_an_episode_is_not_wanted_until_it_is_wanted_again(shelf: Shelf, furnished: Site) -> None:
    shelve(shelf)
    assert "The Lantern" in await furnished.read("/wanted")
    seen = (await furnished.post("/episodes/2/not-wanted", next="/series/1")).text
    assert 'id="not-wanted-2"' not in seen
    assert '<tr class="episode-row" id="episode-2" data-episode="unwanted">' in seen
    assert "1 of 1 episodes" in seen
    assert "The Lantern" not in (await furnished.read("/wanted")).partition("Wanted")[2]
    await furnished.post("/episodes/2/want-again", next="/series/1")
    assert 'id="not-wanted-2"' in (await furnished.get("/series/1")).text
    assert (await furnished.post("/api/v1/episodes/2/not-wanted")).status_code == 204
    assert (await furnished.post("/api/v1/episodes/99/not-wanted")).status_code == 404
    shelf.run("UPDATE episodes SET state = 'downloading' WHERE id = 2")
    assert (await furnished.post("/api/v1/episodes/2/not-wanted")).status_code == 409


async def test_a_release_that_was_passed_over_is_downloaded_by_a_click(shelf: Shelf, furnished: Site) -> None:
    shelve(shelf)
    shelf.run(LINK)
    assert 'id="grab-7"' in (await furnished.get("/series/1")).text
    seen = (await furnished.post("/links/7/grab", next="/series/1")).text
    assert 'id="grab-7"' not in seen
    assert shelf.all("SELECT link_id, status FROM downloads") == [(7, "pending")]
    assert (await furnished.post("/links/99/grab")).status_code == 404


async def test_what_is_had_is_played_in_the_media_server(shelf: Shelf, furnished: Site) -> None:
    shelve(shelf)
    assert "Play in" not in await furnished.read("/series/1")
    body = {"kind": "jellyfin", "name": "NAS", "url": "http://nas:8096/", "token": "secret"}
    assert (await furnished.client.post("/api/v1/media-servers", json=body)).status_code == 201
    assert 'href="http://nas:8096/web/#/search.html?query=The%20Lantern"' in (await furnished.get("/series/1")).text


async def test_a_file_is_deleted_from_the_page_of_its_show_and_comes_back_with_one_click(
    shelf: Shelf, furnished: Site, plane: Callable[[], None]
) -> None:
    file = shelve(shelf)
    # Most files are never hashed, and one that has no copy anywhere can be deleted, too.
    shelf.run("UPDATE library_files SET hash_algorithm = NULL, content_hash = NULL, hashed_size_bytes = NULL")
    path = shelf.path("The Lantern/[Kura] The Lantern - 01 [1080p].mkv")
    assert f'action="/files/{file}/delete"' in (await furnished.get("/series/1")).text
    page = await furnished.post(f"/files/{file}/delete", next="/series/1")
    assert page.url.path == "/series/1"
    assert "Moving 1 file to the trash" in page.text
    plane()
    assert not path.exists()
    page = await furnished.get(f"{page.url.path}?{page.url.query.decode()}")
    assert "1 file is in the trash." in page.text
    assert f'action="/files/{file}/delete"' not in page.text
    assert "In the trash" in page.text
    again = await furnished.post(f"/files/{file}/delete")
    assert again.status_code == 409
    job = page.url.params["deleted"]
    await furnished.post("/files/0/undelete", next="/series/1", deleted=job)
    plane()
    assert path.read_bytes() == b"the same"
    seen = await furnished.read("/series/1", deleted=job)
    assert "Everything is back in its place." in seen
    assert "In the trash" not in seen
    assert shelf.all("SELECT is_missing FROM library_files") == [(0,)]
    assert (await furnished.post("/files/0/undelete", deleted="nonsense")).status_code == 404
    assert (await furnished.get("/series/1", deleted="nonsense")).status_code == 200


async def test_what_was_deleted_is_purged_without_another_copy_and_what_changed_stays(
    shelf: Shelf, furnished: Site, plane: Callable[[], None]
) -> None:
    file, other = shelf.put("a.mkv", b"alone"), shelf.put("b.mkv", b"changes")
    for one in (file, other):
        await furnished.post(f"/files/{one}/delete")
    shelf.path("b.mkv").write_bytes(b"changed since")
    plane()
    plane()
    assert (shelf.path("a.mkv").exists(), shelf.path("b.mkv").exists()) == (False, True)
    assert shelf.all("SELECT state, error_code FROM deletion_log ORDER BY created_at, relative_path") == [
        ("done", None),
        ("refused", "FILE_CHANGED"),
    ]
    ((entry,),) = shelf.all("SELECT id FROM trash_entries WHERE is_discarded = 1")
    shelf.database.write_blocking(lambda conn: order_delete_job(conn, {"purge": [entry]}, dry_run=False, total=1))
    plane()
    assert shelf.all("SELECT left_as FROM trash_entries") == [("purged",)]
    assert list(shelf.path(".kurabito-trash").iterdir()) == []


async def test_nothing_is_deleted_while_that_is_not_allowed(
    shelf: Shelf, url: str, tmp_path: Path, opened: Opened
) -> None:
    file = shelf.put("a.mkv", b"alone")
    async with opened(url, tmp_path / "state", allow_delete=False) as site:
        assert "/delete" not in (await site.get(f"/files/{file}")).text
        assert (await site.post(f"/files/{file}/delete")).status_code == 403
    assert shelf.all("SELECT count(*) FROM jobs") == [(0,)]
