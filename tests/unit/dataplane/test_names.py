"""Every name has one text, and every text leads back to it."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.dataplane.files.paths import as_name, as_text, shown

NAMES = st.binary(min_size=1, max_size=40).filter(lambda name: b"/" not in name and b"\0" not in name)


@given(name=NAMES | st.text(min_size=1, max_size=20).map(lambda text: text.encode("utf-8", "ignore")))
def test_a_name_comes_back_whatever_bytes_it_has(name: bytes) -> None:
    text = as_text(os.fsdecode(name))
    text.encode("utf-8")
    assert os.fsencode(as_name(text)) == name


@given(first=NAMES, second=NAMES)
def test_two_names_never_share_a_text(first: bytes, second: bytes) -> None:
    assert (as_text(os.fsdecode(first)) == as_text(os.fsdecode(second))) == (first == second)


@pytest.mark.parametrize(
    ("name", "text", "seen"),
    [
        (b"plain.mkv", "plain.mkv", "plain.mkv"),
        ("蔵人 ~$\n.mkv".encode(), "蔵人 ~$\n.mkv", "蔵人 ~$\n.mkv"),
        (b"caf\xe9.mkv", "caf\uefe9.mkv", "caf\\xe9.mkv"),
        ("\uefe9".encode(), "\uefee\uefbf\uefa9", "\\xee\\xbf\\xa9"),
    ],
)
def test_ordinary_names_are_their_own_text(name: bytes, text: str, seen: str) -> None:
    assert as_text(os.fsdecode(name)) == text
    assert shown(text) == seen
