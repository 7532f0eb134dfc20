"""The folder browser shows what lies below its roots, and nothing leads out of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kurabito.setup.folders import MOST, FolderBrowser, mounted


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    for folder in ("disk/Anime/Show", "disk/Films", "disk/.hidden", "disk/state", "outside/secret"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "disk" / "file.mkv").write_text("a file")
    (tmp_path / "disk" / "way-out").symlink_to(tmp_path / "outside")
    return tmp_path / "disk"


@pytest.fixture
def browser(disk: Path) -> FolderBrowser:
    return FolderBrowser([disk], [disk / "state"])


def test_it_begins_at_the_roots_and_goes_down_and_up(browser: FolderBrowser, disk: Path) -> None:
    assert (browser.look("").path, browser.look("").folders) == (None, [disk])
    top = browser.look(str(disk))
    # Neither files nor links, nor what is hidden or our own.
    assert top.folders == [disk / "Anime", disk / "Films"]
    assert top.parent is None
    assert browser.look(str(disk / "Anime")).parent == disk


@pytest.mark.parametrize(
    "path", ["/", "/etc", "{disk}/..", "{disk}/../outside", "{disk}/way-out", "{disk}/way-out/secret", "{disk}/.hidden",
             "{disk}/state", "relative", "{disk}\0/x", "{disk}-not", "{disk}/Anime/../../outside"]
)  # fmt: skip
def test_what_is_not_below_a_root_is_never_opened(browser: FolderBrowser, disk: Path, path: str) -> None:
    found = browser.look(path.format(disk=disk))
    assert (found.path, found.folders) == (None, [disk])


def test_a_folder_that_may_not_be_opened_says_why(browser: FolderBrowser, disk: Path) -> None:
    missing = browser.look(str(disk / "gone"))
    assert missing.problem == os.strerror(2)
    assert missing.parent == disk


def test_a_folder_with_very_many_is_cut(browser: FolderBrowser, disk: Path) -> None:
    for number in range(MOST + 1):
        (disk / "Films" / f"{number:05}").mkdir()
    found = browser.look(str(disk / "Films"))
    assert (len(found.folders), found.is_cut) == (MOST, True)


def test_disks_and_shares_are_roots_and_the_system_is_not(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text(
        "overlay / overlay rw 0 0\nproc /proc proc rw 0 0\n/dev/sdb1 /pool/my\\040media ext4 rw 0 0\n"
        "nas:/x /films nfs4 rw 0 0\n/dev/sda1 /boot ext4 rw 0 0\ntmpfs /scratch tmpfs rw 0 0\n/dev/sda2 / ext4 rw 0 0\n"
    )
    assert mounted(table) == [Path("/pool/my media"), Path("/films")]
    assert mounted(tmp_path / "missing") == []


def test_without_a_choice_nothing_of_the_system_is_a_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/root"))
    roots = FolderBrowser().roots()
    assert not {Path("/"), Path("/etc"), Path("/root"), Path("/usr"), Path("/proc")} & set(roots)
