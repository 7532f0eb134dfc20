"""Where a downloader's folder is for the core: the other way round of its path maps."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from kurabito.modules.path_maps import PathMap, as_core_sees, mapped

MAPS = (
    PathMap("/srv/downloads", "/mnt/nas/dl"),
    PathMap("/srv/films", "/mnt/nas/dl/films"),
    PathMap("/srv/windows", "D:\\Downloads"),
)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("/mnt/nas/dl/Show/42", "/srv/downloads/Show/42"),
        # The longest prefix knows best.
        ("/mnt/nas/dl/films/7", "/srv/films/7"),
        ("D:\\Downloads\\Show\\42", "/srv/windows/Show/42"),
        ("d:/downloads/Show", "/srv/windows/Show"),
        # A name that only begins alike is another folder.
        ("/mnt/nas/dl2/Show", "/mnt/nas/dl2/Show"),
        ("/elsewhere", "/elsewhere"),
    ],
)
def test_a_folder_of_a_downloader_is_found_where_the_core_has_it(there: str, here: str) -> None:
    assert as_core_sees(there, MAPS) == PurePosixPath(here)


def test_a_folder_that_was_mapped_is_mapped_back() -> None:
    folder = PurePosixPath("/srv/downloads/Show/42")
    assert as_core_sees(mapped(folder, MAPS), MAPS) == folder
