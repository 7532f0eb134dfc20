"""Franchises as groups release them: seasons, cours, films, remakes and numbers that count seasons through. All of it is made up.

    python benchmarks/franchises.py [--show]

70 franchises are released in ten habits of groups, in four scripts. The first entry of each is followed by its id, from a feed that asks
about new series. Counted are: entries that were split, series that mixed two entries, numbers that count through and went to the right
episode, releases of what is not followed that would be downloaded, and releases that are asked about. With the offline index, and without.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.follow import FollowFromMetadata
from kurabito.catalog.intake import CatalogIntake
from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry

FRANCHISES: Final = 70
_SUBSCRIBE: Final = (
    "INSERT INTO subscriptions (name, url, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES ('all', 'https://feeds.example/all', :new_series, 'missing', 3600000000, :now, :now) RETURNING id"
)
_LINKS: Final = (
    "SELECT item.title, link.series_id, episode.number, link.held_reason, link.question_id "
    "FROM anime_links AS link JOIN raw_anime_items AS item ON item.release_key = link.release_key "
    "LEFT JOIN episodes AS episode ON episode.id = link.episode_id"
)
_COUNTS: Final = "UPDATE offline_entries SET episode_count = :count WHERE bgm_id = :id"
_SYLLABLES: Final = dict(
    zip(
        "ka ki ku ko sa shi su so ta chi na ni no ha hi fu ma mi mo ya yu yo ra ri ru ro wa".split(),
        "カキクコサシスソタチナニノハヒフマミモヤユヨラリルロワ",
        strict=True,
    )
)
_ENGLISH: Final = (
    "Amber Barley Copper Dusk Ember Frost Garden".split(),
    "Lantern Mill Orchard Parade Quarry River Shrine Tower Vale Willow".split(),
)
_CHINESE: Final = ("龙国爱战梦风云", "剑书乐庭雪花夜海星月")
_TRADITIONAL: Final = str.maketrans("龙国爱战梦风云剑书乐", "龍國愛戰夢風雲劍書樂")
_HAN: Final = "零一二三四"
_ROMAN: Final = ("", "", " II", " III", " IV")
_ORDINAL: Final = ("", "", " 2nd Season", " 3rd Season", " 4th Season")
_SHAPES: Final[Sequence[Sequence[tuple[str, int]]]] = (
    (("season", 12), ("season", 12), ("season", 24)),
    (("season", 24), ("season", 12), ("cour", 12), ("film", 1)),
    (("season", 12), ("named", 12), ("film", 1)),
    (("season", 26), ("remake", 24)),
    (("season", 12), ("season", 13), ("season", 12), ("season", 12), ("film", 1), ("named", 13)),
)


@dataclass(frozen=True)
class Entry:
    """A part of a franchise, with its names as they are written without a season."""

    id: int
    franchise: int
    kind: str
    season: int
    part: int
    before: int
    """Episodes of the seasons before it."""
    episodes: int
    romaji: str
    japanese: str
    chinese: str
    english: str
    year: int

    @property
    def marks(self) -> dict[str, str]:
        """What titles say behind each name."""
        number, later = self.season, self.season > 1
        part = f" Part {self.part}" if self.part > 1 else ""
        return {
            "s": (f" S{number}" if later else "") + part,
            "ordinal": _ORDINAL[number] + part,
            "roman": _ROMAN[number] + part,
            "zh": (f" 第{_HAN[number]}季" if later else "") + (" 第2部分" if part else ""),
            "ja": (f" 第{number}期" if later else "") + (" 第2クール" if part else ""),
            "year": f" ({self.year})" if self.kind == "remake" else "",
        }


@dataclass(frozen=True)
class Title:
    """A release title, and what it is about."""

    text: str
    entry: Entry
    episode: int
    is_counted_through: bool = False

    @property
    def is_english(self) -> bool:
        return self.text.endswith("-KURA")


def entries() -> list[Entry]:
    """Every part of every franchise."""
    made: list[Entry] = []
    sounds = list(_SYLLABLES)
    for place in range(FRANCHISES):
        chosen = [sounds[(place * step + place // len(sounds) * 4 + step) % len(sounds)] for step in (1, 5, 7, 11)]
        romaji = f"{chosen[0]}{chosen[1]} no {chosen[2]}{chosen[3]}{sounds[place % 9]}".title().replace(" No ", " no ")
        japanese = (
            "".join(_SYLLABLES[one] for one in (chosen[0], chosen[1]))
            + "の"
            + "".join(_SYLLABLES[one] for one in (chosen[2], chosen[3], sounds[place % 9]))
        )
        english = f"{_ENGLISH[0][place % 7]} {_ENGLISH[1][place // 7]}"
        chinese = f"{_CHINESE[0][place % 7]}之{_CHINESE[1][place // 7]}物语"
        before = season = part = 0
        for order, (kind, episodes) in enumerate(_SHAPES[place % len(_SHAPES)]):
            season = season + 1 if kind == "season" else 1 if kind in ("remake", "named", "film") else season
            part = part + 1 if kind == "cour" else 1
            arc = {
                "named": (" Kagerou-hen", "陽炎編", "阳炎篇", " Heat Haze Arc"),
                "film": (" Movie", " 劇場版", " 剧场版", " The Movie"),
            }
            add = arc.get(kind, ("", "", "", ""))
            counts = kind in ("season", "cour")
            made.append(
                Entry(
                    len(made) + 1,
                    place,
                    kind,
                    season,
                    part,
                    before if counts else 0,
                    episodes,
                    romaji + add[0],
                    japanese + add[1],
                    chinese + add[2],
                    english + add[3],
                    2001 + order * 6,
                )
            )
            before += episodes if counts else 0
    return made


def titles(entry: Entry) -> Iterator[Title]:
    """Ten releases of an entry, as ten groups would call them."""
    e, m, n = entry, entry.marks, min(5, entry.episodes)
    zht = e.chinese.translate(_TRADITIONAL)
    if e.kind == "film":
        for style in (
            "[SubsKura] {r} (1080p) [A1B2C3D4].mkv", "{d}.{y}.1080p.BluRay.x264-KURA", "[桜蔵] {z} / {r} [BDRip][1080p][简繁内封]",
            "[Kura-Raws] {j} (BD 1920x1080 x264 FLAC).mkv",
        ):  # fmt: skip
            yield Title(
                style.format(r=e.romaji, d=e.english.replace(" ", "."), z=e.chinese, j=e.japanese, y=e.year), e, 1
            )
        return
    year = m["year"]
    yield Title(f"[SubsKura] {e.romaji}{m['s']}{year} - {n:02} (1080p) [A1B2C3D4].mkv", e, n)
    yield Title(f"[Erai-Kura] {e.romaji}{m['ordinal']}{year} - {n + 1:02} [1080p][HEVC][Multiple Subtitle]", e, n + 1)
    if entry.part == 1:
        dotted = f"{e.english}{year}".replace(" ", ".").replace("(", "").replace(")", "")
        yield Title(f"{dotted}.S{e.season:02}E{n:02}.1080p.WEB-DL.AAC2.0.H.264-KURA", e, n)
    yield Title(
        f"【喵蔵】★04月新番★[{e.chinese}{m['zh']}{year} / {e.romaji}{m['s']}][{n + 2:02}][1080p][简日双语]", e, n + 2
    )
    yield Title(
        f"[蔵Ni] {e.romaji}{m['s']} -  {zht}{m['zh']}{year} - {n:02} [1080P][Baha][WEB-DL][AAC AVC][CHT][MP4]", e, n
    )
    yield Title(f"[桜蔵] {e.chinese}{m['zh']}{year} / {e.japanese}{m['ja']} [{n + 3:02}][1080p][简繁内封]", e, n + 3)
    yield Title(f"[Kura-Raws] {e.japanese}{m['ja']}{year} - {n:02} (BS11 1920x1080 x264 AAC).mp4", e, n)
    yield Title(f"[VCB-Kura] {e.romaji}{m['roman']}{year} [{n + 4:02}][Ma10p_1080p][x265_flac]", e, n + 4)
    yield Title(f"[Batch-Kura] {e.romaji}{m['s']}{year} [01-{e.episodes:02}][BDRip 1080p]", e, 0)
    if entry.before:
        bare = f"{e.chinese} / {e.romaji}"
        yield Title(
            f"[蔵House] {bare} - {e.before + n:02} [WebRip 1080p HEVC-10bit AAC]", e, n, is_counted_through=True
        )


async def measure(*, with_index: bool, show: bool) -> str:
    """Bring all of it, and count."""
    listed = entries()
    brought = [title for entry in listed for title in titles(entry)]
    with tempfile.TemporaryDirectory(prefix="kurabito-franchises-") as scratch:
        database = open_database(f"sqlite:///{scratch}/franchises.db")
        database.open()
        migrate(database, PRODUCT)
        followed: dict[int, int] = {}
        if with_index:
            followed = await _follow(database, listed)
        given = {"new_series": "ask" if with_index else "add"}
        feed = int(await database.write(lambda conn: conn.value(_SUBSCRIBE, given)))
        intake = CatalogIntake(database)
        for start in range(0, len(brought), 100):
            items = tuple(
                FeedItem(title=one.text, download_url=f"https://feeds.example/{start + place}.torrent")
                for place, one in enumerate(brought[start : start + 100])
            )
            await intake.receive(FetcherResults(subscription_id=feed, items=items))
        found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        for text, *row in await database.read(lambda conn: conn.all(_LINKS)):
            found[text].append(tuple(row))
        database.close()
    return _counted(brought, found, followed, show=show)


async def _follow(database: Database, listed: Sequence[Entry]) -> dict[int, int]:
    """The index of all entries; the first of each franchise is followed. Series by entries."""

    def fill(conn: Connection) -> None:
        offline.replace_entries(conn, [_as_indexed(entry) for entry in listed])
        for entry in listed:
            conn.run(_COUNTS, {"count": entry.episodes, "id": entry.id})

    await database.write(fill)
    follow = FollowFromMetadata(database, Catalog(database), _nothing)
    first = {entry.franchise: entry for entry in reversed(listed)}
    return {entry.id: (await follow.follow_entry(entry.id)).id for entry in first.values()}


def _as_indexed(entry: Entry) -> OfflineEntry:
    is_film = entry.kind == "film"
    chinese = entry.chinese + entry.marks["zh"]
    ids = Ids(
        bgm_id=entry.id,
        tmdb_id=1_000 + entry.franchise * 10 + (entry.kind in ("named", "remake")) + 2 * is_film,
        tmdb_kind=TmdbKind.MOVIE if is_film else TmdbKind.TV,
        tmdb_season=None if is_film else entry.season,
    )
    return OfflineEntry(
        entry.japanese + entry.marks["ja"],
        RecordKind.MOVIE if is_film else RecordKind.TV,
        "ja",
        ids,
        air_date=date(entry.year, 4, 1),
        title_chinese=chinese,
        title_english=entry.english + entry.marks["ordinal"],
        other_titles=(chinese, chinese.translate(_TRADITIONAL), entry.english + entry.marks["ordinal"]),
    )


async def _nothing() -> None:
    return None


def _counted(
    brought: Sequence[Title], found: dict[str, list[tuple[Any, ...]]], followed: dict[int, int], *, show: bool
) -> str:
    series: dict[int, Counter[int]] = defaultdict(Counter)
    inside: dict[int, dict[int, Title]] = defaultdict(dict)
    asked, taken = [], []
    for title in brought:
        for series_id, _, held, question in found[title.text][:1]:
            if question is not None:
                asked.append(title)
                continue
            # A number that counts through is scored apart, and without the index nothing joins the English name.
            if not title.is_counted_through and (followed or not title.is_english):
                series[title.entry.id][series_id] += 1
                inside[series_id].setdefault(title.entry.id, title)
            if held is None and followed and title.entry.id not in followed:
                taken.append(title)
    split = [one for one in series if len(series[one]) > 1]
    mixed = [some for some in inside.values() if len(some) > 1]
    through = [title for title in brought if title.is_counted_through]
    right = [title for title in through if _is_right(title, found[title.text], series[title.entry.id])]
    if show:
        _show(
            split=[[title for title in brought if title.entry.id == one] for one in split],
            mixed=[list(some.values()) for some in mixed],
            wrong_number=[[title] for title in through if title not in right],
            asked=[[title] for title in asked],
            taken=[[title] for title in taken],
        )
    return (
        f"{len(brought):,} titles of {len(series)} entries: {len(split)} split ({len(split) / len(series):.0%}), {len(mixed)} series "
        f"mixed, {len(right)}/{len(through)} counted through are right, {len(taken)} downloads of what is not followed, {len(asked)} asked"
    )


def _show(**faults: list[list[Title]]) -> None:
    for name, groups in faults.items():
        for group in groups:
            print(f"  {name}", *(f"\n      {title.text}" for title in group))


def _is_right(title: Title, links: Sequence[tuple[Any, ...]], series: Counter[int]) -> bool:
    return bool(links and series) and (links[0][0], links[0][1]) == (series.most_common(1)[0][0], float(title.episode))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    for with_index in (True, False):
        said = asyncio.run(measure(with_index=with_index, show=options.show))
        print(f"{'with' if with_index else 'without'} index: {said}", flush=True)


if __name__ == "__main__":
    main()
