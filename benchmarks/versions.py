"""An earlier version of Kurabito beside this one: is anything slower than it was?

python benchmarks/versions.py HEAD~20 drain_sqlite drain_postgres --pairs 10

Each version runs the benchmarks of its own checkout in the same environment, without the peers. A pair is one run of each,
right after each other, and the two take turns in going first. A ratio is the median of the pairs' own ratios; above 1 this
version is better.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import harness

HERE: Final = Path(__file__).parent.parent
_MEASURED: Final = re.compile(r"^  round \d+/\d+  (.{22}.*?) ([\d.,e+-]+ [^()]*?)  \([\d.]+ s\)$")
_ALONE: Final = re.compile(r"^  ([\d.,]+) (s)$")
"""What a benchmark without another side says of a round."""
_ALSO: Final = [path for path in (os.environ.get("PYTHONPATH"),) if path]
"""Where packages are that only the earlier version needs."""
_MORE_IS_BETTER: Final = ("/s",)


@dataclass
class Figure:
    """One number of one benchmark, a pair of values for each pair of runs."""

    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)

    def ratio(self, *, more_is_better: bool) -> tuple[float, float, float]:
        """The median of the pairs' ratios, and their range."""
        ratios = [new / old if more_is_better else old / new for old, new in zip(self.old, self.new, strict=True)]
        return statistics.median(ratios), min(ratios), max(ratios)


def main() -> None:
    """Compare with the revision that the command line names."""
    harness.end_in_good_order()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="the earlier version, as git knows it")
    parser.add_argument("names", nargs="+", metavar="name", help="benchmarks, as run.py names them")
    parser.add_argument("--pairs", type=int, default=10, help="how often both are run (default 10)")
    parser.add_argument("--quick", action="store_true", help="tiny numbers, to see that everything works")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kurabito-versions-") as folder:
        old = _exported(arguments.revision, Path(folder))
        figures: dict[tuple[str, str, str], Figure] = {}
        for name in arguments.names:
            for pair in range(arguments.pairs):
                for is_new in (False, True) if pair % 2 else (True, False):
                    measured = _measured(HERE if is_new else old, name, quick=arguments.quick)
                    for (side, unit), value in measured.items():
                        figure = figures.setdefault((name, side, unit), Figure())
                        (figure.new if is_new else figure.old).append(value)
        print(_table(figures, arguments.revision))
    print(f"\n{harness.environment()}\nrepeat with: python benchmarks/versions.py {' '.join(sys.argv[1:])}")


def _exported(revision: str, folder: Path) -> Path:
    archive = subprocess.run(["git", "archive", revision], cwd=HERE, check=True, capture_output=True)
    subprocess.run(["tar", "-x"], cwd=folder, check=True, input=archive.stdout)
    return folder


def _measured(checkout: Path, name: str, *, quick: bool) -> dict[tuple[str, str], float]:
    command = [sys.executable, "benchmarks/run.py", name, "--ours", "--rounds", "1", *(["--quick"] if quick else [])]
    ran = subprocess.run(
        command,
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout / "src"), *_ALSO])},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    values: dict[tuple[str, str], list[float]] = {}
    for line in ran.stdout.splitlines():
        if found := _MEASURED.match(line):
            print(f"  {'new' if checkout == HERE else 'old'} {name} {line.strip()}", flush=True)
            for figure in found[2].split(", "):
                number, _, unit = figure.partition(" ")
                values.setdefault((found[1].strip(), unit), []).append(float(number.replace(",", "")))
        elif found := _ALONE.match(line):
            print(f"  {'new' if checkout == HERE else 'old'} {name} {line.strip()}", flush=True)
            values.setdefault(("kurabito", found[2]), []).append(float(found[1].replace(",", "")))
    if not values:
        sys.exit(f"{name} measured nothing in {checkout}:\n{ran.stdout}")
    return {figure: statistics.median(several) for figure, several in values.items()}


def _table(figures: dict[tuple[str, str, str], Figure], revision: str) -> str:
    lines = [f"| benchmark | figure | {revision} | now | ratio (range of pairs) |", "|---|---|---|---|---|"]
    for (name, side, unit), figure in figures.items():
        median, least, most = figure.ratio(more_is_better=unit.endswith(_MORE_IS_BETTER))
        old, new = (harness.number(statistics.median(values), "") for values in (figure.old, figure.new))
        lines.append(f"| {name}, {side} | {unit} | {old} | {new} | {median:.3f} ({least:.2f}..{most:.2f}) |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
