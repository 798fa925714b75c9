"""The number of heads of weights in a file: from a config beside it, or limited by the shapes."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from attnlab.base.counted import divisors
from attnlab.base.errors import FileError
from attnlab.files.bounded import read_bytes
from attnlab.files.sessions import session_json
from attnlab.files.weights.projection_layouts import UNKNOWN, Heads

_CONFIG_LIMIT = 1 << 20
_QUERY_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "attention_heads")
_KEY_HEADS = ("num_key_value_heads", "n_kv_heads", "n_head_kv", "num_kv_heads")
_Size: TypeAlias = tuple[int, int] | None


def heads_beside(path: str | os.PathLike[str]) -> Heads:
    """Return the numbers of heads in a config.json in the same folder; UNKNOWN if it cannot be read or has none."""
    config = Path(path).with_name("config.json")
    try:
        found = session_json.parse(read_bytes(config, _CONFIG_LIMIT, "a config"))
    except (FileError, ValueError, RecursionError):
        return UNKNOWN
    if not isinstance(found, dict):
        return UNKNOWN
    n_heads = _count(found, _QUERY_HEADS)
    if n_heads is None:
        return UNKNOWN
    shared = 1 if found.get("multi_query") is True else _count(found, _KEY_HEADS)
    return Heads(n_heads, shared or n_heads, config.name)


def fitting_counts(sizes: Mapping[str, tuple[int, int] | None]) -> tuple[int, ...]:
    """Return the numbers of heads that the shapes of W_q, W_k, W_v and W_o allow, () without W_q."""
    q, k, v, o = (sizes.get(f"W_{letter}") for letter in "qkvo")
    if q is None:
        return ()
    return tuple(n for n in divisors(q[1]) if _allows(n, q[1] // n, k, v, o))


def key_heads(n_heads: int, query_columns: int, key_columns: int) -> int | None:
    """Return the number of key heads with the queries' head size in ``key_columns``; None if it does not divide."""
    d_k, rest = divmod(query_columns, n_heads)
    if rest or not d_k or key_columns % d_k or n_heads % (key_columns // d_k or n_heads + 1):
        return None
    return key_columns // d_k


def _count(config: Mapping[str, object], names: Sequence[str]) -> int | None:
    values = [config[name] for name in names if name in config]
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool) and 0 < v < 1 << 16), None)


def _allows(n: int, d_k: int, k: _Size, v: _Size, o: _Size) -> bool:
    n_kv = n if k is None else key_heads(n, n * d_k, k[1])
    return n_kv is not None and (v is None or v[1] % n_kv == 0) and (o is None or o[0] % n == 0)
