"""Every number of a session that could not have been saved is refused in a sentence, or bounded, at once."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import attnlab
from attnlab.attention.edits import configure
from attnlab.attention.edits.layer_edits import fitting_heads
from attnlab.attention.validation import MOST_HEADS
from attnlab.base.counted import divisors
from attnlab.base.errors import AttnlabError
from attnlab.compute.engine import check_size
from attnlab.document.saved_view import from_plain, to_plain
from attnlab.files.sessions.session_archive import MANIFEST, TENSORS, pack
from attnlab.files.sessions.session_file import load_session, save_scene

HOSTILE: tuple[Any, ...] = (
    2**63 - 1, 2**63, -(2**63), 2**31 - 1, 2**31, 10**400, 16384, 4097, 0, -1, 0.5, 1e308, 5e-324, True, None, "9",
)  # fmt: skip


def everything() -> attnlab.Experiment:
    e = configure(attnlab.preset("padding-batch"), n_heads=2, causal=True, score="additive")
    options = {"dropout": 0.5, "dropout_seed": 7, "temperature": 2.0, "soft_cap": 3.0}
    return configure(e, scale=2.0, n_kv_heads=None, masks={"window": 2, "block": 3}, ablated=(1,), options=options)


def numbers(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every number of a manifest."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield from numbers(value, (*path, key))
    elif isinstance(plain, list):
        for place, value in enumerate(plain):
            yield from numbers(value, (*path, place))
    elif isinstance(plain, int | float) and not isinstance(plain, bool):
        yield path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], bytes]:
    """Return the manifest and the arrays of a session with a number in every possible place."""
    path = tmp_path_factory.mktemp("numbers") / "numbers.attnlab"
    save_scene(everything(), path, {"shown": {"head": 0, "at": {"stage": "weights", "row": 1, "column": 1, "term": 0}}})
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        manifest["experiment"]["config"] |= {"n_kv_heads": 2}
        return manifest, archive.read(TENSORS)


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: str(value)[:25])
def test_no_number_of_a_session_can_hang_the_reader(
    value: Any, saved: tuple[dict[str, Any], bytes], tmp_path: Path
) -> None:
    manifest, tensors = saved
    places = list(numbers(manifest))
    assert len(places) > 15
    for place in places:
        changed = json.loads(json.dumps(manifest))
        holder = changed
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = value
        path = tmp_path / "changed.attnlab"
        path.write_bytes(pack({MANIFEST: json.dumps(changed).encode(), TENSORS: tensors}))
        try:
            session = load_session(path)
            check_size(session.experiment)
            trace = attnlab.compute(session.experiment)
            assert trace["output"].shape[0] == session.experiment.T_q
            assert len(fitting_heads(session.experiment)) <= MOST_HEADS
            seen, _ = from_plain(session.view.get("shown"), session.experiment)
            assert to_plain(seen)
        except AttnlabError as error:
            assert len(str(error)) < 500, place  # noqa: PT017  # either is right, and both are checked


@pytest.mark.parametrize("heads", [2**63 - 1, 2**200 + 1, MOST_HEADS + 1])
@pytest.mark.parametrize("kv_heads", [None, 2])
def test_the_head_count_is_bounded_before_it_is_used(heads: int, kv_heads: int | None) -> None:
    with pytest.raises(
        attnlab.ExperimentError, match=r"^n_heads is \d[\d.]*; it needs a whole number from 1 to 4096\.$"
    ):
        attnlab.AttentionConfig(n_heads=heads, n_kv_heads=kv_heads)
    with pytest.raises(attnlab.ExperimentError, match=r"^n_kv_heads is"):
        attnlab.AttentionConfig(n_heads=4, n_kv_heads=heads)


def test_the_maximum_number_of_heads_can_be_computed() -> None:
    e = attnlab.Experiment(("a", "b"), torch.ones(2, MOST_HEADS), config=attnlab.AttentionConfig(n_heads=MOST_HEADS))
    assert attnlab.compute(e)["weights"].shape == (MOST_HEADS, 2, 2)
    assert fitting_heads(e) == divisors(MOST_HEADS)


def test_divisors_divide_their_number() -> None:
    for number in (*range(1, 60), 97, 4096, 4095):
        assert divisors(number) == tuple(n for n in range(1, number + 1) if number % n == 0)
    assert len(divisors(2**40)) == 41  # in a million steps, where counting up would take 10¹²
