"""Registration: what a signature says, and what is refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from pydantic import BaseModel, Field

from kurabito.errors import InvalidInput
from kurabito.runtime.errors import PayloadError
from kurabito.runtime.outcomes import Claim
from kurabito.runtime.tasks.context import TaskContext
from kurabito.runtime.tasks.handlers import Handler
from kurabito.runtime.tasks.payloads import BYTES, JSON
from kurabito.runtime.tasks.registry import Registry
from kurabito.runtime.tasks.retry import DEFAULT_RETRY, Fixed

if TYPE_CHECKING:
    from kurabito.runtime.model import Progress
    from kurabito.runtime.tasks import context as only_for_types


@dataclass(frozen=True)
class Email:
    to: str


@dataclass(frozen=True)
class Shadowed:
    number: int


def claim(payload: bytes = b"null", content_type: str = JSON) -> Claim:
    return Claim(1, "0" * 32, "t", payload, content_type, 1, None, "w#1", 0)


def registered(fn: Callable[..., Any]) -> Handler:
    registry = Registry()
    registry.task("t")(fn)
    handler = registry.handler("t")
    assert handler is not None
    return handler


def called_with(fn: Callable[..., Any], payload: bytes = b'{"to":"a@b"}', content_type: str = JSON) -> tuple[Any, ...]:
    """The arguments, with the context shown as the text "ctx"."""
    given = claim(payload, content_type)
    ctx = TaskContext(given)
    return tuple("ctx" if argument is ctx else argument for argument in registered(fn).arguments(given, ctx))


def test_a_function_is_registered_and_returned_unchanged() -> None:
    registry = Registry()

    async def send(email: Email) -> None: ...

    assert registry.task("send_email", max_attempts=2, retry=Fixed(1), concurrency=3, time_limit=9)(send) is send
    handler = registry.handler("send_email")
    assert handler is not None
    assert (handler.task_type, handler.fn, handler.max_attempts, handler.retry) == ("send_email", send, 2, Fixed(1))
    assert (handler.concurrency, handler.time_limit, handler.is_async) == (3, 9.0, True)
    assert registry.task_types == ("send_email",)
    assert registry.handler("other") is None


def test_without_a_name_the_function_gives_it() -> None:
    registry = Registry()

    @registry.task
    def bare() -> None: ...

    @registry.task()
    def called() -> None: ...

    @registry.task(max_attempts=1)
    def with_options() -> None: ...

    assert registry.task_types == ("bare", "called", "with_options")
    handler = registry.handler("bare")
    assert handler is not None
    assert (handler.max_attempts, handler.retry) == (5, DEFAULT_RETRY)


def test_a_name_may_be_given_as_a_keyword() -> None:
    registry = Registry()

    @registry.task(task_type="x")
    def fn() -> None: ...

    assert registry.task_types == ("x",)


# What a signature says.


def nothing() -> None: ...
def payload_only(email: Email) -> None: ...
def payload_then_context(email: Email, ctx: TaskContext) -> None: ...
def context_then_payload(c: TaskContext, email: Email) -> None: ...
def context_only(anything: TaskContext) -> None: ...
def context_by_name(ctx) -> None: ...  # type: ignore[no-untyped-def]
def context_by_long_name(email: Email, context) -> None: ...  # type: ignore[no-untyped-def]
def optional_context(email: Email, ctx: TaskContext | None = None) -> None: ...
def context_for_types_only(email: Email, ctx: only_for_types.TaskContext) -> None: ...
def unknown_return(email: Email) -> Progress: ...  # type: ignore[empty-body]
def with_option(email: Email, *, loud: bool = False) -> None: ...


@pytest.mark.parametrize(
    ("fn", "arguments"),
    [
        (nothing, ()),
        (payload_only, (Email("a@b"),)),
        (payload_then_context, (Email("a@b"), "ctx")),
        (context_then_payload, ("ctx", Email("a@b"))),
        (context_only, ("ctx",)),
        (context_by_name, ("ctx",)),
        (context_by_long_name, (Email("a@b"), "ctx")),
        (optional_context, (Email("a@b"), "ctx")),
        (context_for_types_only, (Email("a@b"), "ctx")),
        (unknown_return, (Email("a@b"),)),
        (with_option, (Email("a@b"),)),
    ],
)
def test_arguments_come_in_the_order_of_the_parameters(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    assert called_with(fn) == arguments


def test_a_payload_without_annotation_is_plain_json_or_bytes_as_they_are() -> None:
    def plain(payload, ctx) -> None: ...  # type: ignore[no-untyped-def]

    assert called_with(plain, b'{"to":[1,null]}') == ({"to": [1, None]}, "ctx")
    assert called_with(plain, b"\xff\x00", BYTES) == (b"\xff\x00", "ctx")


def test_a_payload_of_bytes_is_not_decoded() -> None:
    def raw(payload: bytes) -> None: ...

    assert called_with(raw, b"\xff", BYTES) == (b"\xff",)
    assert called_with(raw, b'{"a":1}') == (b'{"a":1}',)


def test_a_payload_may_be_optional_a_model_or_checked_by_its_annotation() -> None:
    class Model(BaseModel):
        to: str

    def optional(email: Email | None) -> None: ...
    def model(email: Model) -> None: ...
    def checked(number: Annotated[int, Field(ge=3)]) -> None: ...

    assert called_with(optional, b"null") == (None,)
    assert called_with(model) == (Model(to="a@b"),)
    assert called_with(checked, b"3") == (3,)
    with pytest.raises(PayloadError):
        called_with(checked, b"2")


@pytest.mark.parametrize(("payload", "content_type"), [(b"{}", JSON), (b"{", JSON), (b"{}", BYTES)])
def test_a_payload_that_does_not_fit_is_a_permanent_error(payload: bytes, content_type: str) -> None:
    with pytest.raises(PayloadError):
        called_with(payload_only, payload, content_type)


def test_a_broken_payload_is_a_permanent_error_also_without_annotation() -> None:
    with pytest.raises(PayloadError):
        called_with(lambda payload: None, b"{")


def test_nothing_is_decoded_for_a_handler_that_takes_nothing() -> None:
    assert called_with(nothing, b"not json at all") == ()


def test_a_class_of_the_same_function_is_found_also_when_a_global_one_has_its_name() -> None:
    @dataclass(frozen=True)
    class Local:
        to: str

    @dataclass(frozen=True)
    class Shadowed:
        to: str

    registry = Registry()

    @registry.task
    def local(payload: Local) -> None: ...

    @registry.task
    def shadowing(payload: list[Shadowed]) -> None: ...

    handlers = [registry.handler("local"), registry.handler("shadowing")]
    assert [handler and handler.payload_type for handler in handlers] == [Local, list[Shadowed]]


def module_level(payload: Shadowed) -> None: ...


def test_a_function_from_elsewhere_keeps_its_own_names() -> None:
    class Shadowed: ...

    assert registered(module_level).payload_type is globals()["Shadowed"]
    assert Shadowed is not globals()["Shadowed"]


def test_a_class_that_the_function_closes_over_is_found() -> None:
    def make() -> Callable[..., Any]:
        @dataclass(frozen=True)
        class Inner:
            to: str

        def handler(payload: Inner) -> Inner:
            return Inner("made here")

        return handler

    (payload,) = called_with(make())
    assert payload.to == "a@b"


def test_a_name_that_nobody_knows_is_refused_clearly() -> None:
    def lost(payload: Nowhere) -> None: ...  # type: ignore[name-defined] # noqa: F821

    with pytest.raises(InvalidInput, match=r"lost: the annotation 'Nowhere' of payload cannot be resolved"):
        registered(lost)


# Things that can be called.


class Mailer:
    def send(self, email: Email) -> str:
        return f"sync {email.to}"

    async def send_later(self, email: Email, ctx: TaskContext) -> None: ...

    @staticmethod
    def static(email: Email) -> None: ...

    @classmethod
    async def of_class(cls, email: Email) -> None: ...


class Caller:
    def __call__(self, ctx: TaskContext, email: Email) -> None: ...


class AsyncCaller:
    async def __call__(self, email: Email) -> None: ...


async def with_client(client: str, email: Email, ctx: TaskContext) -> None: ...


def wrapping(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    async def around(*args: Any) -> Any:
        return await fn(*args)

    return around


@wrapping
async def wrapped(email: Email, ctx: TaskContext) -> None: ...


@pytest.mark.parametrize(
    ("fn", "is_async", "arguments"),
    [
        (Mailer().send, False, (Email("a@b"),)),
        (Mailer().send_later, True, (Email("a@b"), "ctx")),
        (Mailer.static, False, (Email("a@b"),)),
        (Mailer.of_class, True, (Email("a@b"),)),
        (Caller(), False, ("ctx", Email("a@b"))),
        (AsyncCaller(), True, (Email("a@b"),)),
        (functools.partial(with_client, "client"), True, (Email("a@b"), "ctx")),
        (functools.partial(with_option, loud=True), False, (Email("a@b"),)),
        (functools.partial(AsyncCaller()), True, (Email("a@b"),)),
        (functools.partial(Mailer().send_later), True, (Email("a@b"), "ctx")),
        (wrapped, True, (Email("a@b"), "ctx")),
        (lambda payload: payload, False, ({"to": "a@b"},)),
    ],
)
def test_anything_that_can_be_called_can_be_registered(
    fn: Callable[..., Any], is_async: bool, arguments: tuple[Any, ...]
) -> None:
    assert registered(fn).is_async is is_async
    assert called_with(fn) == arguments


@pytest.mark.parametrize("fn", [lambda: None, functools.partial(nothing), Caller()])
def test_what_has_no_name_must_be_given_one(fn: Callable[..., Any]) -> None:
    with pytest.raises(InvalidInput, match=r"task_type: .* give one"):
        Registry().task()(fn)


# What is refused.


def three(a: Email, ctx: TaskContext, b: int) -> None: ...
def two_payloads(a: Email, b: int) -> None: ...
def two_contexts(a: TaskContext, b: TaskContext) -> None: ...
def any_number(*payloads: Email) -> None: ...
def any_names(**payloads: Email) -> None: ...
def keyword_only(*, email: Email) -> None: ...
def generator(email: Email) -> Any:
    yield email


async def async_generator(email: Email) -> Any:
    yield email


def undecodable(lock: Callable[[int], Any] | object | type(nothing)) -> None: ...  # type: ignore[valid-type]


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (three, "at most a payload and a context"),
        (two_payloads, "at most a payload and a context"),
        (two_contexts, "at most a payload and a context"),
        (any_number, r"\*payloads"),
        (any_names, r"\*\*payloads"),
        (keyword_only, "email"),
        (functools.partial(with_client, client="x"), "email"),
        (generator, "generator"),
        (async_generator, "generator"),
        (Mailer.send, "method without its object"),
        (undecodable, "cannot be decoded"),
    ],
)
def test_a_signature_that_a_worker_cannot_fill_is_refused_at_registration(fn: Callable[..., Any], says: str) -> None:
    registry = Registry()
    with pytest.raises(InvalidInput, match=says):
        registry.task("t")(fn)
    assert registry.task_types == ()


def test_a_type_registered_twice_is_refused_and_the_first_stays() -> None:
    registry = Registry()
    registry.task("t")(nothing)
    with pytest.raises(InvalidInput, match=r"'t' is registered already, for .*nothing"):
        registry.task("t")(payload_only)
    handler = registry.handler("t")
    assert handler is not None
    assert handler.fn is nothing


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"max_attempts": 0}, "max_attempts"),
        ({"max_attempts": 1.5}, "max_attempts"),
        ({"max_attempts": True}, "max_attempts"),
        ({"concurrency": 0}, "concurrency"),
        ({"time_limit": 0}, "time_limit"),
        ({"time_limit": "1"}, "time_limit"),
        ({"time_limit": timedelta(seconds=-1)}, "time_limit"),
        ({"retry": 5}, "retry"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_by_name(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Registry().task("t", **options)(nothing)
    assert refused.value.field == named


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "a\x00", 7])
def test_a_type_that_could_not_be_enqueued_is_refused(name: Any) -> None:
    with pytest.raises(InvalidInput, match="task_type"):
        Registry().task(name)(nothing)


# Schedules.


def test_a_schedule_over_a_function_makes_it_a_task() -> None:
    registry = Registry()

    @registry.every(60)
    def clean_up() -> None: ...

    (schedule,) = registry.schedules
    assert registry.task_types == ("clean_up",)
    assert (schedule.name, schedule.task_type, schedule.payload) == ("clean_up every 60 s", "clean_up", None)
    assert schedule.rule.next(0) == 60_000_000


def test_schedules_stack_above_a_task_and_above_each_other() -> None:
    registry = Registry()

    @registry.cron("0 4 * * *", tz="Europe/Berlin", payload={"deep": True}, priority=1, unique_key="clean")
    @registry.every(60)
    @registry.task("library.clean", max_attempts=1)
    def clean_up(payload: dict[str, bool] | None) -> None: ...

    assert registry.task_types == ("library.clean",)
    assert [schedule.name for schedule in registry.schedules] == [
        "library.clean every 60 s",
        "library.clean 0 4 * * * Europe/Berlin",
    ]
    deep = registry.schedules[1]
    assert (deep.payload, deep.priority, deep.unique_key) == ({"deep": True}, 1, "clean")


def test_a_bound_method_is_recognised_as_the_task_that_it_is() -> None:
    registry, mailer = Registry(), Mailer()
    registry.task("mail")(mailer.send)
    registry.every(60, payload={"to": "a@b"})(mailer.send)
    assert registry.task_types == ("mail",)


def test_a_task_put_above_its_schedule_is_refused_with_the_remedy() -> None:
    registry = Registry()
    with pytest.raises(InvalidInput, match=r"put @registry.task below"):

        @registry.task("library.clean")
        @registry.every(60)
        def clean_up() -> None: ...


def test_a_schedule_can_be_declared_for_a_type_alone() -> None:
    registry = Registry()
    schedule = registry.cron("@daily", "report", {"for": "me"}, name="my report")
    assert registry.every(5, "report").name == "report every 5 s"
    assert registry.schedules[0] is schedule
    assert (schedule.name, schedule.task_type, schedule.prepare().payload) == ("my report", "report", b'{"for":"me"}')
    assert registry.task_types == ()


def test_two_schedules_of_one_name_are_refused() -> None:
    registry = Registry()
    registry.every(5, "report")
    with pytest.raises(InvalidInput, match="name: there is a schedule 'report every 5 s' already"):
        registry.every(5, "report", {"other": 1})
    registry.every(5, "report", {"other": 1}, name="other")
    assert len(registry.schedules) == 2


def test_a_bad_schedule_is_refused_where_it_is_written() -> None:
    registry = Registry()
    with pytest.raises(InvalidInput, match="day of month"):
        registry.cron("0 0 31 2 *")
    with pytest.raises(InvalidInput, match="payload"):
        registry.every(5, "report", object())
    assert registry.schedules == ()


def test_a_cron_schedule_that_names_no_zone_keeps_that_of_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(Registry().cron("0 4 * * *", "clean").rule) == "0 4 * * *"
    monkeypatch.setenv("KURABITO_TZ", "Asia/Tokyo")
    assert str(Registry().cron("0 4 * * *", "clean").rule) == "0 4 * * * Asia/Tokyo"
    assert str(Registry(tz="Europe/Berlin").cron("0 4 * * *", "clean").rule) == "0 4 * * * Europe/Berlin"
    assert str(Registry(tz="Europe/Berlin").cron("0 4 * * *", "clean", tz="UTC").rule) == "0 4 * * *"


def test_a_zone_in_the_environment_that_is_none_is_refused_when_a_schedule_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KURABITO_TZ", "Nowhere/Else")
    registry = Registry()
    with pytest.raises(InvalidInput, match="Nowhere/Else"):
        registry.cron("0 4 * * *", "clean")
