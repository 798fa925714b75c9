"""Describes a layer of attention as a block: its stages with their shapes, its formula, and its parameters."""

from attnlab.training.model_tree import Block, Table
from attnlab.training.models.attention import Attention


def describe_attention(
    layer: Attention, name: str, title: str, called: str, lengths: tuple[int, int], mask: str
) -> Block:
    """Return the block of a layer with its name in the model, ``called``, for a number of queries and of keys."""
    queries, keys = lengths
    tables = tuple(Table(key, tuple(each.shape), each.requires_grad) for key, each in layer.named_parameters())
    heads, width = layer.config.n_heads, _find_width(layer)
    each = width // heads
    across = title.startswith("Cross") or layer.W_q is None
    origin = "the memory" if title.startswith("Cross") else "the encoder’s states" if across else "the stream"
    asking = "the decoder" if across else "the stream"
    inputs = (
        ("Q", f"from {asking}", (heads, queries, each)),
        ("K", f"from {origin}", (heads, keys, each)),
        ("V", f"from {origin}", (heads, keys, each)),
        ("Weights", "a map per head" if heads > 1 else "one map", (heads, queries, keys)),
        ("Output", "to the stream" if layer.W_o is not None else "the context", (queries, width)),
    )
    return Block(
        name,
        title,
        (queries, width),
        tables,
        f"mask: {mask}",
        _say(title, mask, (queries, keys)),
        _write_formula(layer),
        inputs,
        called,
        heads,
        mask,
        "attention",
    )


def _find_width(layer: Attention) -> int:
    if layer.W_q is not None:
        return int(layer.W_q.shape[0])
    return int(max(table.shape[0] for table in layer.parameters()))


def _say(title: str, mask: str, lengths: tuple[int, int]) -> str:
    queries, keys = lengths
    if title.startswith("Masked"):
        said = f"Each of the {queries} positions attends to itself and the positions before it."
    elif title.startswith("Self"):
        said = f"Each of the {queries} positions attends to all {keys}."
    else:
        said = f"Each of the {queries} positions of the answer attends to the {keys} tokens of the source."
    alone = mask == "padding"
    return said + (" Nothing is hidden here: a single input has no padding." if alone else "")


def _write_formula(layer: Attention) -> str:
    names = {"general": "Q W_a Kᵀ", "additive": "tanh(Q W_d + K W_e) v_a"}
    score = names.get(layer.config.score, "Q Kᵀ")
    divisor = layer.divisor
    if divisor is not None and divisor != 1:
        root = round(divisor**2)
        score += f" ÷ √{root}" if abs(root - divisor**2) < 1e-6 else f" ÷ {divisor:g}"
    return f"softmax({score}) V" + (" W_o + b_o" if layer.W_o is not None else "")
