"""Examples of sentences with long-distance agreement, where a verb depends on a word far back."""

from dataclasses import replace
from functools import partial

from attnlab.attention.examples.example import Draws, Preset, draw_experiment
from attnlab.attention.experiment import AttentionConfig, Experiment

GROUP = "Sentences"
_CAT = ("The", "cat", ",", "which", "was", "sitting", "on", "the", "mat", ",", "purrs", ".")
_CATS = ("The", "cats", ",", "which", "were", "sitting", "on", "the", "mat", ",", "purr", ".")
_AGREE = (_CAT.index("purrs"), _CAT.index("cat"))
_SEED_OF_PLURAL = 1


def _agreement(tokens: tuple[str, ...]) -> Experiment:
    """Return a causal layer on a sentence; words that differ from the singular get their own numbers, seed 1."""
    e = draw_experiment(tokens, 16, AttentionConfig(causal=True))
    own, x = Draws(_SEED_OF_PLURAL), e.embeddings.clone()
    for row, (token, singular) in enumerate(zip(tokens, _CAT, strict=True)):
        if token != singular:
            x[row] = own.normal(16)
    return replace(e, embeddings=x)


_sentence = partial(Preset, group=GROUP)

SENTENCES = (
    _sentence(
        "agreement-cat",
        "The cat, which …, purrs",
        "“purrs” must agree with “cat”, nine tokens back and past “mat”: random weights give it little attention.",
        lambda: _agreement(_CAT),
        place=_AGREE,
    ),
    _sentence(
        "agreement-cats",
        "The cats, which …, purr",
        "Only “cats”, “were” and “purr” have other numbers than in the singular: see which rows and columns change.",
        lambda: _agreement(_CATS),
        place=_AGREE,
    ),
)
