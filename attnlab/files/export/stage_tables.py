"""A stage as a table of labelled numbers, and as CSV and JSON; ``table_formats`` has the formats of files."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.axes import labels
from attnlab.attention.stages.remarks import find_remarks
from attnlab.attention.stages.table import about, name_axes
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import AttnlabError
from attnlab.files.export.table_formats import TABLES


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One stage: ``values`` [h, rows, columns] or, for one head, the mean or a stage without heads, [rows, columns].

    ``axes`` are the names of the axes of ``values``; ``masked`` [rows, columns] is True for masked cells, None if there
    are none or the stage does not show them. ``conventions`` are sentences on choices on which libraries differ.
    """

    stage: str
    about: str
    axes: tuple[str, ...]
    values: NDArray[np.floating]
    masked: NDArray[np.bool_] | None
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    conventions: tuple[str, ...] = ()
    layer: int | None = None
    """The layer of a stack, from 0, if one was asked for."""
    titles: tuple[str, ...] = ()
    """The names of the maps, if they are not the heads of one layer."""

    def maps(self) -> NDArray[np.floating]:
        """Return the values as maps [n, rows, columns], with n = 1 if there is no head axis."""
        return self.values if self.values.ndim == 3 else self.values[None]


def table(trace: Trace, stage: str, head: int | str = "all") -> Table:
    """Return a stage for one head, ``"all"`` or their ``"mean"``; a stage without heads ignores the head.

    Raises:
        AttnlabError: no such stage or head; the sentence names those that exist.
    """
    if stage not in trace:
        raise AttnlabError(
            f"There is no stage {stage!r} in this configuration; there are {', '.join(trace.all_stages)}."
        )
    entry, e = trace.stage(stage), trace.experiment
    values = _choose_heads(trace, stage, head) if entry.has_heads else trace.array(stage)
    rows, columns = values.shape[-2:]
    row_axis, column_axis = entry.axes[-2:]
    return Table(
        stage=stage,
        about=about(entry, e),
        axes=name_axes(entry, e)[-values.ndim :],
        values=values,
        masked=trace.find_shown_mask(stage) if e.config.option("fill") == "-inf" else None,
        row_labels=labels(e, row_axis, rows),
        column_labels=labels(e, column_axis, columns),
        query_tokens=e.tokens,
        key_tokens=e.key_tokens,
        conventions=tuple(each.sentence for each in find_remarks(e) if each.stage == stage and not each.is_odd),
    )


def as_csv(t: Table) -> str:
    """Return the table as CSV with a header row of labels, a column of row labels and, for several heads, one of heads.

    Numbers have all their digits; a masked score is an empty field, a score that overflowed is inf or nan.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*t.axes[:-1], *t.column_labels])
    for lead, row in zip(_leads(t), _texts(t, "", "inf", "nan"), strict=True):
        writer.writerow([*lead, *row])
    return text.getvalue()


_JSON_KEYS = ("shape", "values", "query_tokens", "key_tokens")
"""The keys behind the stage, in their order."""


def as_json(t: Table) -> str:
    """Return ``{"stage", "shape", "values", "query_tokens", "key_tokens"}`` as one line of JSON.

    If a layer of a stack was asked for, ``"layer"`` follows the stage.

    Numbers have all their digits; a masked score is null. JSON has neither ∞ nor NaN: scores that overflowed are
    "Infinity", "-Infinity" and "NaN", which ``float`` understands.
    """
    rows = [f"[{', '.join(map(_json_number, row))}]" for row in _texts(t, "null", "Infinity", "NaN")]
    if t.values.ndim == 3:
        each = t.values.shape[1]
        rows = [f"[{', '.join(rows[i : i + each])}]" for i in range(0, len(rows), each)]
    given = {"stage": t.stage, "shape": t.values.shape, "query_tokens": t.query_tokens, "key_tokens": t.key_tokens}
    texts = {key: json.dumps(value) for key, value in given.items()} | {"values": f"[{', '.join(rows)}]"}
    layer = {} if t.layer is None else {"layer": str(t.layer)}
    ordered = {"stage": texts["stage"], **layer, **{key: texts[key] for key in _JSON_KEYS}}
    return "{" + ", ".join(f'"{key}": {text}' for key, text in ordered.items()) + "}"


def encode(t: Table, ending: str) -> bytes:
    """Return the bytes of a table's file for one of the endings in ``TABLES``."""
    return TABLES[ending].encode(t)


def _choose_heads(trace: Trace, stage: str, head: int | str) -> NDArray[np.floating]:
    if head == "mean":
        return trace.mean(stage)
    array = trace.array(stage)
    if head == "all":
        return array
    if not isinstance(head, int) or not 0 <= head < len(array):
        heads = "head 0" if len(array) == 1 else f"heads 0 to {len(array) - 1}"
        raise AttnlabError(f"There is no head {head}; there are {heads}, all and mean.")
    one: NDArray[np.floating] = array[head]
    return one


def _leads(t: Table) -> Iterator[tuple[str, ...]]:
    """Yield the cells before the numbers of each row: the head, if there is a head axis, and the label."""
    if t.values.ndim == 2:
        yield from ((label,) for label in t.row_labels)
    else:
        yield from product(t.titles or map(str, range(len(t.values))), t.row_labels)


def _texts(t: Table, masked: str, infinite: str, nan: str) -> Iterator[list[str]]:
    """Yield the rows of all maps as text; masked scores become ``masked``, masked weights are 0."""
    form = "%.17g" if t.values.dtype == np.float64 else "%.9g"
    special = {"inf": infinite, "-inf": f"-{infinite}", "nan": nan}
    hidden = t.masked if t.stage == "masked" else None
    for values in t.maps():
        for i, row in enumerate(values.tolist()):
            texts = [form % value for value in row]
            texts = [special.get(text, text) for text in texts]
            yield texts if hidden is None else [masked if h else x for x, h in zip(texts, hidden[i], strict=True)]


def _json_number(text: str) -> str:
    if text[-1] in "yN":
        return f'"{text}"'
    return text if text == "null" or "." in text or "e" in text else f"{text}.0"
