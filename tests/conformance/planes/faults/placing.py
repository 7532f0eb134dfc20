"""Faults of placements."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.conformance.planes.faults.fault import edit, fault, nothing, put

from kurabito.conformance.scenarios.placing import NOT_OURS
from kurabito.dataplane.placing import execution, store
from kurabito.dataplane.placing.execution import PlacementExecution
from kurabito.dataplane.placing.modes import PlacementModes
from kurabito.dataplane.placing.placement_row import LeasedPlacement
from kurabito.dataplane.placing.refusals import PlacementRefused
from kurabito.dataplane.placing.succession import Succession
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.placements import PlacedBy


@fault("PLACE-1")
def places_into_an_empty_folder() -> None:
    put(PlacementExecution, "_refuse_empty_folder", nothing)


@fault("PLACE-2")
def places_what_changed() -> None:
    put(PlacementExecution, "_refuse_changed", nothing)


@fault("PLACE-3")
def replaces_files() -> None:
    put(PlacementExecution, "_find_placed", lambda of, _: Path(of._shown).unlink(missing_ok=True))


@fault("PLACE-4")
def fills_the_disk() -> None:
    put(PlacementModes, "_refuse_without_room", nothing)


@fault("PLACE-5")
def names_a_file_without_a_word() -> None:
    put(LeasedPlacement, "intend", nothing)


@fault("PLACE-6")
def leaves_the_source_of_a_move() -> None:
    put(PlacementModes, "_move", lambda modes, _, source, target: modes._link(source, target))


@fault("PLACE-7", check="a renamed file keeps its row")
def makes_a_row_for_a_new_name() -> None:
    put(store, "rename", lambda *_: False)


@fault("PLACE-7", check="the library knows the file")
def keeps_what_it_placed_to_itself() -> None:
    put(store, "enter", nothing)


@fault("PLACE-8")
def removes_every_part() -> None:
    def remove(target: Any, _: Any) -> None:
        with suppress(FileNotFoundError):
            os.unlink(NOT_OURS, dir_fd=target.folder)

    put(execution, "remove_leftovers", remove)


@fault("PLACE-9")
def calls_a_missing_file_a_failure() -> None:
    refuse = LeasedPlacement.refuse

    def refuse_as(row: Any, status: Any, code: ErrorCode, *rest: Any) -> None:
        refuse(row, status, ErrorCode.WORKER_FAILURE if code is ErrorCode.FILE_MISSING else code, *rest)

    put(LeasedPlacement, "refuse", refuse_as)


@fault("PLACE-10")
def throws_away_what_it_replaces() -> None:
    put(Succession, "retire", lambda *_: None)


@fault("PLACE-10")
def replaces_what_changed() -> None:
    put(Succession, "_is_old", lambda of, seen: seen is not None and of._row.begun(seen) is None)


@fault("PLACE-10")
def knows_what_it_replaced_as_there() -> None:
    edit(store._SQL, "is_gone", "is_missing = 1", "is_missing = 0")


@fault("PLACE-11")
def writes_an_empty_file() -> None:
    put(PlacementModes, "_write", lambda modes, target: modes._make(PlacedBy.WRITE, target, nothing))


@fault("PLACE-12")
def moves_what_has_its_place() -> None:
    execute = PlacementExecution._place

    def place(of: Any, source: Any) -> Any:
        of._row.values = {**of._row.values, "is_placed": 0}
        return execute(of, source)

    put(PlacementExecution, "_place", place)


@fault("WAIT-3", check="facts name the file")
def has_words_of_its_own_for_facts() -> None:
    make = PlacementRefused.__init__

    def make_other(refused: Any, code: Any, **facts: Any) -> None:
        make(refused, code, **{f"the_{name}": value for name, value in facts.items()})

    put(PlacementRefused, "__init__", make_other)
