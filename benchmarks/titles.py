"""Release titles understood as their sources say, and titles per second, beside other parsers.

The corpus is a folder named by KURABITO_CORPUS with `titles.jsonl`: {"source", "kind", "title", "expected"} a line. What a source
does not assert is not asked. Titles are compared without case, width and punctuation, and any of the source's counts; episodes
and seasons as sets; resolutions by their height.

`benchmarks/held_out` is such a folder, of titles that were written by hand after the parser was frozen, in the styles of many groups.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness import Options, Outcome, Row, number, run_alone
from peers.titles import PEERS, Parser, Understood, kurabito, many, numbers

SETS: Final[Mapping[str, frozenset[str]]] = {
    "Latin anime": frozenset({"anitomy", "anitopy", "aniparse", "held-out latin"}),
    "Sonarr anime": frozenset({"sonarr-anime", "held-out world"}),
    "CJK by hand": frozenset(
        {"autobangumi-golden", "autobangumi-tests", "moviepilot", "moe-bangumi", "animeko", "held-out cjk"}
    ),
    "CJK snapshots": frozenset({"anipar", "animeko"}),
    "western": frozenset({"guessit", "sonarr-tv", "PTN", "PTT", "held-out western"}),
}
TARGETS: Final[Mapping[str, Mapping[str, float]]] = {
    "Latin anime": {"episode": 0.95, "title": 0.93, "group": 0.97},
    "Sonarr anime": {"episode": 0.93, "title": 0.75, "group": 0.96},
    "CJK by hand": {"episode": 0.96, "title": 0.85, "group": 0.97},
    "CJK snapshots": {"episode": 0.95, "title": 0.88},
    "western": {"episode": 0.92, "title": 0.92, "group": 0.90, "season": 0.94},
}
TITLES_PER_SECOND: Final = 5_000
MOST_CONFIDENT_WRONG: Final = 0.01
_HEIGHTS: Final = {"4k": 2160, "2k": 1440, "8k": 4320}


@dataclass(frozen=True)
class Case:
    """A title, and what its source says about it."""

    set_name: str
    source: str
    title: str
    expected: Mapping[str, Any]


@dataclass(frozen=True)
class Score:
    """How often a parser was right, by set and field, and how fast it was."""

    right: Counter[tuple[str, str]]
    asked: Counter[tuple[str, str]]
    titles_per_second: float
    confident_wrong: int
    """Wrong episodes that were given without a doubt."""
    one_line: int
    """Titles whose episode is asked and that are one line, as every real one is."""

    def share(self, key: tuple[str, str]) -> float:
        return self.right[key] / self.asked[key]

    def shown(self, key: tuple[str, str]) -> str:
        return f"{self.right[key]}/{self.asked[key]} = {self.share(key):.3f}"


def run(options: Options) -> Outcome:
    """Every parser on every title of the corpus."""
    folder = os.environ.get("KURABITO_CORPUS")
    if folder is None:
        return Outcome([], ["Not run: KURABITO_CORPUS names no corpus."])
    cases = _cases(Path(folder))[: 200 if options.quick else None]
    parsers = {"ours": kurabito()} | ({} if options.ours_only else {name: make() for name, make in PEERS.items()})
    scores: dict[str, Score] = {}
    for name, parse in parsers.items():
        scores[name] = _score(parse, cases, rounds=options.rounds if name == "ours" else 1)
        print(f"  {name:<10} {scores[name].titles_per_second:,.0f} titles/s", flush=True)
    return Outcome(_rows(scores, options), _notes(scores))


def _cases(folder: Path) -> list[Case]:
    cases = []
    with (folder / "titles.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            kind = "CJK by hand" if row["kind"] == "hand" else "CJK snapshots"
            names = [name for name, sources in SETS.items() if row["source"] in sources]
            cases.append(Case(kind if len(names) > 1 else names[0], row["source"], row["title"], row["expected"]))
    return cases


def _score(parse: Parser, cases: list[Case], *, rounds: int) -> Score:
    for case in cases[:50]:
        _understand(parse, case.title)
    took = []
    for _ in range(rounds):
        began = time.process_time()
        understood = [_understand(parse, case.title) for case in cases]
        took.append(time.process_time() - began)
    right: Counter[tuple[str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    for case, found in zip(cases, understood, strict=True):
        for name, agrees in FIELDS.items():
            if name in case.expected:
                asked[case.set_name, name] += 1
                right[case.set_name, name] += agrees(case.expected[name], found)
                asked[case.source, name] += 1
                right[case.source, name] += agrees(case.expected[name], found)
    lines = [pair for pair in zip(cases, understood, strict=True) if _is_one_line(pair[0])]
    wrong = sum(_is_confident_wrong(case, found) for case, found in lines)
    return Score(right, asked, len(cases) / statistics.median(took), wrong, len(lines))


def _is_one_line(case: Case) -> bool:
    """Some snapshots hold two titles and a piece of the file that they were cut from."""
    return "episode" in case.expected and "\n" not in case.title


def _is_confident_wrong(case: Case, found: Understood) -> bool:
    return bool(found.episodes) and not found.doubtful and not _episode(case.expected["episode"], found)


def _understand(parse: Parser, title: str) -> Understood:
    try:
        return parse(title)
    except Exception:
        # A parser that gives up on a title has understood nothing of it.
        return Understood()


def _title(expected: Any, found: Understood) -> bool:
    if expected is None:
        return not found.title
    return _fold(found.title or "") in {_fold(one) for one in many(expected)}


def _episode(expected: Any, found: Understood) -> bool:
    return found.episodes == numbers(expected)


def _season(expected: Any, found: Understood) -> bool:
    return found.seasons == numbers(expected)


def _group(expected: Any, found: Understood) -> bool:
    if expected is None:
        return not found.groups
    wanted = {_fold(one) for one in many(expected)}
    given = {_fold(one) for one in found.groups}
    return bool(wanted & given) or _fold("".join(many(expected))) in given


def _resolution(expected: Any, found: Understood) -> bool:
    return _height(expected) == _height(found.resolution)


FIELDS: Final[Mapping[str, Callable[[Any, Understood], bool]]] = {
    "episode": _episode,
    "title": _title,
    "group": _group,
    "season": _season,
    "resolution": _resolution,
}


def _fold(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def _height(resolution: Any) -> int | None:
    text = str(resolution or "").lower().replace("\N{MULTIPLICATION SIGN}", "x")
    found = re.search(r"x(\d{3,4})", text) or re.search(r"(\d{3,4})", text)
    return _HEIGHTS.get(text) or (int(found[1]) if found else None)


def _rows(scores: Mapping[str, Score], options: Options) -> list[Row]:
    ours = scores["ours"]
    peers = {name: score for name, score in scores.items() if name != "ours"}
    rows = []
    keys = [(name, field) for name in SETS for field in FIELDS if ours.asked[name, field]]
    for key in keys:
        target = TARGETS[key[0]].get(key[1])
        best = max(peers, key=lambda name: peers[name].share(key), default=None)
        rows.append(
            Row(
                f"titles, {key[0]}, {key[1]}",
                ours.shown(key),
                f"{peers[best].share(key):.3f} ({best})" if best else "not run",
                "-",
                f"≥ {target:g}" if target else "-",
                None if target is None or options.quick else ours.share(key) >= target,
            )
        )
    fastest = max(peers, key=lambda name: peers[name].titles_per_second, default=None)
    speed = ours.titles_per_second
    share = ours.confident_wrong / max(ours.one_line, 1)
    rows.append(
        Row(
            "titles, wrong episodes without a doubt",
            f"{ours.confident_wrong}/{ours.one_line} = {share:.4f}",
            "-",
            "-",
            f"< {MOST_CONFIDENT_WRONG:g}",
            None if options.quick else share < MOST_CONFIDENT_WRONG,
        )
    )
    rows.append(
        Row(
            "titles, one core",
            number(speed, "/s"),
            f"{number(peers[fastest].titles_per_second, '/s')} ({fastest})" if fastest else "not run",
            f"{speed / peers[fastest].titles_per_second:.2f}x" if fastest else "-",
            f"≥ {TITLES_PER_SECOND:,}/s",
            None if options.quick else speed >= TITLES_PER_SECOND,
        )
    )
    return rows


def _notes(scores: Mapping[str, Score]) -> list[str]:
    notes = [
        "The title that counts is the one name a parser puts first. Processor time of one process, not the clock's.",
        "Ours reads titles that differ in the number alone once, so rounds behind the first are quicker; `--rounds 1` has none.",
    ]
    for name, score in scores.items():
        asked = sorted(key for key in score.asked if key[0] not in SETS)
        shown = "; ".join(f"{source} {field} {score.shown((source, field))}" for source, field in asked)
        notes.append(f"{name}: {shown}")
    return notes


if __name__ == "__main__":
    run_alone("titles", run)
