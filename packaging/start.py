"""What the frozen program starts with: the command ``attnlab``, unless it is a child process of one."""

import multiprocessing
import sys

if __name__ == "__main__":
    multiprocessing.freeze_support()  # a child that computes starts this same file, and must not open a second window
    from attnlab.cli import main

    sys.exit(main())
