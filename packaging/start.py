"""What the frozen program starts with: the command ``attnlab``, unless it is a child process of one."""

import multiprocessing
import sys

if __name__ == "__main__":
    multiprocessing.freeze_support()  # a child that computes starts this same file, and must not open a second window
    if sys.argv[1:2] == ["-c"] and len(sys.argv) == 3:  # so the doctor asks torch; frozen, sys.executable is this
        exec(compile(sys.argv[2], "<string>", "exec"), {"__name__": "__main__"})
        sys.exit()
    from attnlab.cli.main import main

    sys.exit(main())
