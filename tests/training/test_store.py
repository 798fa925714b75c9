"""A saved run is restored exactly; a damaged, forged or hostile folder is refused in one sentence."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as tensors

from attnlab.base.errors import FileError
from attnlab.training.messages import Arrays, Checkpoint, Metric, Progress
from attnlab.training.run import Run, RunState
from attnlab.training.specs import RunSpec
from attnlab.training.store import find_runs_folder, list_runs, load, new_folder, read_summary, save
from attnlab.training.store_arrays import pack_curve, read_curve
from attnlab.training.store_manifest import MANIFEST, PARTS, name_file
from tests.training.runs import made_up_run

SAVE = "0123456789abcdef"
CURVE, MOMENTS, CHECKPOINT = (name_file(part, SAVE) for part in PARTS)
FILES = (MANIFEST, CURVE, MOMENTS, CHECKPOINT)
posix = pytest.mark.skipif(os.name != "posix", reason="limits, links and pipes of POSIX")


@contextmanager
def one_name_for_a_save() -> Iterator[None]:
    """Use the same file names for a save in every process."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("secrets.token_hex", lambda count: SAVE[: 2 * count])
        yield


def written() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder, one_name_for_a_save():
        save(made_up_run().state(), folder)
        return {name: (Path(folder) / name).read_bytes() for name in FILES}


WHOLE = written()


def rebuilt(folder: Path, changes: dict[str, bytes]) -> Path:
    for name, data in {**WHOLE, **changes}.items():
        (folder / name).write_bytes(data)
    return folder


def assert_same_arrays(a: Arrays, b: Arrays) -> None:
    assert list(a) == list(b)
    for name, array in a.items():
        assert array.dtype == b[name].dtype
        np.testing.assert_array_equal(array, b[name])


def assert_same(a: RunState, b: RunState) -> None:
    for name in ("spec", "name", "sentence", "step", "seconds", "parameters", "trainable", "device", "interval"):
        assert getattr(a, name) == getattr(b, name)
    assert a.marks == b.marks
    assert repr(a.metrics) == repr(b.metrics)  # NaN is not equal to itself
    for name in ("steps", "losses", "rates"):
        np.testing.assert_array_equal(getattr(a.curve, name), getattr(b.curve, name))
    assert [(m.step, repr(m.loss), repr(m.metric)) for m in a.moments] == [
        (m.step, repr(m.loss), repr(m.metric)) for m in b.moments
    ]
    for mine, other in zip(a.moments, b.moments, strict=True):
        assert_same_arrays(mine.weights, other.weights)
    assert (a.checkpoint is None) == (b.checkpoint is None)
    if a.checkpoint is not None and b.checkpoint is not None:
        assert (a.checkpoint.step, a.checkpoint.seconds) == (b.checkpoint.step, b.checkpoint.seconds)
        assert_same_arrays(a.checkpoint.state, b.checkpoint.state)


def test_a_run_survives_saving_and_loading(tmp_path: Path) -> None:
    state = made_up_run(4).state()
    save(state, tmp_path / "new" / "run")
    found = load(tmp_path / "new" / "run")
    assert found.status == "interrupted"  # it ran when it was saved
    assert_same(state, found)
    assert_same(state, Run.of(found).state())


def test_a_run_without_steps_survives_saving_and_loading(tmp_path: Path) -> None:
    state = Run(RunSpec(), "new").state()
    save(state, tmp_path / "run")
    assert_same(state, load(tmp_path / "run"))
    files = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert [name.partition("-")[0] for name in files] == ["curve", MANIFEST]


def test_a_digest_and_the_heads_before_are_saved_and_may_be_absent(tmp_path: Path) -> None:
    assert "digest" not in json.loads(WHOLE[MANIFEST])
    assert load(rebuilt(tmp_path, {})).digest == ""
    assert load(tmp_path).heads_before == ()
    before = ((3, ""), (5, "decoder 1.0"))
    save(replace(made_up_run().state(), digest="0a" * 32, heads_before=before), tmp_path)
    assert Run.of(load(tmp_path)).state().heads_before == before
    assert Run.of(load(tmp_path)).state().digest == "0a" * 32


def test_a_run_with_a_huge_loss_can_be_loaded_again(tmp_path: Path) -> None:
    state = made_up_run().state()
    huge = (*state.metrics[:-1], replace(state.metrics[-1], loss=1e30))
    save(replace(state, metrics=huge), tmp_path)
    assert load(tmp_path).metrics[-1].loss == pytest.approx(1e30)
    assert read_summary(tmp_path).loss == pytest.approx(1e30)


def test_the_safetensors_library_reads_the_files() -> None:
    found = load_tensors(WHOLE[MOMENTS])
    assert found["weights/a.b"].shape == (3, 2, 2)
    np.testing.assert_array_equal(found["weights/c"], [0.5, 1.5, 2.5])
    assert load_tensors(WHOLE[CHECKPOINT])["state/random 0"].tolist() == [0, 1, 2, 3, 4]


def test_saving_is_deterministic(tmp_path: Path) -> None:
    with one_name_for_a_save():
        save(load(rebuilt(tmp_path, {})), tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in FILES[1:]} == {n: WHOLE[n] for n in FILES[1:]}


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let the system refuse to write larger files, like a full disk."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@posix
def test_a_full_disk_is_reported_and_keeps_the_old_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    before = load(rebuilt(folder, {}))
    state = replace(made_up_run(99).state(), curve=before.curve, metrics=before.metrics)
    with files_of_at_most(2000), pytest.raises(FileError) as refused:
        save(state, folder)
    assert "safetensors cannot be written: File too large." in str(refused.value)
    after = load(folder)
    assert [moment.step for moment in after.moments] == [moment.step for moment in before.moments]
    assert after.checkpoint is not None
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)


def test_an_invalid_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        save(made_up_run().state(), tmp_path / "file" / "run")
    with pytest.raises(FileError, match="There is no file"):
        load(tmp_path / "none")


def test_runs_are_listed_newest_first_with_damaged_ones_and_their_reason(config_dir: Path) -> None:
    assert list_runs() == ()
    folder = new_folder(RunSpec("reverse"))
    assert folder.parent == find_runs_folder() == config_dir / "runs"
    assert folder.name.startswith("reverse-0-")
    save(made_up_run().state(), folder)
    assert new_folder(RunSpec("reverse")) != folder
    os.utime(folder / MANIFEST, (1, 1))
    save(replace(made_up_run().state(), status="ended", sentence="Done."), find_runs_folder() / "newer")
    (find_runs_folder() / "broken").mkdir()
    (find_runs_folder() / "broken" / MANIFEST).write_text("{")
    (find_runs_folder() / "no run").mkdir()
    newer, older, broken = list_runs()
    assert (newer.name, newer.status, newer.step, newer.right) == ("made up", "ended", 2, 0.25)
    assert newer.loss == 0.5
    assert newer.spec is not None
    assert newer.spec.task == "copy"
    assert (older.folder, older.status, older.saved) == (folder, "interrupted", 1.0)
    assert broken.spec is None
    assert "broken/run.json cannot be read as part of a run" in broken.problem


@pytest.mark.parametrize("name", ["nul\0", "lone surrogate \ud800", "missing"])
def test_an_impossible_folder_has_no_runs(tmp_path: Path, name: str) -> None:
    assert list_runs(tmp_path / name) == ()


@settings(max_examples=300)
@given(st.sampled_from(FILES), st.data())
def test_a_flipped_bit_is_refused_or_gives_a_valid_run(name: str, data: st.DataObject) -> None:
    changed = bytearray(WHOLE[name])
    bit = data.draw(st.integers(0, 8 * len(changed) - 1))
    changed[bit // 8] ^= 1 << bit % 8
    refused_or_whole({name: bytes(changed)})


def test_a_diverged_run_can_be_opened(tmp_path: Path) -> None:
    run = made_up_run()
    run.take(Progress(5, 1.0, metrics=(Metric(5, 3e38, 0.0, 0.0),)))
    save(run.state(), tmp_path / "run")
    assert load(tmp_path / "run").metrics[-1].loss == 3e38
    assert read_summary(tmp_path / "run").loss == 3e38


def test_a_step_with_a_fraction_is_refused() -> None:
    state = made_up_run().state()
    arrays = load_tensors(bytes(pack_curve(state)))
    arrays["metrics"][1, 0] = 0.5  # two metrics would be saved as those of step 0
    with pytest.raises(ValueError, match="whole numbers"):
        read_curve(arrays)


@settings(max_examples=100)
@given(st.sampled_from(FILES), st.data())
def test_a_truncated_file_is_refused(name: str, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, len(WHOLE[name]) - 1))
    with tempfile.TemporaryDirectory() as folder, pytest.raises(FileError, match=name):
        load(rebuilt(Path(folder), {name: WHOLE[name][:length]}))


@settings(max_examples=100)
@given(st.sampled_from(FILES), st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.raises(FileError, match=name):
        load(rebuilt(Path(folder), {name: data}))


JSON = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(2**53, 2**70),
    st.floats(),
    st.text(max_size=9),
    st.sampled_from([-1, 0, "", [], {}, [[1, "a", True]], [[-1, "a", True]], {"run.json": 1}]),
)


@settings(max_examples=200)
@given(st.sampled_from(sorted(json.loads(WHOLE[MANIFEST]))), JSON)
def test_any_settings_are_refused_or_give_a_valid_run(field: str, value: Any) -> None:
    changed = {**json.loads(WHOLE[MANIFEST]), field: value}
    refused_or_whole({MANIFEST: json.dumps(changed).encode("utf-8", "surrogatepass")})


def refused_or_whole(changes: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = rebuilt(Path(name), changes)
        try:
            state = load(folder)
        except FileError as error:
            assert folder.name in str(error)  # noqa: PT017  # either is right, and both are checked
            assert str(error).isprintable()  # noqa: PT017
        else:
            assert read_summary(folder).problem == ""
            save(Run.of(state).state(), folder)
            load(folder)


def manifest(**changes: Any) -> dict[str, bytes]:
    found = {**json.loads(WHOLE[MANIFEST]), **changes}
    return {MANIFEST: json.dumps({k: v for k, v in found.items() if v is not ...}).encode()}


def arrays(name: str, **changes: Any) -> dict[str, bytes]:
    found = load_tensors(WHOLE[name])
    found.update(changes)
    return {name: tensors({key: array for key, array in found.items() if array is not ...})}


HUGE = b'{"steps":{"dtype":"I64","shape":[1152921504606846976],"data_offsets":[0,9223372036854775808]}}'


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (manifest(format="other"), "it is not an attnlab run"),
        (manifest(version=3), "newer attnlab (version 3"),
        (manifest(version="1"), "does not have the fields"),
        (manifest(step=...), "does not have the fields"),
        (manifest(extra=1), "does not have the fields"),
        (manifest(step=-1), "its step needs"),
        (manifest(step=1.5), "its step needs"),
        (manifest(step=True), "its step needs"),
        (manifest(interval=0), "its interval needs"),
        (manifest(digest="0a"), "its digest needs"),
        (manifest(digest=5), "its digest needs"),
        (manifest(heads_before=[[3, "decoder"]]), "its heads_before needs"),
        (manifest(heads_before=[[-1, ""]]), "its heads_before needs"),
        (manifest(heads_before={"3": ""}), "its heads_before needs"),
        (manifest(seconds=-1), "its seconds needs"),
        (manifest(status="happy"), "its status needs"),
        (manifest(name="x" * 3000), "its name needs"),
        (manifest(marks=[[1, "a"]]), "its marks needs"),
        (manifest(files={"run.json": 1}), "its files needs"),
        (manifest(files={"../../etc/passwd": 1}), "its files needs"),
        (manifest(files={"curve": "../curve.safetensors"}), "its files needs"),
        (manifest(files={"curve": MOMENTS}), "its files needs"),
        (manifest(files={"curve": CURVE, "moments": "moments-00000000000000ff.safetensors"}), "its files needs"),
        (manifest(version=1, files={"curve": CURVE}), "its files needs"),
        (manifest(spec={}), "settings of a run need task"),
        ({MANIFEST: b"[" * 100_000}, "nested more than"),
        ({MANIFEST: b'{"step":1e999}'}, "1e999"),
        ({MANIFEST: b'{"step":NaN}'}, "NaN is not a valid number"),
        ({MANIFEST: b'{"step":1,"step":2}'}, "duplicate key"),
        ({MANIFEST: b" " * (1 << 21)}, "larger than the 1 MiB"),
        (arrays(CURVE, steps=...), "its steps are missing"),
        (arrays(CURVE, steps=np.array([1, 0])), "its steps need to grow"),
        (arrays(CURVE, steps=np.array([0, 2**62])), "its steps need to grow"),
        (arrays(CURVE, steps=np.array([0, 1, 2])), "lengths of its arrays disagree"),
        (arrays(CURVE, losses=np.array([np.nan, 1.0])), "need to be finite"),
        (arrays(CURVE, losses=np.array([1.0, 1.0], np.float32)), "its losses are missing or of the wrong kind"),
        (arrays(CURVE, metrics=np.zeros((3, 3))), "lengths of its arrays disagree"),
        (arrays(CURVE, by_length=np.array([[np.inf, 1.0, 1.0]])), "need to be finite"),
        (arrays(CURVE, by_length=np.array([[0.0, 3.0, 1e300]])), "need to be from 0 to 1"),
        (arrays(CURVE, by_length=np.array([[-7.0, 3.0, 1.0]])), "those of its metrics"),
        (arrays(CURVE, by_length=np.array([[3.0, 3.0, 1.0]])), "those of its metrics"),
        (arrays(CURVE, by_length=np.array([[0.0, 1e300, 1.0]])), "those of its metrics"),
        (arrays(CURVE, metrics=np.array([[0, 1, np.inf, 0]]), by_length=np.zeros((0, 3))), "need to be from 0 to 1"),
        (arrays(CURVE, **{"gradients/output": np.ones(2)}), "numbers of its gradients disagree"),
        (arrays(CURVE, **{"gradients/output": np.full(3, np.inf)}), "finite numbers of 0 or more"),
        (arrays(CURVE, **{"gradients/output": np.full(3, -1.0)}), "finite numbers of 0 or more"),
        (arrays(CURVE, **{"gradients/output": np.ones(3, np.float32)}), "missing or of the wrong kind"),
        (arrays(CURVE, **{f"gradients/{i}": np.ones(3) for i in range(65)}), "numbers of its gradients disagree"),
        (arrays(MOMENTS, steps=np.arange(200_000), losses=np.zeros(200_000)), "numbers of its moments disagree"),
        ({MOMENTS: tensors({"steps": np.arange(300_000), "losses": np.zeros(300_000)})}, "300,000 moments, of at most"),
        (arrays(MOMENTS, **{"weights/c": np.zeros(2, np.float32)}), "numbers of its moments disagree"),
        (arrays(MOMENTS, **{"weights/c": np.full(3, np.nan, np.float32)}), "need to be finite"),
        (arrays(MOMENTS, **{"weights/c": np.zeros(3)}), "need to be float32"),
        (arrays(MOMENTS, **{"weights/c": np.zeros((), np.float32)}), "numbers of its moments disagree"),
        (arrays(CHECKPOINT, step=np.array(-3)), "its steps need to grow"),
        (arrays(CHECKPOINT, seconds=np.array(np.inf)), "need to be finite"),
        (arrays(CHECKPOINT, seconds=np.array(-1.0)), "need to be 0 or more"),
        (arrays(CHECKPOINT, **{"state/n": np.array(np.nan)}), "need to be finite"),
        ({MOMENTS: len(HUGE).to_bytes(8, "little") + HUGE}, "does not match its bytes"),
        ({MOMENTS: (2**63).to_bytes(8, "little")}, "cut off"),
        ({MOMENTS: b"\x80\x04pickle!"}, "cut off"),
        ({MOMENTS: WHOLE[MOMENTS] + b"more"}, "more bytes than its arrays have"),
    ],
)
def test_an_invalid_value_is_named(changes: dict[str, bytes], words: str, tmp_path: Path) -> None:
    with pytest.raises(FileError) as refused:
        load(rebuilt(tmp_path, changes))
    assert words in str(refused.value)
    assert next(iter(changes)) in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.slow
def test_a_file_far_larger_than_a_run_is_not_read(tmp_path: Path) -> None:
    folder = rebuilt(tmp_path, {})
    os.truncate(folder / MOMENTS, 600 << 20)
    with pytest.raises(FileError, match="larger than the 512 MiB"):
        load(folder)


@posix
@pytest.mark.parametrize("name", FILES)
def test_pipes_and_broken_links_are_refused_at_once(name: str, tmp_path: Path) -> None:
    (tmp_path / "runs" / "a").mkdir(parents=True)
    folder = rebuilt(tmp_path / "runs" / "a", {})
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(FileError, match="pipe or a device"):
        load(folder)
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    with pytest.raises(FileError, match="pipe or a device"):
        load(folder)
    (folder / name).unlink()
    (folder / name).symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileError, match="There is no file"):
        load(folder)
    assert len(list_runs(tmp_path / "runs")) == 1


def test_mismatched_marks_and_moments_give_a_valid_run(tmp_path: Path) -> None:
    later = tmp_path / "later"
    with one_name_for_a_save():
        save(made_up_run(9).state(), later)
    shutil.copy(later / MOMENTS, rebuilt(tmp_path, {}) / MOMENTS)  # switched off between two files
    run = Run.of(load(tmp_path))
    assert len(run.recorder.moments) == 9
    assert [mark.step for mark in run.marks] == [1]
    assert isinstance(run.checkpoint, Checkpoint)
