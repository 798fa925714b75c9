"""A wrong call of a public name raises an AttnlabError of one sentence, and ``help`` shows the signature."""

import inspect
import pydoc
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import attnlab

E = attnlab.preset("journey")
ODD: tuple[Any, ...] = (
    None, 3, -1, 2.5, "x", "", b"x", [], [3], {}, {"a": 1}, object(), E, torch.eye(2), np.eye(2), type, True, 1j,
)  # fmt: skip
FUNCTIONS = ("compute", "from_multihead", "load", "preset", "presets", "read_weights", "save", "to_multihead")
CLASSES = ("AttentionConfig", "Experiment", "Sample", "Weights", "Trace")


def sentence(call: Callable[[], Any]) -> str:
    with pytest.raises(attnlab.AttnlabError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda a: a.compute("x"), "compute was given str; it needs an attnlab.Experiment."),
        (lambda a: a.compute(), "compute needs e, which is missing; it takes e, device, dtype."),
        (
            lambda a: a.compute(E, devise="cpu"),
            "compute has no argument 'devise'; did you mean device? It takes e, device, dtype.",
        ),
        (lambda a: a.compute(E, "cpu", "float32", 4), "compute was given 4 arguments; it takes e, device, dtype."),
        (lambda a: a.save("x", "y"), "save was given str; it needs an attnlab.Experiment."),
        (lambda a: a.save(E, 3), "path is 3; it needs the name of a file."),
        (lambda a: a.load(3), "path is 3; it needs the name of a file."),
        (lambda a: a.read_weights(3, E), "path is 3; it needs the name of a file."),
        (lambda a: a.read_weights("x.npz", 3), "read_weights was given int; it needs an attnlab.Experiment."),
        (lambda a: a.to_multihead(3), "to_multihead was given int; it needs an attnlab.Experiment."),
        (lambda a: a.from_multihead(3, E), "from_multihead was given int; it needs a torch.nn.MultiheadAttention."),
        (
            lambda a: a.Trace("x", "cpu", "float32"),
            "A Trace needs an Experiment, a torch.device and a torch.dtype; attnlab.compute makes one.",
        ),
        (
            lambda a: a.Weights(Wq=[[1.0]]),
            "Weights has no argument 'Wq'; did you mean W_q? It takes W_q, W_k, W_v, W_o, b_q, b_k, b_v, b_o, extra.",
        ),
        (
            lambda a: a.Sample(("a",)),
            "Sample needs embeddings, which is missing; "
            "it takes tokens, embeddings, memory_tokens, memory_embeddings, length.",
        ),
        (lambda a: a.presets(3), "presets was given 1 argument; it takes nothing."),
    ],
)
def test_a_wrong_call_is_reported_in_one_sentence(call: Callable[[Any], Any], said: str) -> None:
    assert sentence(lambda: call(attnlab)) == said


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_any_argument_of_a_wrong_type_gives_an_attnlab_error(name: str, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)  # for what "x" may name
    function = getattr(attnlab, name)
    taken = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    right: dict[str, Any] = {"e": E, "experiment": E, "tokens": ("a", "b"), "embeddings": [[1.0], [2.0]]}
    right |= {"name": "journey", "path": "there.npz" if name == "read_weights" else "there.attnlab"}
    right |= {"device": torch.device("cpu"), "dtype": torch.float32}
    right |= {"module": attnlab.to_multihead(attnlab.preset("multi-head-8"))}
    attnlab.save(E, "there.attnlab")
    np.savez("there.npz", W_q=np.eye(3), W_k=np.eye(3), W_v=np.eye(3))
    needed = {p.name: right[p.name] for p in taken if p.default is p.empty}
    for parameter in taken:
        for odd in ODD:
            try:
                function(**(needed | {parameter.name: odd}))
            except attnlab.AttnlabError as error:
                said = str(error)
                assert said.endswith(".") and "\n" not in said, (parameter.name, odd)  # noqa: PT018
    for wrong in (lambda: function(**needed, nothing_of_this=3), lambda: function(*[None] * 30)):
        assert sentence(wrong).endswith(".")


def test_an_inner_type_error_is_not_taken_for_a_wrong_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise TypeError("inside")

    monkeypatch.setattr("attnlab.files.sessions.session_file.load_session", broken)
    with pytest.raises(TypeError, match=r"^inside$"):
        attnlab.load("x")


@pytest.mark.parametrize("name", [*FUNCTIONS, "figure", "view"])
def test_help_shows_the_signature(name: str) -> None:
    page = pydoc.plain(pydoc.render_doc(getattr(attnlab, name)))
    assert re.search(rf"^(attnlab\.)?{name}\(", page, re.MULTILINE)
    assert "Help on package" not in page
    assert "PACKAGE CONTENTS" not in page
    assert all(f"{each}" in page for each in inspect.signature(getattr(attnlab, name)).parameters)


def test_modules_of_the_compute_package_can_be_imported() -> None:
    import importlib

    import attnlab.compute.engine
    from attnlab.compute import cost

    assert callable(attnlab.compute)
    assert cost.__name__ == "attnlab.compute.cost"
    assert importlib.import_module("attnlab.compute.engine") is attnlab.compute.engine
    assert attnlab.compute.engine.compute(E)["weights"].shape == attnlab.compute(E)["weights"].shape


# --- what an experiment holds is not written into --------------------------------------------------------------------


def holder() -> attnlab.Experiment:
    g = torch.Generator().manual_seed(0)
    shapes = {"W_q": (4, 4), "W_k": (4, 4), "W_v": (4, 4), "W_o": (4, 4), "b_q": 4, "b_k": 4, "b_v": 4, "b_o": 4}
    draws = {n: torch.randn(*(s if isinstance(s, tuple) else (s,)), generator=g) for n, s in shapes.items()}
    return attnlab.Experiment(
        ("a", "b"),
        torch.randn(2, 4, generator=g),
        attnlab.Weights(**draws, extra={"g_q": torch.ones(4), "g_k": torch.ones(4)}),
        attnlab.AttentionConfig(qk_norm="rms", mask=torch.ones(2, 2, dtype=torch.bool)),
        ("x", "y"),
        torch.randn(2, 4, generator=g),
    )


ARRAYS: dict[str, Callable[[attnlab.Experiment], Any]] = {
    "embeddings": lambda e: e.embeddings,
    "memory_embeddings": lambda e: e.memory_embeddings,
    "config.mask": lambda e: e.config.mask,
    "weights.extra['g_k']": lambda e: e.weights.extra["g_k"],
    **{
        f"weights.{name}": lambda e, n=name: getattr(e.weights, n)
        for name in ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o")
    },
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_computing_with_an_array_changed_in_place_is_refused(name: str, dtype: str) -> None:
    e = holder()
    attnlab.compute(e, dtype=dtype)["output"]
    ARRAYS[name](e)[0] = 0
    said = sentence(lambda: attnlab.compute(e, dtype=dtype)["output"])
    assert said.startswith(f"{name} was changed in place")


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_changed_in_place_is_not_saved_or_exported(name: str, tmp_path: Any) -> None:
    from attnlab.files.export.script import script

    e = holder()
    ARRAYS[name](e).logical_not_() if name == "config.mask" else ARRAYS[name](e).mul_(2)
    for door in (lambda: attnlab.save(e, tmp_path / "x.attnlab"), lambda: script(e, "x")):
        assert f"{name} was changed in place" in sentence(door)
    assert list(tmp_path.iterdir()) == []


def test_changed_arrays_are_detected_in_every_sequence_of_a_batch(tmp_path: Any) -> None:
    e = attnlab.preset("padding-batch")
    e.others[1].embeddings.zero_()
    assert "others[1].embeddings was changed in place" in sentence(lambda: attnlab.save(e, tmp_path / "x.attnlab"))


def test_earlier_results_stay_unchanged() -> None:
    e = holder()
    trace = attnlab.compute(e)
    before = trace["output"].clone()
    e.embeddings.zero_()
    assert torch.equal(trace["output"], before)
