"""The sentences and the table of the Arrows lens: a score as a projection, a context as a mixture, what a drag does."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.stages.arithmetic import number
from attnlab.ui.playground.lenses.arrows_content import Floats, Held, find_hidden, find_unknown, shows_scores
from attnlab.ui.widgets.numbers.number_model import Column

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View


def describe_score(
    trace: "Trace", held: Held, stages: tuple[str, str], *, projected: bool | None, known: bool = True
) -> str:
    """Return the held score as length times length along it, and why the picture does not show it so if it does not.

    ``projected`` is None if the picture shows no queries and keys. A score that is not ``known`` yet is not told.
    """
    e = trace.experiment
    pair = f"“{e.tokens[held.query] or '∅'}” → “{e.key_tokens[held.key] or '∅'}”"
    if not known:
        return f"{pair}: the score is not computed yet."
    score = float(trace.array("scores")[held.head, held.query, held.key])
    if e.config.score != "dot":
        return f"{pair}: the score is {number(score)}. With this kind of score, it is not a projection."
    queries, keys = (trace.array(name)[held.head].astype(np.float64) for name in stages)
    query, key = queries[held.query], keys[held.key]
    length = float(np.linalg.norm(query))
    if not shows_scores(trace, stages):
        return f"{pair}: the score, {number(score)}, is computed from the rotated arrows."
    if not length:
        return f"{pair}: the query is 0, so its score with every key is 0."
    told = (
        f"{pair}: the query is {number(length)} long, the key reaches {number(float(query @ key) / length)} along it; "
        f"their product is the score, {number(score)}."
    )
    return (
        told if projected is not False else f"{told} This plane does not contain the query, so no right angle is drawn."
    )


def list_projections(trace: "Trace", held: Held, stages: tuple[str, str], view: "View") -> list[Column]:
    """Return a row for each key: how far it reaches along the held query, its score and its weight.

    Those that the walk of a view has not reached are "?".
    """
    e = trace.experiment
    queries, keys = (trace.array(name)[held.head].astype(np.float64) for name in stages)
    query, hidden = queries[held.query], find_hidden(trace, held.query)
    length = float(np.linalg.norm(query))
    along = keys @ query / length if length else np.zeros(len(keys))

    def cover(stage: str, title: str, values: Floats, about: str) -> Column:
        unknown = find_unknown(trace, view, stage, held.query)
        if not unknown.any():
            return Column(title, values, number, about)
        return Column(
            title, ["?" if out else number(float(x)) for x, out in zip(values, unknown, strict=True)], about=about
        )

    columns = [
        Column("key", [token or "∅" for token in e.key_tokens], about="The token of the key"),
        Column("length", np.linalg.norm(keys, axis=1), number, "The length of the key"),
        cover("scores", "along the query", along, "The length of the key along the held query"),
        cover("scores", "score", trace.array("scores")[held.head, held.query], "The score of the held query"),
        cover("weights", "weight", trace.array("weights")[held.head, held.query], "The weight of the held query"),
    ]
    if hidden is not None:
        columns.append(Column("mask", ["hidden" if out else "" for out in hidden], about="Whether the mask hides it"))
    return columns


def describe_context(trace: "Trace", held: Held, *, known: bool = True) -> str:
    """Return where the context lies, and whether it must lie in the hull of the visible values."""
    token, (mixing, _) = f"“{trace.experiment.tokens[held.query] or '∅'}”", trace.sources("context")
    if not known:
        return f"The context of {token} is not computed yet."
    weights, hidden = trace.array(mixing)[held.head, held.query].astype(np.float64), find_hidden(trace, held.query)
    if hidden is not None and bool(hidden.all()):
        return f"The mask hides every key from {token}: there is nothing to mix."
    if held.head in trace.experiment.config.ablated:
        return "This head is switched off: its context is 0."
    if bool((weights >= 0).all()) and abs(float(weights.sum()) - 1) < 1e-3:
        return (
            f"The context of {token} lies in the hull of the values that it sees. The larger a weight, the thicker its "
            "line; equal weights would put the context at the dashed ring."
        )
    why = (
        f"Some weights of {token} are negative"
        if bool((weights < 0).any())
        else f"The weights of {token} sum to {number(float(weights.sum()))}, not to 1"
    )
    return f"{why}, so its context need not lie in the hull of the values."


def name_tokens(e: "Experiment") -> str:
    """Return which tokens a plane shows, and how many numbers they have."""
    if e.memory_embeddings is None or e.memory.shape[1] == e.d_model:
        both = " of X and of M," if e.memory_embeddings is not None else " of"
        return f"Tokens: rows{both} {e.d_model} number{'s' * (e.d_model != 1)}"
    short = "X" if e.d_model < e.memory.shape[1] else "M"
    return f"Tokens: rows of X, {e.d_model}, and of M, {e.memory.shape[1]} numbers; columns that {short} lacks are 0"


def describe_head(trace: "Trace", held: Held) -> str:
    """Return what a head does with the numbers of a token; "" for a single head."""
    e = trace.experiment
    return f" Head {held.head} projects the {e.d_model} numbers of a token to {e.d_k}." if e.n_heads > 1 else ""


def describe_drag(trace: "Trace", drawn: str, follows: str) -> str:
    """Return what a drag of a tip changes."""
    if drawn == "inputs":
        if trace.experiment.memory_embeddings is not None:
            return (
                "Pull a token’s tip: its row follows. That of X moves its query; that of M moves its key and its value."
            )
        return "Pull a token’s tip: its row of X follows, and its query, key and value with it."
    if trace.experiment.config.qk_norm != "none":
        return "Queries and keys are drawn after they are normalised, and cannot be pulled: switch QK norm off."
    if follows == "token":
        if trace.experiment.memory_embeddings is not None:
            return (
                "Pull a tip: the token’s row follows with the smallest change: that of X moves its query, that of M "
                "its key and its value."
            )
        return "Pull a tip: the token’s row of X follows with the smallest change; its query, key and value all move."
    return (
        "Pull a tip: its matrix W_q, W_k or W_v changes as little as it can, and the arrows of its colour move along."
    )
