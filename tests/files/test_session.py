"""A session file brings back exactly what was saved, and a bad one is refused with a sentence."""

import io
import json
import tempfile
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load as read_tensors
from safetensors.torch import save as tensor_bytes
from torch import Tensor

import attnlab
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.errors import FileError
from attnlab.files.session import MANIFEST, TENSORS, load, load_scene, save, save_scene

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def bits(tensor: Tensor) -> Tensor:
    """Return the bits of a tensor, so that -0.0 is not 0.0."""
    return tensor if tensor.dtype == torch.bool else tensor.view(INTEGERS[tensor.element_size()])


def assert_same(one: Experiment, other: Experiment) -> None:
    for part, twin in ((one, other), (one.weights, other.weights), (one.config, other.config)):
        for field in fields(part):
            a, b = getattr(part, field.name), getattr(twin, field.name)
            if isinstance(a, Tensor):
                assert a.dtype == b.dtype, field.name
                assert torch.equal(bits(a), bits(b)), field.name
            elif field.name == "extra":
                assert a.keys() == b.keys()
                assert all(torch.equal(bits(a[name]), bits(b[name])) for name in a)
            elif field.name == "others":
                assert len(a) == len(b)
                for sample, other_sample in zip(a, b, strict=True):
                    assert_same_sample(sample, other_sample)
            elif field.name not in ("weights", "config"):
                assert a == b, field.name
                assert type(a) is type(b), field.name


def assert_same_sample(one: attnlab.Sample, other: attnlab.Sample) -> None:
    assert (one.tokens, one.memory_tokens, one.length) == (other.tokens, other.memory_tokens, other.length)
    assert torch.equal(bits(one.embeddings), bits(other.embeddings))
    assert (one.memory_embeddings is None) == (other.memory_embeddings is None)
    if one.memory_embeddings is not None and other.memory_embeddings is not None:
        assert torch.equal(bits(one.memory_embeddings), bits(other.memory_embeddings))


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
        numbers(draw, d_model, heads * d_k), numbers(draw, d_memory, kv * d_k), numbers(draw, d_memory, kv * d_v),
        W_o := maybe(heads * d_v, d_out),
        maybe(heads * d_k), maybe(kv * d_k), maybe(kv * d_v), maybe(heads * d_v if W_o is None else d_out),
    )  # fmt: skip
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
    return Experiment(
        tuple(draw(st.lists(tokens, min_size=t_q, max_size=t_q))),
        numbers(draw, t_q, d_model),
        weights,
        config,
        tuple(draw(st.lists(tokens, min_size=t_k, max_size=t_k))) if cross else None,
        numbers(draw, t_k, d_memory) if cross else None,
    )


@given(experiments())
def test_loading_is_the_inverse_of_saving_bit_for_bit(e: Experiment) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.attnlab"
        save(e, path)
        assert_same(e, load(path))


@pytest.mark.parametrize("name", attnlab.presets())
def test_every_preset_comes_back_through_the_public_names(name: str, tmp_path: Path) -> None:
    e = attnlab.preset(name)
    attnlab.save(e, str(tmp_path / "p.attnlab"))
    assert_same(e, attnlab.load(str(tmp_path / "p.attnlab")))


def test_tensors_that_experiments_share_are_saved_too(tmp_path: Path) -> None:
    half = attnlab.preset("the-cat-sat").weights.W_q
    e = Experiment(("a",), torch.ones(1, 4), Weights(half, half, half))
    assert e.weights.W_q is e.weights.W_k
    save(e, tmp_path / "s.attnlab")
    assert_same(e, load(tmp_path / "s.attnlab"))


def test_how_it_was_looked_at_comes_back_with_it(tmp_path: Path) -> None:
    view = {"title": "Mein Satz 🦊", "preset": "journey", "device": "cpu", "dtype": "float64", "zoom": 1.5}
    save_scene(attnlab.preset("journey"), tmp_path / "s.attnlab", view)
    assert load_scene(tmp_path / "s.attnlab")[1] == view
    save(attnlab.preset("journey"), tmp_path / "s.attnlab")
    assert load_scene(tmp_path / "s.attnlab")[1] == {}


def test_the_same_experiment_is_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(attnlab.preset("multi-head-8"), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_session_is_a_zip_of_json_and_safetensors(tmp_path: Path) -> None:
    save(attnlab.preset("journey"), tmp_path / "s.attnlab")
    with zipfile.ZipFile(tmp_path / "s.attnlab") as archive:
        assert sorted(archive.namelist()) == [MANIFEST, TENSORS]
        manifest = json.loads(archive.read(MANIFEST))
        assert manifest["format"] == "attnlab"
        assert manifest["version"] == 1
        assert manifest["tokens"][:2] == ["Your", "journey"]
        assert read_tensors(archive.read(TENSORS))["W_q"].shape == (3, 2)


SMALL = Experiment(("a", "b"), [[1.0, 2.0], [3.0, -0.0]], Weights(W_q=[[1.0], [2.0]], W_k=[[3.0], [4.0]]))


def packed(e: Experiment = SMALL) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        save(e, Path(folder) / "s")
        return (Path(folder) / "s").read_bytes()


WHOLE = packed()


@settings(max_examples=300)
@given(st.integers(0, len(WHOLE) * 8 - 1))
def test_a_flipped_bit_is_noticed_or_harmless(bit: int) -> None:
    data = bytearray(WHOLE)
    data[bit // 8] ^= 1 << bit % 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flipped.attnlab"
        path.write_bytes(data)
        try:
            e = load(path)
        except FileError as error:
            assert "flipped.attnlab" in str(error)  # noqa: PT017  # either is right, and both are checked
        else:
            assert_same(SMALL, e)


@given(st.integers(0, len(WHOLE) - 1))
def test_a_file_cut_short_is_refused(length: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "short.attnlab"
        path.write_bytes(WHOLE[:length])
        with pytest.raises(FileError, match=r"short\.attnlab"):
            load(path)


@given(st.binary(max_size=300))
def test_any_other_bytes_are_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "other.attnlab"
        path.write_bytes(data)
        with pytest.raises(FileError, match="not an attnlab session"):
            load(path)


def rebuilt(tmp_path: Path, tensors: bytes | None = None, extra: str = "", **changes: Any) -> Path:
    """Write a session whose manifest says other things, its checksum being right; None takes a key away."""
    import hashlib

    with zipfile.ZipFile(io.BytesIO(WHOLE)) as archive:
        manifest, packed_tensors = json.loads(archive.read(MANIFEST)), archive.read(TENSORS)
    tensors = packed_tensors if tensors is None else tensors
    manifest |= {"sha256": hashlib.sha256(tensors).hexdigest(), **changes}
    path = tmp_path / "made.attnlab"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MANIFEST, json.dumps({k: v for k, v in manifest.items() if v is not ...}))
        archive.writestr(TENSORS, tensors)
        if extra:
            archive.writestr(extra, b"")
    return path


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": "other"}, "names another format"),
        ({"version": 2}, "newer attnlab"),
        ({"version": "1"}, "version is '1'"),
        ({"version": 0}, "version is 0"),
        ({"tokens": "ab"}, "tokens is missing"),
        ({"tokens": ...}, "tokens is missing"),
        ({"tokens": ["a"]}, "needs 1, one for each of the tokens"),
        ({"tokens": [1, 2]}, "every token needs to be a string"),
        ({"memory_tokens": ["a"]}, "memory_tokens came without memory_embeddings"),
        ({"config": {"n_heads": 3}}, "n_heads is 3"),
        ({"config": {"n_heads": 0}}, "n_heads is 0"),
        ({"config": {"scale": []}}, "scale needs to be one text, number or truth value"),
        ({"config": {"score": {}}}, "score needs to be one text, number or truth value"),
        ({"config": {"score": "bilinear"}}, "score is 'bilinear'"),
        ({"config": {"dropout": 0.1}}, "does not know: dropout"),
        ({"sha256": "0" * 64}, "checksum"),
        ({"view": []}, "view is missing"),
        ({"extra": "exec.py"}, "nothing else"),
        ({"config": {"scale": float("inf")}}, "Infinity is not a number"),
        ({"tensors": b"\x80\x04pickle"}, "damaged"),
        ({"tensors": tensor_bytes({"W_q": torch.ones(2, 1)})}, "embeddings"),
        ({"tensors": tensor_bytes({"embeddings": torch.full((2, 2), torch.nan)})}, r"embeddings\[0, 0\] is nan"),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2, dtype=torch.int64)})}, "embeddings is int64"),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2), "W_x": torch.ones(1)})}, "does not know: W_x"),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2), "W_q": torch.ones(5, 1)})}, "W_q has shape"),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2), "mask": torch.ones(2, 2)})}, "mask is float32"),
    ],
    ids=str,
)
def test_a_file_that_says_what_cannot_be_is_refused_with_one_sentence(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    path = rebuilt(tmp_path, **changes)
    with pytest.raises(FileError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


OTHER = {"tokens": ["c", "d"], "memory_tokens": None, "length": None}
OTHER_TENSORS = tensor_bytes({"embeddings": torch.ones(2, 2), "others/0/embeddings": torch.ones(2, 2)})
CONFIG = {"n_heads": 1}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"others": {}}, "others, the other sequences of its batch, need to be a list"),
        ({"others": [OTHER | {"color": "red"}]}, r"others\[0\] has fields that this attnlab does not know: color"),
        ({"others": [{}]}, r"others\[0\] has no tokens"),
        ({"others": [OTHER, OTHER]}, "others/1/embeddings is missing"),
        ({"others": [OTHER | {"tokens": ["c"]}]}, r"others\[0\]\.embeddings has 2 rows; it needs 1"),
        ({"others": [OTHER | {"memory_tokens": ["c"]}]}, r"others\[0\]\.memory_tokens came without"),
        ({"others": [OTHER | {"length": "2"}]}, r"others\[0\]\.length is '2'; it needs a whole number"),
        ({"others": [OTHER | {"length": 3}]}, r"others\[0\] has length 3; .* 2 keys"),
        ({"others": [OTHER], "item": 2}, "item is 2; it needs a place from 0 to 1"),
        ({"others": [OTHER], "item": True}, "item, the place .*, needs to be a whole number"),
        ({"others": []}, "does not know: others/0/embeddings"),
        ({"others": [OTHER], "config": CONFIG | {"masks": []}}, "the setting masks needs to be names and values"),
        ({"others": [OTHER], "config": CONFIG | {"ablated": 0}}, "the setting ablated needs to be a list"),
        (
            {"others": [OTHER], "config": CONFIG | {"ablated": [True]}},
            r"ablated is \[True\]; it needs numbers of heads",
        ),
        ({"others": [OTHER], "config": CONFIG | {"options": {"dropout_seed": 10**400}}}, "a whole number from 0"),
        ({"others": [OTHER], "config": CONFIG | {"score": "additive"}}, "needs W_d .* which is missing"),
    ],
    ids=str,
)
def test_a_batch_or_settings_that_cannot_be_are_refused_with_one_sentence(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    path = rebuilt(tmp_path, OTHER_TENSORS, **changes)
    with pytest.raises(FileError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_its_embeddings_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="embeddings is missing from its arrays"):
        load(rebuilt(tmp_path, tensor_bytes({"W_q": torch.ones(2, 2)})))


def test_the_file_that_the_bad_batches_are_made_from_is_good(tmp_path: Path) -> None:
    e = load(rebuilt(tmp_path, OTHER_TENSORS, others=[OTHER | {"length": 1}], item=1))
    assert (e.item, e.others[0].tokens, e.others[0].length) == (1, ("c", "d"), 1)


def test_the_file_that_the_bad_ones_are_made_from_is_good(tmp_path: Path) -> None:
    assert_same(SMALL, load(rebuilt(tmp_path)))


@pytest.mark.parametrize("member", [MANIFEST, TENSORS])
def test_a_file_that_would_unpack_to_gigabytes_is_refused(tmp_path: Path, member: str) -> None:
    other = {MANIFEST: TENSORS, TENSORS: MANIFEST}[member]
    with zipfile.ZipFile(tmp_path / "bomb.attnlab", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(other, b"{}")
        with archive.open(member, "w", force_zip64=True) as file:
            for _ in range(513):
                file.write(bytes(1 << 20))
    assert (tmp_path / "bomb.attnlab").stat().st_size < 1 << 20
    with pytest.raises(FileError, match="512 MiB"):
        load(tmp_path / "bomb.attnlab")


def test_deeply_nested_json_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "deep.attnlab", "w") as archive:
        archive.writestr(MANIFEST, "[" * 200_000)
        archive.writestr(TENSORS, b"")
    with pytest.raises(FileError, match=r"deep\.attnlab"):
        load(tmp_path / "deep.attnlab")


def test_a_session_compressed_by_another_program_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as old, zipfile.ZipFile(tmp_path / "z", "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert_same(SMALL, load(tmp_path / "z"))


@pytest.mark.parametrize(("name", "sentence"), [("none.attnlab", "There is no file"), (".", "is a folder")])
def test_what_is_not_there_is_named(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        load(tmp_path / name)


def test_saving_where_nothing_can_be_written_is_refused_and_leaves_the_old_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no folder"):
        save(SMALL, tmp_path / "none" / "s.attnlab")
    with pytest.raises(FileError, match="it is a folder"):
        save(SMALL, tmp_path)
