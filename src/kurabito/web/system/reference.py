"""`/docs`: the HTTP interface for readers, made from its own description. Nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from fastapi import Request, Response

from kurabito.site.routing import Router
from kurabito.web.pages import Pages

_METHODS: Final = ("get", "post", "put", "patch", "delete")
_BODY: Final = "body"
_UNTAGGED: Final = "other"
_SCHEMAS: Final = "#/components/schemas/"

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SchemaKind:
    """What a value looks like: words, with the schemas that they name."""

    text: str
    schemas: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaField:
    """A parameter, or a field of a body."""

    name: str
    place: str
    kind: SchemaKind
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class OperationAnswer:
    """What a route may answer."""

    status: str
    meaning: str
    kind: SchemaKind | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    tag: str
    summary: str
    description: str
    fields: tuple[SchemaField, ...]
    body: SchemaKind | None
    answers: tuple[OperationAnswer, ...]

    @property
    def anchor(self) -> str:
        return anchor_of(f"{self.method} {self.path}")


@dataclass(frozen=True, slots=True)
class OperationGroup:
    """The routes about one subject."""

    name: str
    description: str
    operations: tuple[Operation, ...]

    @property
    def anchor(self) -> str:
        return anchor_of(f"about {self.name}")


@dataclass(frozen=True, slots=True)
class Shape:
    """A named schema with its fields, or with its values when it is an enumeration."""

    name: str
    description: str
    fields: tuple[SchemaField, ...]
    kind: SchemaKind


def router(pages: Pages, openapi: Callable[[], Mapping[str, Any]]) -> Router:
    """The page that describes the interface."""
    routes = Router()

    @routes.get("/docs")
    async def docs(request: Request) -> Response:
        description = openapi()
        return pages.show(
            request, "docs.html", groups=list(groups_of(description)), shapes=list(shapes_of(description))
        )

    return routes


def operations_of(description: Mapping[str, Any]) -> Iterator[Operation]:
    """Every route of an OpenAPI description, in its order."""
    for path, item in description.get("paths", {}).items():
        for method in _METHODS:
            if method in item:
                yield _operation(method, path, item[method], item.get("parameters", ()))


def groups_of(description: Mapping[str, Any]) -> Iterator[OperationGroup]:
    """The routes by subject: first the subjects that the description itself lists, in its order."""
    descriptions = {tag["name"]: tag.get("description", "") for tag in description.get("tags", ())}
    operations = list(operations_of(description))
    for name in dict.fromkeys([*descriptions, *(operation.tag for operation in operations)]):
        own = tuple(operation for operation in operations if operation.tag == name)
        if own:
            yield OperationGroup(name, descriptions.get(name, ""), own)


def anchor_of(text: str) -> str:
    """The text as a place in the page that a link can name."""
    return "-".join(re.findall(r"\w+", text)).lower()


def shapes_of(description: Mapping[str, Any]) -> Iterator[Shape]:
    """Every named schema of an OpenAPI description."""
    for name, schema in sorted(description.get("components", {}).get("schemas", {}).items()):
        yield Shape(name, schema.get("description", ""), tuple(_fields(schema, _BODY)), kind_of(schema))


def kind_of(schema: Schema) -> SchemaKind:
    """What a schema allows, in a few words: `string | null`, `[Task]`, `"read" | "write"`."""
    if (reference := schema.get("$ref", "")).startswith(_SCHEMAS):
        name = reference.removeprefix(_SCHEMAS)
        return SchemaKind(name, (name,))
    if "const" in schema:
        return SchemaKind(_quoted(schema["const"]))
    if "enum" in schema:
        return SchemaKind(" | ".join(map(_quoted, schema["enum"])))
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return _joined([kind_of(each) for each in schema[choice]])
    if schema.get("type") == "array":
        items = kind_of(schema.get("items", {}))
        return SchemaKind(f"[{items.text}]", items.schemas)
    if isinstance(schema.get("type"), list):
        return SchemaKind(" | ".join(schema["type"]))
    return SchemaKind(" ".join(filter(None, (schema.get("type", "any"), _limits(schema)))))


def _operation(method: str, path: str, route: Mapping[str, Any], shared: Sequence[Mapping[str, Any]]) -> Operation:
    body = _content(route.get("requestBody", {}))
    # The first paragraph says more than a summary made from a function's name.
    summary, _, description = route.get("description", "").partition("\n\n")
    return Operation(
        method=method,
        path=path,
        tag=next(iter(route.get("tags", ())), _UNTAGGED),
        summary=summary or route.get("summary", ""),
        description=description,
        fields=tuple(_parameter(each) for each in (*shared, *route.get("parameters", ())) if "name" in each),
        body=None if body is None else kind_of(body),
        answers=tuple(_answer(status, answer) for status, answer in sorted(route.get("responses", {}).items())),
    )


def _parameter(parameter: Mapping[str, Any]) -> SchemaField:
    return SchemaField(
        parameter["name"],
        parameter.get("in", ""),
        kind_of(parameter.get("schema", {})),
        parameter.get("required", False),
        parameter.get("description", ""),
    )


def _answer(status: str, answer: Mapping[str, Any]) -> OperationAnswer:
    content = _content(answer)
    meaning = answer.get("description", "") or (HTTPStatus(int(status)).phrase if status.isdigit() else "")
    return OperationAnswer(status, meaning, kind_of(content) if content else None)


def _content(holder: Mapping[str, Any]) -> Schema | None:
    """The schema of a body, whatever its media type."""
    return next((media.get("schema", {}) for media in holder.get("content", {}).values()), None)


def _fields(schema: Schema, place: str) -> Iterator[SchemaField]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        yield SchemaField(name, place, kind_of(field), name in required, field.get("description", ""))


def _joined(kinds: Sequence[SchemaKind]) -> SchemaKind:
    named = tuple(name for kind in kinds for name in kind.schemas)
    return SchemaKind(" | ".join(dict.fromkeys(kind.text for kind in kinds)), named)


def _limits(schema: Schema) -> str:
    """The format and the bounds, where there are any."""
    bounds = {
        "≥": schema.get("minimum", schema.get("minLength")),
        ">": schema.get("exclusiveMinimum"),
        "≤": schema.get("maximum", schema.get("maxLength")),
        "<": schema.get("exclusiveMaximum"),
    }
    words = [schema.get("format", ""), *(f"{sign} {bound}" for sign, bound in bounds.items() if bound is not None)]
    return ", ".join(filter(None, words))


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
