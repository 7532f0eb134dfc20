"""`kurabito import --dry-run`: the plan for any folder, without a server, and nothing is changed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import KURABITO, run
from tests.support.waiting import PATIENCE


def kurabito(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    return run([*KURABITO, "import", *arguments], env=environment, timeout=PATIENCE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A batch: two episodes, a subtitle, an opening, a scan; and a link that leads out of it."""
    batch = tmp_path / "[Kura] Yoru no Kurabito S2 [BD 1080p]"
    (batch / "SPs").mkdir(parents=True)
    for name in (
        "[Kura] Yoru no Kurabito S2 - 01 [1080p].mkv",
        "[Kura] Yoru no Kurabito S2 - 01 [1080p].chs.ass",
        "[Kura] Yoru no Kurabito S2 - 02 [1080p].mkv",
        "SPs/[Kura] Yoru no Kurabito S2 - NCOP [1080p].mkv",
        "cover.jpg",
    ):
        (batch / name).write_bytes(b"x")
    (tmp_path / "outside.mkv").write_bytes(b"x")
    (batch / "[Kura] Yoru no Kurabito S2 - 03 [1080p].mkv").symlink_to(tmp_path / "outside.mkv")
    return batch


def plan_of(*arguments: str) -> dict[str, Any]:
    outcome = kurabito("--dry-run", "--json", *arguments)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    plan: dict[str, Any] = json.loads(outcome.stdout)
    return plan


def test_the_plan_of_a_folder_is_printed_as_json(folder: Path) -> None:
    before = sorted((path, path.lstat().st_mtime_ns) for path in folder.rglob("*"))
    plan = plan_of(str(folder))
    assert plan["refused"] is None
    assert {file["path"].rpartition("/")[2]: file["target"] for file in plan["files"]} == {
        "[Kura] Yoru no Kurabito S2 - 01 [1080p].chs.ass": "Yoru no Kurabito/Season 02/Yoru no Kurabito S02E01.zh-Hans.ass",
        "[Kura] Yoru no Kurabito S2 - 01 [1080p].mkv": "Yoru no Kurabito/Season 02/Yoru no Kurabito S02E01.mkv",
        "[Kura] Yoru no Kurabito S2 - 02 [1080p].mkv": "Yoru no Kurabito/Season 02/Yoru no Kurabito S02E02.mkv",
        "[Kura] Yoru no Kurabito S2 - NCOP [1080p].mkv": "Yoru no Kurabito/extras/[Kura] Yoru no Kurabito S2 - NCOP [1080p].mkv",
        "cover.jpg": None,
    }
    first = next(file for file in plan["files"] if file["target"] and file["target"].endswith("E01.mkv"))
    assert (first["class"], first["action"], first["kind"], first["season"], first["episodes"]) == (
        "video",
        "file",
        "episode",
        2,
        [1],
    )
    assert first["reason"]["code"] == "episode"
    assert sorted((path, path.lstat().st_mtime_ns) for path in folder.rglob("*")) == before


def test_the_folder_around_a_single_folder_has_no_say(folder: Path) -> None:
    around = folder.parent / "Season 7"
    around.mkdir()
    folder.rename(around / folder.name)
    assert {file.get("season") for file in plan_of(str(around))["files"] if file["class"] == "video"} == {2}


def test_the_folder_around_a_season_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "Yoru no Kurabito" / "Season 2").mkdir(parents=True)
    (tmp_path / "Yoru no Kurabito" / "Season 2" / "07.mkv").write_bytes(b"x")
    (file,) = plan_of(str(tmp_path / "Yoru no Kurabito"))["files"]
    assert file["target"] == "Yoru no Kurabito/Season 02/Yoru no Kurabito S02E07.mkv"


def test_the_show_can_be_named_by_hand(tmp_path: Path) -> None:
    (tmp_path / "a1").mkdir()
    (tmp_path / "a1" / "07.mkv").write_bytes(b"x")
    plan = plan_of("--title", "Koji", "--season", "3", "--naming", "plex", str(tmp_path / "a1"))
    assert plan["files"][0]["target"] == "Koji/Season 03/Koji - s03e07.mkv"


def test_the_files_of_a_torrent_are_planned_before_anything_is_fetched(tmp_path: Path) -> None:
    def text(value: str) -> bytes:
        return f"{len(value.encode())}:{value}".encode()

    names = [["Koji - 01.mkv"], ["SPs", "Koji - NCOP.mkv"]]
    files = b"".join(b"d6:lengthi7e4:pathl" + b"".join(map(text, name)) + b"ee" for name in names)
    padding = b"d4:attr1:p6:lengthi9e4:pathl4:.pad1:9ee"
    info = b"d5:filesl" + files + padding + b"e4:name" + text("[Kura] Koji [BD]") + b"6:pieces0:e"
    (tmp_path / "koji.torrent").write_bytes(b"d4:info" + info + b"e")
    found = {file["path"]: (file["size"], file["target"]) for file in plan_of(str(tmp_path / "koji.torrent"))["files"]}
    assert found == {
        "[Kura] Koji [BD]/Koji - 01.mkv": (7, "Koji/Season 01/Koji S01E01.mkv"),
        "[Kura] Koji [BD]/SPs/Koji - NCOP.mkv": (7, "Koji/extras/Koji - NCOP.mkv"),
    }
    (tmp_path / "no.torrent").write_bytes(b"<html>")
    refused = kurabito("--dry-run", str(tmp_path / "no.torrent"))
    assert refused.returncode == 3
    assert "this is not a torrent file" in refused.stderr


def test_a_person_reads_what_is_filed_and_why_the_rest_is_not(folder: Path) -> None:
    (folder / "rest.rar").write_bytes(b"x")
    shown = kurabito("--dry-run", str(folder)).stdout
    assert "Yoru no Kurabito/Season 02/Yoru no Kurabito S02E01.mkv" in shown
    assert "ask: an archive; unpack it first" in shown
    assert shown.splitlines()[-1] == "file 4, ask 1, leave 1"


def test_a_program_among_the_files_refuses_them_all(folder: Path) -> None:
    (folder / "Yoru no Kurabito S2 - 04.mkv.exe").write_bytes(b"x")
    plan = plan_of(str(folder))
    assert plan["refused"]["code"] == "executable"
    assert all(file["target"] is None for file in plan["files"])
    assert "started by mistake" in kurabito("--dry-run", str(folder)).stdout


def test_without_dry_run_it_refuses_and_a_path_that_is_gone_is_told(folder: Path, tmp_path: Path) -> None:
    refused = kurabito(str(folder))
    assert refused.returncode == 2
    assert "--dry-run" in refused.stderr
    gone = kurabito("--dry-run", "--json", str(tmp_path / "gone"), str(folder))
    assert gone.returncode == 3
    assert "No such file" in gone.stderr
    assert json.loads(gone.stdout)["path"] == str(folder)
