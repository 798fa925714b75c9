"""The zip of a session: members read within limits and held against their checksums; nothing is unpacked to disk.

``SHA256SUMS`` lists the others as ``sha256sum`` does, so that a session that was unzipped can be checked by hand.
"""

import hashlib
import io
import re
import stat
import zipfile
from collections.abc import Mapping
from typing import IO

from attnlab.files.atomic import shown

MANIFEST, TENSORS, SUMS = "manifest.json", "tensors.safetensors", "SHA256SUMS"
MANIFEST_LIMIT, SUMS_LIMIT, TOTAL_LIMIT = 16 << 20, 4096, 512 << 20
"""Bytes that the manifest, the checksums, and everything together may take when unpacked."""
MOST_MEMBERS = 16
"""How many members a session of any version may have."""
FREE_LIMIT, MOST_SHRUNK = 64 << 20, 100
"""How many bytes may be unpacked from however few; and beyond them, from one."""

_LIMITS = {MANIFEST: MANIFEST_LIMIT, SUMS: SUMS_LIMIT}
_CHUNK, _DIRECTORY = 1 << 16, 1 << 17
_SUM = re.compile(r"([0-9a-f]{64})  ([\w.]+)")


def pack(members: Mapping[str, bytes]) -> bytes:
    """Return a zip without dates, so that the same members are the same file; their checksums come last."""
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in members.items())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {**members, SUMS: sums.encode()}.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


class Archive:
    """The members of a zip, read one by one.

    Raises:
        ValueError, zipfile.BadZipFile: what a session cannot be: links, encryption, names twice, too many, too large.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(_Guard(file))
        members = self._zip.infolist()
        self.names = frozenset(member.filename for member in members)
        if len(members) > MOST_MEMBERS:
            raise ValueError(f"it holds {len(members):,} files, more than any session has")
        if len(self.names) != len(members):
            raise ValueError("it holds two files of the same name")
        for member in members:
            _check_member(member)
        size = sum(member.file_size for member in members)
        if size > TOTAL_LIMIT:
            raise ValueError(f"it would unpack to more than the {TOTAL_LIMIT >> 20} MiB that a session may hold")
        if size > max(FREE_LIMIT, MOST_SHRUNK * file.seek(0, io.SEEK_END)):
            raise ValueError(f"it would unpack to {size >> 20} MiB, more than {MOST_SHRUNK} times what it takes")

    def check_names(self, needed: frozenset[str]) -> None:
        """Check that just these members are there."""
        for name in sorted(needed - self.names):
            raise ValueError(f"{name} is missing from it")
        for name in sorted(self.names - needed):
            raise ValueError(
                f"it holds {shown(name[:60])!r}; a session holds {' and '.join(sorted(needed))}, nothing else"
            )

    def read(self, name: str, at_most: int = TOTAL_LIMIT) -> bytes:
        """Return a member, read in pieces and never beyond its declared size.

        Raises:
            ValueError: it is missing, ends too early, or says it has more bytes than ``at_most``.
        """
        if name not in self.names:
            raise ValueError(f"{name} is missing from it")
        if self._zip.getinfo(name).file_size > at_most:
            raise ValueError(f"{name} in it is larger than {at_most:,} bytes")
        data = io.BytesIO()
        with self._zip.open(name) as member:
            while chunk := member.read(_CHUNK):  # read() of all would unpack what a bomb has, not what it says it has
                data.write(chunk)
        if data.tell() != self._zip.getinfo(name).file_size:
            raise ValueError(f"{name} ends too early")
        return data.getvalue()


def check_sums(sums: bytes, members: Mapping[str, bytes]) -> str:
    """Return the name of a member that does not match its checksum; "" when all do.

    Raises:
        ValueError: the list of checksums is not one of just these members.
    """
    listed = [_SUM.fullmatch(line) for line in sums.decode("ascii").splitlines()]
    found = {match[2]: match[1] for match in listed if match}
    if len(found) != len(listed) or found.keys() != members.keys():
        raise ValueError(f"{SUMS} does not list the other files of it, each once")
    return next((name for name, data in members.items() if hashlib.sha256(data).hexdigest() != found[name]), "")


def _check_member(member: zipfile.ZipInfo) -> None:
    name = shown(member.filename[:60])
    if stat.S_ISLNK(member.external_attr >> 16):
        raise ValueError(f"{name!r} in it is a link")
    if member.flag_bits & 0x1:
        raise ValueError(f"{name!r} in it is encrypted")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name!r} in it is compressed in an unknown way")
    limit = _LIMITS.get(member.filename, TOTAL_LIMIT)
    if member.file_size > limit:
        size = f"{limit >> 20} MiB" if limit >> 20 else f"{limit} bytes"
        raise ValueError(f"{name!r} in it would unpack to more than the {size} that a session may hold there")


class _Guard:
    """What zipfile reads a file through: in small pieces, so that a table of a million members is never taken in."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size if 0 <= size <= _DIRECTORY else _DIRECTORY + 1)
        if len(data) > _DIRECTORY:
            raise zipfile.BadZipFile("its table of contents is longer than that of any session")
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 0 and offset < 0:
            raise zipfile.BadZipFile("its table of contents points before its beginning")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True
