"""Examples of masks: the cells they hide, the effect of fill values on the weights, and the masks of a translator."""

from collections.abc import Sequence
from functools import partial

import torch

from attnlab.attention.edits.batches import make_batch
from attnlab.attention.examples.example import ONE_HEAD, Draws, Preset, draw_experiment, words
from attnlab.attention.experiment import AttentionConfig, Experiment, Sample

GROUP = "Masks"
BLIND = 2
"""The query that sees no key in the fill examples."""
_LENGTHS = (("It", "rains", "again", "today"), ("The", "cat", "sat", "on", "the", "mat"), ("Dogs", "bark"))
_ENGLISH = ("The cat sat on the warm mat", "She gave him the book that she had read twice")
_FRENCH = ("Le chat s' est assis sur le tapis chaud", "Elle lui a donné le livre qu' elle avait lu deux fois")


def _make_filled(fill: str) -> Experiment:
    allowed = torch.ones(5, 5, dtype=torch.bool, device="cpu")
    allowed[BLIND] = False
    return draw_experiment(words(5), 8, AttentionConfig(causal=True, mask=allowed, fill=fill))


def _batch(
    d_model: int, sentences: Sequence[Sequence[str]], config: AttentionConfig, memories: Sequence[Sequence[str]] = ()
) -> Experiment:
    """Return sentences of several lengths as one batch, padded with zeros; the X of all sentences are drawn first."""
    draws = Draws(0)
    x = [draws.normal(len(tokens), d_model) for tokens in sentences]
    samples = [Sample(tokens, rows) for tokens, rows in zip(sentences, x, strict=True)]
    if memories:
        sources = [(tokens, draws.normal(len(tokens), d_model)) for tokens in memories]
        samples = [Sample(s.tokens, s.embeddings, *source) for s, source in zip(samples, sources, strict=True)]
    return make_batch(samples, draws.weights(d_model, config), config)


def _source() -> Experiment:
    return _batch(16, [text.split() for text in _ENGLISH], ONE_HEAD)


def _target() -> Experiment:
    return _batch(16, [text.split() for text in _FRENCH], AttentionConfig(causal=True))


def _source_for_target() -> Experiment:
    return _batch(16, [text.split() for text in _FRENCH], ONE_HEAD, [text.split() for text in _ENGLISH])


_mask = partial(Preset, group=GROUP)

MASKS = (
    _mask(
        "causal-5x8",
        "Causal mask",
        "Five tokens that attend only to earlier ones and themselves: a triangle.",
        lambda: draw_experiment(words(5), 8, AttentionConfig(causal=True)),
        rows=("B1",),
    ),
    _mask(
        "mask-fill-infinity",
        "Fill with −∞",
        "Masked weights are exactly 0. The third token sees no key: its row is all 0 and does not sum to 1.",
        lambda: _make_filled("-inf"),
        rows=("B2",),
    ),
    _mask(
        "mask-fill-1e9",
        "Fill with −1e9",
        "Same as −∞ unless a whole row is masked: the third token attends equally to all tokens, even future ones.",
        lambda: _make_filled("-1e9"),
        rows=("B2",),
    ),
    _mask(
        "mask-fill-zero",
        "Fill with 0: a mistake",
        "e⁰ is 1: every masked token gets a weight, and the rows still sum to 1, so nobody notices.",
        lambda: _make_filled("0"),
        rows=("B2",),
    ),
    _mask(
        "mask-after-softmax",
        "Mask after softmax: a mistake",
        "Masked weights are 0, but the rows are not normalised again: only the last row still sums to 1.",
        lambda: _make_filled("after"),
        rows=("B2",),
    ),
    _mask(
        "padding-batch",
        "Padding",
        "Four, six and two real tokens: padded columns are 0 in each sequence, and rows still sum to 1.",
        lambda: _batch(8, _LENGTHS, ONE_HEAD),
        rows=("B3",),
    ),
    _mask(
        "masks-source",
        "Encoder: the source mask",
        "Seven words padded to ten: every word sees every word, and none sees the padding.",
        _source,
        rows=("B4",),
    ),
    _mask(
        "masks-target",
        "Decoder: the target mask",
        "Twelve tokens, nine of them real: causal and padding mask together, a triangle cut off on the right.",
        _target,
        rows=("B4",),
    ),
    _mask(
        "masks-source-for-target",
        "Decoder: source for target",
        "Twelve target tokens attend to ten source tokens: to any word, but not to the padding.",
        _source_for_target,
        rows=("B4", "D5"),
        lens="masks",
    ),
    _mask(
        "sliding-window",
        "Sliding window",
        "Each token sees itself and the two before it: a band. From “on” onwards, the first word is hidden.",
        lambda: draw_experiment(words(10), 8, AttentionConfig(causal=True, masks={"window": 3})),
    ),
    _mask(
        "prefix-lm",
        "Prefix",
        "The first four tokens see each other, the others only earlier tokens: a triangle with a square corner.",
        lambda: draw_experiment(words(10), 8, AttentionConfig(causal=True, masks={"prefix": 4})),
    ),
    _mask(
        "block-mask",
        "Blocks",
        "Two blocks of five tokens that do not see each other: two squares, and half of the map is masked.",
        lambda: draw_experiment(words(10), 8, AttentionConfig(masks={"block": 5})),
    ),
)
