"""Files that a person gives to a series: in a library where they lie, from the folder for downloads as placements."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from kurabito.errors import InvalidInput
from kurabito.placements.imports.model import ImportOrder, ImportPlan
from kurabito.placements.imports.service import Imports
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
