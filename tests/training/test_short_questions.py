"""The short questions: 432 pairs, whose articles agree with the noun after them."""

import pytest

from attnlab.training.batch import END
from attnlab.training.tasks import make_data, make_spec, short_questions


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How was your day?", "comment était ta journée"),
        ("where becomes your dog", "où devient ton chien"),
        ("why is the car", "pourquoi est la voiture"),
        ("when was my book", "quand était mon livre"),
    ],
)
def test_a_question_is_translated_word_by_word(question: str, answer: str) -> None:
    data = make_data(make_spec("questions"))
    batch = data.make_probe(question)
    assert " ".join(data.decode(batch.targets[0])[:-1]) == answer
    assert int(batch.targets[0, -1]) == END


def test_all_pairs_differ_and_sixty_one_are_held_out() -> None:
    assert len(short_questions.QUESTIONS) == len(set(map(short_questions.translate, short_questions.QUESTIONS))) == 432
    data = make_data(make_spec("questions"))
    assert len(data.held_out.inputs) == 61
    assert len({tuple(row.tolist()) for row in data.held_out.inputs}) == 61


def test_an_article_needs_the_noun() -> None:
    """The third word cannot be told from the first three words of the question."""
    for start in {question[:3] for question in short_questions.QUESTIONS}:
        articles = {short_questions.translate((*start, noun))[2] for noun in short_questions.NOUNS}
        assert len(articles) == 2
