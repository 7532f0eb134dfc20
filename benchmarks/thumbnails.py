"""Thumbnails from the claim to the ready row, against programs that only draw, and how a long line of waiting rows weighs.

The pictures and videos are made here. The peers draw two at a time. We have one line more, as a data plane has by default: while
two draw, the third waits for the disk. Our lines keep their processes from one round to the next, as a data plane does, and
so does the pool of the bare loop; a command is started for as many files as it takes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from harness import Measured, Options, Outcome, Row, Side, Target, compare, interleave, run_alone, settings_of
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.thumbnails.decoder_process import DecoderProcess
from kurabito.dataplane.thumbnails.job import DrawingJob, ThumbnailWork
from kurabito.dataplane.thumbnails.picture import DrawnPicture, Wanted
from kurabito.db import Connection, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol import planes
from kurabito.protocol.enums import MediaType, ThumbnailFormat
from kurabito.protocol.rights import DATA_PLANE
from processes import BenchmarkBroken

AT_ONCE: Final = 2
LINES: Final = 3
SIDE: Final = 320
QUALITY: Final = 80
SECONDS: Final = 20
"""Of each video."""

_ADD_LIBRARY: Final = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'files', :path, :now, :now)"
)
_ADD_FILE: Final = (
    "INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (:id, 1, :path, :size, :mtime, :now, :now)"
)
_ADD_THUMBNAIL: Final = (
    "INSERT INTO thumbnails (thumb_key, file_id, group_key, media_type, format, max_dimension, source_size_bytes, "
    "source_mtime_ns, output_path, created_at, updated_at) "
    "VALUES (:key, :id, 'group', :media, :format, :side, :size, :mtime, :output, :now, :now)"
)


class Nothing:
    """Draws nothing, at once."""

    def draw(self, fd: int, wanted: Wanted) -> DrawnPicture:
        return DrawnPicture(b"picture", SIDE, SIDE, 0)

    def interrupt(self) -> None:
        pass

    def close(self) -> None:
        pass


def run(options: Options) -> Outcome:
    """Measure every workload."""
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        images, videos = Path(scratch) / "images", Path(scratch) / "videos"
        make_images(images, options.size(300, quick=8))
        make_videos(videos, options.size(20, quick=2))
        outcomes += [_images(images, form, options) for form in ("jpeg", "webp")]
        outcomes.append(_videos(videos, options))
        outcomes.append(_waiting(Path(scratch), options))
    return Outcome([row for outcome in outcomes for row in outcome.rows], [n for o in outcomes for n in o.notes])


def _images(folder: Path, form: str, options: Options) -> Outcome:
    with ExitStack() as stack:
        studios = _ready_studios(stack, MediaType.IMAGE, next(folder.iterdir()))
        mine = Side("kurabito", "three lines, SQLite", lambda: ours(folder, MediaType.IMAGE, form, studios), ours=True)
        sides, commands, bare = [mine], [], []
        if not options.ours_only:
            commands = _image_commands(folder, form)
            pool = stack.enter_context(ProcessPoolExecutor(AT_ONCE))
            bare = [Side("bare Pillow loop", "draft, Lanczos, a pool of two", lambda: _pillow(pool, folder, form))]
        measured = interleave([*sides, *commands, *bare], options)
    workload = f"{len(list(folder.iterdir()))} JPEG 4000 x 3000 to {SIDE} px {form}"
    rows = _against(workload, measured, [side.name for side in commands], Target(1.4), options)
    rows += _against(f"{workload}, bare loop", measured, [side.name for side in bare], Target(0.95), options)
    return Outcome(rows, settings_of(measured))


def _ready_studios(stack: ExitStack, media: MediaType, file: Path) -> list[DecoderProcess]:
    """Processes that have loaded what they need."""
    studios = [stack.enter_context(closing(DecoderProcess(media))) for _ in range(LINES)]
    for studio in studios:
        with file.open("rb") as source:
            studio.draw(source.fileno(), Wanted(media, ThumbnailFormat.JPEG, SIDE))
    return studios


def _videos(folder: Path, options: Options) -> Outcome:
    with ExitStack() as stack:
        studios = _ready_studios(stack, MediaType.VIDEO, next(folder.iterdir()))
        mine = Side(
            "kurabito", "three lines, SQLite", lambda: ours(folder, MediaType.VIDEO, "jpeg", studios), ours=True
        )
        commands = [] if options.ours_only else _video_commands(folder)
        measured = interleave([mine, *commands], options)
    workload = f"{len(list(folder.iterdir()))} H.264 1080p videos of {SECONDS} s"
    rows = _against(workload, measured, [side.name for side in commands], Target(1.5), options)
    return Outcome(rows, settings_of(measured))


def _waiting(scratch: Path, options: Options) -> Outcome:
    few, many = options.size(1_000, quick=100), options.size(50_000, quick=500)
    folder = scratch / "one"
    folder.mkdir()
    (folder / "file").write_bytes(b"x")
    sides = [
        Side(f"{many} waiting", "nothing is drawn, SQLite", lambda: _drained(folder, many), ours=True),
        Side(f"{few} waiting", "the same", lambda: _drained(folder, few)),
    ]
    measured = interleave(sides, options)
    workload = f"claim and finish with {many:,} waiting, against {few:,}"
    row = compare(workload, measured, "µs a row", " µs", Target(1.3, more_is_better=False), options)
    return Outcome([row], settings_of(measured))


def _against(
    workload: str, measured: Sequence[Measured], names: Sequence[str], target: Target, options: Options
) -> list[Row]:
    beside = [result for result in measured if result.side.ours or result.side.name in names]
    return [compare(workload, beside, "pictures/s", "/s", target, options)]


def ours(folder: Path, media: MediaType, form: str, studios: Sequence[DecoderProcess]) -> Mapping[str, float]:
    """Everything in a folder, in a database of its own, from the first claim to the last row that is ready."""
    files = sorted(folder.iterdir())
    return {"pictures/s": len(files) / _drain(folder, files, len(files), media, form, studios)}


def _drained(folder: Path, count: int) -> Mapping[str, float]:
    seconds = _drain(folder, [folder / "file"], count, MediaType.IMAGE, "jpeg", [Nothing()])
    return {"µs a row": seconds / count * 1e6}


def _drain(
    folder: Path, files: Sequence[Path], count: int, media: MediaType, form: str, drawings: Sequence[DrawingJob]
) -> float:
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        url = f"sqlite:///{scratch}/files.db"
        database, plane = open_database(url), open_database(url, rights=DATA_PLANE)
        database.open()
        migrate(database, PRODUCT)
        database.write_blocking(lambda conn: _fill(conn, folder, files, count, media, form))
        plane.open()
        plane.write_blocking(lambda conn: planes.announce(conn, "bench", [], "1", 3600.0))
        works = [ThumbnailWork(media, drawing, state=Path(scratch)) for drawing in drawings]
        threads = [threading.Thread(target=Runner(plane, work, name="bench").work) for work in works]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        ready = database.read_blocking(lambda conn: conn.one("SELECT count(*) FROM thumbnails WHERE status = 'ready'"))
        plane.close()
        database.close()
    if ready != (count,):
        raise BenchmarkBroken(f"{ready} of {count} thumbnails are ready")
    return seconds


def _fill(conn: Connection, folder: Path, files: Sequence[Path], count: int, media: MediaType, form: str) -> None:
    conn.run(_ADD_LIBRARY, {"path": str(folder)})
    seen: list[dict[str, Any]] = []
    for number, path in enumerate(files, start=1):
        found = path.stat()
        seen.append({"id": number, "path": path.name, "size": found.st_size, "mtime": found.st_mtime_ns})
        conn.run(_ADD_FILE, seen[-1])
    for number in range(count):
        known = {name: value for name, value in seen[number % len(seen)].items() if name != "path"}
        output = f"{number % 256:02x}/{number}.{form}"
        values = {**known, "key": str(number), "media": media.value, "format": form, "side": SIDE, "output": output}
        conn.run(_ADD_THUMBNAIL, values)


def _image_commands(folder: Path, form: str) -> list[Side]:
    suffix = {"jpeg": "jpg", "webp": "webp"}[form]
    sides = []
    if shutil.which("vipsthumbnail"):
        settings = "two processes of one thread, each with half of the files"

        def vips(files: Sequence[str], out: str) -> list[str]:
            return ["vipsthumbnail", "--size", f"{SIDE}x{SIDE}>", "-o", f"{out}/%s.{suffix}[Q={QUALITY}]", *files]

        sides.append(Side("vipsthumbnail", settings, lambda: _halves(folder, vips)))
    if shutil.which("mogrify"):
        settings = "two processes of one thread, each with half of the files; -define jpeg:size"

        def magick(files: Sequence[str], out: str) -> list[str]:
            wanted = ["-thumbnail", f"{SIDE}x{SIDE}>", "-quality", str(QUALITY), "-format", suffix]
            return ["mogrify", "-path", out, "-define", f"jpeg:size={2 * SIDE}x{2 * SIDE}", *wanted, *files]

        sides.append(Side("ImageMagick", settings, lambda: _halves(folder, magick)))
    return sides


def _video_commands(folder: Path) -> list[Side]:
    sides = []
    at = SECONDS / 10
    commands: dict[str, Callable[[str, str], list[str]]] = {
        "ffmpegthumbnailer": lambda file, out: [
            *("ffmpegthumbnailer", "-i", file, "-o", f"{out}/{Path(file).stem}.jpg", "-s", str(SIDE), "-t", "10%")
        ],
        "ffmpeg": lambda file, out: [
            *("ffmpeg", "-v", "error", "-threads", "1", "-ss", str(at), "-i", file, "-frames:v", "1"),
            *("-vf", f"scale={SIDE}:-2", f"{out}/{Path(file).stem}.jpg"),
        ],
    }
    for name, command in commands.items():
        if shutil.which(name):
            shown = "ffmpeg -ss" if name == "ffmpeg" else name
            sides.append(Side(shown, "a process for each file, two at a time", lambda c=command: _each(folder, c)))  # type: ignore[misc]
    return sides


def _halves(folder: Path, command: Callable[[Sequence[str], str], list[str]]) -> Mapping[str, float]:
    files = [str(path) for path in sorted(folder.iterdir())]
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as out:
        began = time.perf_counter()
        _run_all([command(files[half::AT_ONCE], out) for half in range(AT_ONCE)])
        seconds = time.perf_counter() - began
        _check(out, len(files))
    return {"pictures/s": len(files) / seconds}


def _each(folder: Path, command: Callable[[str, str], list[str]]) -> Mapping[str, float]:
    files = [str(path) for path in sorted(folder.iterdir())]
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as out:
        began = time.perf_counter()
        _run_all([command(file, out) for file in files])
        seconds = time.perf_counter() - began
        _check(out, len(files))
    return {"pictures/s": len(files) / seconds}


def _run_all(commands: Sequence[list[str]]) -> None:
    one_thread = {**os.environ, "VIPS_CONCURRENCY": "1", "MAGICK_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"}

    def start(command: list[str]) -> None:
        subprocess.run(command, check=True, env=one_thread, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(start, commands))


def _check(folder: str, count: int) -> None:
    found = sum(1 for path in Path(folder).iterdir() if path.stat().st_size)
    if found != count:
        raise BenchmarkBroken(f"{found} of {count} pictures were drawn")


def _pillow(pool: ProcessPoolExecutor, folder: Path, form: str) -> Mapping[str, float]:
    files = [str(path) for path in sorted(folder.iterdir())]
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as out:
        # The processes are there, and have loaded what they need.
        list(pool.map(draw_with_pillow, files[:AT_ONCE], [form] * AT_ONCE, [out] * AT_ONCE))
        began = time.perf_counter()
        list(pool.map(draw_with_pillow, files, [form] * len(files), [out] * len(files)))
        seconds = time.perf_counter() - began
        _check(out, len(files))
    return {"pictures/s": len(files) / seconds}


def draw_with_pillow(file: str, form: str, out: str) -> None:
    """One picture, by the shortest way there is."""
    from PIL import Image

    with Image.open(file) as image:
        image.draft("RGB", (SIDE, SIDE))
        image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS, reducing_gap=None)
        image.save(f"{out}/{Path(file).stem}.{form}", form, quality=QUALITY)


def make_images(folder: Path, count: int) -> None:
    """Photographs of noise and light; each file is one of four."""
    import pyvips  # type: ignore[import-untyped]

    folder.mkdir()
    place = pyvips.Image.xyz(4000, 3000)
    light = place[0].bandjoin([place[1], (place[0] + place[1]) * 0.5]) * 0.03
    for number in range(min(4, count)):
        grain = pyvips.Image.gaussnoise(4000, 3000, sigma=30, mean=90, seed=number).gaussblur(1.5)
        (light + grain).cast("uchar").copy(interpretation="srgb").jpegsave(str(folder / f"{number:03}.jpg"), Q=90)
    for number in range(4, count):
        shutil.copyfile(folder / f"{number % 4:03}.jpg", folder / f"{number:03}.jpg")


def make_videos(folder: Path, count: int) -> None:
    """Twenty seconds of moving bars at 24 frames a second; all files are the same."""
    import av

    folder.mkdir()
    first = folder / "00.mp4"
    with av.open(str(first), "w") as container:
        stream: Any = container.add_stream("libx264", rate=24, options={"preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = 1920, 1080, "yuv420p"
        for number in range(24 * SECONDS):
            frame = av.VideoFrame(1920, 1080, "yuv420p")
            frame.pts = number
            for place, plane in enumerate(frame.planes):
                row = bytes((x * (place + 1) + number * 3) % 200 + 20 for x in range(plane.line_size))
                plane.update(b"".join(row[y % 64 :] + row[: y % 64] for y in range(plane.height)))
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    for number in range(1, count):
        shutil.copyfile(first, folder / f"{number:02}.mp4")


if __name__ == "__main__":
    run_alone("thumbnails", run)
