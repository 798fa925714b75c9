"""``python -m attnlab``: the same door as the command ``attnlab``."""

import sys

from attnlab.cli import main

if __name__ == "__main__":  # a child process of the training imports this file and must not open a second window
    sys.exit(main())
