"""Which copy is kept, and why the others go."""

from __future__ import annotations

import pytest

from kurabito.errors import InvalidInput
from kurabito.library.deletion.rules import KeepReason, KeepRule, KeepRules, Preference, ProtectedFolder, freed_bytes
from kurabito.library.duplicates.groups import GroupFile


def file(number: int, path: str = "", *, library: int = 1, mtime: int = 0, inode: int | None = -1) -> GroupFile:
    known = number if inode == -1 else inode
    return GroupFile(number, library, path or f"{number}.mkv", 10, mtime, 1, known)


def gone(rules: KeepRules, *files: GroupFile) -> dict[int, tuple[int, KeepReason]]:
    return {one.file.id: (one.kept.id, one.reason) for one in rules.removals(files)}


OLDEST = Preference(KeepRule.OLDEST)
NEWEST = Preference(KeepRule.NEWEST)
SHORTEST = Preference(KeepRule.SHORTEST_PATH)


@pytest.mark.parametrize(
    ("keep", "kept", "reason"),
    [
        ((OLDEST,), 2, KeepReason.KEPT_IS_OLDER),
        ((NEWEST,), 3, KeepReason.KEPT_IS_NEWER),
        ((SHORTEST,), 1, KeepReason.KEPT_HAS_SHORTER_PATH),
        ((Preference(KeepRule.IN_LIBRARY, 2), OLDEST), 3, KeepReason.KEPT_IS_IN_LIBRARY),
        ((Preference(KeepRule.IN_LIBRARY, 9), OLDEST), 2, KeepReason.KEPT_IS_OLDER),
    ],
)
def test_the_first_rule_that_tells_copies_apart_decides(
    keep: tuple[Preference, ...], kept: int, reason: KeepReason
) -> None:
    files = [file(1, "a", mtime=5), file(2, "bb", mtime=1), file(3, "ccc", library=2, mtime=9)]
    expected = {each.id: (kept, reason) for each in files if each.id != kept}
    assert gone(KeepRules(keep), *files) == expected


def test_of_copies_that_no_rule_tells_apart_the_first_known_is_kept() -> None:
    assert gone(KeepRules((OLDEST,)), file(8), file(5)) == {8: (5, KeepReason.KEPT_WAS_KNOWN_FIRST)}


def test_protected_folders_win_over_every_rule() -> None:
    rules = KeepRules((OLDEST,), (ProtectedFolder(1, "masters"),))
    files = [file(1, "x", mtime=1), file(2, "masters/x", mtime=2), file(3, "masters/deep/x", mtime=3)]
    assert gone(rules, *files) == {1: (2, KeepReason.KEPT_IS_PROTECTED)}
    # Neither a folder whose name begins alike, nor one of another library.
    others = [file(4, "masters2/x", mtime=1), file(5, "masters/x", library=2, mtime=2)]
    assert gone(rules, *others) == {5: (4, KeepReason.KEPT_IS_OLDER)}
    whole = KeepRules((OLDEST,), (ProtectedFolder(2),))
    assert gone(whole, *others) == {4: (5, KeepReason.KEPT_IS_PROTECTED)}


def test_what_lies_in_a_trash_is_neither_kept_nor_removed() -> None:
    """A data plane that indexes the trash made a plan keep what was in it, and the last real copy went."""
    files = [file(1, ".kurabito-trash/5f", mtime=1), file(2, "a", mtime=2), file(3, "x/.kurabito-trash/6a", mtime=3)]
    assert gone(KeepRules(), *files) == {}
    assert gone(KeepRules(), *files, file(4, "b", mtime=4)) == {4: (2, KeepReason.KEPT_IS_OLDER)}


def test_other_names_of_a_file_that_stays_are_left_alone() -> None:
    names = [file(1, "a", mtime=1, inode=7), file(2, "b", mtime=1, inode=7), file(3, "c", mtime=2, inode=8)]
    assert gone(KeepRules(), *names) == {3: (1, KeepReason.KEPT_IS_OLDER)}
    # To remove one name of a protected file would free nothing.
    guarded = KeepRules((OLDEST,), (ProtectedFolder(1, "safe"),))
    names = [file(1, "safe/a"), file(2, "safe/b"), file(3, "b2", inode=2)]
    assert gone(guarded, *names) == {}


def test_what_is_freed_counts_each_file_once() -> None:
    files = [file(1, mtime=1), file(2, mtime=2, inode=9), file(3, mtime=2, inode=9), file(4, mtime=3, inode=None)]
    removals = KeepRules().removals(files)
    assert [one.file.id for one in removals] == [2, 3, 4]
    assert freed_bytes(removals) == 20


@pytest.mark.parametrize("folder", ["/etc", "a//b", "a/../b", ".", "a/"])
def test_a_folder_that_is_no_path_below_its_library_is_refused(folder: str) -> None:
    with pytest.raises(InvalidInput, match=r"^protected: "):
        ProtectedFolder(1, folder)


def test_only_the_rule_about_a_library_takes_one() -> None:
    with pytest.raises(InvalidInput, match=r"^keep: "):
        Preference(KeepRule.IN_LIBRARY)
    with pytest.raises(InvalidInput, match=r"^keep: "):
        Preference(KeepRule.OLDEST, 1)
