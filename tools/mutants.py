"""Corrupts bytes, words of text, JSON values, arrays and archive members, with a given random generator."""

import io
import json
import random
import re
import struct
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

BIG = (2**63 - 1, 2**63, 2**64, 2**53 + 1, 2**31, 10**400, -1, 0, -(2**63))
REAL = ("1e308", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "5e-324", "-0.0", "0.1e-400", "1" + "0" * 5000)
ODD_TEXT = (
    "", " ", "\x00", "\x1b[2J", "\u202e", "\ufeff", "\ud800", "é" * 300, "x" * 100_000, "../../etc/passwd", "~nobody/x",
    "//server/share/x", "%s%n", "{}", "{0.__class__}", "__proto__", "=1+1", "\r", "\u2028", "I\u0307", "−1", "½",
)  # fmt: skip
RUNS = ("[", "(", "{", '"', "'", ",", " ", "\t", "0", "9", "\n", "-", "#", "a,", "1 ", "[1,", "{{", "$", "`", "*", "|")
NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"\w+")


class Raw(str):
    """A literal written into JSON unchanged, such as a number that Python cannot represent."""


class Twice(dict[str, Any]):
    """A JSON object that has one key twice; ``again`` is the second."""

    again: tuple[str, Any]


def make_random(seed: int, index: int) -> random.Random:
    """Return the random generator of one case, which depends only on the seed and the index."""
    return random.Random(f"{seed}/{index}")


def spoil_bytes(r: random.Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Return the bytes with one to four changes."""
    for _ in range(r.choice((1, 1, 1, 2, 4))):
        data = r.choice(_OF_BYTES)(r, data, others)
    return data


def spoil_text(r: random.Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Return text with one to four words, numbers or lines changed, rarely its bytes instead."""
    for _ in range(r.choice((1, 1, 2, 2, 4))):
        data = r.choice(_OF_TEXT)(r, data, others)
    return data


def spoil_json(r: random.Random, value: Any) -> bytes:
    """Return JSON with one to four values or keys changed, rarely its text instead."""
    for _ in range(r.choice((1, 1, 1, 2, 4))):
        value = _spoil_value(r, value)
    data = write_json(value).encode("utf-8", "surrogatepass")
    return spoil_text(r, data) if r.random() < 0.1 else data


def write_json(value: Any) -> str:
    """Write JSON that may contain :class:`Raw` and :class:`Twice`."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        pairs = [*value.items(), *([value.again] if isinstance(value, Twice) else [])]
        return "{" + ",".join(f"{json.dumps(str(key))}:{write_json(inner)}" for key, inner in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(write_json, value)) + "]"
    return json.dumps(value)


def choose_odd_value(r: random.Random, like: Any = None) -> Any:
    """Return an unexpected JSON value."""
    small = like if len(repr(like)) < 1000 else 0  # otherwise repeating it twice over would fill the memory
    kinds: list[Callable[[], Any]] = [
        lambda: Raw(str(r.choice(BIG))),
        lambda: Raw(r.choice(REAL)),
        lambda: r.choice(ODD_TEXT),
        lambda: r.choice((None, True, False, [], {}, [[]], [None], {"a": 1})),
        lambda: Raw(_nest(r)),
        lambda: [small] * r.choice((2, 100, 5000)),
        lambda: {f"k{i}": small for i in range(r.choice((1, 200)))},
        lambda: r.choice((1, 2, 3, -2, 0.5, 1.5, 7, 64, 1000)),
    ]
    if isinstance(like, int) and not isinstance(like, bool):
        kinds += [lambda: like + r.choice((-1, 1, 2)), lambda: float(like), lambda: str(like)]
    if isinstance(like, str):
        kinds += [lambda: like + r.choice(ODD_TEXT), lambda: like[: r.randrange(len(like) + 1)], lambda: like.upper()]
    if isinstance(like, list) and like:
        kinds += [lambda: like[1:], lambda: like + like, lambda: like[::-1], lambda: [*like, r.choice(like)]]
    return r.choice(kinds)()


def spoil_zip(r: random.Random, members: dict[str, bytes]) -> bytes:
    """Return an archive of members, one of them odd: packed, twice, missing, renamed, a link, with a wrong size."""
    pairs = list(members.items())
    way = r.choice(("packed", "twice", "missing", "renamed", "added", "link", "comment", "swapped", "bytes", "lies"))
    at = r.randrange(len(pairs))
    if way == "missing":
        del pairs[at]
    elif way == "twice":
        pairs.insert(r.randrange(len(pairs) + 1), (pairs[at][0], r.choice((pairs[at][1], b""))))
    elif way == "renamed":
        pairs[at] = (r.choice(("../x", "/x", "a\\b", "\x1b[2J", "ü.npy", "", pairs[at][0].upper())), pairs[at][1])
    elif way == "added":
        pairs += [
            (r.choice((f"x{i}", f"x{i}.npy", f"d/{i}.pkl", f"{i}/")), b"cos\nsystem\n")
            for i in range(r.choice((1, 50)))
        ]
    elif way == "swapped" and len(pairs) > 1:
        other = (at + 1) % len(pairs)
        pairs[at], pairs[other] = (pairs[at][0], pairs[other][1]), (pairs[other][0], pairs[at][1])
    elif way == "bytes":
        pairs[at] = (pairs[at][0], spoil_bytes(r, pairs[at][1]))
    data = write_zip(pairs, packed=way == "packed", link=pairs[at][0] if way == "link" and pairs else "")
    if way == "comment":
        data = data[:-2] + struct.pack("<H", 9) + b"PK\x05\x06junk!"
    if way == "lies":
        data = _falsify_header(r, data)
    return spoil_bytes(r, data) if r.random() < 0.15 else data


def write_zip(pairs: Sequence[tuple[str, bytes]], packed: bool = False, link: str = "") -> bytes:
    """Return an archive of these members, in this order, with a fixed date."""
    import warnings

    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")  # about two members with one name
        for name, data in pairs:
            info = zipfile.ZipInfo(name or "_")
            info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
            if name == link:
                info.create_system, info.external_attr = 3, 0o120777 << 16
            archive.writestr(info, data)
    return buffer.getvalue()


def read_members(data: bytes) -> dict[str, bytes]:
    """Return the members of an archive by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def spoil_tensors(r: random.Random, data: bytes) -> bytes:
    """Return a safetensors file with a changed header of names, shapes and offsets, rarely changed bytes."""
    length = int.from_bytes(data[:8], "little")
    table, numbers = json.loads(data[8 : 8 + length]), data[8 + length :]
    way = r.random()
    if way < 0.6:
        text = spoil_json(r, table)
    elif way < 0.75:
        name = r.choice(list(table))
        table[r.choice(ODD_TEXT[:10]) + name] = table.pop(name)
        text = write_json(table).encode("utf-8", "surrogatepass")
    else:
        text, numbers = data[8 : 8 + length], spoil_bytes(r, numbers)
    size = r.choice((len(text), len(text), len(text), len(text) + 1, 2**63, 0))
    return size.to_bytes(8, "little") + text + numbers


def spoil_npy(r: random.Random, data: bytes) -> bytes:
    """Return an .npy file with a changed header or changed bytes."""
    if r.random() < 0.4 or data[:6] != b"\x93NUMPY":
        return spoil_bytes(r, data)
    length = int.from_bytes(data[8:10], "little")
    header, numbers = data[10 : 10 + length], data[10 + length :]
    header = r.choice(
        (
            lambda h: spoil_text(r, h),
            lambda h: re.sub(rb"'descr': '[^']*'", b"'descr': " + r.choice(_DTYPES), h),
            lambda h: re.sub(rb"'shape': \([^)]*\)", b"'shape': " + r.choice(_SHAPES), h),
            lambda h: h.replace(b"False", b"True"),
            lambda h: b"__import__('os').system('true')",
        )
    )(header)
    return data[:8] + (len(header) & 0xFFFF).to_bytes(2, "little") + header + numbers


_DTYPES = (
    b"'|O'",
    b"'<f2'",
    b"'>f8'",
    b"'<c16'",
    b"'|S1000000000'",
    b"'<M8[ns]'",
    b"[('a', '<f4')]",
    b"'<f4', 1",
    b"'V0'",
)
_SHAPES = (
    b"()",
    b"(0,)",
    b"(4294967296, 4294967296)",
    b"(-1, 4)",
    b"(1,) * 9",
    b"(True, 2)",
    b"(2, 0)",
    b"('a',)",
    b"(1e3,)",
)


def _falsify_header(r: random.Random, data: bytes) -> bytes:
    """Change a number in one of the headers of an archive."""
    marks = [m.start() for m in re.finditer(rb"PK[\x01\x03\x05][\x02\x04\x06]", data)]
    at = r.choice(marks) + r.randrange(4, 46)
    size = r.choice((1, 2, 4))
    value = r.choice((0, 1, 0xFF, 0xFFFF, 0xFFFFFFFF, 0x7FFFFFFF)) & ((1 << 8 * size) - 1)
    return data[:at] + value.to_bytes(size, "little") + data[at + size :]


def _spoil_value(r: random.Random, value: Any) -> Any:
    """Return JSON with one value, key or entry changed at a random place."""
    if isinstance(value, dict) and value and r.random() < 0.9:
        key = r.choice(list(value))
        way = r.random()
        changed = Twice(value) if way < 0.05 else dict(value)
        if isinstance(value, Twice):
            changed = Twice(value)
            changed.again = value.again
        elif isinstance(changed, Twice):
            changed.again = (key, choose_odd_value(r, value[key]))
        elif way < 0.12:
            del changed[key]
        elif way < 0.17:
            changed[r.choice((*ODD_TEXT[:12], key + "x", key.upper()))] = changed.pop(key)
        elif way < 0.22:
            changed[r.choice(("extra", "__class__", key + "2"))] = choose_odd_value(r, value[key])
        elif way < 0.27:
            other = r.choice(list(value))
            changed[key], changed[other] = value[other], value[key]
        else:
            changed[key] = _spoil_value(r, value[key])
        return changed
    if isinstance(value, list) and value and r.random() < 0.75:
        at = r.randrange(len(value))
        return [*value[:at], _spoil_value(r, value[at]), *value[at + 1 :]]
    return choose_odd_value(r, value)


def _nest(r: random.Random) -> str:
    deep = r.choice((3, 40, 500, 20_000))
    return r.choice(("[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep, "[" * deep))


def _flip(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = r.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << r.randrange(8)]) + data[at + 1 :]


def _cut(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: r.randrange(len(data) + 1)]


def _drop(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = r.randrange(len(data) + 1)
    return data[:at] + data[at + r.choice((1, 2, 8, 64)) :]


def _insert(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = r.randrange(len(data) + 1)
    return data[:at] + r.choice((r.randbytes(r.choice((1, 4, 100))), bytes(r.choice((1, 1000, 100_000))))) + data[at:]


def _splice(r: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = r.choice(others) if others else data
    return data[: r.randrange(len(data) + 1)] + other[r.randrange(len(other) + 1) :]


def _overwrite_integer(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at, size = r.randrange(len(data) + 1), r.choice((1, 2, 4, 8))
    value = r.choice((0, 1, -1, 2 ** (8 * size - 1) - 1, 2 ** (8 * size - 1), 0x7F)) & ((1 << 8 * size) - 1)
    return data[:at] + value.to_bytes(size, r.choice(("little", "big"))) + data[at + size :]


def _replace_number(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return _replace_match(
        r, data, NUMBER, lambda old: r.choice((*(str(n) for n in BIG), *REAL, "1,5", "1_0", "٣", "0x10", ""))
    )


def _replace_word(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    words = WORD.findall(data)
    return _replace_match(
        r, data, WORD, lambda old: r.choice((r.choice(ODD_TEXT), r.choice(words).decode("utf-8", "replace")))
    )


def _replace_match(r: random.Random, data: bytes, what: re.Pattern[bytes], by: Callable[[str], str]) -> bytes:
    places = [match.span() for match in what.finditer(data)]
    if not places:
        return _insert(r, data, ())
    start, end = r.choice(places)
    new = by(data[start:end].decode("utf-8", "replace"))
    return data[:start] + new.encode("utf-8", "surrogatepass") + data[end:]


def _change_line(r: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    at = r.randrange(len(lines))
    way = r.randrange(6)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines[at:at] = [lines[at]] * r.choice((1, 3, 500))
    elif way == 2:
        lines.insert(r.randrange(len(lines) + 1), lines.pop(at))
    elif way == 3:
        lines[at] += r.choice(ODD_TEXT).encode("utf-8", "surrogatepass")
    elif way == 4 and others:
        lines.insert(at, r.choice(r.choice(others).split(b"\n")))
    else:
        lines[at] = lines[at].strip() + r.choice((b"\t", b",", b";", b":", b" - ", b"  "))
    return b"\n".join(lines)


def _insert_repetition(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Insert a long repetition of a text, which reveals quadratic running time."""
    at = r.randrange(len(data) + 1)
    return data[:at] + (r.choice(RUNS) * r.choice((10, 1000, 20_000))).encode() + data[at:]


def _swap_separators(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    old, new = r.sample((b"\t", b",", b";", b" ", b"\n", b".", b":", b"[", b"]", b"\r\n"), 2)
    return data.replace(old, new, r.choice((1, 3, -1)))


def _recode(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    coding = r.choice(("utf-16", "utf-8-sig", "utf-16-be", "utf-32"))
    return data.decode("utf-8", "replace").encode(coding, "replace")


_OF_BYTES = (_flip, _flip, _cut, _drop, _insert, _splice, _overwrite_integer, _overwrite_integer)
_OF_TEXT = (
    _replace_number,
    _replace_number,
    _replace_number,
    _replace_word,
    _replace_word,
    _change_line,
    _change_line,
    _insert_repetition,
    _swap_separators,
    _insert,
    _cut,
    _splice,
    _recode,
    _flip,
)
