"""One value that is offered among others."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that is offered; one that cannot be chosen says in its reason, or else its description, why."""

    value: object
    title: str
    description: str = ""
    enabled: bool = True
    reason: str = ""

    @property
    def usable(self) -> bool:
        """Tell whether it can be chosen: it is enabled, and nothing speaks against it."""
        return self.enabled and not self.reason


def same(one: object, other: object) -> bool:
    """Compare values so that True is not 1 and 1 head is not scale 1.0."""
    return type(one) is type(other) and one == other
