"""Handlers: functions that run tasks, and what their signatures say about how to call them.

def backup() -> None: ...                                  nothing
async def send(email: Email) -> Receipt: ...               the payload, as its annotation says
def crawl(url, ctx): ...                                   the payload as plain JSON values, and the context
async def crawl(ctx: TaskContext, site: Site) -> int: ...  in any order
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType, FunctionType, SimpleNamespace
from typing import Any, Final, Literal, NamedTuple

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

from kurabito.errors import InvalidInput
from kurabito.runtime.outcomes import Claim
from kurabito.runtime.tasks import payloads
from kurabito.runtime.tasks.context import TaskContext
from kurabito.runtime.tasks.retry import RetryPolicy

Isolation = Literal["process"]

_CONTEXT_NAMES: Final = frozenset({"ctx", "context"})
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Handler:
    """A registered function and everything a worker needs to know to run it."""

    task_type: str
    fn: Callable[..., Any]
    max_attempts: int
    retry: RetryPolicy
    concurrency: int | None
    """At most so many at once in one worker; None for as many as the worker runs."""
    time_limit: float | None
    """Seconds."""
    is_async: bool
    takes_payload: bool
    payload_type: Any
    takes_context: bool
    context_first: bool = False
    isolation: Isolation | None = None
    memory_limit: int | None = None
    """Bytes, for all of an isolated handler's process."""
    in_loop: bool = field(init=False)
    """It is awaited in the event loop, as most are: asked for every task, so it is worked out once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "in_loop", self.is_async and self.isolation is None)

    def arguments(self, claim: Claim, ctx: TaskContext) -> tuple[Any, ...]:
        """What to call the function with; raises PayloadError when the payload does not fit."""
        if not self.takes_payload:
            return (ctx,) if self.takes_context else ()
        payload = self._payload(claim)
        if not self.takes_context:
            return (payload,)
        return (ctx, payload) if self.context_first else (payload, ctx)

    def _payload(self, claim: Claim) -> Any:
        # A handler that does not say what it takes gets bytes as bytes.
        if self.payload_type is Any and claim.content_type != payloads.JSON:
            return claim.payload
        return payloads.decode(claim.payload, claim.content_type, self.payload_type)


class Signature(NamedTuple):
    """What a function takes."""

    is_async: bool
    takes_payload: bool
    payload_type: Any
    takes_context: bool
    context_first: bool


def read_signature(fn: Callable[..., Any], frame: FrameType | None) -> Signature:
    """Find out how to call `fn`; `frame` is where it was registered, for annotations that name local classes."""
    inner = _innermost(fn)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise InvalidInput(_name(fn), "is a generator; a handler returns its result")
    taken = [(name, _annotation(fn, inner, parameter, frame)) for name, parameter in _parameters(fn).items()]
    contexts = [at for at, (name, annotation) in enumerate(taken) if _is_context(name, annotation)]
    wanted = [annotation for at, (_, annotation) in enumerate(taken) if at not in contexts]
    if len(contexts) > 1 or len(wanted) > 1:
        listed = ", ".join(name for name, _ in taken)
        raise InvalidInput(
            _name(fn),
            f"takes ({listed}); a handler takes at most a payload and a context, which is the parameter annotated "
            "TaskContext, or without annotation the one named ctx",
        )
    payload_type = wanted[0] if wanted else None
    if payload_type is inspect.Parameter.empty:
        payload_type = Any
    if wanted:
        _check_decodable(fn, payload_type)
    return Signature(
        is_async=inspect.iscoroutinefunction(inner),
        takes_payload=bool(wanted),
        payload_type=payload_type,
        takes_context=bool(contexts),
        context_first=contexts == [0],
    )


def own_name(fn: Callable[..., Any]) -> str | None:
    """The function's name, if it has one that can stand for a task type."""
    name = getattr(fn, "__name__", None)
    return name if isinstance(name, str) and name.isidentifier() else None


def _parameters(fn: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters that a worker fills. Options with a default, also those bound by `partial`, are left alone."""
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        raise InvalidInput(_name(fn), "is nothing that can be called with a known signature") from None
    filled = {}
    for place, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind in _POSITIONAL:
            if place == 0 and name in ("self", "cls"):
                raise InvalidInput(_name(fn), f"is a method without its object; register it bound: {name}.method")
            filled[name] = parameter
        elif parameter.kind is not inspect.Parameter.KEYWORD_ONLY or parameter.default is inspect.Parameter.empty:
            raise InvalidInput(
                _name(fn), f"takes {parameter}, which a worker cannot fill: it calls with payload and context by place"
            )
    return filled


def _innermost(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind a partial, a bound method or an object that can be called."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    if inspect.ismethod(fn):
        return fn.__func__
    call = type(fn).__call__
    return call if not inspect.isfunction(fn) and inspect.isfunction(call) else fn


def _annotation(
    fn: Callable[..., Any], inner: Callable[..., Any], parameter: inspect.Parameter, frame: FrameType | None
) -> Any:
    """The parameter's annotation as a type, also when it is written as text."""
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return annotation
    # `from __future__ import annotations` makes every one a text; a class may name another inside list["Email"] too.
    holder = SimpleNamespace(__annotations__={parameter.name: annotation})
    written = inspect.unwrap(inner)
    problem: Exception | None = None
    for globalns, localns in _namespaces(written, frame):
        try:
            return typing.get_type_hints(holder, globalns, localns, include_extras=True)[parameter.name]
        except NameError as error:
            problem = error
        except Exception as error:  # noqa: BLE001 - evaluating an annotation runs whatever the user wrote there
            problem = error
            break
    # Imported under TYPE_CHECKING only, which is fine for a context: nothing has to be decoded.
    if isinstance(annotation, str) and annotation.split(".")[-1] == TaskContext.__name__:
        return TaskContext
    raise InvalidInput(
        _name(fn),
        f"the annotation {annotation!r} of {parameter.name} cannot be resolved ({problem}); define the class before "
        "the handler, where the handler can see it, and import it outside of `if TYPE_CHECKING`",
    )


def _namespaces(written: Callable[..., Any], frame: FrameType | None) -> list[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Where a name in an annotation may stand, the likeliest place first."""
    globalns: dict[str, Any] = getattr(written, "__globals__", {})
    if not inspect.isfunction(written):
        return [(globalns, {})]
    cells = zip(written.__code__.co_freevars, written.__closure__ or (), strict=False)
    closure = {name: cell.cell_contents for name, cell in cells if _filled(cell)}
    # A local class hides a global one only for functions that were written in the same place.
    return [(globalns, {**_locals_around(written, frame), **closure}), (globalns, frame.f_locals if frame else {})]


def _locals_around(written: FunctionType, frame: FrameType | None) -> dict[str, Any]:
    """The local names of the functions that `written` stands in, as far as they are still running."""
    found: dict[str, Any] = {}
    code = written.__code__
    while frame is not None:
        if code in frame.f_code.co_consts:
            found = {**frame.f_locals, **found}
            code = frame.f_code
        frame = frame.f_back
    return found


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - looking is the test
    except ValueError:
        return False
    return True


def _is_context(name: str, annotation: Any) -> bool:
    if annotation is inspect.Parameter.empty:
        return name in _CONTEXT_NAMES
    return annotation is TaskContext or TaskContext in typing.get_args(annotation)


def _check_decodable(fn: Callable[..., Any], wanted: Any) -> None:
    try:
        hash(wanted)
        TypeAdapter(wanted)
    except (PydanticSchemaGenerationError, TypeError) as problem:
        raise InvalidInput(
            _name(fn),
            f"a payload cannot be decoded as {wanted!r}; annotate it with a dataclass, a pydantic model, a TypedDict, "
            f"plain JSON types or bytes ({str(problem).splitlines()[0]})",
        ) from None
    except PydanticUserError:
        # It names a class that does not exist yet; it is looked at again with the first payload.
        pass


def _name(fn: Callable[..., Any]) -> str:
    inner = _innermost(fn)
    return getattr(inner, "__qualname__", None) or repr(fn)
