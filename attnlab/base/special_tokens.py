"""Tells special tokens, which are no text, by how tokenizers write them."""


def is_special(token: str) -> bool:
    """Return whether a token is written like [CLS], <s> or <|endoftext|>."""
    return len(token) > 2 and (token[0], token[-1]) in (("[", "]"), ("<", ">"))
