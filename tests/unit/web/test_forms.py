"""A form keeps what was typed and says what is wrong with it, beside the field."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kurabito.errors import InvalidInput
from kurabito.library.errors import LibraryConflict
from kurabito.reasons import InputReason, refused, refused_interval
from kurabito.web import forms
from kurabito.web.forms import CHECKED, Form, Problem, count_of, offered, seconds_of, uploaded
from kurabito.web.languages import catalogues
from kurabito.web.words import Words


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
    taken = LibraryConflict("/srv is kept already", field="path", reason=refused(InputReason.NAME_TAKEN))
    again = form.refused(taken)
    assert (type(again), again.typed) == (_FolderForm, form.typed)
    assert again.problem == Problem("path", "/srv is kept already", taken.reason, 409)
    assert form.refused(InvalidInput("colour", "must be red")).problem == Problem("colour", "must be red")


async def test_what_is_stored_leaves_nothing_to_show_again() -> None:
    stored = []

    async def store(form: _FolderForm) -> None:
        if not form.value("path"):
            raise InvalidInput("path", "must be given")
        stored.append(form.value("path"))

    assert await _FolderForm({"path": "/srv"}).submit(store) is None
    assert stored == ["/srv"]
    again = await _FolderForm({"path": ""}).submit(store)
    assert again is not None
    assert (again.status, again.problem) == (422, Problem("path", "must be given"))


async def test_what_is_about_no_field_is_no_answer_to_a_form() -> None:
    async def store(form: _FolderForm) -> None:
        raise LibraryConflict("disk: is full")

    with pytest.raises(LibraryConflict, match="disk: is full"):
        await _FolderForm().submit(store)


@pytest.mark.parametrize("tag", catalogues())
def test_what_is_wrong_is_said_in_the_readers_language(tag: str) -> None:
    words = Words(catalogues()[tag], datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(InvalidInput) as error:
        count_of("season", "many", 1000)
    problem = Problem.of(error.value, ())
    assert str(words.problem(problem)) == str(words.say("input.number", least="0", most="1,000"))
    assert str(words.problem(replace(problem, reason=None))) == '<bdi lang="en">must be a number from 0 to 1,000</bdi>'


def test_whatever_a_form_refuses_has_a_reason_for_every_language() -> None:
    folder = Path(forms.__file__).parent
    without = [
        f"{path.relative_to(folder)}:{call.lineno}"
        for path in (*folder.rglob("*form*.py"), folder / "downloads" / "downloaders.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "InvalidInput"
        if len(call.args) + len(call.keywords) < 3
    ]
    assert without == []


def test_an_interval_is_told_in_the_readers_units() -> None:
    words = Words(catalogues()["en"], datetime(2026, 1, 1, tzinfo=UTC))
    said = words.because(refused_interval(timedelta(minutes=5), timedelta(days=30)))
    assert str(said) == "Choose an interval from 5 min to 30 days."


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


def form_of(*parts: bytes, boundary: str = "x1") -> tuple[str, bytes]:
    body = b"".join(b"--" + boundary.encode() + b"\r\n" + part + b"\r\n" for part in parts)
    return f"multipart/form-data; boundary={boundary}", body + b"--" + boundary.encode() + b"--\r\n"


FILE = b'Content-Disposition: form-data; name="file"; filename="a.torrent"\r\nContent-Type: application/octet-stream\r\n\r\n'


def test_a_file_of_a_form_is_read_as_it_is() -> None:
    content = b"d4:\r\n\r\n--x\xff\x00\r\nend"
    other = b'Content-Disposition: form-data; name="other"\r\n\r\ntext'
    assert uploaded(*form_of(other, FILE + content)) == content
    assert uploaded(*form_of(FILE + content, boundary="----WebKit.1")) == content
    kind, body = form_of(FILE + content)
    assert uploaded(kind.replace("=x1", '="x1"; charset=utf-8'), body) == content


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        form_of(b'Content-Disposition: form-data; name="file"; filename=""\r\n\r\n'),
        form_of(FILE),
        form_of(*[b"Content-Type: multipart/mixed; boundary=x1\r\n\r\n"] * 5_000),
        form_of(b"Content-Type: message/rfc822\r\n\r\n" * 5_000),
        form_of(*[b"\r\nx"] * 200_000),
        form_of(b"Content-Disposition: form-data; " + b"filename*0*=a;" * 100_000 + b"\r\n\r\nabc"),
        ("text/plain", b"d4:infoe"),
        ("multipart/form-data", b"--\r\n"),
        ("", b""),
    ],
)
def test_a_form_without_a_file_is_refused_however_it_is_made(kind: str, body: bytes) -> None:
    with pytest.raises(InvalidInput, match="no file was sent"):
        uploaded(kind, body)
