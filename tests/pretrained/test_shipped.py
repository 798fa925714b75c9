"""The models that ship have learned what they say."""

import pytest
import torch

from attnlab.pretrained.model import read_model
from attnlab.pretrained.patterns import HeadPatterns
from attnlab.pretrained.shipped import list_shipped
from attnlab.training import tasks
from attnlab.training.batch import IGNORED


def find_best(name: str, text: str, score: str) -> HeadPatterns:
    return max(read_model(name).run(text).patterns(), key=lambda row: getattr(row, score))


@pytest.mark.parametrize("entry", list_shipped(), ids=lambda entry: entry.name)
def test_each_reads_its_text_and_says_how_it_was_made(entry: object) -> None:
    name, about, text, command = entry  # type: ignore[misc]
    model = read_model(name)
    assert model.name == name
    assert model.run(text).predictions(k=1)[0][1] > 0.4
    assert about
    assert command.split()[:2] == ["attnlab", "train"]
    assert command.split()[2] in tasks.TASKS


def test_induction_has_a_previous_token_head_below_an_induction_head() -> None:
    text = "c a d b f e c a d"
    before, induction = find_best("induction", text, "previous"), find_best("induction", text, "induction")
    assert (before.layer, induction.layer) == (0, 1)
    assert before.previous > 0.95
    assert induction.induction > 0.9


def test_induction_repeats_what_followed() -> None:
    model, data = read_model("induction"), tasks.make_data(tasks.make_spec("induction"))
    right = asked = 0
    for row, targets in zip(data.held_out.inputs[:20], data.held_out.targets, strict=False):
        run = model.run(" ".join(data.decode(row)))
        for place in (targets != IGNORED).nonzero().flatten().tolist():
            asked += 1
            right += int(run.probabilities(place).argmax()) == int(targets[place])
    assert asked > 200
    assert right / asked > 0.97


def test_reverse_writes_backwards_what_it_never_saw() -> None:
    model, data = read_model("reverse"), tasks.make_data(tasks.make_spec("reverse"))
    right = 0
    for row in data.held_out.inputs[:12]:
        given = data.decode(row)[: (row == 1).nonzero()[0].item() + 1]
        text = " ".join(given)
        for expected in reversed(given[:-1]):
            token = model.run(text).predictions(k=1)[0][0]
            right += token == expected
            text = model.tokenizer.append(text, token)
    assert right >= 12 * 4 - 2


def test_the_hidden_word_agrees_with_its_subject() -> None:
    model = read_model("hidden-words")
    for subject, word in (("girl", "herself"), ("boy", "himself")):
        run = model.run(f"the {subject} near the old kings sees ▢ .")
        assert run.predictions(k=1)[0][0] == word


def test_characters_knows_the_sonnets_better_than_chance() -> None:
    model = read_model("characters")
    run = model.run("Shall I compare thee to a summ")
    assert run.predictions(k=1)[0][0] == "e"
    probabilities = torch.stack([run.probabilities(place) for place in range(len(run.tokens) - 1)])
    numbers = torch.tensor([model.tokenizer.number(token) for token in run.tokens[1:]])
    assert float(-probabilities.gather(1, numbers[:, None]).log().mean()) < 2.2
