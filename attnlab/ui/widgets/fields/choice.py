"""One of the values of a choice."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a choice; if it is disabled, its reason, or else its description, says why."""

    value: object
    title: str
    description: str = ""
    enabled: bool = True
    reason: str = ""

    @property
    def usable(self) -> bool:
        """Whether it can be chosen: it is enabled, and there is no reason against it."""
        return self.enabled and not self.reason


def same(one: object, other: object) -> bool:
    """Return whether two values are equal and of one type: True is not 1, and 1 head is not scale 1.0."""
    return type(one) is type(other) and one == other
