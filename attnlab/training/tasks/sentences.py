"""Sentences of a small grammar in which subjects agree with their verbs, and verbs choose their objects."""

import random
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun: its singular, its plural and its reflexive pronoun."""

    one: str
    several: str
    itself: str


PEOPLE = (
    Noun("boy", "boys", "himself"),
    Noun("king", "kings", "himself"),
    Noun("girl", "girls", "herself"),
    Noun("queen", "queens", "herself"),
    Noun("cat", "cats", "itself"),
    Noun("dog", "dogs", "itself"),
)
THINGS: Mapping[str, tuple[str, ...]] = {
    "eat": ("bread", "cake", "apples"),
    "drink": ("milk", "water", "tea"),
    "read": ("books", "letters", "poems"),
}
"""The transitive verbs and their possible objects."""
ON_ONESELF = ("see", "wash", "like")
"""The reflexive verbs."""
NEAR = ("near", "with", "behind")
ADJECTIVES = ("old", "small", "happy", "tired")


def draw_sentence(g: random.Random) -> tuple[str, ...]:
    """Return a random sentence of 4 to 10 words: a subject, often a second noun beside it, a verb and an object."""
    several = g.random() < 0.5
    actor = g.choice(PEOPLE)
    words = [*_draw_noun(g, actor, several)]
    if g.random() < 0.5:
        words += [g.choice(NEAR), *_draw_noun(g, g.choice(PEOPLE), g.random() < 0.5)]
    verb = g.choice((*THINGS, *ON_ONESELF))
    words.append(verb if several else f"{verb}es" if verb == "wash" else f"{verb}s")
    if verb in THINGS:
        words.append(g.choice(THINGS[verb]))
    else:
        words.append("themselves" if several else actor.itself)
    return (*words, ".")


def _draw_noun(g: random.Random, noun: Noun, several: bool) -> tuple[str, ...]:
    adjective = (g.choice(ADJECTIVES),) if g.random() < 0.3 else ()
    return ("the", *adjective, noun.several if several else noun.one)


def list_words() -> tuple[str, ...]:
    """Return every word of the grammar, sorted."""
    nouns = {word for noun in PEOPLE for word in (noun.one, noun.several, noun.itself)}
    verbs = {form for verb in (*THINGS, *ON_ONESELF) for form in (verb, f"{verb}es" if verb == "wash" else f"{verb}s")}
    things = {thing for of_verb in THINGS.values() for thing in of_verb}
    return tuple(sorted({"the", ".", "themselves", *nouns, *verbs, *things, *NEAR, *ADJECTIVES}))
