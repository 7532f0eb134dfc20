"""Imported dumps: names join the index, entries become franchises, and episodes have titles and dates without a request."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import KURABITO, run
from tests.support.waiting import PATIENCE

from kurabito.db import Connection, Database
from kurabito.metadata.dumps import changes, importer, store
from kurabito.metadata.dumps.importer import DumpContent, import_dump
from kurabito.metadata.dumps.join import Joined
from kurabito.metadata.dumps.model import DumpEntry, DumpName, DumpSource, FirstEpisode, SkippedRows
from kurabito.metadata.episodes import EpisodeSource, KnownEpisode, episodes_of, keep_lists
from kurabito.metadata.franchises import Franchise, Numbering, NumberingSource, franchise_of
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import Details, RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry, read_index
from kurabito.metadata.sources.index import IndexOrigin, import_index
from kurabito.titles import fold_title


def item(title: str, begin: str, kind: str = "tv", **sites: str) -> dict[str, Any]:
    return {
        "title": title,
        "titleTranslate": {},
        "type": kind,
        "lang": "ja",
        "begin": f"{begin}T14:00:00.000Z",
        "sites": [{"site": site, "id": value} for site, value in sites.items()],
    }


FILE = [
    item("蔵\u00d7家", "2022-04-09", bangumi="21", tmdb="tv/301/season/1", anidb="71"),
    item("蔵\u00d7家 第2クール", "2022-10-01", bangumi="22", tmdb="tv/301/season/1", mal="720"),
    item("蔵\u00d7家 Season 2", "2023-10-07", bangumi="23", tmdb="tv/301/season/2"),
    item("劇場版 蔵\u00d7家", "2023-12-22", "movie", bangumi="24", tmdb="movie/66"),
    item("蔵の双子", "2010-01-08", bangumi="31", tmdb="tv/401"),
    item("蔵の双子", "2020-01-08", bangumi="32", tmdb="tv/402"),
]
ANIDB = [
    (71, [("Kura x Ie", "x-jat", True), ("蔵\u00d7家", "ja", True), ("Cellar x Home", "en", True)]),
    (72, [("Kura x Ie (2022)", "x-jat", True), ("Kura x Ie", "x-jat", True), ("蔵\u00d7家", "ja", True)]),
    (73, [("Kura x Ie Season 2", "x-jat", True), ("Kura x Ie", "x-jat", False)]),
    (75, [("Kura no Futago", "x-jat", True), ("蔵の双子", "ja", True)]),
    (99, [("Dare mo Shiranai", "x-jat", True)]),
]
DATABASE = [
    DumpEntry(
        names=(DumpName("Kura x Ie Part 2"), DumpName("Kura x Ie", None, is_own=False)),
        kind=RecordKind.TV,
        ids=Ids(anidb_id=72, mal_id=720, anilist_id=7200),
        year=2022,
        episode_count=13,
    ),
    DumpEntry(
        names=(DumpName("Kura x Ie Season 2"), DumpName("蔵\u00d7家 Season 2", "ja", is_own=False)),
        kind=RecordKind.TV,
        ids=Ids(anidb_id=73, mal_id=730),
        year=2023,
        episode_count=12,
    ),
    DumpEntry(names=(DumpName("Kura OVA"),), kind=RecordKind.OVA, ids=Ids(mal_id=900), year=2015),
    DumpEntry(names=(DumpName("Unknown Kind"),), ids=Ids(mal_id=901)),
]
ARCHIVE = [
    DumpEntry(
        names=(DumpName("蔵\u00d7家", "ja"), DumpName("藏家", "zh-Hans")),
        kind=RecordKind.TV,
        ids=Ids(bgm_id=21),
        episode_count=12,
        first=FirstEpisode(1),
        related=(22,),
    ),
    DumpEntry(
        names=(DumpName("蔵\u00d7家 第2クール", "ja"),),
        kind=RecordKind.TV,
        ids=Ids(bgm_id=22),
        first=FirstEpisode(13),
        related=(21,),
    ),
    DumpEntry(
        names=(DumpName("劇場版 蔵\u00d7家", "ja"),),
        kind=RecordKind.MOVIE,
        ids=Ids(bgm_id=24),
        related=(21,),
        year=2023,
    ),
    DumpEntry(
        names=(DumpName("蔵\u00d7家 おまけ", "ja"),),
        kind=RecordKind.OVA,
        ids=Ids(bgm_id=25),
        related=(21,),
        air_date=date(2022, 12, 24),
        year=2022,
    ),
]
LISTS = [DumpEntry(ids=Ids(anidb_id=72), show=301, first=FirstEpisode(13, 1))]


def titles(number: int, names: list[tuple[str, str, bool]]) -> DumpEntry:
    return DumpEntry(names=tuple(DumpName(*name) for name in names), ids=Ids(anidb_id=number))


def take_in(database: Database, source: DumpSource, entries: list[DumpEntry], **more: Any) -> Joined:
    return import_dump(database, DumpContent(source, entries, **more), f"{source}.file")


@pytest.fixture
def index(database: Database) -> Database:
    content = json.dumps({"items": FILE}).encode()
    database.write_blocking(lambda conn: offline.replace_entries(conn, read_index(content).entries))
    return database


@pytest.fixture
def joined(index: Database) -> Database:
    """Every dump, in an order in which each has to wait for another to find its place."""
    take_in(index, DumpSource.ANIME_LISTS, LISTS)
    take_in(index, DumpSource.ANIDB, [titles(*one) for one in ANIDB])
    take_in(index, DumpSource.OFFLINE_DATABASE, DATABASE)
    take_in(index, DumpSource.ARCHIVE, ARCHIVE)
    return index


def named(database: Database, name: str) -> list[OfflineEntry]:
    folded = fold_title(name)
    return database.read_blocking(lambda conn: offline.named(conn, [folded])).get(folded, [])


def bgm_ids(database: Database, name: str) -> list[int | None]:
    return [entry.ids.bgm_id for entry in named(database, name)]


def test_a_name_of_a_dump_finds_the_entry_and_a_later_cour_is_not_called_like_the_show(joined: Database) -> None:
    assert bgm_ids(joined, "Kura x Ie") == [21]
    assert bgm_ids(joined, "Cellar x Home") == [21]
    assert bgm_ids(joined, "藏家") == [21]
    # Not by an id of the file, but through that of another dump.
    assert bgm_ids(joined, "Kura x Ie (2022)") == [22]
    assert bgm_ids(joined, "Kura x Ie Part 2") == [22]
    # By its title in its own language.
    assert bgm_ids(joined, "Kura x Ie Season 2") == [23]
    assert [entry.ids.anidb_id for entry in named(joined, "蔵\u00d7家 Season 2")] == [73]
    # Two have that title, and nothing says which of them AniDB means.
    assert bgm_ids(joined, "Kura no Futago") == []


def test_names_keep_their_source_and_their_language(joined: Database) -> None:
    sql = "SELECT name_source, name_language FROM offline_titles WHERE folded = :folded"
    said = joined.read_blocking(lambda conn: {name: conn.all(sql, {"folded": fold_title(name)}) for name in NAMES})
    assert said == {name: [expected] for name, expected in NAMES.items()}


NAMES = {
    "Kura x Ie": ("anidb", "x-jat"),
    "Cellar x Home": ("anidb", "en"),
    "藏家": ("bangumi-archive", "zh-Hans"),
    "Kura x Ie Part 2": ("anime-offline-database", None),
    "蔵\u00d7家": ("bangumi-data", None),
}


def test_a_dump_that_knows_the_kind_adds_entries_and_one_that_does_not_adds_none(joined: Database) -> None:
    (ova,) = named(joined, "Kura OVA")
    assert (ova.kind, ova.began_in, ova.air_date, ova.language) == (RecordKind.OVA, 2015, None, "x-jat")
    (extra,) = named(joined, "蔵\u00d7家 おまけ")
    assert (extra.ids.bgm_id, extra.air_date) == (25, date(2022, 12, 24))
    assert named(joined, "Dare mo Shiranai") == []
    assert named(joined, "Unknown Kind") == []
    # A season is what bangumi-data lists.
    begun = joined.read_blocking(lambda conn: offline.begun_between(conn, date(2022, 10, 1), date(2023, 1, 1)))
    assert [entry.ids.bgm_id for entry in begun] == [22]


def test_another_import_of_any_file_keeps_what_the_others_said(joined: Database) -> None:
    before = joined.read_blocking(everything)
    content = json.dumps({"items": FILE}).encode()
    joined.write_blocking(lambda conn: offline.replace_entries(conn, read_index(content).entries))
    assert joined.read_blocking(everything) == before
    take_in(joined, DumpSource.ANIDB, [titles(*one) for one in ANIDB[:1]], skipped=SkippedRows(3, "row: bad"))
    assert bgm_ids(joined, "Kura x Ie") == [21]
    assert bgm_ids(joined, "Kura x Ie (2022)") == []
    imports = "SELECT source, file_name, entries, skipped FROM offline_imports"
    said = {source: rest for source, *rest in joined.read_blocking(lambda conn: conn.all(imports))}
    assert said[DumpSource.ANIDB][1:] == [1, 3]
    assert said[DumpSource.ARCHIVE][0] == "bangumi-archive.file"


def everything(conn: Connection) -> list[Any]:
    """What the index says. The numbers of its entries are its own: which one comes first depends on what was imported first."""
    columns = "id, kind, title, title_chinese, title_english, air_date, year, bgm_id, anidb_id, mal_id, franchise_id"
    entries = conn.all(f"SELECT {columns} FROM offline_entries")
    named = {row[0]: f"{row[2]} {row[5]}" for row in entries}
    return [
        sorted(repr((*row[1:-1], named.get(row[-1]))) for row in entries),
        *(
            sorted(
                repr((named[entry_id], *row)) for entry_id, *row in conn.all(f"SELECT entry_id, {rest} FROM {table}")
            )
            for table, rest in (
                ("offline_titles", "folded, name_source, name_language"),
                ("offline_romaji", "sound"),
                ("offline_offsets", "source, season, first"),
            )
        ),
    ]


def test_a_franchise_has_its_parts_in_order_with_where_each_begins(joined: Database) -> None:
    franchise = of(joined, Details(bgm_id=22))
    assert [(one.ids.bgm_id, one.kind.value, one.season, one.part) for one in franchise.entries] == [
        (21, "tv", 1, 1),
        (22, "tv", 1, 2),
        (25, "ova", None, 1),
        (23, "tv", 2, 1),
        (24, "movie", None, 1),
    ]
    second = franchise.entry(Details(bgm_id=22))
    assert second is not None
    assert second.numberings == (
        Numbering(NumberingSource.ANIME_LISTS, 13, 1),
        # One source, one fact: what Anime-Lists says of a season and bgm.tv of the whole.
        Numbering(NumberingSource.ARCHIVE, 13),
        Numbering(NumberingSource.SHARED_SEASON, 13, 1),
        Numbering(NumberingSource.COUNTED, 13),
    )
    assert (second.first_in_season, second.first_absolute, second.episode_count) == (13, 13, 13)
    third = franchise.entry(Details(bgm_id=23))
    assert third is not None
    assert (third.first_in_season, third.first_absolute) == (1, 26)
    assert [one.ids.bgm_id for one in franchise.regular] == [21, 22, 23]
    # Found by any id; a remake is another franchise, and what the index does not know has none.
    assert of(joined, Details(mal_id=720)) == franchise
    assert of(joined, Details(tmdb_id=301, tmdb_kind=TmdbKind.TV, tmdb_season=2)) == franchise
    assert [one.ids.bgm_id for one in of(joined, Details(bgm_id=31)).entries] == [31]
    assert joined.read_blocking(lambda conn: franchise_of(conn, Details(bgm_id=404))) is None


def test_behind_a_part_of_unknown_length_nothing_is_counted(index: Database) -> None:
    franchise = of(index, Details(bgm_id=23))
    assert [(one.ids.bgm_id, one.first_in_season, one.first_absolute) for one in franchise.entries] == [
        (21, 1, 1),
        (22, None, None),
        (23, 1, None),
    ]


def of(database: Database, details: Details) -> Franchise:
    found = database.read_blocking(lambda conn: franchise_of(conn, details))
    assert found is not None
    return found


def test_the_episodes_of_a_record_come_from_all_sources_in_one_count(joined: Database) -> None:
    listed = [
        KnownEpisode(13, {"ja": "十三"}, date(2022, 10, 1)),
        KnownEpisode(14, {"ja": "十四"}),
    ]
    take_in(joined, DumpSource.ARCHIVE, ARCHIVE, episodes={22: listed})
    season = [KnownEpisode(number, {"en": f"No. {number}"}, date(2022, 10, number)) for number in (12, 13, 14, 15)]
    joined.write_blocking(lambda conn: keep_lists(conn, EpisodeSource.TMDB, {"301/1": season}))
    details = Details(bgm_id=22, tmdb_id=301, tmdb_kind=TmdbKind.TV, tmdb_season=1)
    found = joined.read_blocking(lambda conn: episodes_of(conn, details, first_in_season=13))
    assert [(one.number, one.counted, one.title("en"), one.title("ja"), one.air_date) for one in found] == [
        (1, 13, "No. 13", "十三", date(2022, 10, 1)),
        (2, 14, "No. 14", "十四", date(2022, 10, 14)),
    ]
    # bgm.tv itself is newer than its dump; a source that lists nothing is no source.
    fresh = [KnownEpisode(13, {"ja": "改"}, date(2022, 10, 1))]
    joined.write_blocking(lambda conn: keep_lists(conn, EpisodeSource.BGM, {"22": fresh}))
    (only,) = joined.read_blocking(lambda conn: episodes_of(conn, Details(bgm_id=22)))
    assert (only.number, only.title("zh-Hans", "ja")) == (1, "改")
    assert joined.read_blocking(lambda conn: episodes_of(conn, Details())) == []


class Killed(Exception):
    """Nothing is written after this."""


NEW = [
    (71, [("Kura x Ie", "x-jat", True), ("蔵\u00d7家", "ja", True), ("Storehouse x Home", "en", True)]),
    (72, [("Kura x Ie (2022)", "x-jat", True), ("蔵\u00d7家", "ja", True)]),
    (73, [("Kura x Ie Season 2", "x-jat", True), ("Cellar x Home", "en", False)]),
    (74, [("Gekijouban Kura x Ie", "x-jat", True), ("劇場版 蔵\u00d7家", "ja", True)]),
]


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (importer, store, changes):
        monkeypatch.setattr(module, "BATCH", 1)


NEW_FILE = [
    # One name more, another show of TMDB, another day, one that is gone, and one that a dump knew before.
    FILE[0] | {"titleTranslate": {"en": ["Home Brew"]}},
    FILE[1],
    item("蔵\u00d7家 Season 2", "2023-10-07", bangumi="23", tmdb="tv/302/season/1"),
    item("劇場版 蔵\u00d7家", "2023-12-23", "movie", bangumi="24", tmdb="movie/66"),
    FILE[5],
    item("蔵\u00d7家 おまけ", "2022-12-24", "ova", bangumi="25"),
    item("新しい蔵", "2024-01-08", bangumi="33"),
]


def take_titles(database: Database, *, is_new: bool) -> None:
    take_in(database, DumpSource.ANIDB, [titles(*one) for one in (NEW if is_new else ANIDB)])


def take_index(database: Database, *, is_new: bool) -> None:
    content = json.dumps({"items": NEW_FILE if is_new else FILE}).encode()
    import_index(database, read_index(content), IndexOrigin.FILE, force=True)


@pytest.mark.parametrize(
    ("take", "facts_of"),
    [
        (take_titles, lambda conn: list(store.read_dump(conn, DumpSource.ANIDB))),
        (take_index, lambda conn: list(store.read_base(conn) or ())),
    ],
)
def test_an_import_that_is_killed_anywhere_leaves_every_name_whole_and_goes_on(
    joined: Database,
    monkeypatch: pytest.MonkeyPatch,
    small_batches: None,
    take: Callable[..., None],
    facts_of: Callable[[Connection], list[Any]],
) -> None:
    before, old = joined.read_blocking(by_name), joined.read_blocking(facts_of)
    take(joined, is_new=True)
    after = joined.read_blocking(by_name)
    whole, new = joined.read_blocking(everything), joined.read_blocking(facts_of)
    assert before != after
    write = joined.write_blocking
    for writes in range(200):
        take(joined, is_new=False)
        left = iter(range(writes))

        def write_or_die(fn: Any, *, durable: bool = True, left: Any = left) -> Any:
            if next(left, None) is None:
                raise Killed
            return write(fn, durable=durable)

        with monkeypatch.context() as patched:
            patched.setattr(joined, "write_blocking", write_or_die)
            try:
                take(joined, is_new=True)
            except Killed:
                pass
            else:
                break
        names = joined.read_blocking(by_name)
        assert all(found in (before.get(name), after.get(name)) for name, found in names.items())
        assert not (before.keys() & after.keys()) - names.keys()
        facts = joined.read_blocking(facts_of)
        assert facts in (old, new)
        if facts == new:
            # The import is valid, and the next start makes the index of it.
            assert joined.read_blocking(store.is_unjoined) or joined.read_blocking(everything) == whole
            changes.bring_up_to_date(joined)
            assert joined.read_blocking(everything) == whole
            assert not joined.read_blocking(store.is_unjoined)
    else:
        raise AssertionError("the import never came to its end")
    assert writes > 12
    assert joined.read_blocking(everything) == whole


def test_a_new_edition_of_the_index_writes_only_what_is_other_in_it(joined: Database) -> None:
    numbers = "SELECT bgm_id, id FROM offline_entries WHERE bgm_id IS NOT NULL"
    before: dict[int, int] = dict(joined.read_blocking(lambda conn: conn.all(numbers)))
    stored, changed = [], []
    content = json.dumps({"items": NEW_FILE[::-1]}).encode()
    import_index(
        joined,
        read_index(content),
        IndexOrigin.FILE,
        on_stored=lambda done, total: stored.append((done, total)),
        on_joined=lambda done, total: changed.append((done, total)),
    )
    after: dict[int, int] = dict(joined.read_blocking(lambda conn: conn.all(numbers)))
    assert {bgm_id: number for bgm_id, number in before.items() if bgm_id != 31}.items() <= after.items()
    assert 31 not in after
    assert before[31] not in after.values()
    assert stored == [(7, 7)]
    # Another time nothing is left to change.
    changed.clear()
    import_index(
        joined, read_index(content), IndexOrigin.FILE, on_joined=lambda done, total: changed.append((done, total))
    )
    assert changed == []


def test_an_index_of_a_version_that_did_not_keep_its_file_is_completed_by_dumps_as_it_is(
    index: Database, small_batches: None
) -> None:
    whole = index.read_blocking(everything)
    index.write_blocking(lambda conn: conn.run("DELETE FROM offline_imports"))
    index.write_blocking(lambda conn: conn.run("DELETE FROM offline_dumps"))
    take_in(index, DumpSource.ANIDB, [titles(*one) for one in ANIDB])
    assert bgm_ids(index, "Kura x Ie") == [21]
    assert bgm_ids(index, "蔵\u00d7家") == [21]
    take_in(index, DumpSource.ANIDB, [titles(99, [("Dare mo Shiranai", "x-jat", True)])])
    entries, names, *_ = index.read_blocking(everything)
    assert (len(entries), names) == (len(whole[0]), whole[1])


def by_name(conn: Connection) -> dict[str, set[int]]:
    """The entries of bangumi-data that have each name."""
    found: dict[str, set[int]] = {}
    for folded, bgm_id in conn.all(
        "SELECT folded, bgm_id FROM offline_titles JOIN offline_entries ON offline_entries.id = entry_id"
    ):
        found.setdefault(folded, set()).add(bgm_id)
    return found


def test_an_index_that_is_replaced_meanwhile_is_joined_as_it_is_then(
    joined: Database, monkeypatch: pytest.MonkeyPatch, small_batches: None
) -> None:
    new, content = [titles(*one) for one in NEW], json.dumps({"items": FILE[::-1]}).encode()
    others = iter([lambda conn: offline.replace_entries(conn, read_index(content).entries)])
    write = changes._write

    def write_after_another(conn: Connection, **given: Any) -> None:
        write(conn, **given)
        if (other := next(others, None)) is not None:
            other(conn)

    monkeypatch.setattr(changes, "_write", write_after_another)
    take_in(joined, DumpSource.ANIDB, new)
    assert next(others, None) is None
    found = joined.read_blocking(everything)
    joined.write_blocking(changes.join_dumps)
    assert joined.read_blocking(everything) == found


def test_the_command_recognises_a_file_and_says_what_it_left_out(tmp_path: Path) -> None:
    rows = '<anime aid="71"><title type="main" xml:lang="x-jat">Kura x Ie</title></anime><anime aid="?"/>'
    (tmp_path / "titles.gz").write_bytes(gzip.compress(f"<animetitles>{rows}</animetitles>".encode()))
    (tmp_path / "page.html").write_text("<html></html>")

    def load(name: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "KURABITO_STATE": str(tmp_path / "state")}
        return run([*KURABITO, "metadata", "import", str(tmp_path / name)], env=environment, timeout=PATIENCE)

    done = load("titles.gz")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Entries read (anidb): 1"), done.stderr
    assert "Rows left out: 1; the first: anime '?': it has no number" in done.stderr
    refused = load("page.html")
    assert refused.returncode == 1
    assert "of no known project" in refused.stderr
