"""How far a person has come in each lesson, as values and as the texts that are stored in the settings."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from attnlab.base.errors import AttnlabError
from attnlab.lessons.lesson import Lesson
from attnlab.lessons.sections import MOST_STEPS

_TEXT = re.compile(r"([0-9]{1,3}):([0-9,-]*)")
_RANGE = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3}))?")


@dataclass(frozen=True, slots=True)
class Progress:
    """The step at which a lesson was left, and the steps that were walked through; both count from 0."""

    step: int = 0
    done: frozenset[int] = frozenset()

    @property
    def has_begun(self) -> bool:
        """Whether any step was left behind."""
        return self.step > 0 or bool(self.done)

    def is_finished(self, lesson: Lesson) -> bool:
        """Return whether the last step of a lesson was walked through."""
        return bool(lesson.steps) and len(lesson.steps) - 1 in self.done

    def compute_share(self, lesson: Lesson) -> float:
        """Return the share of a lesson that is done, 0 to 1; a finished lesson is done, whatever was skipped."""
        if self.is_finished(lesson) or not lesson.steps:
            return float(bool(lesson.steps))
        return len([step for step in self.done if step < len(lesson.steps)]) / len(lesson.steps)

    def describe(self, lesson: Lesson) -> str:
        """Return "done", "at step 10", or "" for a lesson that was not begun."""
        if self.is_finished(lesson):
            return "done"
        return f"at step {min(self.step + 1, len(lesson.steps))}" if self.has_begun and lesson.steps else ""


def find_key(lesson: Lesson) -> str:
    """Return the name under which the progress in a lesson is stored: its file, or the name of a shipped lesson."""
    return lesson.name if lesson.path is None else str(lesson.path)


def write_progress(known: Mapping[str, Progress]) -> tuple[str, ...]:
    """Return one text for each lesson, such as "six-words=9:0-8"."""
    return tuple(f"{key}={progress.step}:{_write_ranges(progress.done)}" for key, progress in known.items())


def read_progress(texts: Iterable[str]) -> dict[str, Progress]:
    """Return the progress in each lesson; texts that cannot be read are left out."""
    found: dict[str, Progress] = {}
    for text in texts:
        try:
            key, progress = parse_progress(text)
        except AttnlabError:
            continue
        found[key] = progress
    return found


def parse_progress(text: str) -> tuple[str, Progress]:
    """Return the name of a lesson and the progress in it; AttnlabError if a text is not "six-words=9:0-8"."""
    key, _, rest = text.rpartition("=")
    found = _TEXT.fullmatch(rest)
    if not key or found is None:
        raise AttnlabError(f"{text[:60]!r} is not the progress in a lesson.")
    done: set[int] = set()
    for part in filter(None, found[2].split(",")):
        ends = _RANGE.fullmatch(part)
        if ends is None:
            raise AttnlabError(f"{text[:60]!r} is not the progress in a lesson.")
        done.update(range(int(ends[1]), min(int(ends[2] or ends[1]), MOST_STEPS) + 1))
    return key, Progress(int(found[1]), frozenset(done))


def _write_ranges(steps: frozenset[int]) -> str:
    ranges: list[list[int]] = []
    for step in sorted(steps):
        if ranges and ranges[-1][1] == step - 1:
            ranges[-1][1] = step
        else:
            ranges.append([step, step])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
