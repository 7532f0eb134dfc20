"""Lists of files as groups release them: what each file is, what is done with it, and why.

A list begins with `= name`. A line is `path => outcome !reason`; the outcomes are

    Title S01E02, Title S01E02-E03     an episode                Title special OVA 1     a special, by what it is called
    Title film 2019                    a film                    track zh-Hans+ja        a subtitle or audio file
    extra, leave, ask, refuse

`{01..12}` makes twelve lines. The reason is left out where it is the usual one of its outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from guessit import guessit
from tests.unit.placements.test_read_back import as_jellyfin_reads

from kurabito.placements.filing.naming_facts import named_by, read_named_by
from kurabito.placements.naming.presets import DEFAULT_NAMING, PRESETS, Preset
from kurabito.placements.naming.renames import plan_renames
from kurabito.placements.naming.safe_names import is_safe, twin_key
from kurabito.placements.plans import FilePlan, ListedFile, PlanContext, PlannedFile, plan_files
from kurabito.placements.plans.model import FileAction, FileClass, Work, WorkKind
from kurabito.placements.renames.named_files import filed_file
from kurabito.titles import parse_title

LISTS = Path(__file__).parent / "file_lists"
RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
USUAL = {
    "special": "special",
    "S": "episode",
    "film": "film",
    "track": "with_video",
    "extra": "extra",
    "refuse": "executable",
}


@dataclass(frozen=True)
class FileList:
    """One list with what is expected of each file: outcome and reason."""

    name: str
    lines: tuple[tuple[str, str, str], ...]

    @property
    def listed(self) -> list[ListedFile]:
        return [ListedFile(path) for path, _, _ in self.lines]

    def plan(self) -> FilePlan:
        return _planned(self)


@cache
def _planned(files: FileList) -> FilePlan:
    return plan_files(files.listed)


def read_lists(path: Path) -> Iterator[FileList]:
    for block in re.split(r"^= ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, *lines = block.strip().splitlines()
        yield FileList(name, tuple(row for line in lines if line for row in _rows(line)))


def _rows(line: str) -> Iterator[tuple[str, str, str]]:
    counts = [range(int(first), int(last) + 1) for first, last in RANGE.findall(line)]
    for turn in range(len(counts[0]) if counts else 1):
        written = line
        for count, (first, last) in zip(counts, RANGE.findall(line), strict=True):
            written = written.replace(f"{{{first}..{last}}}", f"{count[turn]:0{len(first)}}", 1)
        path, _, outcome = written.partition(" => ")
        outcome, _, reason = outcome.partition(" !")
        usual = next((reason for mark, reason in USUAL.items() if re.search(rf"(?:^| ){mark}(?: |\d|$)", outcome)), "")
        yield path, outcome, reason or usual


def outcome_of(file: PlannedFile) -> str:
    """What became of a file, as the lists write it."""
    if file.action is not FileAction.FILE:
        return file.action.value
    if file.file_class is FileClass.EXTRA:
        return "extra"
    if file.tag is not None:
        commentary = ["commentary"] if (file.tag.title or "").startswith("Commentary") else []
        return f"track {'+'.join([*file.tag.languages, *file.tag.flags, *commentary]) or '-'}"
    assert file.work is not None
    return f"{file.work.title} {_work(file.work)}"


def _work(work: Work) -> str:
    if work.kind is WorkKind.FILM:
        return "film" + (f" {work.year}" if work.year else "") + (f" part {work.part}" if work.part else "")
    if work.kind is WorkKind.SPECIAL:
        return f"special {work.label}"
    width = max(2, len(str(work.episodes[0])))
    numbers = [f"E{number:0{width}}" for number in (work.episodes[0], work.episodes[-1])]
    return f"S{work.season:02}{'-'.join(dict.fromkeys(numbers))}"


def same(expected: str, found: str) -> bool:
    """Whether two outcomes are the same, however many zeroes a number has."""
    return re.sub(r"(?<=E)0+(?=\d)", "", expected) == re.sub(r"(?<=E)0+(?=\d)", "", found)


ALL = [one for path in sorted(LISTS.glob("*.txt")) for one in read_lists(path)]


@pytest.mark.parametrize("files", ALL, ids=lambda files: files.name)
def test_every_file_of_a_list_goes_where_it_belongs(files: FileList) -> None:
    plan = files.plan()
    wrong = [
        (path, expected, outcome_of(file), reason, file.reason.code.value)
        for (path, expected, reason), file in zip(files.lines, plan.files, strict=True)
        if not same(expected, outcome_of(file)) or file.reason.code != reason
    ]
    assert wrong == []


@pytest.mark.parametrize("files", ALL, ids=lambda files: files.name)
def test_every_target_is_legal_and_no_two_are_the_same(files: FileList) -> None:
    targets = [file.target for file in files.plan().files if file.action is FileAction.FILE]
    assert all(target is not None and is_safe(target) for target in targets)
    assert len({twin_key(str(target)) for target in targets}) == len(targets)


def test_few_lists_ask() -> None:
    """Lists that cannot be told are among them on purpose; of the others, none asks."""
    asking = [files.name for files in ALL if files.plan().of(FileAction.ASK)]
    videos = sum(1 for files in ALL for file in files.plan().files if file.file_class is FileClass.VIDEO)
    asked = sum(1 for files in ALL for file in files.plan().of(FileAction.ASK) if file.file_class is FileClass.VIDEO)
    assert len(ALL) >= 150
    assert asked / videos <= 0.05
    assert len(asking) <= len(ALL) / 10, asking


def test_what_was_filed_is_read_back_as_the_same_season_and_episodes() -> None:
    """The names that a plan gives are names that the next plan reads the same way."""
    for files in ALL:
        for file in files.plan().of(FileAction.FILE):
            if file.file_class is FileClass.VIDEO and file.work and file.work.kind is WorkKind.EPISODE:
                told = parse_title(str(file.target).rpartition("/")[2])
                assert (told.season, told.episodes) == (file.work.season, file.work.episodes), file.target


def test_what_was_filed_is_read_back_by_the_expressions_of_jellyfin() -> None:
    for files in ALL:
        for file in files.plan().of(FileAction.FILE):
            if file.file_class is FileClass.VIDEO and file.work and file.work.kind is WorkKind.EPISODE:
                assert as_jellyfin_reads(str(file.target)) == (file.work.season, file.work.episodes), file.target


def test_every_show_that_was_filed_is_read_back_by_another_parser() -> None:
    """One file of each show, season and length: the others differ in their number only.

    A show whose name begins like an episode, `2x2 Shinobuden`, is one that the other parser cannot read.
    """
    for files in ALL:
        kinds = {
            (file.work.title, file.work.season, len(file.work.episodes)): (str(file.target), file.work)
            for file in files.plan().of(FileAction.FILE)
            if file.file_class is FileClass.VIDEO and file.work and file.work.kind is WorkKind.EPISODE
        }
        for target, work in kinds.values():
            if re.match(r"\d+x\d", work.title or ""):
                continue
            found = guessit(target.rpartition("/")[2], {"type": "episode"})
            read = found.get("episode")
            episodes = tuple(read) if isinstance(read, list) else (read,)
            assert (found.get("season"), episodes) == (work.season, work.episodes), target


@pytest.mark.parametrize("preset", [Preset.JELLYFIN, Preset.AS_RELEASED])
def test_what_was_named_just_now_is_not_renamed(preset: Preset) -> None:
    """What is kept of a file is enough to give it the same name again."""
    naming = PRESETS[preset]
    for files in ALL:
        plan = files.plan() if naming == DEFAULT_NAMING else plan_files(files.listed, PlanContext(naming=naming))
        videos = {file.path: file for file in plan.files}
        filed = [
            (str(file.target), named_by(file, video=videos.get(file.video or ""), is_numbered=False))
            for file in plan.of(FileAction.FILE)
        ]
        found = plan_renames((filed_file(path, read_named_by(str(by)), naming) for path, by in filed), naming)
        assert (found.renames, found.unknown, found.twins) == ((), (), ()), files.name
