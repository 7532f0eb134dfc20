"""Names that ext4, NTFS, SMB and APFS take, whatever they are made of."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kurabito.placements.naming.safe_names import LONGEST_STEM, is_safe, safe_extension, safe_name, twin_key

RESERVED = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=300)


def is_legal(name: str) -> bool:
    """The three systems' rules, written a second time."""
    return (
        0 < len(name.encode()) <= 255
        and len(name.encode("utf-16-le")) // 2 <= 255
        and RESERVED.search(name) is None
        and name not in (".", "..")
        and name[-1] not in " ."
        and name[0] not in " ."
        and name.partition(".")[0].rstrip(" ").lower() not in DEVICES
        and unicodedata.is_normalized("NFC", name)
        and not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn") for char in name)
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Re:Zero", "Re-Zero"),
        ("Title: Subtitle", "Title - Subtitle"),
        ("Fate/Zero", "Fate-Zero"),
        (".hack//SIGN", "hack--SIGN"),
        ('Is "This" a Zombie?', "Is 'This' a Zombie"),
        ("What?! <3", "What! 3"),
        ("K-ON!!", "K-ON!!"),
        ("Dr. Stone...", "Dr. Stone"),
        ("  a \t b\n ", "a b"),
        ("con", "_con"),
        ("COM1.tar", "_COM1.tar"),
        ("Console", "Console"),
        ("..", "_"),
        ("../../etc/passwd", "-..-etc-passwd"),
        ("a\u202egpj.exe", "agpj.exe"),
        ("か\u3099", "が"),
        ("", "_"),
    ],
)
def test_a_text_becomes_a_name(text: str, name: str) -> None:
    assert safe_name(text) == name


@given(
    ANYTHING, st.sampled_from(["", ".mkv", ".ASS", ".zh-Hans", ".x/y", "." * 9]), st.sampled_from([LONGEST_STEM, 255])
)
@example("e<\u0301", "", 255)
@example("nul .x", ".mkv", 255)
@example("\U0001f468\u200d\U0001f469" * 90, ".mkv", 255)
def test_whatever_goes_in_a_legal_name_comes_out(text: str, extension: str, longest: int) -> None:
    name = safe_name(text, extension, longest)
    assert is_legal(name)
    assert is_safe(name)
    assert name.endswith(safe_extension(extension))
    assert len(name.encode()) <= longest + len(safe_extension(extension))


@given(ANYTHING)
def test_the_last_check_agrees_with_the_rules(text: str) -> None:
    if is_safe(text):
        assert all(is_legal(part) for part in text.split("/"))


@pytest.mark.parametrize(
    "path", ["", "/x", "x/", "a//b", "../x", "a/../b", "a/./b", "a\\b", "a /b", "aux/x.mkv", "a\x00"]
)
def test_a_path_that_leaves_the_library_or_is_illegal_is_refused(path: str) -> None:
    assert not is_safe(path)


def test_names_that_differ_in_case_or_composition_only_are_twins() -> None:
    assert twin_key("Koji/ÉTÉ.mkv") == twin_key("koji/e\u0301te\u0301.MKV")
    assert twin_key("Straße") == twin_key("STRASSE")
    assert twin_key("Koji 1") != twin_key("Koji 2")
