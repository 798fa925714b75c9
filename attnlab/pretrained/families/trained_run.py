"""Runs of ``attnlab train`` as models: Transformers of one stack or two, with the weights of the run's last moment."""

import math
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from attnlab.attention.registries.positions import POSITIONS
from attnlab.base.errors import FileError
from attnlab.pretrained.architecture import Architecture, Stack, StackName
from attnlab.pretrained.folder import ModelFolder
from attnlab.pretrained.layers import (
    ACTIVATIONS,
    AttentionLayer,
    Bias,
    FeedForward,
    Layer,
    Linear,
    Map,
    Norm,
    Rotation,
    pass_on,
)
from attnlab.pretrained.run_tokenizer import RunTokenizer
from attnlab.training import models, tasks
from attnlab.training.allowed_texts import is_allowed, write_question
from attnlab.training.batch import BEGIN, SPECIAL
from attnlab.training.models.blocks import configure_self_attention
from attnlab.training.own_random import draw_and_restore
from attnlab.training.specs import ModelSpec
from attnlab.training.store import load

ABOUT = {
    "decoder": "GPT-style decoder",
    "encoder": "BERT-style encoder",
    "attention": "Attention only",
    "encoder-decoder": "Encoder–decoder",
}
"""The kinds of models that are stacks of layers, in words."""
INSIDE = ("none", "learned", "sinusoidal", "rope", "t5")
"""The positions that a stack here can have."""
BEGIN_SIGN = SPECIAL[BEGIN]
EPS = 1e-5
"""The epsilon of torch's LayerNorm, which the training uses."""


def read_run(path: Path, name: str) -> tuple[ModelFolder, Architecture]:
    """Return the model of a run, with the weights of its last moment.

    Raises:
        FileError: it is damaged, has no moment yet, or is of a kind without layers of attention that can be stacked.
    """
    state = load(path)
    spec, text = state.spec.model, str(state.spec.options.get("text", ""))
    if not is_allowed(text):
        raise FileError(f"{write_question(text)} Open the run in Train first, which asks you.")
    if spec.kind not in ABOUT:
        raise FileError(f"{name} is a recurrent model, which has no layers of heads; open it in Train.")
    if spec.positions not in INSIDE:
        raise FileError(f"{name} has the positions {spec.positions}; a model here has one of {', '.join(INSIDE)}.")
    if not state.moments:
        raise FileError(f"{name} has recorded no weights yet; train it for at least one step.")
    if problem := tasks.check(state.spec):
        raise FileError(f"{name} cannot be built from its settings: {problem}")
    data = tasks.make_data(state.spec)
    if data.features:
        raise FileError(f"{name} reads rows of numbers, not tokens; open it in Train.")
    weights = {key: torch.from_numpy(array) for key, array in state.moments[-1].weights.items()}
    kind = {"model_type": f"attnlab {spec.kind}"}
    _check_weights(name, weights, spec, data)
    folder = ModelFolder(
        path, name, kind, {}, weights, tokenizer=RunTokenizer(data.vocabulary), example=find_example(data)
    )
    return folder, _Builder(weights, spec, data).build()


def find_example(data: tasks.Data) -> str:
    """Return a text of a task: the beginning of its probe that is no answer."""
    batch = data.make_probe(data.probe_text)
    row = batch.inputs[0] if batch.source is None else batch.source[0]
    tokens = data.decode(row)
    if BEGIN_SIGN in tokens and tokens[0] != BEGIN_SIGN:
        tokens = tokens[: tokens.index(BEGIN_SIGN) + 1]
    return RunTokenizer(data.vocabulary).join(tokens)


def _check_weights(name: str, weights: Mapping[str, Tensor], spec: ModelSpec, data: tasks.Data) -> None:
    with draw_and_restore():  # its first weights are not used
        needed = {key: list(tensor.shape) for key, tensor in models.build(spec, data).state_dict().items()}
    got = {key: list(tensor.shape) for key, tensor in weights.items()}
    if wrong := next((key for key in needed if got.get(key) != needed[key]), None):
        has = f"has shape {got[wrong]}" if wrong in got else "is missing"
        raise FileError(f"{wrong} of {name} {has}; its settings need {needed[wrong]}.")


class _Builder:
    """Builds the stacks of a run from its settings and weights."""

    def __init__(self, weights: Mapping[str, Tensor], spec: ModelSpec, data: tasks.Data) -> None:
        self._weights, self._spec, self._data = weights, spec, data
        self._both = spec.kind == "encoder-decoder"
        self._causal = data.causal if spec.kind == "attention" else spec.kind != "encoder"
        self._relu = self._both or (spec.kind == "decoder" and spec.norm == "after")
        self._first = spec.norm != "after"

    def build(self) -> Architecture:
        """Return the architecture."""
        spec, data = self._spec, self._data
        if self._both:
            stacks: tuple[Stack, ...] = (
                self._make_stack("encoder", "encoder", False, "source_embedding", "norms.0"),
                self._make_stack("decoder", "decoder", True, "embedding", "norms.1"),
            )
        else:
            stacks = (
                self._make_stack("decoder" if self._causal else "encoder", "blocks", self._causal, "embedding", "norm"),
            )
        return Architecture(
            about=ABOUT[spec.kind],
            stacks=stacks,
            n_heads=spec.heads,
            d_model=spec.d_model,
            words=len(data.vocabulary),
            limit=min(data.longest, data.longest_source) if self._both else data.longest,
            predicts="next" if self._causal else "masked",
            predict=self._predict,
            start=BEGIN if self._both else None,
        )

    def _make_stack(self, name: StackName, at: str, causal: bool, embedding: str, norm: str) -> Stack:
        last = self._read_norm(norm) if self._spec.norm == "before" else pass_on
        return Stack(
            name=name,
            n_layers=self._spec.layers,
            embed=lambda ids: self._embed(ids, embedding),
            layer=lambda i: self._read_layer(f"{at}.{i}", causal, self._both and name == "decoder"),
            norm=lambda: last,
        )

    def _embed(self, ids: Tensor, at: str) -> Tensor:
        x = self._weights[f"{at}.table"][ids]
        if self._both:
            x = x * math.sqrt(self._spec.d_model)
        entry = POSITIONS[self._spec.positions]
        if entry.encode is None:
            return x
        if entry.tables:
            return x + self._weights[f"{at}.positions.P"][: len(ids)]
        return x + entry.encode(len(ids), self._spec.d_model, {}).to(x.dtype)

    def _predict(self, hidden: Tensor) -> Tensor:
        if "output.weight" in self._weights:
            return nn.functional.linear(hidden, self._weights["output.weight"], self._weights["output.bias"])
        return hidden @ self._weights["embedding.table"].T

    def _read_norm(self, at: str) -> Map:
        if self._spec.norm == "none":
            return pass_on
        return Norm(self._weights[f"{at}.weight"], self._weights[f"{at}.bias"], EPS)

    def _read_layer(self, at: str, causal: bool, cross: bool) -> Layer:
        wide = f"{at}.feed_forward.0.weight" in self._weights
        count = 1 + cross + wide
        norms = [self._read_norm(f"{at}.norms.{place}") for place in range(count)]
        return Layer(
            attention=self._read_attention(f"{at}.attention", causal, within=True),
            attention_norm=norms[0],
            feed_forward=self._read_feed_forward(f"{at}.feed_forward") if wide else None,
            feed_forward_norm=norms[-1],
            norm_first=self._first,
            cross=self._read_attention(f"{at}.cross", False, within=False) if cross else None,
            cross_norm=norms[1] if cross else None,
        )

    def _read_feed_forward(self, at: str) -> FeedForward:
        into, out = (
            Linear(self._weights[f"{at}.{place}.weight"].T, self._weights[f"{at}.{place}.bias"]) for place in (0, 3)
        )
        return FeedForward(into=into, out=out, activation=ACTIVATIONS["relu" if self._relu else "gelu"])

    def _read_attention(self, at: str, causal: bool, *, within: bool) -> AttentionLayer:
        """Return a layer; positions that act ``within`` a layer are those of self-attention only."""
        q, k, v, o = (Linear(self._weights[f"{at}.W_{name}"], self._weights[f"{at}.b_{name}"]) for name in "qkvo")
        spec, config = self._spec, configure_self_attention(self._spec, causal)
        d_k = spec.d_model // spec.heads
        rotation = bias = None
        if within and spec.positions == "rope":
            base = float(config.option("rope_base"))
            rotation = Rotation(base ** (-torch.arange(d_k // 2, dtype=torch.float32) * 2 / d_k), base=base)
        if within and spec.positions == "t5":
            both_ways = bool(config.option("t5_bidirectional"))
            bias = Bias(self._weights[f"{at}.B"], int(config.option("t5_distance")), both_ways)
        return AttentionLayer(
            q=q,
            k=k,
            v=v,
            o=o,
            n_heads=spec.heads,
            n_kv_heads=spec.heads,
            divisor=math.sqrt(d_k),
            causal=causal,
            rotation=rotation,
            bias=bias,
        )
