"""The sizes of a layer by axis name, and the labels along an axis."""

from functools import lru_cache

from attnlab.attention.layer import Layer

SIZES = (
    "token",
    "query",
    "key",
    "position",
    "head",
    "d_model",
    "d_memory",
    "d_k",
    "two_d_k",
    "pair",
    "d_v",
    "d_out",
    "merged",
    "query_columns",
    "key_columns",
    "value_columns",
    "class",
    "one",
)
TOKENS = ("token", "query", "key")


def size(e: Layer, axis: str) -> int:
    """Return the size of an axis; KeyError for an axis that is not one of the layer's.

    ``position`` is the length of the longer sequence, ``merged`` the number of columns of the concatenated heads,
    ``pair`` that of the pairs of columns that RoPE rotates, ``d_ff`` that of the hidden numbers of the feed-forward;
    ``query_columns``, ``key_columns`` and ``value_columns`` are those of all heads together, ``class`` those of the
    read-out of a loss, and ``one`` is a single number. Others are free axes of tables, such as ``hidden``.
    """
    match axis:
        case "token" | "query":
            return e.T_q
        case "key":
            return e.T_k
        case "position":
            return max(e.T_q, e.T_k)
        case "head":
            return e.n_heads
        case "d_model":
            return e.d_model
        case "d_memory":
            return int(e.memory.shape[1])
        case "d_k":
            return e.d_k
        case "two_d_k":
            return 2 * e.d_k
        case "pair":
            return e.d_k // 2
        case "d_v":
            return e.d_v
        case "d_out":
            return e.d_out
        case "merged":
            return e.n_heads * e.d_v
        case "d_ff":
            return e.d_ff
        case "query_columns":
            return e.n_heads * e.d_k
        case "key_columns":
            return e.n_kv_heads * e.d_k
        case "value_columns":
            return e.n_kv_heads * e.d_v
        case "class":
            return int(e.config.option("loss_classes"))
        case "one":
            return 1
    return e.find_free_size(axis)


def labels(e: Layer, axis: str, count: int) -> tuple[str, ...]:
    """Return the labels along an axis: its tokens, or numbers. Tokens are not copied, since each edit calls this."""
    if axis in ("token", "query"):
        return e.tokens
    return e.key_tokens if axis == "key" else _numbers(count)


@lru_cache(maxsize=32)
def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def label(e: Layer, axis: str, index: int) -> str:
    """Return the token at ``index`` of a token axis, or ``index`` as text for another axis."""
    if axis in ("query", "token"):
        return e.tokens[index]
    return e.key_tokens[index] if axis == "key" else str(index)
