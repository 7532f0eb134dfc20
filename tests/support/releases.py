"""Tables of releases: a row is `release => title ; season ; episodes ; group`, then what else it says as `attribute=value`.

A `-` is nothing, and a `?` is not asked, because people would disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from kurabito.titles import ReleaseTitle, fold_title

COLUMNS = ("title", "season", "episodes", "group")


def read_tables(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Each release of a folder's tables, and what it says."""
    for table in sorted(folder.glob("*.txt")):
        for line in table.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                release, _, said = line.partition(" => ")
                columns = said.split(" ; ")
                says = dict(zip(COLUMNS, columns, strict=False))
                says |= dict(extra.split("=", 1) for extra in columns[len(COLUMNS) :])
                yield release, {name: value for name, value in says.items() if value != "?"}


def told(name: str, found: ReleaseTitle, wanted: str) -> str:
    """What the parser found, in the words of the tables; names are the same if their letters are."""
    match name:
        case "title":
            return wanted if fold_title(found.title or "-") == fold_title(wanted) else found.title or "-"
        case "season":
            return run(found.seasons)
        case "episodes":
            return run(found.episodes)
        case "group":
            return wanted if fold_title(wanted) in map(fold_title, found.groups) else found.group or "-"
        case "extras":
            return ",".join(f"{extra.kind} {run(extra.episodes)}".removesuffix(" -") for extra in found.extras)
        case _:
            return str(getattr(found, name))


def run(numbers: tuple[int | float, ...]) -> str:
    """Numbers as the tables write them: 3, 1,2 or 1-12."""
    if len(numbers) > 2 and all(after - before == 1 for before, after in pairwise(numbers)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers)) or "-"
