"""What files of figures and films are called before a person says so."""


def slug(text: str) -> str:
    """Return a text as a part of a file's name: small letters and digits with lines between."""
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())
