"""What a filed download leaves: gone once its downloader is done seeding, never the last name of a file, and only what is ours."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest

from kurabito.downloads.dispatch.locks import DownloaderLocks
from kurabito.downloads.dispatch.remote import Downloaders
from kurabito.downloads.items import DownloadStatus, Owner, TransferDetail, TransferStatus
from kurabito.http.errors import Unreachable
from kurabito.placements.leftovers import store
from kurabito.placements.leftovers.tidy import FilingTidier
from kurabito.placements.library_naming import LibraryNaming
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.renames.service import Renames

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

    from kurabito.modules.services import Service

VIDEO = "[Kura] Yoru no Kurabito - 01 [1080p].mkv"
FONT = "Fonts/a.ttf"
PLACED = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"


@dataclass
class Client:
    """A program that has every download, at rest unless it is told otherwise."""

    detail: TransferDetail | None = None
    owner: Owner = Owner.KURABITO
    is_away: bool = False
    seeding: set[str] = field(default_factory=set)
    """What it still seeds, whatever it does with the rest."""
    deleted: list[tuple[str, bool]] = field(default_factory=list)

    async def look(self, _service: Service, hashes: Collection[str]) -> Mapping[str, DownloadStatus]:
        if self.is_away:
            raise Unreachable("it is away")
        gone = {one for one, _ in self.deleted}
        return {
            one: DownloadStatus(one, TransferStatus.COMPLETED, 1.0, 5, detail=self._detail(one), owner=self.owner)
            for one in set(hashes) - gone
        }

    def _detail(self, hash_: str) -> TransferDetail | None:
        return TransferDetail.SEEDING if hash_ in self.seeding else self.detail

    async def delete(self, _service: Service, hash_: str, *, delete_files: bool) -> None:
        self.deleted.append((hash_, delete_files))


@dataclass
class Seeded:
    """A download that is filed, and the program that seeds it."""

    house: House
    client: Client
    tidier: FilingTidier
    series: int

    async def tidy(self) -> int:
        done = await self.tidier.tidy()
        self.house.plane()
        await self.house.settle()
        return done

    def left(self) -> set[str]:
        """The names in the folder for downloads."""
        root = self.house.root / "Series"
        return {path.relative_to(root).as_posix().partition("/")[2] for path in root.rglob("*") if path.is_file()}


async def seeded(house: House, files: Mapping[str, bytes], modes: tuple[str, ...] = ("link", "copy")) -> Seeded:
    house.shelf.run("UPDATE library_roots SET placement_modes = :modes", modes=json.dumps(modes))
    series = house.series("Yoru no Kurabito")
    house.download(series, VIDEO, files)
    house.shelf.run("UPDATE downloads SET owner = 'kurabito'")
    house.shelf.run("UPDATE service_modules SET tidies = 1")
    await house.settle()
    client = Client()
    return Seeded(
        house, client, FilingTidier(house.shelf.database, cast("Downloaders", client), DownloaderLocks()), series
    )


@pytest.mark.parametrize("modes", [("link",), ("copy",)])
async def test_a_name_goes_when_the_library_has_the_file(house: House, modes: tuple[str, ...]) -> None:
    found = await seeded(house, {VIDEO: b"video", FONT: b"font"}, modes)
    assert found.left() == {VIDEO, FONT}
    assert await found.tidy() == 1
    assert [delete_files for _, delete_files in found.client.deleted] == [False]
    # What is not in the library has no other name, and stays.
    assert found.left() == {FONT}
    assert house.library() == {PLACED: b"video"}
    assert house.states(found.series) == {1: "have"}
    assert await house.placements.count_waiting(9) == (0, 0)
    assert await found.tidy() == 0
    report = await house.placements.report(1)
    assert report is not None
    assert (len(report.placements), report.names_gone, report.tidied_at is not None) == (1, 1, True)


async def test_what_is_seeded_or_not_ours_or_not_filed_stays(house: House) -> None:
    found = await seeded(house, {VIDEO: b"video"})
    found.client.detail = TransferDetail.SEEDING
    assert await found.tidy() == 0
    found.client.detail, found.client.owner = None, Owner.USER
    assert await found.tidy() == 0
    found.client.owner, found.client.is_away = Owner.KURABITO, True
    assert await found.tidy() == 0
    found.client.is_away = False
    for off, on in (
        ("UPDATE service_modules SET tidies = 0", "UPDATE service_modules SET tidies = 1"),
        ("UPDATE downloads SET owner = 'user'", "UPDATE downloads SET owner = 'kurabito'"),
        ("UPDATE downloads SET owner = NULL", "UPDATE downloads SET owner = 'kurabito'"),
        (
            "UPDATE placements SET status = 'failed', noted_at = NULL",
            "UPDATE placements SET status = 'completed', noted_at = 1",
        ),
    ):
        house.shelf.run(off)
        assert await found.tidier.tidy() == 0
        house.shelf.run(on)
    assert (found.client.deleted, found.left()) == ([], {VIDEO})
    assert await found.tidy() == 1
    assert found.left() == set()


async def test_a_download_with_an_open_question_stays(house: House) -> None:
    found = await seeded(house, {VIDEO: b"video", "Prologue.mkv": b"what is it"})
    assert house.questions()
    assert await found.tidy() == 0
    assert found.left() == {VIDEO, "Prologue.mkv"}


@pytest.mark.parametrize("change", ["edited", "gone", "renamed"])
async def test_the_last_name_of_a_file_never_goes(house: House, change: str) -> None:
    found = await seeded(house, {VIDEO: b"video"}, ("copy",))
    placed = house.shelf.path(PLACED)
    match change:
        case "edited":
            placed.write_bytes(b"VIDEO")
        case "gone":
            placed.unlink()
        case _:
            placed.rename(placed.with_name("elsewhere.mkv"))
    assert await found.tidy() == 1
    assert found.left() == {VIDEO}
    assert placed.exists() == (change == "edited")
    assert await house.placements.count_waiting(9) == (0, 0)


async def test_a_file_that_was_renamed_is_found_where_it_lies(house: House) -> None:
    found = await seeded(house, {VIDEO: b"video"})
    await LibraryNaming(house.shelf.database).change(1, PRESETS[Preset.FLAT])
    await Renames(house.shelf.database).apply(1)
    house.plane()
    await house.settle()
    assert await found.tidy() == 1
    assert (found.left(), house.library()) == (set(), {"Yoru no Kurabito/Yoru no Kurabito S01E01.mkv": b"video"})


async def test_a_crash_between_the_downloader_and_the_names_is_made_good(house: House) -> None:
    found = await seeded(house, {VIDEO: b"video"})
    ((hash_,),) = house.shelf.all("SELECT hash FROM downloads")
    # The downloader has forgotten it, and nothing was written yet.
    found.client.deleted.append((hash_, False))
    assert [await found.tidy(), await found.tidy()] == [0, 1]
    assert found.left() == set()
    assert house.library() == {PLACED: b"video"}


async def test_one_look_alone_does_not_tell_that_a_download_is_gone(house: House) -> None:
    found = await seeded(house, {VIDEO: b"video"})
    found.client.detail = TransferDetail.SEEDING
    ((hash_,),) = house.shelf.all("SELECT hash FROM downloads")
    for _ in range(3):
        # The program is still reading its list, and then has what it had.
        found.client.deleted.append((hash_, False))
        assert await found.tidy() == 0
        found.client.deleted.clear()
        assert await found.tidy() == 0
    assert found.left() == {VIDEO}


async def test_what_is_seeded_for_ever_does_not_hold_up_the_rest(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_AT_ONCE", 1)
    found = await seeded(house, {VIDEO: b"video"})
    house.download(found.series, "another", {"[Kura] Yoru no Kurabito - 02 [1080p].mkv": b"other"}, episodes=(2,))
    house.shelf.run("UPDATE downloads SET owner = 'kurabito'")
    await house.settle()
    ((first,), (second,)) = house.shelf.all("SELECT hash FROM downloads ORDER BY id")
    found.client.seeding = {first}
    assert await found.tidy() == 1
    assert found.client.deleted == [(second, False)]
