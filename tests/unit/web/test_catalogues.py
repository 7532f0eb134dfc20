"""Every language says the same things."""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from string import Formatter

import pytest

import kurabito.web
from kurabito.api.reasons import ENGLISH
from kurabito.attention import ActionId, AttentionAction, AttentionCode, AttentionItem, AttentionPart, Fact, Severity
from kurabito.catalog.matching.model import MatchReason as Clue
from kurabito.catalog.matching.model import MatchState
from kurabito.catalog.states import EpisodeState, FilterReason, HeldReason, SeriesState
from kurabito.dataplane.main import _runners
from kurabito.db.factory import open_database
from kurabito.downloads.filters.model import Action, Target
from kurabito.downloads.health.downloaders import DownloaderHealth
from kurabito.downloads.health.progress import DownloadAction, DownloadProgressState
from kurabito.downloads.items import TransferDetail
from kurabito.downloads.paths.tests import PathReason
from kurabito.downloads.reasons import DownloadReason
from kurabito.downloads.states import Outcome
from kurabito.errors import KurabitoError
from kurabito.feeds.errors import FeedUnreadable, FetcherRefused
from kurabito.feeds.health import FeedHealth
from kurabito.feeds.raw_items import RawReason, RawStatus
from kurabito.feeds.subscriptions import NewSeries, StartWith
from kurabito.http.errors import OutboundError
from kurabito.library.deletion.rules import KeepReason, KeepRule
from kurabito.maintenance.wal import CheckpointReason
from kurabito.metadata.calendar import SEASON_MONTHS
from kurabito.metadata.health import SourceFailure
from kurabito.metadata.missing import MissingMetadata
from kurabito.metadata.records import RecordKind as ShownAs
from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.naming.presets import TEMPLATES as NAMING_TEMPLATES
from kurabito.placements.naming.presets import ExtrasChoice
from kurabito.placements.naming.sidecars import SubtitleStyle
from kurabito.placements.plans.reasons import PlanReason
from kurabito.protocol.deletion import DeleteMode, LogState
from kurabito.protocol.enums import HashPolicy
from kurabito.protocol.error_codes import ErrorCode
from kurabito.reasons import OTHER, InputReason, Reason
from kurabito.runtime import TaskState
from kurabito.runtime.events import EVENTS
from kurabito.runtime.reasons import LostReason, WaitReason
from kurabito.settings import Settings
from kurabito.titles import ReleaseKind
from kurabito.web.downloads.download_pages import ShownStates
from kurabito.web.downloads.rule_moves import Move
from kurabito.web.following.rule_form import ASKED, RARELY_ASKED
from kurabito.web.languages import Forms, catalogues, choose
from kurabito.web.navigation import NAVIGATION
from kurabito.web.preferences import THEMES
from kurabito.web.reasons import SECTIONS, key_of
from kurabito.web.shows.wall import WallView
from kurabito.web.words import Words

TEMPLATES = Path(kurabito.web.__file__).parent / "templates"
OTHERS = [tag for tag in catalogues() if tag != "en"]


# Messages whose text is the same for one and for many.
UNCHANGED_BY_NUMBER = {
    *(f"scan.{word}" for word in ("added", "changed", "moved", "removed")),
    *("duplicates.more", "filters.more", "follow.refused", "follow.further", "system.thumbs_again"),
}


def _placeholders(forms: Forms) -> set[str]:
    return {name for text in forms.values() for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_there_are_four_languages_and_each_names_itself() -> None:
    assert {tag: catalogue.name for tag, catalogue in catalogues().items()} == {
        "en": "English",
        "ja": "日本語",
        "zh-Hans": "简体中文",
        "zh-Hant": "繁體中文",
    }


def test_a_section_stands_in_one_file() -> None:
    files: dict[str, set[str]] = {}
    for path in sorted((Path(kurabito.web.__file__).parent / "locales").glob("*.toml")):
        for sections in tomllib.loads(path.read_text(encoding="utf-8")).values():
            for section in sections:
                files.setdefault(section, set()).add(path.name)
    assert {section: names for section, names in files.items() if len(names) > 1} == {}


@pytest.mark.parametrize("tag", OTHERS)
def test_a_catalogue_has_the_keys_and_placeholders_of_the_english_one(tag: str) -> None:
    english, other = catalogues()["en"].messages, catalogues()[tag].messages
    assert set(other) == set(english)
    assert {key: _placeholders(forms) for key, forms in other.items()} == {
        key: _placeholders(forms) for key, forms in english.items()
    }


def test_english_has_a_form_for_one_and_for_many_wherever_the_number_changes_the_text() -> None:
    english = catalogues()["en"].messages
    counted = {key for key, forms in english.items() if "count" in _placeholders(forms)}
    assert {key for key in counted if set(english[key]) != {"one", "other"}} == UNCHANGED_BY_NUMBER
    assert all(forms["one"] != forms["other"] for forms in english.values() if "one" in forms)


@pytest.mark.parametrize("tag", OTHERS)
def test_a_language_without_plurals_has_one_form_for_every_number(tag: str) -> None:
    assert {key for key, forms in catalogues()[tag].messages.items() if set(forms) != {"other"}} == set()


@pytest.mark.parametrize(
    ("tag", "count", "text"),
    [
        ("en", 0, "0 files"),
        ("en", 1, "1 file"),
        ("en", 2, "2 files"),
        ("en", 1_000_001, "1,000,001 files"),
        ("ja", 1, "1 ファイル"),
        ("zh-Hans", 2, "2 个文件"),
    ],
)
def test_a_number_chooses_the_form_of_its_message(tag: str, count: int, text: str) -> None:
    assert str(catalogues()[tag].say("library.files_count", count=count)) == text


def test_a_number_chooses_the_form_of_a_label_that_does_not_show_it() -> None:
    english = catalogues()["en"]
    assert str(english.say("plan.goes", count=1)) == "file to remove"
    assert str(english.say("plan.goes", count=3)) == "files to remove"


@pytest.mark.parametrize("tag", catalogues())
def test_a_setting_is_called_by_its_name_on_the_page_and_not_by_its_variable(tag: str) -> None:
    texts = {key: " ".join(forms.values()) for key, forms in catalogues()[tag].messages.items()}
    told = {name for text in texts.values() for name in re.findall(r"`([a-z]+_[a-z_]+)`", text)}
    assert told & set(Settings.model_fields) == set()
    # Where a text leads to one, the setting has that name.
    for key, name in (
        ("plan.not_allowed", "allow_delete"),
        ("setup.boundary", "browse_roots"),
        ("trouble.host_not_allowed", "allow_private_hosts"),
    ):
        assert texts[f"setting_name.{name}"] in texts[key]


def test_the_browser_gets_texts_that_no_number_changes() -> None:
    for catalogue in catalogues().values():
        sent = json.loads(Words(catalogue, datetime.now(UTC)).for_browser())
        assert {"time.days", "live.offline"} <= set(sent)
        assert all(set(catalogue.messages[key]) == {"other"} for key in sent)


def test_every_number_that_a_template_gives_is_a_number() -> None:
    """A number that was made a text already can choose no form."""
    assert [path.name for path in TEMPLATES.glob("*.html") if "count=words." in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("tag", OTHERS)
def test_nothing_but_names_is_left_in_english(tag: str) -> None:
    english, other = catalogues()["en"].messages, catalogues()[tag].messages
    assert {key for key in english if english[key] == other[key]} == {"docs.nav", "kind.ova", "show.ova"}


def test_every_value_that_is_shown_has_a_message() -> None:
    messages = catalogues()["en"].messages
    wanted = {f"state.{state}" for state in TaskState}
    wanted |= (
        {f"waiting.{why}" for why in WaitReason}
        | {f"task_error.{why}" for why in LostReason}
        | {f"event.{name}" for name in EVENTS}
    )
    wanted |= {f"theme.{theme}" for theme in THEMES} | {f"{entry.name}.nav" for entry in NAVIGATION}
    wanted |= {f"trouble.{code.lower()}" for code in ErrorCode} | {f"reason.{reason}" for reason in KeepReason}
    wanted |= {f"step.{state}" for state in LogState} | {f"library.policy_{policy}" for policy in HashPolicy}
    wanted |= {f"plan.keep_{rule}" for rule in KeepRule}
    wanted |= {f"plan.{word}_{mode}" for mode in DeleteMode for word in ("mode", "apply")}
    wanted |= {f"feed_health.{health}" for health in FeedHealth} | {f"episode.{state}" for state in EpisodeState}
    wanted |= {f"item.{word}" for word in (*RawStatus, *RawReason)} | {f"held.{reason}" for reason in HeldReason}
    wanted |= {f"series.{word}{state}" for state in SeriesState for word in ("", "state_")}
    wanted |= {f"series.none_{view}" for view in WallView}
    wanted |= {f"follow.start_{start}" for start in StartWith} | {f"field.{name}" for name in (*ASKED, *RARELY_ASKED)}
    wanted |= {f"following.new_series_{choice}" for choice in NewSeries}
    wanted |= {f"kind.{kind}" for kind in ReleaseKind if kind not in (ReleaseKind.TV, ReleaseKind.UNKNOWN)}
    wanted |= (
        {f"lack.{lack}" for lack in MissingMetadata}
        | {f"source.failure_{failure}" for failure in SourceFailure}
        | {f"clue.{clue}" for clue in Clue}
        | {f"show.{kind}" for kind in ShownAs}
    )
    wanted |= {f"matches.{word}{state}" for state in MatchState for word in ("", "none_")}
    wanted |= {f"weekday.{length}_{day}" for day in range(1, 8) for length in ("long", "short")}
    wanted |= {f"season.month_{month}" for month in SEASON_MONTHS}
    wanted |= {f"download_progress.{state}" for state in DownloadProgressState} | {
        f"downloader_health.{health}" for health in DownloaderHealth
    }
    wanted |= {f"download_action.{action.replace('-', '_')}" for action in DownloadAction} | {
        f"attempt.{outcome}" for outcome in Outcome
    }
    wanted |= {f"downloads.show_{shown}" for shown in ShownStates} | {f"filters.about_{target}" for target in Target}
    wanted |= {f"filters.{word}_{move}" for move in Move for word in ("ask", "sure")}
    wanted |= {f"filters.{word}{action}" for action in Action for word in ("", "does_", "because_")}
    wanted |= {f"{section}.{field}" for section in ("naming", "refused") for field in NAMING_TEMPLATES}
    wanted |= {f"naming.numbering_{scheme}" for scheme in NumberingScheme}
    wanted |= {f"naming.subtitle_style_{style}" for style in SubtitleStyle} | {
        f"naming.extras_{one}" for one in ExtrasChoice
    }
    feed_errors: set[type[KurabitoError]] = {*_below(OutboundError), FeedUnreadable, FetcherRefused}
    wanted |= {f"trouble.{error.code}" for error in feed_errors}
    assert wanted <= set(messages)


def _below(error: type[OutboundError]) -> set[type[OutboundError]]:
    return {one for child in error.__subclasses__() for one in (child, *_below(child))}


@pytest.mark.parametrize("tag", catalogues())
@pytest.mark.parametrize(
    "codes", [DownloadReason, FilterReason, CheckpointReason, PathReason, PlanReason, TransferDetail, InputReason]
)
def test_every_code_of_a_reason_has_words_in_every_language(tag: str, codes: type[StrEnum]) -> None:
    # A text of others is its own words.
    facts = {"outcome": Outcome.UNCLEAR.value, "detail": TransferDetail.UNWRITABLE.value}
    wanted = {key_of(Reason(code, facts)) for code in codes if code != OTHER}
    assert wanted <= set(catalogues()[tag].messages)


@pytest.mark.parametrize("codes", [DownloadReason, FilterReason, CheckpointReason, PathReason, PlanReason])
def test_every_code_of_a_reason_has_words_for_the_api(codes: type[StrEnum]) -> None:
    assert set(ENGLISH[codes]) == set(codes)


@pytest.mark.parametrize("tag", catalogues())
@pytest.mark.parametrize("code", AttentionCode)
def test_everything_that_needs_a_person_has_words_in_every_language(tag: str, code: AttentionCode) -> None:
    facts: dict[str, Fact] = {
        "part": "data_plane",
        "why": "<gone>",
        "source": "tmdb",
        "failure": "<gone>",
        "folder": "/srv",
        "free": 3 << 20,
        "name": "<Shows>",
        "count": 2,
    }
    said = Words(catalogues()[tag], datetime.now(UTC)).attention(
        AttentionItem(code=code, severity=Severity.WARNING, facts=facts)
    )
    # Each fact in its place, escaped, and none left open.
    assert [text for text in ("{", "<gone>", "<Shows>") if text in said] == []
    assert _placeholders(catalogues()[tag].messages[f"attention.{code}"]) <= set(facts)


@pytest.mark.parametrize("tag", catalogues())
def test_every_remedy_and_every_part_has_words_in_every_language(tag: str) -> None:
    words = Words(catalogues()[tag], datetime.now(UTC))
    assert all(words.remedy(AttentionAction(action)) for action in ActionId)
    assert {f"part.{part}" for part in (*AttentionPart, "worker", "data_plane")} <= set(catalogues()[tag].messages)


def test_what_needs_a_person_is_said_with_its_facts() -> None:
    words = Words(catalogues()["en"], datetime.now(UTC))
    failed = AttentionItem(
        code=AttentionCode.PART_FAILED, severity=Severity.BROKEN, facts={"part": "worker", "why": "no <room>"}
    )
    full = AttentionItem(
        code=AttentionCode.DISK_FULL, severity=Severity.BROKEN, facts={"folder": "/srv", "free": 50 << 20}
    )
    open_ones = AttentionItem(code=AttentionCode.MATCHES_OPEN, severity=Severity.NOTICE, facts={"count": 1})
    assert [str(words.attention(item)) for item in (failed, full, open_ones)] == [
        'Built-in worker is not working: <bdi lang="en">no &lt;room&gt;</bdi>',
        "<bdi>/srv</bdi> has only 50.0 MiB left.",
        "1 folder needs a match.",
    ]


@pytest.mark.parametrize("tag", catalogues())
def test_every_setting_has_a_text_and_every_text_a_setting(tag: str) -> None:
    described = {key.removeprefix("setting.") for key in catalogues()[tag].messages if key.startswith("setting.")}
    assert described == set(Settings.model_fields)


def test_every_message_that_a_template_names_exists() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.html"))
    named = set(re.findall(r"""say\(["']([\w.]+)["'][,)]""", text))
    assert len(named) > 50
    assert named <= set(catalogues()["en"].messages)


def unsaid(messages: Iterable[str], program: str) -> set[str]:
    """The messages that no part of the program names, as a whole or by how they begin.

    Reasons have a section for each of their types, and the navigation one message in the section of each page.
    """
    words = set(re.findall(r"""["'`]([\w.]+)["'`%{$]""", program))
    heads = tuple(word for word in words if word.endswith(("_", ".")) and "." in word)
    sections = tuple(f"{section}." for section in SECTIONS.values())
    return {key for key in messages if key not in words and not key.startswith((*heads, *sections))}


def test_every_message_is_named_by_the_program() -> None:
    package = Path(kurabito.web.__file__).parents[1]
    program = "".join(
        path.read_text(encoding="utf-8") for kind in ("py", "html", "js") for path in package.rglob(f"*.{kind}")
    )
    navigation = {f"{entry.name}.nav" for entry in NAVIGATION}
    assert unsaid(catalogues()["en"].messages, program) - navigation == set()


def test_a_message_that_nothing_names_is_seen() -> None:
    program = """say("home.title") say("weekday.long_%s" % day) say("trouble." ~ code) f"plan.keep_{rule}" """
    named = ["home.title", "weekday.long_1", "trouble.wal_busy", "plan.keep_oldest"]
    assert unsaid([*named, "home.lead", "plan.make"], program) == {"home.lead", "plan.make"}


@pytest.mark.parametrize(
    ("chosen", "accepted", "tag"),
    [
        (None, "", "en"),
        (None, "ja", "ja"),
        (None, "ja-JP,en;q=0.5", "ja"),
        (None, "zh-CN,zh;q=0.9", "zh-Hans"),
        (None, "zh", "zh-Hans"),
        (None, "zh-SG", "zh-Hans"),
        (None, "zh-TW,zh;q=0.9,en;q=0.8", "zh-Hant"),
        (None, "zh-HK", "zh-Hant"),
        (None, "zh-Hant-CN", "zh-Hant"),
        (None, "zh-Hans-TW", "zh-Hans"),
        (None, "fr-FR,de;q=0.9,ja;q=0.2,en;q=0.1", "ja"),
        (None, "en;q=0.2, ja;q=0.8", "ja"),
        (None, "ja;q=0, en", "en"),
        (None, "fr, *;q=0.5", "en"),
        (None, "ja;q=much", "en"),
        ("zh-Hant", "ja", "zh-Hant"),
        ("klingon", "ja", "ja"),
    ],
)
def test_the_language_is_the_chosen_one_else_what_the_browser_likes_best(
    chosen: str | None, accepted: str, tag: str
) -> None:
    assert choose(chosen, accepted).tag == tag


def test_facts_are_escaped_and_commands_are_marked() -> None:
    english = catalogues()["en"]
    assert str(english.say("live.failed", problem="<b>&")) == "That did not work: &lt;b&gt;&amp;"
    assert "<code>kurabito user password</code>" in english.say("login.set_password")


@pytest.mark.parametrize(
    ("tag", "this_year", "other_year", "moment"),
    [
        ("en", "7 Oct", "31 Dec 2025", "7 Oct, 23:05:09 UTC"),
        ("ja", "10月7日", "2025年12月31日", "10月7日 23:05:09 UTC"),
        ("zh-Hans", "10月7日", "2025年12月31日", "10月7日 23:05:09 UTC"),
        ("zh-Hant", "10月7日", "2025年12月31日", "10月7日 23:05:09 UTC"),
    ],
)
def test_a_day_is_written_as_its_readers_do_and_as_machines_read_it(
    tag: str, this_year: str, other_year: str, moment: str
) -> None:
    words = Words(catalogues()[tag], datetime(2026, 11, 1, tzinfo=UTC))
    assert words.day(date(2026, 10, 7)) == f'<time datetime="2026-10-07">{this_year}</time>'
    assert words.day(date(2025, 12, 31)) == f'<time datetime="2025-12-31">{other_year}</time>'
    assert f">{moment}<" in words.moment(datetime(2026, 10, 7, 23, 5, 9, tzinfo=UTC))


@pytest.mark.parametrize(
    ("tag", "away", "said"),
    [
        ("en", -8, "10 Nov"),
        ("en", -6, "6 days ago"),
        ("en", -1, "Yesterday"),
        ("en", 0, "Today"),
        ("en", 1, "Tomorrow"),
        ("en", 6, "Tuesday"),
        ("en", 7, "25 Nov"),
        ("ja", 1, "明日"),
        ("zh-Hans", 2, "星期五"),
        ("zh-Hant", -2, "2 天前"),
    ],
)
def test_a_day_near_this_one_is_said_as_people_say_it(tag: str, away: int, said: str) -> None:
    now = datetime(2026, 11, 18, 23, 30, tzinfo=UTC)
    day = now.date() + timedelta(days=away)
    assert f" data-day>{said}</time>" in Words(catalogues()[tag], now).near_day(day)


def test_what_was_long_ago_is_told_by_its_date() -> None:
    words = Words(catalogues()["en"], datetime(2026, 11, 18, tzinfo=UTC))
    assert ">59 days ago<" in words.ago(datetime(2026, 9, 20, tzinfo=UTC))
    assert ">2 Jan 2025<" in words.ago(datetime(2025, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize("language", catalogues())
def test_every_task_of_the_product_has_a_name_for_people(language: str) -> None:
    """Whatever a part of the product registers; the tasks of the demo are called as they are."""
    package = Path(kurabito.web.__file__).parents[1]
    registered = re.compile(r"^\s+registry\.task\((\w+)[,)]", re.MULTILINE)
    named = {
        getattr(importlib.import_module(".".join(("kurabito", *path.relative_to(package).with_suffix("").parts))), name)
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in ("demo", "conformance", "runtime")
        for name in registered.findall(path.read_text())
    }
    assert len(named) > 20
    assert [
        name for name in sorted(named) if not catalogues()[language].has(f"task_name.{name.replace('.', '_')}")
    ] == []


@pytest.mark.parametrize("failure", SourceFailure)
def test_a_source_that_fails_is_named_and_says_why_in_a_sentence(failure: SourceFailure) -> None:
    item = AttentionItem(
        code=AttentionCode.METADATA_SOURCE_FAILING,
        severity=Severity.WARNING,
        facts={"source": "index", "failure": failure},
        action=AttentionAction(ActionId.FETCH_INDEX),
    )
    for catalogue in catalogues().values():
        said = str(Words(catalogue, datetime.now(UTC)).attention(item))
        assert str(catalogue.say(f"source.failure_{failure}")) in said
        assert str(catalogue.say("source.name_index")) in said
        named = replace(item, facts={"source": "bgm", "failure": failure})
        assert "bgm.tv" in Words(catalogue, datetime.now(UTC)).attention(named)


@pytest.mark.parametrize("tag", catalogues())
def test_every_field_at_which_something_is_refused_has_words_for_it(tag: str) -> None:
    asked = set()
    for template in (Path(kurabito.web.__file__).parent / "templates").glob("*.html"):
        text = template.read_text(encoding="utf-8")
        asked |= set(re.findall(r'refusal\(\w+, "(\w+)"', text))
        # Macros of the page itself, which get the field's name from their callers.
        for macro in re.findall(
            r"macro (\w+)\([^)]*\bname\b[^)]*\) %}(?:(?!endmacro).)*?refusal\(form, name\)", text, re.DOTALL
        ):
            asked |= set(re.findall(rf'\b{macro}\([\w.]+, (?:[\w.]+, )?"(\w+)"', text))
    assert {"placement_modes", "token", "kind", "url"} <= asked
    assert not [name for name in sorted(asked) if not catalogues()[tag].has(f"refused.{name}")]


@pytest.mark.parametrize("tag", catalogues())
def test_what_a_data_plane_does_is_said_in_words(tag: str, tmp_path: Path) -> None:
    words = Words(catalogues()[tag], datetime.now(UTC))
    database = open_database(f"sqlite:///{tmp_path / 'plane.db'}")
    lines = dict.fromkeys(runner.name for runner in _runners(Settings(state=tmp_path), database, "plane"))
    keys = [f"plane_work.{name.replace(' ', '_')}" for line in lines for name in line.split("+")]
    assert len(keys) > 8
    assert [key for key in keys if not words.catalogue.has(key)] == []
    # What one of another make does has its own name.
    assert words.plane_work(["scan+polish <all>"]) == f"{words.say('plane_work.scan')}, polish &lt;all&gt;"
