"""Which keys of a person's choice are too easy."""

from __future__ import annotations

import pytest

from kurabito.access import is_guessable


@pytest.mark.parametrize("key", ["", "hunter2", "19 characters long!", "a" * 40, "abc" * 20])
def test_short_and_uniform_keys_can_be_guessed(key: str) -> None:
    assert is_guessable(key)


@pytest.mark.parametrize(
    "key", ["0123456789abcdef0123456789abcdef", "correct horse battery staple", "R5-_x0yq81KLmnopQrst"]
)
def test_long_keys_cannot(key: str) -> None:
    assert not is_guessable(key)
