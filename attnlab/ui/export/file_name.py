"""Default names for files of figures and films."""


def make_slug(text: str) -> str:
    """Return a text as part of a file name: lower-case letters and digits, separated by hyphens."""
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())
