"""`kurabito dedupe` against jdupes, rdfind and rmlint: whole processes on one tree, files in memory.

Three of ten files are copies. Sizes are rounded, so that nearly every file shares its size with others and sizes alone tell
little. A program that does not find exactly the groups that were made fails the benchmark.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from harness import Options, Outcome, Side, Target, compare, interleave, run_alone, settings_of
from processes import BenchmarkBroken

Groups = frozenset[frozenset[str]]

COPIES: Final = 0.3
FOLDERS: Final = 1000
ROUNDED: Final = 512
SEED: Final = 7


def make_tree(folder: Path, files: int, size: int) -> Groups:
    """Fill a folder with so many files of about this size in all; the groups of equal ones."""
    chance = random.Random(SEED)
    contents: list[list[str]] = []
    for number in range(files):
        inner = folder / f"{number % FOLDERS // 100:02}" / f"{number % FOLDERS:03}"
        if number < FOLDERS:
            inner.mkdir(parents=True)
        path = inner / f"file {number:06}.bin"
        if contents and chance.random() < COPIES:
            equal = chance.choice(contents)
            shutil.copyfile(equal[0], path)
            equal.append(str(path))
        else:
            # Many small files and few large ones, as on any disk.
            mean = size / files
            wanted = min(chance.lognormvariate(0, 1.2) * mean / 2, 40 * mean)
            path.write_bytes(chance.randbytes(int(wanted) // ROUNDED * ROUNDED + ROUNDED))
            contents.append([str(path)])
    return frozenset(frozenset(equal) for equal in contents if len(equal) > 1)


def run(options: Options) -> Outcome:
    """Measure the first run and the second one."""
    files, size = options.size(60_000, quick=2_000), options.size(6_000_000_000, quick=50_000_000)
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        tree = Path(scratch) / "tree"
        expected = make_tree(tree, files, size)
        sides = [Side("kurabito", "database written", lambda: ours(tree, Path(scratch), expected), ours=True)]
        missing = []
        for name, (settings, find) in PEERS.items():
            if options.ours_only or shutil.which(name) is None:
                missing.append(name)
            else:
                sides.append(Side(name, settings, lambda find=find: peer(find, tree, Path(scratch), expected)))  # type: ignore[misc]
        _warm(tree)
        measured = interleave(sides, options)
    workload = f"duplicates among {files:,} files, {size / 1e9:.2g} GB"
    notes = settings_of(measured) + ([f"not run: {', '.join(missing)}"] if missing else [])
    return Outcome(
        [
            compare(f"{workload}, first run", measured, "s", " s", Target(1.0, more_is_better=False), options),
            compare(f"{workload}, second run", measured, "s again", " s", Target(0.333, more_is_better=False), options),
        ],
        notes,
    )


def ours(tree: Path, scratch: Path, expected: Groups) -> Mapping[str, float]:
    """The first run and the second one."""
    state = scratch / "state"
    shutil.rmtree(state, ignore_errors=True)
    command = [sys.executable, "-m", "kurabito.cli", "dedupe", "--json", "--state", str(state), str(tree)]
    seconds = []
    for _ in range(2):
        took, output = _timed(command)
        _check("kurabito", (group["files"] for group in json.loads(output)), expected)
        seconds.append(took)
    return {"s": seconds[0], "s again": seconds[1]}


def peer(
    find: Callable[[Path, Path], tuple[float, Iterable[list[str]]]], tree: Path, scratch: Path, expected: Groups
) -> Mapping[str, float]:
    """A peer remembers nothing: its second run is its first."""
    took, groups = find(tree, scratch)
    _check(find.__name__, groups, expected)
    return {"s": took, "s again": took}


def jdupes(tree: Path, _: Path) -> tuple[float, Iterable[list[str]]]:
    took, output = _timed(["jdupes", "--recurse", "--quiet", str(tree)])
    return took, [part.splitlines() for part in output.decode().strip().split("\n\n")]


def rdfind(tree: Path, scratch: Path) -> tuple[float, Iterable[list[str]]]:
    results = scratch / "rdfind.txt"
    took, _ = _timed(["rdfind", "-dryrun", "true", "-outputname", str(results), str(tree)])
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for line in results.read_text().splitlines():
        if not line.startswith("#"):
            _, number, _, _, _, _, _, path = line.split(" ", 7)
            groups[abs(int(number))].append(path)
    return took, groups.values()


def rmlint(tree: Path, scratch: Path) -> tuple[float, Iterable[list[str]]]:
    results = scratch / "rmlint.json"
    took, _ = _timed(["rmlint", "--types", "duplicates", "--output", f"json:{results}", "--hidden", str(tree)])
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for found in json.loads(results.read_text()):
        if found.get("type") == "duplicate_file":
            groups[found["checksum"]].append(found["path"])
    return took, groups.values()


PEERS: Final[dict[str, tuple[str, Callable[[Path, Path], tuple[float, Iterable[list[str]]]]]]] = {
    "jdupes": ("compares byte for byte, its default", jdupes),
    "rdfind": ("sha1, its default", rdfind),
    "rmlint": ("its default", rmlint),
}


def _timed(command: list[str]) -> tuple[float, bytes]:
    began = time.perf_counter()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return time.perf_counter() - began, output


def _check(name: str, groups: Iterable[list[str]], expected: Groups) -> None:
    found = frozenset(frozenset(group) for group in groups)
    if found != expected:
        raise BenchmarkBroken(f"{name} found {len(found):,} groups, {len(found & expected):,} of the {len(expected):,}")


def _warm(tree: Path) -> None:
    for folder, _, names in os.walk(tree):
        for name in names:
            (Path(folder) / name).read_bytes()


if __name__ == "__main__":
    run_alone("dedupe", run)
