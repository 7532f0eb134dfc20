"""Shows that are followed by id, and releases of them in five spellings: whether each finds its series.

    python benchmarks/spellings.py data.json [--entries 300] [--seed 1] [--romaji FILE] [--show]

data.json is bangumi-data's. Entries are drawn from it with a seed, followed by their ids of bgm.tv, and released under each of their
names in the habits of many groups. Counted by language are: what found its series, what went to another one, and what is asked about. A
name that several entries of the index have cannot be told by a person either, and is counted apart.

A FILE of romaji has lines of {"bgm_id", "main", "released": [...]}: the name as AniDB writes it, and as groups do. Its entries are followed
as well; they are measured without a source of romaji, and with the main names imported as AniDB's titles.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

from identity import bring
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.follow import FollowFromMetadata
from kurabito.db import migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.metadata.dumps.files import DumpFile
from kurabito.metadata.dumps.importer import import_dump, read_dump_file
from kurabito.metadata.lookup import read_part, read_sequel
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import read_index
from kurabito.titles import fold_title

_ANY: Final = (
    "[Kura] {} - 05 [1080p][HEVC].mkv",
    "[喵蔵][{}][05][1080P][GB][MP4]",
    "【桜蔵】★10月新番★[{}][05][1080p][简日双语]",
    "[蔵字幕组] {} [05][WebRip][1080p][HEVC-10bit AAC]",
    "[Kura-Raws] {} - 05 (BS11 1920x1080 x264 AAC).mp4",
    "[Kura&Mugi] {} 05 [BIG5][1080P]",
    "[桜蔵] {} 第05話 [1080p]",
    "[Mugi] {} [05v2][Ma10p_1080p][x265_flac]",
)
_LATIN: Final = (
    "[SubsKura] {} - 05 (1080p) [A1B2C3D4].mkv",
    "[Erai-Kura] {} - 05 [1080p CR WEB-DL AVC AAC][MultiSub]",
    "[Kura] {} - 05v2 [WEB 1080p]",
    "[DKura] {} - 05 [720p][HEVC x265 10bit][Multi-Subs]",
)
_MARKS: Final = ("第{0}季", "第{0}期", "S{0}", "S0{0}")
_LATIN_MARKS: Final = ("S{0}", "{0}{1} Season", "Season {0}", "S0{0}")
_ORDINALS: Final = {1: "st", 2: "nd", 3: "rd"}
_SCENE: Final = 0.25
_OWN_MARK: Final = 0.5
_TMDB_SEASON: Final = re.compile(r"^tv/\d+/season/(\d+)$")
_WORD: Final = re.compile(r"[\w']+")


@dataclass(frozen=True)
class Spelled:
    """A name of an entry in one language, as a group would release it."""

    bgm_id: int
    language: str
    name: str
    title: str


@dataclass
class Outcome:
    """What came of the releases in one language."""

    found: int = 0
    elsewhere: int = 0
    asked: int = 0
    shared: int = 0
    """Names of several entries, however they went."""
    shared_found: int = 0

    def __str__(self) -> str:
        told = self.found + self.elsewhere + self.asked
        share = self.found / told if told else 1.0
        return (
            f"{self.found}/{told} = {share:.1%} found their series, {self.elsewhere} went elsewhere, {self.asked} asked about; "
            f"of {self.shared} more, whose name several entries have, {self.shared_found} did"
        )


def spelled(items: Sequence[Mapping[str, Any]], seed: int) -> list[Spelled]:
    """Every name of each entry, each in a habit that the seed chooses."""
    chance = random.Random(seed)
    found: dict[str, Spelled] = {}
    for item in items:
        own = {"ja": [item["title"]]} if item.get("lang") == "ja" else {}
        for language, listed in (own | item["titleTranslate"]).items():
            for name in listed:
                title = _released(name, chance, _season(item))
                found.setdefault(title, Spelled(bgm_of(item), language, name, title))
    return list(found.values())


def _season(item: Mapping[str, Any]) -> int:
    """The later season that any of its names, or TMDB, says; 1 where none does."""
    names = (item["title"], *(name for listed in item["titleTranslate"].values() for name in listed))
    said = [sequel.season for name in names if (sequel := read_sequel(name)) is not None]
    said += [int(found[1]) for site in item["sites"] if (found := _TMDB_SEASON.search(str(site.get("id"))))]
    return max(said, default=1)


def _released(name: str, chance: random.Random, own: int) -> str:
    """A name as one group or another writes it; half of them have their own mark for the season."""
    sequel = read_sequel(name) if read_part(name) is None else None
    if name.isascii() and chance.random() < _SCENE:
        base, season = (sequel.name, sequel.season) if sequel else (name, own)
        return f"{'.'.join(_WORD.findall(base))}.S{season:02}E05.1080p.WEB-DL.AAC2.0.H.264-KURA"
    if sequel is not None and chance.random() < _OWN_MARK:
        marks = _LATIN_MARKS if name.isascii() else _MARKS
        name = f"{sequel.name} {chance.choice(marks).format(sequel.season, _ORDINALS.get(sequel.season, 'th'))}"
    return chance.choice((*_ANY, *_LATIN) if name.isascii() else _ANY).format(name)


def in_romaji(rows: Sequence[Mapping[str, Any]], seed: int) -> list[Spelled]:
    """The entries of a file of romaji, as groups write them."""
    chance = random.Random(seed)
    return [
        Spelled(row["bgm_id"], "ja-Latn", name, chance.choice(_LATIN).format(name))
        for row in rows
        for name in row["released"]
    ]


def bgm_of(item: Mapping[str, Any]) -> int:
    """The id of bgm.tv; 0 where an entry has none."""
    return next((int(site["id"]) for site in item["sites"] if site["site"] == "bangumi" and site.get("id")), 0)


async def measure(
    content: bytes, releases: Sequence[Spelled], titles: bytes | None = None, *, show: bool = False
) -> dict[str, Outcome]:
    """Follow what the releases are of, bring them, and count."""
    with tempfile.TemporaryDirectory(prefix="kurabito-spellings-") as scratch:
        database = open_database(f"sqlite:///{scratch}/spellings.db")
        database.open()
        migrate(database, PRODUCT)
        entries = list(read_index(content).entries)
        await database.write(lambda conn: offline.replace_entries(conn, entries))
        if titles is not None:
            path = Path(scratch, "anime-titles.xml.gz")
            path.write_bytes(gzip.compress(titles))
            with DumpFile(path) as file:
                read = read_dump_file(file)
            await asyncio.to_thread(import_dump, database, read, path.name)
        follow = FollowFromMetadata(database, Catalog(database), _nothing)
        ids = sorted({one.bgm_id for one in releases})
        followed = {bgm_id: (await follow.follow_entry(bgm_id)).id for bgm_id in ids}
        found = await bring(database, [one.title for one in releases])
        database.close()
    return _counted(releases, found, followed, _shared(entries), show=show)


def _shared(entries: Iterable[Any]) -> set[str]:
    owners: dict[str, set[int]] = defaultdict(set)
    for place, entry in enumerate(entries):
        for name in entry.titles:
            owners[fold_title(name)].add(place)
    return {name for name, some in owners.items() if len(some) > 1}


def _counted(
    releases: Sequence[Spelled],
    found: Mapping[str, tuple[int, bool]],
    followed: Mapping[int, int],
    shared: set[str],
    *,
    show: bool,
) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = defaultdict(Outcome)
    for one in releases:
        series_id, asked = found.get(one.title, (0, False))
        is_found = series_id == followed[one.bgm_id] and not asked
        outcome = outcomes[one.language]
        is_shared = fold_title(one.name) in shared
        if show and not is_found:
            why = f"{'asked' if asked else 'elsewhere'}{', shared' if is_shared else ''}"
            print(f"  {why} {one.language} {one.bgm_id} {one.name}\n      {one.title}")
        if is_shared:
            outcome.shared += 1
            outcome.shared_found += is_found
            continue
        outcome.found += is_found
        outcome.asked += asked
        outcome.elsewhere += not is_found and not asked
    return dict(sorted(outcomes.items()))


def as_anidb(items: Iterable[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The main names as AniDB's file of titles has them."""
    numbers = {bgm_of(item): site["id"] for item in items for site in item["sites"] if site["site"] == "anidb"}

    def lines() -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?><animetitles>'
        for row in rows:
            if number := numbers.get(row["bgm_id"]):
                title = escape(row["main"].replace("'", "`"))
                yield f'<anime aid="{number}"><title xml:lang="x-jat" type="main">{title}</title></anime>'
        yield "</animetitles>"

    return "\n".join(lines()).encode()


async def _nothing() -> None:
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path, help="bangumi-data's data.json")
    parser.add_argument("--entries", type=int, default=300, help="how many entries are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--romaji", type=Path, help="entries with their names in romaji")
    parser.add_argument("--show", action="store_true", help="list what did not find its series")
    options = parser.parse_args()
    content = options.index.read_bytes()
    items = [item for item in json.loads(content)["items"] if item["type"] in ("tv", "web") and bgm_of(item)]
    drawn = random.Random(options.seed).sample(items, min(options.entries, len(items)))
    for language, outcome in asyncio.run(measure(content, spelled(drawn, options.seed), show=options.show)).items():
        print(f"{language}: {outcome}", flush=True)
    if options.romaji:
        rows = [json.loads(line) for line in options.romaji.read_text(encoding="utf-8").splitlines() if line]
        releases = in_romaji(rows, options.seed)
        for about, titles in (("without a source", None), ("with a source", as_anidb(items, rows))):
            counted = asyncio.run(measure(content, releases, titles, show=options.show))
            print(f"romaji {about}: {counted['ja-Latn']}", flush=True)


if __name__ == "__main__":
    main()
