"""Links stay inside the site, whatever somebody asks to go on to."""

from __future__ import annotations

import pytest

from kurabito.web.addresses import Addresses


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        (None, "/"),
        ("", "/"),
        ("/tasks?state=dead", "/tasks?state=dead"),
        ("/kurabito/tasks", "/tasks"),
        ("/kurabito", "/"),
        ("/kurabito?x=1", "/?x=1"),
        ("/kurabitooo", "/kurabitooo"),
        ("tasks", "/"),
        ("//evil.test", "/"),
        ("///evil.test", "/"),
        ("/\\evil.test", "/"),
        ("/kurabito//evil.test", "/"),
        ("/kurabito/\\evil.test", "/"),
        ("https://evil.test/", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/evil.test", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
    ],
)
def test_only_local_paths_are_gone_on_to(wanted: str | None, path: str) -> None:
    assert Addresses("/kurabito").within(wanted) == path


def test_addresses_stand_under_the_base_path_and_leave_out_what_is_none() -> None:
    assert Addresses("/kurabito").to("/tasks", state="dead", type=None) == "/kurabito/tasks?state=dead"
    assert Addresses().to("/tasks", type="a b&c") == "/tasks?type=a+b%26c"
