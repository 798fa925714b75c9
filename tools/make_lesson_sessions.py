"""Makes the sessions of the lessons on trained heads from the model "induction" that ships.

    python -m tools.make_lesson_sessions

The sessions are in the repository, beside the lessons; a test holds them to what this script makes.
"""

import sys
from dataclasses import replace
from pathlib import Path

import torch

import attnlab
from attnlab.attention.experiment import Experiment
from attnlab.pretrained.layers import Norm
from attnlab.pretrained.model_run import Run

FOLDER = Path(__file__).parents[1] / "resources" / "lessons"
TEXT = "c a d b c a"
"""The shortest text that shows both heads: two letters occur twice, so "d" should follow."""
LETTERS = "abcdefghijklmnop"
"""The letters that the model knows, in the order of the columns of its read-out."""
PREVIOUS = (0, 1)
"""The layer and the head that look at the letter before."""


def main() -> int:
    """Write the sessions."""
    for name, e in make_sessions().items():
        attnlab.save(e, FOLDER / name)
    return 0


def make_sessions() -> dict[str, Experiment]:
    """Return the experiments by the names of their files."""
    model = attnlab.read_model("induction")
    assert isinstance(model, attnlab.Model)
    run, without = model.run(TEXT), model.run(TEXT, heads_off=[PREVIOUS])
    return {
        "trained-layer-0.attnlab": run.experiment(0),
        "trained-layer-1.attnlab": run.experiment(1),
        "trained-read-out.attnlab": read_out(run),
        "trained-without-previous.attnlab": read_out(without),
    }


def read_out(run: Run) -> Experiment:
    """Return the last layer with its output in scores of letters: what its heads add to the model's logits [T, 16].

    The model's last norm and its table of letters are multiplied into W_o and b_o. The norm divides every row by a
    number of its own; here all are divided by that of the last token, which makes the last row exact.
    """
    model, last = run.model, run.model.n_layers - 1
    norm, predict = model.architecture.stacks[0].norm, model.architecture.predict
    assert norm is not None
    assert predict is not None
    e, after = run.experiment(last), norm()
    assert isinstance(after, Norm)
    d = model.d_model
    with torch.no_grad():
        divisor = (run.outputs(last).whole[-1].var(correction=0) + after.eps).sqrt()
        centred = torch.eye(d) - 1 / d
        numbers = [model.tokenizer.number(letter) for letter in LETTERS]
        letters = (centred * after.gain) @ predict(torch.eye(d))[:, numbers] / divisor
        assert e.weights.W_o is not None
        assert e.weights.b_o is not None
        mixed = replace(e.weights, W_o=e.weights.W_o @ letters, b_o=e.weights.b_o @ letters)
    return replace(e, weights=mixed)


if __name__ == "__main__":
    sys.exit(main())
