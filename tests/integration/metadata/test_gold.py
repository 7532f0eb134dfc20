"""Six hundred shows and films that exist, looked up at a TMDB that types them in its own way and has namesakes of them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from kurabito.clock import ManualClock
from kurabito.http import Outbound
from kurabito.metadata.lookup import look_up
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources.tmdb import TmdbClient

if TYPE_CHECKING:
    from tests.integration.metadata.world import World

WIDE = {
    ord(letter): ord(letter) + 0xFEE0 for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!"
}


class Gold(NamedTuple):
    """A show, a season or a film, and what it truly is at TMDB."""

    kind: RecordKind
    year: int
    world: TmdbKind
    tmdb_id: int
    season: int
    name: str


def gold() -> Iterator[Gold]:
    text = Path(__file__).with_name("gold.tsv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for kind, year, place, season, name in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        world, _, number = place.partition("/")
        yield Gold(RecordKind(kind), int(year), TmdbKind(world), int(number), int(season), name)


def typed(name: str, number: int) -> str:
    """The name as TMDB may have it."""
    match number % 10:
        case 0:
            return name.translate(WIDE)
        case 1:
            return name.replace(" ", "\u3000")
        case 2:
            return name.upper()
        case 3:
            return name.replace("x", "\u00d7").replace("\uff5e", "\u301c")
    return name


def furnish(world: World, made_up: Any, firsts: list[Gold], sequels: list[Gold]) -> None:
    """Have TMDB know them, and others by the same names."""
    others = iter(range(90_000_000, 99_000_000))
    for number, one in enumerate(firsts):
        # The first showing of some was at the end of the year before.
        day = f"{one.year - 1}-12-28" if number % 20 == 7 else f"{one.year}-04-05"
        name = typed(one.name, number)
        world.shows.append(made_up.Show(one.tmdb_id, name, day, kind=one.world.value))
        if number % 8 == 3:
            # A live action of the same name, in the same year.
            world.shows.append(made_up.Show(next(others), one.name, day, (made_up.DRAMA,), kind=one.world.value))
        if number % 12 == 5:
            # An earlier version of the same story.
            world.shows.append(made_up.Show(next(others), one.name, f"{one.year - 20}-04-05", kind=one.world.value))
        if number % 15 == 4:
            world.shows.append(made_up.Show(next(others), one.name, day, language="ko", kind=one.world.value))
    began = {one.tmdb_id: one.year for one in firsts if one.world is TmdbKind.TV}
    for one in sequels:
        seasons = world.season_starts.setdefault(one.tmdb_id, [f"{began[one.tmdb_id]}-04-05"])
        seasons += [""] * (one.season - len(seasons) - 1) + [f"{one.year}-10-05"]


@pytest.mark.usefixtures("hurry")
async def test_what_exists_is_found_and_nothing_is_taken_for_it(
    outbound: Outbound, world: World, clock: ManualClock, made_up: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    tmdb = TmdbClient(outbound, made_up.KEY, url=world.url("/3"), image_url=world.url("/t/p"), clock=clock)
    every = list(gold())
    firsts, sequels = [one for one in every if one.season == 1], [one for one in every if one.season > 1]
    assert len(firsts) >= 500
    furnish(world, made_up, firsts, sequels)
    given = right = 0
    for number, one in enumerate(firsts):
        found = await look_up(tmdb, one.name, None if number % 40 == 13 else one.year, one.kind)
        given += found.tmdb_id is not None
        right += (found.tmdb_id, found.tmdb_kind) == (one.tmdb_id, one.world)
    seasons = [await look_up(tmdb, one.name, one.year, one.kind) for one in sequels]
    decided = [
        (found.tmdb_id, found.tmdb_season) == (one.tmdb_id, one.season)
        for found, one in zip(seasons, sequels, strict=True)
        if found.tmdb_id is not None
    ]
    with capsys.disabled():
        print(  # noqa: T201 - how much is found is worth knowing, beside that it is enough
            f"\n  first entries: precision {right / given:.4f}, recall {right / len(firsts):.4f} of {len(firsts)}; "
            f"sequels: precision {sum(decided) / len(decided):.4f}, recall {sum(decided) / len(sequels):.4f} of {len(sequels)}"
        )
    assert right / given >= 0.999
    assert right / len(firsts) >= 0.98
    assert all(decided)
    assert len(decided) / len(sequels) >= 0.9
