"""`explain` says which recogniser took which part, and why; the command line shows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.support.waiting import PATIENCE

from kurabito.titles import parse_title

TITLE = "[Kura] Koji no Yoru S2 - 07v2 [1080p][A1B2C3D4].mkv"


def kurabito(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", "from kurabito.cli import main; main()", "title", *arguments],
        env={**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        input=stdin,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


def test_every_part_names_its_recogniser() -> None:
    found = parse_title(TITLE, explain=True)

    assert {finding.recogniser: finding.text for finding in found.findings} == {
        "checksum": "[A1B2C3D4]",
        "tags": "[1080p]",
        "group": "[Kura]",
        "season": "S2",
        "episode": "- 07v2",
    }
    assert all(finding.why for finding in found.findings)
    assert all(found.findings[0].text in TITLE for finding in found.findings)


def test_without_explain_nothing_is_told() -> None:
    assert parse_title(TITLE).findings == ()


def test_the_command_prints_one_object_a_title() -> None:
    outcome = kurabito("--json", TITLE, "夜之蔵人 12.mkv")
    first, second = map(json.loads, outcome.stdout.decode().splitlines())

    assert outcome.returncode == 0
    assert (first["title"], first["season"], first["episodes"], first["version"]) == ("Koji no Yoru", 2, [7], 2)
    assert (first["group"], first["resolution"], first["checksum"]) == ("Kura", 1080, "A1B2C3D4")
    assert "findings" not in first
    assert (second["titles"], second["episodes"]) == (["夜之蔵人"], [12])


def test_the_command_reads_lines_of_stdin_even_if_they_are_no_text() -> None:
    outcome = kurabito(stdin=b"The.Cellar.S01E02.mkv\n\n\xff\xfe Koji - 03\n")
    rows = [json.loads(line) for line in outcome.stdout.decode().splitlines()]

    assert [row["episodes"] for row in rows] == [[2], [3]]


def test_the_command_explains() -> None:
    row = json.loads(kurabito("--explain", TITLE).stdout)

    assert {"recogniser": "season", "text": "S2", "why": "names a season", "start": 20} in row["findings"]
