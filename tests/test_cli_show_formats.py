"""``attnlab show --format``: matrices as text for papers, code and notes."""

import numpy as np
import pytest

import attnlab
from attnlab.cli.main import main
from attnlab.files.export.matrix_text import FORMATS
from attnlab.files.export.stage_tables import table

CAUSAL = attnlab.compute(attnlab.preset("causal-5x8"))


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["show", "preset:causal-5x8", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.parametrize("name", FORMATS)
def test_a_stage_is_written_in_the_chosen_format(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = shown(capsys, "--stage", "masked", "--head", "0", "--format", name)
    assert said == FORMATS[name](table(CAUSAL, "masked", 0))


def test_digits_and_labels_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = table(CAUSAL, "weights", "all")
    said = shown(capsys, "--stage", "weights", "--format", "latex", "--digits", "2", "--labels")
    assert said == FORMATS["latex"](wanted, 2, True)
    assert r"\mbox{sat}" in said
    said = shown(capsys, "--stage", "weights", "--format", "markdown", "--digits", "all", "--no-labels")
    assert said == FORMATS["markdown"](wanted, None, False)


def test_all_stages_as_numpy_are_runnable_code(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, np.ndarray] = {}
    exec(shown(capsys, "--format", "numpy"), {"np": np}, names)  # type: ignore[arg-type]
    assert tuple(names) == CAUSAL.all_stages
    for name in CAUSAL.all_stages:
        np.testing.assert_array_equal(names[name], CAUSAL.array(name))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--format", "word"], "invalid choice: 'word'"),
        (["--format", "latex", "--json"], "not allowed with"),
        (["--digits", "3"], "--digits and --labels need --format"),
        (["--format", "latex", "--digits", "-1"], "'-1' is not a number of decimals"),
        (["--format", "latex", "--digits", "30"], "digits is 30; it needs a number from 0 to 20"),
    ],
    ids=str,
)
def test_an_invalid_request_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "preset:journey", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert sentence in err
