"""A form keeps what was typed and says what is wrong with it, beside the field."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest

from kurabito.errors import InvalidInput
from kurabito.library.errors import LibraryConflict
from kurabito.web.forms import CHECKED, Form, Problem, offered, seconds_of


@dataclass(frozen=True, slots=True)
class _FolderForm(Form):
    FIELDS = ("path", "name")


def test_the_last_of_several_values_counts() -> None:
    form = Form({"once": "a", "twice": ["a", "b"], "never": []})
    assert [form.value(name) for name in ("once", "twice", "never", "unknown")] == ["a", "b", "", ""]
    assert [list(form.values(name)) for name in ("once", "twice", "unknown")] == [["a"], ["a", "b"], []]
    assert form.has("twice", "a")
    assert not form.has("once", "b")
    assert Form({"box": ["", CHECKED]}).is_checked("box")


def test_a_refused_form_is_the_same_form_with_the_reason_beside_its_field() -> None:
    form = _FolderForm({"path": "/srv"})
    refused = form.refused(LibraryConflict("/srv is kept already", field="path"))
    assert (type(refused), refused.typed) == (_FolderForm, form.typed)
    assert refused.problem == Problem("path", "/srv is kept already")
    assert form.refused(InvalidInput("colour", "must be red")).problem == Problem("colour", "must be red")


def test_an_error_about_no_field_is_raised_on() -> None:
    with pytest.raises(LibraryConflict, match="disk: is full"):
        _FolderForm().refused(LibraryConflict("disk: is full"))


def test_what_was_refused_is_said_before_what_is_doubted() -> None:
    doubted = Form().doubted(InvalidInput("pattern", "has no end"))
    assert doubted.problem == Problem("pattern", "has no end")
    assert doubted.doubted(InvalidInput("name", "is empty")) is doubted


@pytest.mark.parametrize("text", ["", "soon", "nan", "inf", "1e300"])
def test_a_length_of_time_is_a_number_of_seconds(text: str) -> None:
    with pytest.raises(InvalidInput, match="every: must be a number of seconds"):
        seconds_of("every", text)
    assert offered([timedelta(2), timedelta(1)], "every", text) == [timedelta(1), timedelta(2)]


def test_what_is_set_is_among_what_is_offered() -> None:
    assert offered([timedelta(seconds=60)], "every", "5") == [timedelta(seconds=5), timedelta(seconds=60)]
