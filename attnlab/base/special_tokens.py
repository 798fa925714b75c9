"""Tells special tokens, which are no text, by how tokenizers write them."""

UNKNOWN = ("[UNK]", "<unk>")
"""The names of the token for any word that a vocabulary lacks; it is written like a special one but stands for text."""


def is_special(token: str) -> bool:
    """Return whether a token is written like [CLS], <s> or <|endoftext|>, and stands for no word."""
    return len(token) > 2 and (token[0], token[-1]) in (("[", "]"), ("<", ">")) and token not in UNKNOWN
