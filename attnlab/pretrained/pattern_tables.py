"""Pattern scores and strongest targets as CSV."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from attnlab.pretrained.many_texts import ManyTexts
from attnlab.pretrained.patterns import HeadPatterns

TARGET_FIELDS = ("text", "token", "name", "layer", "target", "weight")
"""The columns of a table of targets: the number of the text, that of the token, its name, and so on."""


def list_targets(found: ManyTexts, head: int, *, plain: bool) -> Iterator[tuple[int, int, str, int, str, float]]:
    """Yield the strongest target of every token of every text in every layer; see ``TextTargets.find``."""
    for place, each in enumerate(found.texts):
        for token, name in enumerate(each.query_tokens):
            for layer in range(len(each.keys)):
                yield place, token, name, layer, *each.find(layer, head, token, plain=plain)


def encode_targets(found: ManyTexts, head: int, *, plain: bool) -> str:
    """Return the strongest targets as CSV."""
    return encode_rows([TARGET_FIELDS, *list_targets(found, head, plain=plain)])


def encode_patterns(rows: Iterable[HeadPatterns], fields: Sequence[str]) -> str:
    """Return scores as CSV."""
    return encode_rows([fields, *([f"{getattr(row, name):.9g}" for name in fields] for row in rows)])


def encode_rows(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV."""
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    return made.getvalue()
