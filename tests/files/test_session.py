"""A session file restores exactly what was saved, and an invalid one is refused in a sentence."""

import io
import json
import os
import sys
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load as read_tensors
from safetensors.torch import save as packed_tensors
from torch import Tensor

import attnlab
from attnlab.attention.edits.layer_edits import configure
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.attention.edits.stack_edits import add_layer
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.registries.blocks import BLOCK_NORMS, BLOCKS, FEED_FORWARDS
from attnlab.base.errors import ExperimentError, FileError
from attnlab.files.sessions.session_archive import MANIFEST, SUMS, TENSORS
from attnlab.files.sessions.session_file import Session, load, load_scene, load_session, save, save_scene, save_session
from tests.files.sessions import INTEGERS, SMALL, WHOLE, assert_same, rebuilt

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def numbers(draw: st.DrawFn, *shape: int) -> Tensor:
    dtype = draw(st.sampled_from(DTYPES))
    width = torch.finfo(dtype).bits
    count = torch.Size(shape).numel()
    raw = draw(st.lists(st.integers(0, 2**width - 1), min_size=count, max_size=count))
    signed = [value - 2**width if value >= 2 ** (width - 1) else value for value in raw]
    values = torch.tensor(signed, dtype=INTEGERS[width // 8]).view(dtype)
    return torch.where(torch.isfinite(values), values, -0.0).to(dtype).reshape(shape)


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    heads, grouped = draw(st.sampled_from([(1, None), (2, None), (2, 1), (4, 2), (3, 3)]))
    t_q, t_k, d_k, d_v, d_out = (draw(st.integers(1, 3)) for _ in range(5))
    d_model, kv = draw(st.integers(1, 4)), grouped or heads
    tokens = st.text(st.characters(), max_size=5)  # surrogates and control characters included
    cross = draw(st.booleans())
    d_memory, t_k = (draw(st.integers(1, 3)), t_k) if cross else (d_model, t_q)

    def maybe(*shape: int) -> Tensor | None:
        return numbers(draw, *shape) if draw(st.booleans()) else None

    weights = Weights(
        numbers(draw, d_model, heads * d_k),
        numbers(draw, d_memory, kv * d_k),
        numbers(draw, d_memory, kv * d_v),
        W_o := maybe(heads * d_v, d_out),
        maybe(heads * d_k),
        maybe(kv * d_k),
        maybe(kv * d_v),
        maybe(heads * d_v if W_o is None else d_out),
    )
    mask = torch.tensor(draw(st.lists(st.booleans(), min_size=t_q * t_k, max_size=t_q * t_k))).reshape(t_q, t_k)
    config = AttentionConfig(
        n_heads=heads,
        n_kv_heads=grouped,
        causal=draw(st.booleans()),
        scale=draw(
            st.sampled_from(["sqrt_d_k", "none", "sqrt_d_model", 2])
            | st.floats(0, exclude_min=True, allow_infinity=False)
        ),
        normalizer=draw(st.sampled_from(["softmax", "sum"])),
        positions=draw(st.sampled_from(["none", "sinusoidal"])),
        mask=mask if draw(st.booleans()) else None,
    )
    e = Experiment(
        tuple(draw(st.lists(tokens, min_size=t_q, max_size=t_q))),
        numbers(draw, t_q, d_model),
        weights,
        config,
        tuple(draw(st.lists(tokens, min_size=t_k, max_size=t_k))) if cross else None,
        numbers(draw, t_k, d_memory) if cross else None,
    )
    kinds = {"block": BLOCKS, "block_norm": BLOCK_NORMS, "feed_forward": FEED_FORWARDS}
    try:
        e = configure(e, **{name: draw(st.sampled_from(list(kind))) for name, kind in kinds.items()})
        return add_layer(e) if draw(st.booleans()) else e
    except ExperimentError:
        return e  # its output has other columns than its inputs


@given(experiments())
def test_loading_is_the_inverse_of_saving_bit_for_bit(e: Experiment) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.attnlab"
        save(e, path)
        assert_same(e, load(path))


@pytest.mark.parametrize("name", attnlab.presets())
def test_every_preset_survives_save_and_load(name: str, tmp_path: Path) -> None:
    e = attnlab.preset(name)
    attnlab.save(e, str(tmp_path / "p.attnlab"))
    assert_same(e, attnlab.load(str(tmp_path / "p.attnlab")))


def test_a_table_of_frequencies_survives_in_its_own_dtype(tmp_path: Path) -> None:
    e = configure(attnlab.preset("rope"), positions="rope_scaled", rope_factor=1.25)
    e = replace(e, weights=replace(e.weights, extra={"omega": torch.rand(e.d_k // 2, dtype=torch.float64)}))
    attnlab.save(e, str(tmp_path / "p.attnlab"))
    assert_same(e, attnlab.load(str(tmp_path / "p.attnlab")))


def test_shared_tensors_are_saved(tmp_path: Path) -> None:
    half = attnlab.preset("the-cat-sat").weights.W_q
    e = Experiment(("a",), torch.ones(1, 4), Weights(half, half, half))
    assert e.weights.W_q is e.weights.W_k
    save(e, tmp_path / "s.attnlab")
    assert_same(e, load(tmp_path / "s.attnlab"))


def test_the_view_is_restored_with_the_session(tmp_path: Path) -> None:
    view = {"title": "Mein Satz 🦊", "preset": "journey", "device": "cpu", "dtype": "float64", "zoom": 1.5}
    save_scene(attnlab.preset("journey"), tmp_path / "s.attnlab", view)
    assert load_scene(tmp_path / "s.attnlab")[1] == view
    save(attnlab.preset("journey"), tmp_path / "s.attnlab")
    assert load_scene(tmp_path / "s.attnlab")[1] == {}


def test_unknown_keys_of_the_view_are_kept(tmp_path: Path) -> None:
    view = {
        "selection": {"stage": "weights", "row": 2, "column": 1, "head": None},
        "head": "mean",
        "step": -1,
        "zoom": 1e-300,
        "lens": "flow",
        "lesson": ["causal", 3],
        "seed": 2**64 - 1,
        "\u202e": {"": [[], {}, True, "\ud800", "\0"]},
    }
    save_scene(SMALL, tmp_path / "s.attnlab", view)
    found = load_scene(tmp_path / "s.attnlab")[1]
    assert found == view
    assert json.dumps(found) == json.dumps(view)  # 1 is not 1.0, nor True


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else "end"


ROUND: list[Any] = []
ROUND += [ROUND] * 100


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        ({"path": Path("a")}, r"view\.path is \w*Path; it needs text"),
        ({"cells": [1, torch.ones(1)]}, r"view\.cells\[1\] is Tensor"),
        ({"zoom": float("nan")}, r"view\.zoom is nan"),
        ({"step": 10**30}, r"view\.step is a whole number of more than 64 bits"),
        ({"a": {1: 2}}, r"view\.a has a key that is int"),
        ({"deep": nested(17)}, "is nested more than 16 deep"),
        ({"round": ROUND}, "is nested more than 16 deep"),
        ({"text": "é" * 600_000}, "view takes 1,200,0.. bytes as JSON; the maximum is 1,048,576"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value,
)
def test_an_invalid_view_is_refused_and_the_old_file_kept(tmp_path: Path, view: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "s.attnlab"
    save_scene(SMALL, path, {"title": "old"})
    with pytest.raises(FileError, match=rf"s\.attnlab cannot be written: .*{sentence}"):
        save_scene(SMALL, path, view)
    assert load_scene(path)[1] == {"title": "old"}


def test_pins_are_restored_and_still_share_tensors(tmp_path: Path) -> None:
    e, path = attnlab.preset("multi-head-8"), tmp_path / "s.attnlab"
    masked = Experiment(e.tokens, e.embeddings, e.weights, AttentionConfig(n_heads=8, causal=True))
    other = attnlab.preset("journey")
    turned = Experiment(other.tokens, other.embeddings * 2, other.weights, other.config)
    save_session(Session(e, {"pins": [{"name": "masked"}]}, (masked, other, turned, e)), path)
    session = load_session(path)
    for saved, found in zip((e, masked, other, turned, e), (session.experiment, *session.pins), strict=True):
        assert_same(saved, found)
    assert session.pins[0].weights.W_q is session.experiment.weights.W_q
    assert session.pins[2].weights.W_q is session.pins[1].weights.W_q
    assert session.view == {"pins": [{"name": "masked"}]}
    save(e, tmp_path / "alone.attnlab")
    sizes = [each.stat().st_size for each in (path, tmp_path / "alone.attnlab")]
    assert sizes[0] - sizes[1] < 6000  # what is shared is written once


def test_pins_include_the_batch_and_its_tables(tmp_path: Path) -> None:
    batch = load(Path(__file__).with_name("version1.attnlab"))
    save_session(Session(SMALL, pins=(batch, batch)), tmp_path / "s.attnlab")
    found = load_session(tmp_path / "s.attnlab").pins
    assert_same(batch, found[0])
    assert_same(batch, found[1])
    assert found[1].others[0].embeddings is found[0].others[0].embeddings


@pytest.mark.parametrize("name", ["journey", "batch-of-two", "multi-head-8"])
def test_a_pin_whose_sequences_are_one_tensor_is_restored(tmp_path: Path, name: str) -> None:
    pinned = toggle_memory(attnlab.preset(name), on=True)
    assert pinned.memory_embeddings is pinned.embeddings
    save_session(Session(SMALL, pins=(pinned, pinned)), tmp_path / "s.attnlab")
    for found in load_session(tmp_path / "s.attnlab").pins:
        assert_same(pinned, found)


def test_a_pin_in_the_older_shared_form_is_read(tmp_path: Path) -> None:
    pin = {"tokens": ["c", "d"], "memory_tokens": ["e", "f"], "config": {}}
    shared = {"memory_embeddings": "pins/0/embeddings"}
    tensors = packed_tensors({"embeddings": torch.ones(2, 2), "pins/0/embeddings": torch.full((2, 2), 3.0)})
    (found,) = load_session(rebuilt(tmp_path, tensors, pins=[pin | {"shared": shared}])).pins
    assert found.memory_embeddings is not None
    assert found.memory_embeddings.tolist() == found.embeddings.tolist() == [[3, 3], [3, 3]]


def test_too_many_pins_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="101 states are pinned; the maximum in a session is 100"):
        save_session(Session(SMALL, pins=(SMALL,) * 101), tmp_path / "s.attnlab")
    assert not list(tmp_path.glob("*.attnlab"))


def test_saving_is_deterministic(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(attnlab.preset("multi-head-8"), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_session_is_a_zip_of_json_and_safetensors(tmp_path: Path) -> None:
    save(attnlab.preset("journey"), tmp_path / "s.attnlab")
    with zipfile.ZipFile(tmp_path / "s.attnlab") as archive:
        assert sorted(archive.namelist()) == [SUMS, MANIFEST, TENSORS]
        manifest = json.loads(archive.read(MANIFEST))
        assert manifest["format"] == "attnlab"
        assert manifest["version"] == 2
        assert manifest["experiment"]["tokens"][:2] == ["Your", "journey"]
        assert read_tensors(archive.read(TENSORS))["W_q"].shape == (3, 2)


def test_a_session_recompressed_by_another_program_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as old, zipfile.ZipFile(tmp_path / "z", "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert_same(SMALL, load(tmp_path / "z"))


@pytest.mark.parametrize(("name", "sentence"), [("none.attnlab", "There is no file"), (".", "is a folder")])
def test_a_missing_file_is_named(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        load(tmp_path / name)


def test_a_failed_save_keeps_the_old_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no folder"):
        save(SMALL, tmp_path / "none" / "s.attnlab")
    with pytest.raises(FileError, match="it is a folder"):
        save(SMALL, tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_path_that_is_not_a_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.attnlab")
    for path in (tmp_path / "pipe.attnlab", Path("/dev/zero")):
        with pytest.raises(FileError, match=f"^{path} cannot be read: it is a pipe or a device, not a file.$"):
            load(path)
    with pytest.raises(FileError, match="is a folder; a session is a file"):
        load(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_saving_follows_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "link.attnlab").symlink_to("real.attnlab")
    save(SMALL, tmp_path / "link.attnlab")
    assert (tmp_path / "link.attnlab").is_symlink()
    assert_same(SMALL, load(tmp_path / "real.attnlab"))
