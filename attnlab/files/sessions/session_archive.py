"""The zip archive of a session: members are read within limits and checked; nothing is unpacked to disk.

``SHA256SUMS`` has the format of ``sha256sum``, so that an unzipped session can be checked by hand.
"""

import hashlib
import io
import re
import stat
import zipfile
from collections.abc import Mapping
from typing import IO

from attnlab.files.atomic import format_name

MANIFEST, TENSORS, SUMS = "manifest.json", "tensors.safetensors", "SHA256SUMS"
MANIFEST_LIMIT, SUMS_LIMIT, TOTAL_LIMIT = 16 << 20, 4096, 512 << 20
"""The maximum unpacked size in bytes of the manifest, the checksums, and all members together."""
MOST_MEMBERS = 16
"""The maximum number of members in a session of any version."""
FREE_LIMIT, MOST_SHRUNK = 64 << 20, 100
"""Sizes up to FREE_LIMIT bytes are always unpacked; larger ones at most MOST_SHRUNK times the size of the file."""

_LIMITS = {MANIFEST: MANIFEST_LIMIT, SUMS: SUMS_LIMIT}
_CHUNK, _DIRECTORY = 1 << 16, 1 << 17
_SUM = re.compile(r"([0-9a-f]{64})  ([\w.]+)")


def pack(members: Mapping[str, bytes]) -> bytes:
    """Return a zip without dates, so that equal members give equal files; the checksums come last."""
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in members.items())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {**members, SUMS: sums.encode()}.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


class Archive:
    """The members of a zip, read one by one.

    Raises:
        ValueError, zipfile.BadZipFile: not a valid session: links, encryption, duplicate names, too many, too large.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(_Guard(file))
        members = self._zip.infolist()
        self.names = frozenset(member.filename for member in members)
        if len(members) > MOST_MEMBERS:
            raise ValueError(f"it contains {len(members):,} files, more than any session")
        if len(self.names) != len(members):
            raise ValueError("it contains two files with the same name")
        for member in members:
            _check_member(member)
        size = sum(member.file_size for member in members)
        if size > TOTAL_LIMIT:
            raise ValueError(f"it would unpack to more than the {TOTAL_LIMIT >> 20} MiB that a session may hold")
        if size > max(FREE_LIMIT, MOST_SHRUNK * file.seek(0, io.SEEK_END)):
            raise ValueError(f"it would unpack to {size >> 20} MiB, more than {MOST_SHRUNK} times its size")

    def check_names(self, needed: frozenset[str]) -> None:
        """Check that exactly these members exist."""
        for name in sorted(needed - self.names):
            raise ValueError(f"{name} is missing from it")
        for name in sorted(self.names - needed):
            raise ValueError(
                f"it contains {format_name(name[:60])!r}; a session contains only {' and '.join(sorted(needed))}"
            )

    def read(self, name: str, at_most: int = TOTAL_LIMIT) -> bytes:
        """Return a member, read in pieces and never beyond its declared size.

        Raises:
            ValueError: it is missing, ends too early, or declares more bytes than ``at_most``.
        """
        if name not in self.names:
            raise ValueError(f"{name} is missing from it")
        if self._zip.getinfo(name).file_size > at_most:
            raise ValueError(f"{name} in it is larger than {at_most:,} bytes")
        data = io.BytesIO()
        with self._zip.open(name) as member:
            while chunk := member.read(_CHUNK):  # a single read() would unpack a bomb beyond its declared size
                data.write(chunk)
        if data.tell() != self._zip.getinfo(name).file_size:
            raise ValueError(f"{name} ends too early")
        return data.getvalue()


def check_sums(sums: bytes, members: Mapping[str, bytes]) -> str:
    """Return the name of a member that does not match its checksum; "" if all match.

    Raises:
        ValueError: the list of checksums does not have exactly these members.
    """
    listed = [_SUM.fullmatch(line) for line in sums.decode("ascii").splitlines()]
    found = {match[2]: match[1] for match in listed if match}
    if len(found) != len(listed) or found.keys() != members.keys():
        raise ValueError(f"{SUMS} in it does not list every other file once")
    return next((name for name, data in members.items() if hashlib.sha256(data).hexdigest() != found[name]), "")


def _check_member(member: zipfile.ZipInfo) -> None:
    name = format_name(member.filename[:60])
    if stat.S_ISLNK(member.external_attr >> 16):
        raise ValueError(f"{name!r} in it is a link")
    if member.flag_bits & 0x1:
        raise ValueError(f"{name!r} in it is encrypted")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name!r} in it has an unknown compression")
    limit = _LIMITS.get(member.filename, TOTAL_LIMIT)
    if member.file_size > limit:
        size = f"{limit >> 20} MiB" if limit >> 20 else f"{limit} bytes"
        raise ValueError(f"{name!r} in it would unpack to more than the {size} that a session may hold there")


class _Guard:
    """A file wrapper for zipfile that limits the size of a read, so that a huge table of contents is never loaded."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size if 0 <= size <= _DIRECTORY else _DIRECTORY + 1)
        if len(data) > _DIRECTORY:
            raise zipfile.BadZipFile("its table of contents is too long for a session")
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 0 and offset < 0:
            raise zipfile.BadZipFile("its table of contents points before its beginning")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True
