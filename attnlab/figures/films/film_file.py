"""Encodes films: a sequence of frames becomes a GIF, an APNG or an MP4, in any thread."""

import contextlib
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import AttnlabError
from attnlab.base.formats import FILMS

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

FPS_RANGE = (1, 50)
MOST_DOTS = 400_000_000
"""The maximum of pixels in all frames of a GIF, which are kept in memory until it is written."""
_LARGEST = 4096
"""The longest side in pixels that players reliably support."""
_PNG = b"\x89PNG\r\n\x1a\n"


def encode(
    frames: Iterable[bytes],
    size: tuple[int, int],
    count: int,
    fps: int,
    ending: str,
    colours: tuple[tuple[int, int, int], ...] = (),
) -> bytes:
    """Return the file of a film of ``count`` frames of RGB pixels, which loops; ``colours`` are those of a GIF.

    If ``frames`` raises an error, encoding stops and leaves no process and no file behind.

    Raises:
        AttnlabError: the kind of film is unknown, the film is too large, or the encoder is not installed.
    """
    check_film(size, count, fps, ending)
    if ending == ".mp4":
        try:
            return _encode_mp4(frames, size, fps)
        except OSError as error:  # no space for temporary files, or ffmpeg does not start
            raise AttnlabError(f"The film cannot be written: {error.strerror or error}.") from None
    if ending == ".gif":
        return _encode_gif(frames, size, count, fps, colours)
    return b"".join(_encode_apng(frames, size, count, fps))


def check_film(size: tuple[int, int], count: int, fps: int, ending: str) -> None:
    """Check the size of a film before any frame is drawn; errors as :func:`encode`."""
    if ending not in FILMS:
        raise AttnlabError(f"A film cannot have the ending {ending!r}; it can be {', '.join(FILMS)}.")
    if not FPS_RANGE[0] <= fps <= FPS_RANGE[1]:
        raise AttnlabError(f"A film cannot have {fps} frames a second; it needs {FPS_RANGE[0]} to {FPS_RANGE[1]}.")
    if max(size) > _LARGEST:
        raise AttnlabError(
            f"A film of {size[0]} × {size[1]} pixels is too large; the maximum is {_LARGEST} on each side."
        )
    if ending == ".gif" and size[0] * size[1] * count > MOST_DOTS:
        raise AttnlabError(f"A GIF of {count} frames of this size is too large; use fewer frames, or an MP4.")
    if ending == ".mp4":
        find_ffmpeg()


def find_ffmpeg() -> str:
    """Return the path of ffmpeg: that of imageio-ffmpeg, or else the system's.

    Raises:
        AttnlabError: neither is installed; the sentence says what to install.
    """
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        found = shutil.which("ffmpeg")
    if found is None:
        frozen = getattr(sys, "frozen", False)  # a bundled program with its own Python, for which pip cannot install
        bringing = "install it with your system’s packages" if frozen else 'install it with pip install "attnlab[film]"'
        raise AttnlabError(f"An MP4 needs ffmpeg: {bringing}; a GIF or an APNG does not need it.")
    return found


def _make_environ() -> dict[str, str]:
    """Return the environment of ffmpeg, which must not load the libraries of a bundled attnlab."""
    environ = dict(os.environ)
    if getattr(sys, "frozen", False):  # https://pyinstaller.org/en/stable/common-issues-and-pitfalls.html
        environ.pop("LD_LIBRARY_PATH", None)
        before = environ.pop("LD_LIBRARY_PATH_ORIG", None)
        environ |= {} if before is None else {"LD_LIBRARY_PATH": before}
    return environ


def _encode_gif(
    frames: Iterable[bytes], size: tuple[int, int], count: int, fps: int, colours: tuple[tuple[int, int, int], ...]
) -> bytes:
    from PIL import Image

    nearest = _Nearest(colours)
    pictures = (_index_colours(Image.fromarray(nearest.find_entries(each, size)), colours) for each in frames)
    ends = [round(i * 100 / fps) for i in range(count + 1)]  # hundredths of a second; rounding the sum avoids drift
    data = io.BytesIO()
    times = [10 * (b - a) for a, b in pairwise(ends)]
    next(pictures).save(data, "GIF", save_all=True, append_images=pictures, duration=times, loop=0, optimize=False)
    return data.getvalue()


def _index_colours(picture: "Picture", colours: tuple[tuple[int, int, int], ...]) -> "Picture":
    picture.putpalette([channel for colour in colours for channel in colour])
    return picture


class _Nearest:
    """Finds the nearest colour of a palette exactly; Pillow's own search is inexact and would tint cells."""

    def __init__(self, colours: tuple[tuple[int, int, int], ...]) -> None:
        self._colours = np.array(colours, dtype=np.int32)
        self._entry = np.zeros(1 << 24, dtype=np.uint8)
        self._known = np.zeros(1 << 24, dtype=np.bool_)

    def find_entries(self, frame: bytes, size: tuple[int, int]) -> NDArray[np.uint8]:
        """Return the index of the nearest colour for each pixel, [height, width]."""
        pixels = np.frombuffer(frame, dtype=np.uint8).reshape(-1, 3).astype(np.int32)
        packed = pixels @ np.array([1 << 16, 1 << 8, 1], dtype=np.int32)
        for start in range(0, len(new := np.unique(packed[~self._known[packed]])), 4096):
            part = new[start : start + 4096]
            apart = np.stack([part >> 16, part >> 8 & 255, part & 255], 1)[:, None] - self._colours
            self._entry[part] = (apart * apart).sum(2).argmin(1)
        self._known[new] = True
        entries: NDArray[np.uint8] = self._entry[packed].reshape(size[1], size[0])
        return entries


def _encode_apng(frames: Iterable[bytes], size: tuple[int, int], count: int, fps: int) -> Iterator[bytes]:
    """Yield the parts of an APNG; see the PNG specification, third edition (W3C 2025), section 11.3.6."""
    from PIL import Image

    number = 0
    for index, pixels in enumerate(frames):
        data = io.BytesIO()
        Image.frombytes("RGB", size, pixels).save(data, "PNG", compress_level=6)
        chunks = list(_read_chunks(data.getvalue()))
        if index == 0:
            yield _PNG + _write_chunk(b"IHDR", chunks[0][1]) + _write_chunk(b"acTL", struct.pack(">II", count, 0))
        yield _write_chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, *size, 0, 0, 1, fps, 0, 0))
        number += 1
        for kind, body in chunks:
            if kind == b"IDAT":
                yield (
                    _write_chunk(kind, body) if index == 0 else _write_chunk(b"fdAT", struct.pack(">I", number) + body)
                )
                number += int(index > 0)
    yield _write_chunk(b"IEND", b"")


def _read_chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_PNG)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _write_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _encode_mp4(frames: Iterable[bytes], size: tuple[int, int], fps: int) -> bytes:
    """Return an H.264 film that all players support (4:2:0, BT.709), with the index first, as web pages need it."""
    program = find_ffmpeg()
    with tempfile.TemporaryDirectory(prefix="attnlab-film-") as folder, tempfile.TemporaryFile() as said:
        path = Path(folder) / "film.mp4"
        hidden = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # no terminal window on Windows
        command = _make_command(program, size, fps, path)
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=said, env=_make_environ(), creationflags=hidden)
        try:
            assert child.stdin is not None
            _feed(child.stdin, frames)
            code = child.wait()
        except BaseException:
            child.kill()
            raise
        finally:
            if child.stdin is not None and not child.stdin.closed:
                _close(child.stdin)
            child.wait()
        if code or not path.is_file():
            raise AttnlabError(f"ffmpeg did not write the film: {_read_last_line(said)}.")
        return path.read_bytes()


def _make_command(program: str, size: tuple[int, int], fps: int, path: Path) -> list[str]:
    taken = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(fps), "-i", "pipe:0", "-an"]
    colour = "scale=in_range=full:out_range=tv:out_color_matrix=bt709:flags=accurate_rnd+full_chroma_int"
    tags = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
    kind = ["-c:v", "libx264", "-preset", "veryfast", "-tune", "animation", "-crf", "14", "-pix_fmt", "yuv420p"]
    end = ["-movflags", "+faststart", "-f", "mp4", str(path)]
    return [program, "-y", "-nostdin", "-loglevel", "error", *taken, "-vf", colour, *tags, *kind, *end]


def _feed(pipe: IO[bytes], frames: Iterable[bytes]) -> None:
    for each in frames:
        try:
            pipe.write(each)
        except OSError:  # ffmpeg has ended; its output says why
            break
    _close(pipe)


def _close(pipe: IO[bytes]) -> None:
    with contextlib.suppress(OSError):  # ffmpeg may have ended before the last flush
        pipe.close()


def _read_last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode(errors="replace").strip().splitlines()
    return lines[-1].rstrip(".") if lines else "there was no error message"
