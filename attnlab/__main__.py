"""``python -m attnlab``: the same door as the command ``attnlab``."""

import multiprocessing
import sys

if __name__ == "__main__":  # a child process of the training imports this file and must not open a second window
    multiprocessing.freeze_support()  # and in a frozen program it starts this file, with orders that are no options
    from attnlab.cli.main import main

    sys.exit(main())
