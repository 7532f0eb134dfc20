"""The interface's description as readers see it."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import BaseModel, Field

from kurabito.web.system.reference import groups_of, kind_of, operations_of, shapes_of


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({}, "any"),
        ({"type": "string", "format": "uuid"}, "string uuid"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, "integer ≥ 1, ≤ 9"),
        ({"type": "string", "maxLength": 9}, "string ≤ 9"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Task"}}, "[Task]"),
        ({"enum": ["read", 1, None]}, '"read" | 1 | None'),
        ({"const": True}, "true"),
        ({"allOf": [{"$ref": "#/components/schemas/Task"}]}, "Task"),
    ],
)
def test_a_schema_is_told_in_a_few_words(schema: dict[str, Any], text: str) -> None:
    assert kind_of(schema).text == text


class Parcel(BaseModel):
    """What is sent."""

    to: str = Field(description="whom it is for")
    weight: float | None = None


def test_a_route_is_told_with_its_parameters_body_and_answers() -> None:
    api = FastAPI()

    @api.post("/parcels/{shelf}", tags=["post"], status_code=201, responses={404: {"description": "no such shelf"}})
    async def send(shelf: int, parcel: Parcel, fragile: bool = False) -> Parcel:
        """Send a parcel.

        It arrives.
        """
        return parcel

    (operation,) = operations_of(api.openapi())
    assert (operation.method, operation.path, operation.tag) == ("post", "/parcels/{shelf}", "post")
    assert (operation.summary, operation.description) == ("Send a parcel.", "It arrives.")
    assert [(field.name, field.place, field.required) for field in operation.fields] == [
        ("shelf", "path", True),
        ("fragile", "query", False),
    ]
    assert operation.body is not None
    assert operation.body.schemas == ("Parcel",)
    assert [(answer.status, answer.meaning) for answer in operation.answers][:2] == [
        ("201", "Successful Response"),
        ("404", "no such shelf"),
    ]
    parcel = next(shape for shape in shapes_of(api.openapi()) if shape.name == "Parcel")
    assert [(field.name, field.kind.text, field.required) for field in parcel.fields] == [
        ("to", "string", True),
        ("weight", "number | null", False),
    ]


def test_routes_are_grouped_in_the_order_of_the_description() -> None:
    api = FastAPI(openapi_tags=[{"name": "outer doors", "description": "first"}, {"name": "empty"}])

    @api.get("/b")
    async def untagged() -> None: ...

    @api.get("/a", tags=["outer doors"])
    async def tagged() -> None: ...

    groups = list(groups_of(api.openapi()))
    assert [(group.name, group.description, group.anchor) for group in groups] == [
        ("outer doors", "first", "about-outer-doors"),
        ("other", "", "about-other"),
    ]
