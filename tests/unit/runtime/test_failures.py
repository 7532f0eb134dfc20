"""Errors as text: always made, always short enough, always storable."""

from __future__ import annotations

import pytest

from kurabito.runtime.worker.failures import TRACEBACK_LENGTH, describe, trace_of


def raised(problem: BaseException) -> BaseException:
    try:
        raise problem
    except BaseException as caught:  # noqa: BLE001 - any of them
        return caught


def test_a_group_tells_of_each_of_its_members() -> None:
    members = [raised(ValueError("the first")), raised(OSError(2, "the second"))]
    trace = trace_of(raised(ExceptionGroup("two of them", members)))  # type: ignore[type-var]
    assert trace is not None
    assert "two of them" in trace
    assert "ValueError: the first" in trace
    assert "FileNotFoundError: [Errno 2] the second" in trace
    assert trace.count("in raised") == 3


def test_causes_are_told() -> None:
    def fail() -> None:
        try:
            raise KeyError("cause")
        except KeyError as cause:
            raise ValueError("effect") from cause

    with pytest.raises(ValueError, match="effect") as caught:
        fail()
    trace = trace_of(caught.value) or ""
    assert trace.index("KeyError: 'cause'") < trace.index("ValueError: effect")


def test_a_deep_recursion_is_cut_to_its_last_frames() -> None:
    def dig(depth: int) -> None:
        if depth:
            dig(depth - 1)
        raise ValueError("x" * 50_000)

    with pytest.raises(ValueError, match="x") as caught:
        dig(400)
    trace = trace_of(caught.value) or ""
    assert len(trace) <= TRACEBACK_LENGTH + 10
    assert "in dig" in trace


def test_an_error_that_was_never_raised_has_no_traceback() -> None:
    assert trace_of(TimeoutError("late")) is None


def test_the_workers_own_frames_are_left_out() -> None:
    from kurabito.runtime.tasks.payloads import decode

    with pytest.raises(Exception, match="does not fit") as caught:
        decode(b"1", "application/json", str)
    # There is nothing but them here, so they stay.
    assert "payloads.py" in (trace_of(caught.value) or "")


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (ValueError(), "ValueError"),
        (ValueError("caf\udce9"), "ValueError: caf\\udce9"),
        (KeyError("a"), "KeyError: 'a'"),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_an_error_is_described_by_its_kind_and_text(problem: BaseException, text: str) -> None:
    assert describe(problem) == text
