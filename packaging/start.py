"""Entry point of the frozen program: runs the command ``attnlab``, or a child process of it."""

import multiprocessing
import sys

if __name__ == "__main__":
    multiprocessing.freeze_support()  # child processes start this file too, and must not open a second window
    if (
        sys.argv[1:2] == ["-c"] and len(sys.argv) == 3
    ):  # used by doctor to test torch: sys.executable is this program when frozen
        exec(compile(sys.argv[2], "<string>", "exec"), {"__name__": "__main__"})
        sys.exit()
    from attnlab.cli.main import main

    sys.exit(main())
