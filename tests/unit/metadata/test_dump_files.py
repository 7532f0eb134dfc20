"""The files of other projects: recognised by their content, read row by row, and never more of them than is good."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from kurabito.errors import InvalidInput
from kurabito.metadata.dumps import files
from kurabito.metadata.dumps.files import DumpFile
from kurabito.metadata.dumps.importer import DumpContent, read_dump_file
from kurabito.metadata.dumps.model import DumpEntry, DumpName, DumpSource, FirstEpisode, folded_spellings
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind
from kurabito.metadata.sources.bangumi_data import read_index

TITLES = """<?xml version="1.0" encoding="UTF-8"?>
<!-- Created: Mon Nov 16 03:00:02 2026 (9 anime, 40 titles) -->
<animetitles>
<anime aid="7"><title xml:lang="x-jat" type="main">Kura no Yoru</title><title xml:lang="ja" type="official">蔵の夜</title>
<title xml:lang="en" type="syn">Night o` the Cellar</title><title xml:lang="x-jat" type="short">KnY</title></anime>
<anime aid="8"><title xml:lang="x-jat" type="main">Kura no Yoru (2022)</title></anime>
<anime aid="none"><title xml:lang="x-jat" type="main">Nameless</title></anime>
<anime aid="9"><title xml:lang="x-jat" type="short">only short</title></anime>
</animetitles>"""
LISTS = """<?xml version="1.0" encoding="UTF-8"?>
<anime-list>
  <anime anidbid="7" tvdbid="1" defaulttvdbseason="1" tmdbtv="101" tmdbseason="1"><name>Kura no Yoru</name></anime>
  <anime anidbid="8" tvdbid="1" defaulttvdbseason="1" episodeoffset="12" tmdbtv="101" tmdbseason="1" tmdboffset="12">
    <name>Kura no Yoru (2022)</name>
    <mapping-list><mapping anidbseason="0" tvdbseason="0" tmdbseason="0">;1-2;</mapping></mapping-list>
  </anime>
  <anime anidbid="10" tvdbid="2" defaulttvdbseason="a" tmdbtv="102" tmdbseason="1">
    <name>Long</name>
    <mapping-list><mapping anidbseason="1" tvdbseason="2" tmdbseason="2" start="27" end="52" offset="-26"/></mapping-list>
  </anime>
  <anime anidbid="11" tvdbid="movie" tmdbid="55"><name>A film</name></anime>
  <anime anidbid="x"><name>Bad</name></anime>
</anime-list>"""
ANIME = {
    "sources": [
        "https://anidb.net/anime/7",
        "https://anilist.co/anime/70",
        "https://myanimelist.net/anime/700",
        "https://kitsu.app/anime/1",
    ],
    "title": "Kura no Yoru",
    "type": "TV",
    "episodes": 12,
    "status": "FINISHED",
    "animeSeason": {"season": "SPRING", "year": 2022},
    "synonyms": ["KnY", "蔵の夜", "The Night of the Cellar"],
    "relatedAnime": [],
    "tags": [],
}
SPLIT = {
    **ANIME,
    "title": "Split",
    "sources": ["https://anidb.net/anime/1", "https://anidb.net/anime/2"],
    "type": "UNKNOWN",
}
META = {"repository": "https://github.com/manami-project/anime-offline-database", "lastUpdate": "2026-11-14"}
INFOBOX = (
    "{{Infobox animanga/TVAnime\r\n|中文名= 藏之夜\r\n|别名={\r\n[Kura no Yoru]\r\n[英文名|Cellar Nights]\r\n}\r\n"
    "|话数= 12\r\n|放送开始= 2022年4月9日\r\n}}"
)


def packed(content: str | bytes) -> bytes:
    return gzip.compress(content.encode() if isinstance(content, str) else content)


def archive(**members: list[Any]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, rows in members.items():
            lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
            zipped.writestr(f"{name.replace('_', '-')}.jsonlines", "\n".join(lines) + "\n")
    return buffer.getvalue()


def encrypted(zipped: bytes) -> bytes:
    """The same, marked as encrypted in both places where a zip says so."""
    marked = bytearray(zipped)
    for beginning, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        marked[zipped.index(beginning) + flags] |= 1
    return bytes(marked)


def read(tmp_path: Path, content: str | bytes) -> DumpContent:
    path = tmp_path / "dump"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with DumpFile(path) as file:
        return read_dump_file(file)


@pytest.mark.parametrize("pack", [str.encode, packed])
def test_the_titles_of_anidb_have_their_languages_and_no_abbreviations(tmp_path: Path, pack: Any) -> None:
    content = read(tmp_path, pack(TITLES))
    assert content.source is DumpSource.ANIDB
    first, second = content.entries
    assert first == DumpEntry(
        names=(
            DumpName("Kura no Yoru", "x-jat"),
            DumpName("蔵の夜", "ja"),
            DumpName("Night o' the Cellar", "en", is_own=False),
        ),
        ids=Ids(anidb_id=7),
    )
    # The year tells namesakes apart at AniDB, and belongs to no name.
    assert [name.title for name in second.names] == ["Kura no Yoru (2022)", "Kura no Yoru"]
    assert second.year == 2022
    assert (content.skipped.count, content.skipped.first) == (2, "anime 'none': it has no number")


def test_the_offsets_of_anime_lists_are_first_episodes_in_a_season(tmp_path: Path) -> None:
    content = read(tmp_path, LISTS)
    assert content.source is DumpSource.ANIME_LISTS
    assert [(entry.ids.anidb_id, entry.show, entry.first) for entry in content.entries] == [
        (7, 101, FirstEpisode(1, 1)),
        (8, 101, FirstEpisode(13, 1)),
        # Its episodes lie in two seasons, so it begins in none.
        (10, 102, None),
    ]
    assert content.skipped.count == 1


@pytest.mark.parametrize(
    "form",
    [
        json.dumps({**META, "data": [ANIME, SPLIT, {"title": 7}]}, indent=1),
        json.dumps({**META, "data": [ANIME, SPLIT, {"title": 7}]}),
        "\n".join(map(json.dumps, [META, ANIME, SPLIT, {"title": 7}])),
    ],
    ids=["pretty", "minified", "lines"],
)
def test_anime_offline_database_is_read_in_each_of_its_forms(tmp_path: Path, form: str) -> None:
    content = read(tmp_path, form)
    assert content.source is DumpSource.OFFLINE_DATABASE
    anime, split = content.entries
    assert anime.ids == Ids(anidb_id=7, anilist_id=70, mal_id=700)
    assert (anime.kind, anime.year, anime.episode_count) == (RecordKind.TV, 2022, 12)
    assert [(name.title, name.language, name.is_own) for name in anime.names] == [
        ("Kura no Yoru", None, True),
        ("蔵の夜", "ja", False),
        ("The Night of the Cellar", None, False),
    ]
    # One that has two pages at AniDB is neither of them.
    assert (split.ids, split.kind) == (Ids(), None)
    assert content.skipped.count == 1


def test_the_archive_of_bgm_has_aliases_episodes_and_relations_of_anime_alone(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        archive(
            subject=[
                {
                    "id": 1,
                    "type": 2,
                    "name": "蔵の夜",
                    "name_cn": "藏之夜",
                    "infobox": INFOBOX,
                    "platform": 1,
                    "date": "2022-04-09",
                },
                {
                    "id": 2,
                    "type": 2,
                    "name": "蔵の夜 第2クール",
                    "name_cn": "",
                    "infobox": "{{Infobox\r\n|别名= Kura 2\r\n}}",
                    "platform": 1,
                },
                {"id": 3, "type": 1, "name": "蔵の夜", "name_cn": "", "infobox": "", "platform": 1001},
                {"id": 4, "type": 2, "name": "", "name_cn": ""},
                'not json, "type":2',
            ],
            episode=[
                {
                    "id": 9,
                    "subject_id": 1,
                    "type": 0,
                    "sort": 2,
                    "name": "二",
                    "name_cn": "贰",
                    "airdate": "2022-04-16",
                },
                {"id": 8, "subject_id": 1, "type": 0, "sort": 1, "name": "一", "name_cn": "", "airdate": "soon"},
                {"id": 7, "subject_id": 1, "type": 2, "sort": 1, "name": "OP", "name_cn": ""},
                {"id": 6, "subject_id": 2, "type": 0, "sort": 13, "name": "十三", "name_cn": ""},
                {"id": 5, "subject_id": 3, "type": 0, "sort": 1, "name": "a chapter", "name_cn": ""},
                {"id": 4, "subject_id": 1, "type": 0, "sort": "x", "name": ""},
            ],
            subject_relations=[
                {"subject_id": 2, "relation_type": 2, "related_subject_id": 1, "order": 0},
                {"subject_id": 1, "relation_type": 1, "related_subject_id": 3, "order": 0},
                {"subject_id": 1, "relation_type": 10, "related_subject_id": 2, "order": 0},
            ],
        ),
    )
    assert content.source is DumpSource.ARCHIVE
    first, second = content.entries
    assert [(name.title, name.language, name.is_own) for name in first.names] == [
        ("蔵の夜", "ja", True),
        ("藏之夜", "zh-Hans", True),
        ("Kura no Yoru", None, False),
        ("Cellar Nights", "en", False),
    ]
    assert (first.kind, first.air_date, first.episode_count, first.first) == (
        RecordKind.TV,
        date(2022, 4, 9),
        2,
        FirstEpisode(1),
    )
    assert [name.title for name in second.names] == ["蔵の夜 第2クール", "Kura 2"]
    assert (second.first, second.related, first.related) == (FirstEpisode(13), (1,), ())
    one, two = content.episodes[1]
    assert (one.counted, one.titles, one.air_date) == (1, {"ja": "一"}, None)
    assert (two.titles, two.air_date) == ({"ja": "二", "zh-Hans": "贰"}, date(2022, 4, 16))
    assert content.skipped.count == 3


def test_an_entry_comes_back_from_the_database_as_it_was() -> None:
    entry = DumpEntry(
        names=(DumpName("蔵の夜", "ja"), DumpName("Kura", None, is_own=False)),
        kind=RecordKind.WEB,
        ids=Ids(bgm_id=1, anidb_id=2),
        year=2022,
        air_date=date(2022, 4, 9),
        episode_count=12,
        first=FirstEpisode(13, 1),
        show=101,
        related=(3, 4),
    )
    assert DumpEntry.from_stored(json.loads(json.dumps(entry.as_stored()))) == entry
    assert DumpEntry.from_stored({}) == DumpEntry()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no known project"),
        (b"<html><body>Not found</body></html>", "no known project"),
        (b"\x1f\x8bnot gzip at all", "broken"),
        (packed(TITLES)[:200], "broken"),
        (TITLES[:-40].encode(), "broken"),
        (b"PK\x03\x04 but no zip", "broken"),
        (archive(person=[{"id": 1}]), "no known project"),
        (archive(subject=[{"id": 1, "type": 1}]), "nothing of bangumi-archive"),
        (b"\x28\xb5\x2f\xfd....", "zstd"),
        (b'{"repository": "anime-offline-database", "data": 7}', "no list"),
        (b'{"repository": "anime-offline-database", "data": [' + b"[" * 100_000, "broken"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><animetitles><anime aid="1"/></animetitles>', "document type"),
        (TITLES.replace("UTF-8", "gbk").encode("gbk", "ignore"), "broken"),
        (TITLES.replace("UTF-8", "no-such-encoding").encode(), "broken"),
        (b"<animetitles>" + b"<anime>" * 2_000_000, "a <anime> of more than 1 MB"),
        (b'<animetitles><anime aid="1"><title>' + b"x" * (2 << 20), "a <anime> of more than 1 MB"),
        (encrypted(archive(subject=[{"id": 1, "type": 2, "name": "a"}])), "broken: File .* is encrypted"),
    ],
)
def test_another_file_and_a_broken_one_are_refused_with_what_to_do(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read(tmp_path, content)


def test_a_pipe_is_refused_with_what_to_do() -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(InvalidInput, match="save it first"):
            DumpFile(Path(f"/proc/self/fd/{reading}"))
    finally:
        os.close(reading)
        os.close(writing)


def test_what_unpacks_to_far_too_much_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files._Bounded.__init__, "__kwdefaults__", {"largest": 1 << 20})
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        read(tmp_path, packed("<animetitles>" + " " * (4 << 20) + "</animetitles>"))


def test_a_line_that_never_ends_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LONGEST_LINE", 1 << 16)
    monster = json.dumps({"id": 5, "type": 2, "name": "x" * 300_000})
    content = read(tmp_path, archive(subject=[monster, {"id": 1, "type": 2, "name": "蔵の夜", "platform": 1}]))
    assert [entry.ids.bgm_id for entry in content.entries] == [1]
    assert content.skipped.count == 1


def test_progress_tells_how_much_of_the_file_was_read(tmp_path: Path) -> None:
    path = tmp_path / "titles.xml.gz"
    path.write_bytes(packed(TITLES))
    told: list[tuple[int, int]] = []
    with DumpFile(path, lambda done, total: told.append((done, total))) as file:
        read_dump_file(file)
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    assert told == sorted(told)


def test_rows_that_no_database_could_keep_are_left_out_and_names_lose_only_what_cannot_be_kept(tmp_path: Path) -> None:
    halves = {**ANIME, "title": "Kura\ud83d no\x00 Yoru", "synonyms": ["\ud83d", "藏\ud83d"]}
    (kept,) = read(tmp_path, "\n".join(map(json.dumps, [META, halves, {**ANIME, "synonyms": "蔵の夜"}]))).entries
    assert [name.title for name in kept.names] == ["Kura no Yoru", "藏"]
    subject = {"type": 2, "name": "蔵の夜", "platform": 1}
    huge = [
        json.dumps({**subject, "id": 10**30}),
        '{"id": 1e999, "type": 2, "name": "x"}',
        '{"id": -5, "type": 2, "name": "x"}',
    ]
    episodes = [
        f'{{"subject_id": 1, "type": 0, "sort": {sort}, "name": "x"}}' for sort in ("NaN", "1e999", "1e9", "2.5")
    ]
    relation = '{"subject_id": 1, "relation_type": 2, "related_subject_id": 1e999}'
    content = read(
        tmp_path, archive(subject=[*huge, {**subject, "id": 1}], episode=episodes, subject_relations=[relation])
    )
    assert [entry.ids.bgm_id for entry in content.entries] == [1]
    assert [episode.counted for episode in content.episodes[1]] == [2.5]
    assert content.skipped.count == len(huge) + 3 + 1


def test_a_name_that_folds_to_more_than_an_index_holds_is_not_looked_up_by() -> None:
    assert folded_spellings("\ufdfa" * 300) == set()


def package(member: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        info = tarfile.TarInfo(member)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def index_of(*items: Any) -> bytes:
    return json.dumps({"siteMeta": {}, "items": items}).encode()


ITEM = {"title": "蔵の夜", "type": "tv", "lang": "ja", "begin": "2022-04-09T14:00:00.000Z", "sites": []}


def test_the_package_of_bangumi_data_is_recognised_as_its_file_is(tmp_path: Path) -> None:
    for content in (index_of(ITEM), packed(index_of(ITEM)), package("package/dist/data.json", index_of(ITEM))):
        path = tmp_path / "bangumi-data.tgz"
        path.write_bytes(content)
        with DumpFile(path) as file:
            assert file.source is DumpSource.BANGUMI_DATA
            assert [entry.title for entry in read_index(file.content()).entries] == ["蔵の夜"]
    with pytest.raises(InvalidInput, match="more than 64 MB"):
        read_index(package("package/README.md", bytes(65 << 20)))
    with pytest.raises(InvalidInput, match=r"dist/data\.json"):
        read_index(package("package/README.md", b"nothing"))


def test_rows_of_bangumi_data_that_cannot_be_are_counted_and_cost_no_other() -> None:
    wrong = [
        {**ITEM, "begin": "9999-12-31T23:00:00.000Z"},
        {**ITEM, "title": "x" * 301},
        {**ITEM, "title": "\ud83d"},
        {**ITEM, "titleTranslate": {"en": "A text has letters, which are no names"}},
        {**ITEM, "titleTranslate": {"en": [7]}},
        {**ITEM, "sites": {"tmdb": 1}},
        {**ITEM, "type": ["tv"]},
        "a text",
        None,
    ]
    found = read_index(index_of(*wrong, {**ITEM, "titleTranslate": {"en": ["Kura\ud83d", ""]}}))
    assert [(entry.title, entry.other_titles) for entry in found.entries] == [("蔵の夜", ("Kura",))]
    assert (found.bad_rows, found.unknown_kinds) == (len(wrong), 0)
