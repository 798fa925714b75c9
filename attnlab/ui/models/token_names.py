"""The names of a model's tokens, as people read them."""

from functools import lru_cache

from attnlab.ui.widgets.tokens.token_chips import visible


@lru_cache(4096)
def show_token(token: str) -> str:
    """Return a token as people read it, with signs for one that is white space only."""
    from attnlab.pretrained.tokenizer import readable

    text = readable(token)
    return text if text.strip() else visible(text)
