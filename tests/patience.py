"""How long a test waits for what is certain to come: far longer than it takes, as machines are busy.

ATTNLAB_TESTS_PATIENCE_S says otherwise where what is waited for may never come, as beside planted faults.
"""

import os

PATIENCE_S = float(os.environ.get("ATTNLAB_TESTS_PATIENCE_S", "300"))
PATIENCE_MS = round(1000 * PATIENCE_S)
