"""The small lessons that the tests of the lessons' workspace use."""

from pathlib import Path

import pytest

MASKS = """---
title: Masks in four steps
about: What the future is hidden by.
covers: [B1]
sources:
  - Vaswani et al., Attention Is All You Need, 2017
---

## Everyone sees all

```state
preset: journey
stage: weights
```

A row sums to {{sum(weights[0, :]):.2f}}, of {{T}} tokens.

## The future is hidden

```state
edits:
  - causal: true
depth: row
```

“starts” gives {{weights[2, 1]}} to “journey”; before it was {{before.weights[2, 1]}}.

```notes
Wait for somebody to ask why.
```

## One number is different

```state
edits:
  - W_q[0, 1]: 1.5
cell: [2, 1]
```

The table holds {{W_q[0, 1]}}.

## Exercise

```state
cell: [1, 0]
```

```question
ask: How much does “journey” give to “Your”?
blank: weights[1, 0]
tolerance: 0.01
```
"""


@pytest.fixture
def lesson_file(tmp_path: Path) -> Path:
    path = tmp_path / "masks.md"
    path.write_text(MASKS, encoding="utf-8")
    return path
