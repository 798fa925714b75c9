"""Thousands of corrupted sessions, programs killed while saving, and compression bombs: no file is lost."""

import io
import json
import os
import random
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

import attnlab
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.base.errors import FileError
from attnlab.files.sessions.session_archive import MANIFEST, TENSORS, pack
from attnlab.files.sessions.session_file import Session, load_session, save_session
from tests.files.sessions import SMALL, assert_same
from tests.nursery import run_python

VERSION_1 = Path(__file__).with_name("version1.attnlab")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits are those of POSIX")


def sources(folder: Path) -> list[bytes]:
    """Return real sessions: of version 1, a batch with pins and a view, a masked layer, and that batch compressed."""
    batch, e = load_session(VERSION_1).experiment, attnlab.preset("causal-5x8")
    options = AttentionConfig(causal=True, masks={"window": 2}, options={"temperature": 0.5})
    pinned = Experiment(SMALL.tokens, SMALL.embeddings, SMALL.weights, options)
    view = {"title": "a", "selection": {"stage": "weights", "row": 1}, "lesson": ["causal", 3], "zoom": 1.5}
    save_session(Session(batch, view, (SMALL, pinned, batch)), folder / "pins")
    save_session(Session(e), folder / "plain")
    with (
        zipfile.ZipFile(folder / "pins") as old,
        zipfile.ZipFile(folder / "small", "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return [path.read_bytes() for path in (VERSION_1, folder / "pins", folder / "plain", folder / "small")]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with one to four random corruptions."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randrange(len(found) + 1), min(chance.choice((1, 1, 2, 4, 16, 300)), len(found))
        accident = chance.randrange(6)
        if accident == 0 and at < len(found):
            found[at] ^= 1 << chance.randrange(8)
        elif accident == 1:
            found[at : at + size] = chance.randbytes(size)
        elif accident == 2:
            del found[at : at + size]
        elif accident == 3:
            found[at:at] = found[at // 2 : at // 2 + size]
        elif accident == 4:
            found[at : at + size] = chance.choice((b"\0", b"\xff")) * size
        elif accident == 5 and chance.random() < 0.2:
            del found[at:]
    return bytes(found)


def assert_same_session(one: Session, other: Session) -> None:
    for e, twin in zip((one.experiment, *one.pins), (other.experiment, *other.pins), strict=True):
        assert_same(e, twin)
    assert json.dumps(one.view) == json.dumps(other.view)


def opened(path: Path, data: bytes) -> Session | None:
    """Return the session, or None if it was refused properly; any other error fails."""
    path.unlink(missing_ok=True)  # some disks flush what is written over
    path.write_bytes(data)
    try:
        return load_session(path)
    except FileError as error:
        sentence = str(error)
        assert str(path) in sentence  # either is right, and both are checked
        assert sentence.isprintable()
        assert sentence.endswith(".")
        assert len(sentence) < 1500
        return None


@pytest.mark.slow
def test_thousands_of_corruptions_are_detected_or_harmless(tmp_path: Path) -> None:
    chance, harmless = random.Random(5), 0
    for data in sources(tmp_path):
        whole = opened(tmp_path / "s.attnlab", data)
        assert whole is not None
        for _ in range(1000):
            found = opened(tmp_path / "s.attnlab", mutated(data, chance))
            if found is not None:
                assert_same_session(whole, found)
                harmless += 1
    assert 0 < harmless < 1500


JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 10**18, 2**80, 1e308, -0.5, 1e-320, "", "a", "sqrt_d_k", "none", "\0", "\ud800",
    "pins/0/W_q", "embeddings", [], [[]], ["a"], [1, 2], {}, {"a": 1}, {"tokens": ["a"]}, "general", "x" * 5000,
)  # fmt: skip


def places(node: Any) -> list[tuple[Any, Any]]:
    """Return every container and key in a JSON value."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [place for key, value in items for place in ((node, key), *places(value))]


def rearranged(text: bytes, chance: random.Random) -> bytes:
    """Return JSON with one to three values changed, removed or renamed."""
    value = json.loads(text.decode("utf-8", "surrogatepass"))
    for _ in range(chance.randint(1, 3)):
        node, key = chance.choice(places(value) or [({}, "")])
        other, other_key = chance.choice(places(value) or [({}, "")])
        what = chance.randrange(4)
        if what == 0:
            node[key] = json.loads(json.dumps(chance.choice(JUNK)))
        elif what == 1 and key in (node if isinstance(node, dict) else range(len(node))):
            del node[key]
        elif what == 2 and isinstance(node, dict):
            node[chance.choice(("tokens", "item", "shared", "W_q", "n_heads", "mask", "dtype", "shape"))] = 1
        elif what == 3 and key in node and isinstance(node, dict):
            node[key] = json.loads(json.dumps(other[other_key]))
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def reworked(members: dict[str, bytes], chance: random.Random) -> bytes:
    """Return a session with correct checksums but a wrong manifest, array table or numbers."""
    changed, what = dict(members), chance.randrange(4)
    packed = members[TENSORS]
    size = 8 + int.from_bytes(packed[:8], "little")
    if what == 0:
        changed[MANIFEST] = mutated(members[MANIFEST], chance)
    elif what == 1:
        changed[MANIFEST] = rearranged(members[MANIFEST], chance)
    elif what == 2:
        header = rearranged(packed[8:size], chance)
        changed[TENSORS] = len(header).to_bytes(8, "little") + header + packed[size:]
    else:
        changed[TENSORS] = packed[:size] + mutated(packed[size:], chance)
    return pack(changed)


@pytest.mark.slow
def test_thousands_of_generated_sessions_are_refused_or_can_be_saved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # it takes longer than all the rest
    chance, right = random.Random(7), 0
    for data in sources(tmp_path)[1:3]:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in (MANIFEST, TENSORS)}
        for _ in range(1500):
            found = opened(tmp_path / "s.attnlab", reworked(members, chance))
            if found is not None:
                save_session(found, tmp_path / "again.attnlab")
                assert_same_session(found, load_session(tmp_path / "again.attnlab"))
                right += 1
    assert 0 < right < 2500


KILLED = """
import os, random, signal, sys, time
import torch
import attnlab
from attnlab.attention.experiment import Experiment
from attnlab.files import atomic
from attnlab.files.sessions.session_file import load_session, save_scene
from pathlib import Path

torch.set_num_threads(1)  # a fork has no other threads to wait for
path = Path(sys.argv[1])
sessions = [Experiment(("a", "b"), torch.full((2, 50_000), 1.0 + i)) for i in range(2)]

def save(i):
    save_scene(sessions[i], path, {"number": i})

def look():
    session = load_session(path)
    i = session.view["number"]
    assert torch.equal(session.experiment.embeddings, sessions[i].embeddings)
    return i

def child(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid

def die_at(line):
    left = [line]
    def trace(frame, event, arg):
        if frame.f_code.co_filename != atomic.__file__:
            return None
        left[0] -= event == "line"
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace
    def work():
        sys.settrace(trace)
        save(1)
    return work

def at_every_line():
    seen, line = [], 0
    while True:
        line += 1
        save(0)
        killed = os.WIFSIGNALED(os.waitpid(child(die_at(line)), 0)[1])
        seen.append(look())
        if not killed:
            return seen

def for_ever():
    while True:
        save(0)
        save(1)

def at_random():
    chance, seen = random.Random(3), set()
    for _ in range(30):
        pid = child(for_ever)
        time.sleep(chance.uniform(0.001, 0.03))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        seen.add(look())
    return seen

print(at_every_line())
print(sorted(at_random()))
print(sorted({p.suffix for p in path.parent.iterdir()}))
"""


@pytest.mark.slow
@posix_only
def test_a_program_killed_while_saving_leaves_the_old_or_the_new_file_complete(tmp_path: Path) -> None:
    path = tmp_path / "home" / "s.attnlab"
    path.parent.mkdir()
    answer = run_python("-c", KILLED, path)
    assert answer.returncode == 0, answer.stderr
    lines, at_random, left = map(json.loads, answer.stdout.replace("'", '"').splitlines())
    assert len(lines) > 30  # moments at which it was killed, one for each line that writes
    assert lines == sorted(lines)  # the old one up to some moment, the new one from then on
    assert set(lines) == {0, 1}
    assert at_random
    assert set(left) == {".attnlab", ".tmp"}  # it was killed in the midst of writing, too


MEASURED = """
import re, sys
from attnlab.base.errors import FileError
from attnlab.files.sessions.session_file import load

def peak():  # not ru_maxrss, which begins at that of the program that started this one
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1]) // 1024

good, *bad = sys.argv[1:]
load(good)
before = peak()
for path in bad:
    try:
        load(path)
    except FileError as error:
        print(peak() - before, error)
"""


def squeezed(size: int) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b"".join([*(deflate.compress(bytes(1 << 20)) for _ in range(size >> 20)), deflate.flush()])


def bomb(path: Path, member: str, packed: bytes) -> str:
    """Write a session with a member that claims 100 bytes but has many; return the path."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in {MANIFEST, TENSORS} - {member}:
            archive.writestr(name, b"{}")
        info = zipfile.ZipInfo(member)
        archive.writestr(info, packed)
        info.compress_type, info.file_size, info.CRC = zipfile.ZIP_DEFLATED, 100, zlib.crc32(bytes(100))
    return str(path)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured as Linux does")
def test_compression_bombs_cost_little_memory(tmp_path: Path) -> None:
    save_session(Session(SMALL), tmp_path / "good")
    packed = squeezed(120 << 20)
    bad = [bomb(tmp_path / f"{member}.bomb", member, packed) for member in (MANIFEST, TENSORS)]
    texts = {
        "deep": b"[" * (16 << 20),
        "lists": b"[" + b"[]," * 5_000_000 + b"0]",
        "texts": b"[" + b'"",' * 5_000_000 + b"0]",
        "digits": b'{"version": ' + b"1" * (15 << 20) + b"}",
        "wide": ('{"a": "' + "a" * (15 << 20) + '🦊"}').encode(),
    }
    for name, text in texts.items():
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST, text)
        bad.append(str(tmp_path / name))
    with zipfile.ZipFile(tmp_path / "zeros", "w", zipfile.ZIP_DEFLATED) as archive, archive.open(TENSORS, "w") as file:
        for _ in range(120):
            file.write(bytes(1 << 20))
    listing = b"PK\x01\x02" + bytes(24) + b"\x01" + bytes(17) + b"a"
    end = b"PK\x05\x06" + bytes(4) + b"\xff" * 4 + (len(listing) * 10**6).to_bytes(4, "little") + bytes(6)
    (tmp_path / "million").write_bytes(listing * 10**6 + end)
    bad = [str(tmp_path / "zeros"), str(tmp_path / "million"), *bad]  # the costliest last, as a peak only grows
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "good"), *bad]
    answer = subprocess.run(command, capture_output=True, text=True)
    lines = answer.stdout.splitlines()
    assert len(lines) == len(bad), answer.stderr
    assert lines[0].endswith("it would unpack to 120 MiB, more than 100 times its size.")
    for path, line in zip(bad, lines, strict=True):
        assert path in line
        most_mib = 256 if "wide" in path else 80  # a text with one fox takes four bytes for each of its letters
        assert int(line.split()[0]) < most_mib, line
