"""Files that a person gives to a series: in a library where they lie, from the folder for downloads as placements."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.errors import InvalidInput
from kurabito.placements.errors import ImportNotReady
from kurabito.placements.imports.model import ImportOrder, ImportPlan
from kurabito.placements.imports.service import Imports
from kurabito.placements.plans.model import FileAction
from kurabito.titles import ReleaseKind

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

ODD = ("odd names/first (1).mkv", "odd names/K 02.mkv", "odd names/K 03.mkv")


@pytest.fixture
def imports(house: House) -> Imports:
    return Imports(house.shelf.database, house.root, reserve=0)


async def ask(house: House, imports: Imports, order: ImportOrder, *, apply: bool = False) -> ImportPlan:
    """Plan or apply, with a data plane that looks at folders meanwhile."""
    asked = asyncio.ensure_future(imports.apply(order) if apply else imports.plan(order))
    while not asked.done():
        await asyncio.wait([asked], timeout=0.05)
        await asyncio.to_thread(house.plane)
    # What was stored right after the last look of the plane.
    await asyncio.to_thread(house.plane)
    return await asked


async def test_files_of_a_library_are_given_where_they_lie(house: House, imports: Imports) -> None:
    series = house.series("Yoru no Kurabito")
    for path in ODD:
        house.shelf.put(path, path.encode())
    before = house.library()
    order = ImportOrder(path=str(house.shelf.path("odd names")), series_id=series)
    plan = await imports.plan(order)
    assert {file.path: [one.number for one in file.episodes] for file in plan.files} == {
        ODD[0]: [], ODD[1]: [2.0], ODD[2]: [3.0],
    }  # fmt: skip
    assert house.states(series) == {}
    await imports.apply(order)
    single = ImportOrder(
        path=str(house.shelf.path(ODD[0])), series_id=series, episodes=(1.0,), kind=ReleaseKind.SPECIAL
    )
    await imports.apply(single)
    rows = house.shelf.all("SELECT kind, number, state FROM episodes ORDER BY number")
    assert rows == [("special", 1, "have"), ("tv", 2, "have"), ("tv", 3, "have")]
    assert house.shelf.all("SELECT DISTINCT given_by FROM episode_files") == [("keeper",)]
    assert house.library() == before


async def test_files_of_the_download_root_are_placed(house: House, imports: Imports) -> None:
    series = house.series("Yoru no Kurabito")
    folder = house.root / "by hand"
    folder.mkdir()
    (folder / "[Kura] Yoru no Kurabito - 01 [1080p].mkv").write_bytes(b"one")
    (folder / "NCOP.mkv").write_bytes(b"opening")
    order = ImportOrder(path=str(folder), series_id=series)
    plan = await ask(house, imports, order)
    target = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"
    assert target in {file.target for file in plan.files}
    assert house.shelf.all("SELECT count(*) FROM placements") == [(0,)]
    await ask(house, imports, order, apply=True)
    await house.settle()
    assert house.library()[target] == b"one"
    assert house.states(series)[1] == "have"


async def test_a_person_says_what_a_file_is_whatever_its_name_says(house: House, imports: Imports) -> None:
    series = house.series("Yoru no Kurabito")
    (house.root / "x").mkdir()
    (house.root / "x" / "scrambled 99.mkv").write_bytes(b"seven")
    path = str(house.root / "x" / "scrambled 99.mkv")
    await ask(house, imports, ImportOrder(path=path, series_id=series, episodes=(7.0,)), apply=True)
    await house.settle()
    assert house.library() == {"Yoru no Kurabito/Season 01/Yoru no Kurabito S01E07.mkv": b"seven"}
    assert house.states(series) == {7: "have"}


@pytest.mark.parametrize("path", ["/etc/passwd", "relative.mkv", "/", "{root}", "{root}/../up.mkv"])
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_nothing_is_imported_from_elsewhere(house: House, imports: Imports, path: str) -> None:
    order = ImportOrder(path=path.format(root=house.root), series_id=house.series("K"))
    with pytest.raises(InvalidInput, match="path"):
        await imports.plan(order)
    assert house.shelf.all("SELECT count(*) FROM inspections") == [(0,)]


EPISODE = "[Kura] Yoru no Kurabito - 01 [1080p].mkv"
PLACED = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"


def lay(house: House, *paths: str) -> str:
    """Files in a folder of the download root, each with its name as content; the folder."""
    for path in paths:
        (house.root / "by hand" / path).parent.mkdir(parents=True, exist_ok=True)
        (house.root / "by hand" / path).write_text(path)
    return str(house.root / "by hand")


@pytest.mark.parametrize(
    ("number", "kind", "target", "had"),
    [
        (3.0, ReleaseKind.OVA, "Season 00/Yoru no Kurabito (OVA 3).mkv", ("ova", 3)),
        (2.0, ReleaseKind.SPECIAL, "Season 00/Yoru no Kurabito (SP 2).mkv", ("special", 2)),
        (12.5, ReleaseKind.TV, "Season 00/Yoru no Kurabito (12.5).mkv", ("tv", 12.5)),
        (1.25, ReleaseKind.TV, "Season 00/Yoru no Kurabito (1.25).mkv", ("tv", 1.25)),
        (7.0, ReleaseKind.TV, "Season 01/Yoru no Kurabito S01E07.mkv", ("tv", 7)),
    ],
)
async def test_a_file_is_filed_as_what_was_said_of_it(
    house: House, imports: Imports, number: float, kind: ReleaseKind, target: str, had: tuple[str, float]
) -> None:
    path = f"{lay(house, EPISODE)}/{EPISODE}"
    order = ImportOrder(path=path, series_id=house.series("Yoru no Kurabito"), episodes=(number,), kind=kind)
    (file,) = (await ask(house, imports, order)).files
    assert file.target == f"Yoru no Kurabito/{target}"
    assert [(one.kind, one.number) for one in file.episodes] == [had]


async def test_a_number_that_is_said_of_a_film_is_the_film(house: House, imports: Imports) -> None:
    film = house.series("Sake", kind="movie", year=1952)
    lay(house, "odd.mkv")
    order = ImportOrder(path=str(house.root / "by hand" / "odd.mkv"), series_id=film, episodes=(1.0,))
    (file,) = (await ask(house, imports, order)).files
    assert (file.target, [one.kind for one in file.episodes]) == ("Sake (1952)/Sake (1952).mkv", ["movie"])
    house.shelf.put("odd/film.mkv", b"film")
    inside = ImportOrder(path=str(house.shelf.path("odd/film.mkv")), series_id=film, episodes=(1.0,))
    assert [one.kind for file in (await imports.plan(inside)).files for one in file.episodes] == ["movie"]


@pytest.mark.parametrize(
    ("numbers", "kind", "field"),
    [
        ((1.0, 2.0, 5.0), ReleaseKind.TV, "episodes"),
        ((1.0, 12.5), ReleaseKind.TV, "episodes"),
        ((1.0, 2.0), ReleaseKind.OVA, "episodes"),
        ((1.0,), ReleaseKind.OPENING, "kind"),
    ],
)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_what_no_name_could_say_is_refused(
    house: House, imports: Imports, numbers: tuple[float, ...], kind: ReleaseKind, field: str
) -> None:
    path = f"{lay(house, EPISODE)}/{EPISODE}"
    order = ImportOrder(path=path, series_id=house.series("Yoru no Kurabito"), episodes=numbers, kind=kind)
    with pytest.raises(InvalidInput, match=field):
        await ask(house, imports, order)


async def test_what_is_not_downloaded_completely_is_not_imported(house: House, imports: Imports) -> None:
    """A downloader gives a file its name and its size long before it has its content."""
    series = house.series("Yoru no Kurabito")
    (download,) = house.download(series, EPISODE, {EPISODE: b"half"})
    ((folder,),) = house.shelf.all("SELECT save_path FROM downloads")
    set_status = "UPDATE downloads SET status = :status, progress = :progress WHERE id = :id RETURNING id"
    for status, progress in (("downloading", 0.5), ("downloader_error", 0.5), ("failed", 0.5)):
        house.add(set_status, id=download, status=status, progress=progress)
        for path in (folder, f"{folder}/{EPISODE}", str(Path(folder).parent)):
            with pytest.raises(ImportNotReady, match="not downloaded completely"):
                await ask(house, imports, ImportOrder(path=path, series_id=series), apply=True)
    assert house.shelf.all("SELECT count(*) FROM placements") == [(0,)]
    beside = f"{lay(house, EPISODE)}/{EPISODE}"
    assert (await ask(house, imports, ImportOrder(path=beside, series_id=series))).importable
    house.add(set_status, id=download, status="completed", progress=1.0)
    assert (await ask(house, imports, ImportOrder(path=folder, series_id=series))).importable


async def test_no_link_leads_an_import_out_of_the_folder_for_downloads(house: House, imports: Imports) -> None:
    secret = house.shelf.folder / "secret"
    secret.mkdir()
    (secret / EPISODE).write_bytes(b"secret")
    lay(house, "own.mkv")
    (house.root / "by hand" / "linked").symlink_to(secret)
    (house.root / "by hand" / EPISODE).symlink_to(secret / EPISODE)
    series = house.series("Yoru no Kurabito")
    for path in ("by hand/linked", f"by hand/linked/{EPISODE}", f"by hand/{EPISODE}"):
        with pytest.raises(InvalidInput, match="link"):
            await ask(house, imports, ImportOrder(path=str(house.root / path), series_id=series), apply=True)
    assert house.shelf.all("SELECT count(*) FROM placements") == [(0,)]


async def test_a_folder_with_the_name_of_a_video_and_a_file_without_one_are_found(
    house: House, imports: Imports
) -> None:
    series = house.series("Yoru no Kurabito")
    folder = lay(house, f"Show.mkv/{EPISODE}", "notes.txt")
    plan = await ask(house, imports, ImportOrder(path=f"{folder}/Show.mkv", series_id=series))
    assert [file.target for file in plan.files] == [PLACED]
    plan = await ask(house, imports, ImportOrder(path=f"{folder}/notes.txt", series_id=series))
    assert [(file.path, file.action) for file in plan.files] == [("notes.txt", FileAction.LEAVE)]


@pytest.mark.parametrize(
    ("path", "said"),
    [("not there", "is not there"), ("not there.mkv", "is not there, or empty"), ("empty", "is not there, or empty")],
)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_what_cannot_be_listed_says_what_to_do(house: House, imports: Imports, path: str, said: str) -> None:
    (house.root / "by hand" / "empty").mkdir(parents=True)
    order = ImportOrder(path=str(house.root / "by hand" / path), series_id=house.series("K"))
    with pytest.raises(InvalidInput, match=said):
        await ask(house, imports, order)
    assert house.shelf.all("SELECT DISTINCT status FROM inspections") == [("cancelled",)]
