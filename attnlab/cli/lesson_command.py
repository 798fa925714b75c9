"""The command ``attnlab lesson``: opens a lesson in the window, prints it, checks it, or lists all lessons."""

import argparse
import re
import sys
from pathlib import Path

from attnlab.base.console import OK, USER_ERROR, say, write
from attnlab.base.counted import format_count, format_has
from attnlab.base.display import has_display
from attnlab.base.errors import AttnlabError
from attnlab.base.printable import escape
from attnlab.cli.command_line import (
    MisuseError,
    Parser,
    add_theme,
    check_folder,
    load_torch_before_qt,
    platform_without_display,
)
from attnlab.lessons.lenses import LENSES


def main(argv: list[str]) -> int:
    """Run ``attnlab lesson`` with these arguments and return its exit code."""
    description = "Open a lesson, print it, or check its file for mistakes."
    parser = Parser(prog="attnlab lesson", description=description, epilog=_list_lenses())
    parser.add_argument("lesson", nargs="?", metavar="NAME|FILE", help="an included lesson, one of yours, or a file")
    tasks = parser.add_mutually_exclusive_group()
    tasks.add_argument("--step", type=_parse_step, metavar="N", help="the step to open, counted from 1")
    tasks.add_argument("--pdf", type=Path, metavar="OUT", help="print the lesson, one page per step")
    tasks.add_argument("--check", action="store_true", help="compute every step and report mistakes with their lines")
    tasks.add_argument("--list", action="store_true", help="list all lessons")
    parser.add_argument("--notes", action="store_true", help="with --pdf: print the notes below the slides")
    parser.add_argument(
        "--per-page",
        type=int,
        default=1,
        choices=(1, 2, 4, 6),
        metavar="N",
        help="with --pdf: 1, 2, 4 or 6 slides a page (default 1)",
    )
    add_theme(parser)
    options = parser.parse_args(argv)
    if options.pdf is None and (options.notes or options.per_page > 1):
        raise MisuseError("--notes and --per-page are for printing; add --pdf OUT.pdf.")
    if options.list == (options.lesson is not None):
        what = "--list takes no lesson" if options.list else "The NAME or FILE of a lesson is missing"
        raise MisuseError(f"{what}; use attnlab lesson --list or attnlab lesson NAME.")
    if options.list:
        return _list_lessons()
    if options.check:
        return _check_lesson(options.lesson)
    if options.pdf is not None:
        return _print_lesson(options.lesson, options.pdf, options.notes, options.per_page)
    return _open_lesson(options.lesson, options.step or 1, options.theme)


def _list_lenses() -> str:
    named = (name + f" ({', '.join(lens.pages)})" * bool(lens.pages) for name, lens in LENSES.items())
    return f"A step of a lesson can show a lens of the playground: {', '.join(named)}."


def _parse_step(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a step; use 1, 2 …")
    return int(text)


def _printable_line(text: str) -> str:
    """Return a text as one line, with control characters escaped, since the file may come from anyone."""
    return escape("".join(" " if each.isspace() else each for each in text)) + "\n"


def _list_lessons() -> int:
    from attnlab.lessons.library import list_lessons

    lessons = list_lessons()
    width = max((len(lesson.name) for lesson in lessons), default=0)
    say("".join(_printable_line(f"{lesson.name:{width}}  {lesson.about or lesson.title}") for lesson in lessons))
    return OK


def _check_lesson(name: str) -> int:
    from attnlab.lessons.library import find
    from attnlab.lessons.slides import check

    lesson = find(name)
    problems, file = check(lesson), lesson.path or f"{lesson.name}.md"
    say("".join(_printable_line(f"{file}:{problem.line}: {problem.reason}") for problem in problems))
    if not problems:
        count = len(lesson.steps)
        say(_printable_line(f"{file}: {format_count(count, 'step')}, nothing wrong."))
    return USER_ERROR if problems else OK


def _print_lesson(name: str, path: Path, notes: bool, per_page: int) -> int:
    if path.suffix.lower() != ".pdf":
        raise AttnlabError(f"A lesson is printed as PDF; {path} needs to end in .pdf.")
    check_folder(path)
    from attnlab.lessons.library import find
    from attnlab.lessons.slides import check

    lesson = find(name)
    for problem in check(lesson):  # before printing: a problem may be the reason why it fails
        write(sys.stderr, _printable_line(f"attnlab: {lesson.path or lesson.name}:{problem.line}: {problem.reason}"))
    with platform_without_display(True):
        from attnlab.ui.app.application import make_application
        from attnlab.ui.present.paper import Paper
        from attnlab.ui.present.pdf import write_pdf

        paper = Paper(notes, per_page)
        app = make_application()
        write_pdf(lesson, path, paper=paper)
        del app
    return OK


def _open_lesson(name: str, step: int, theme: str | None) -> int:
    from attnlab.lessons.library import count_steps

    count = count_steps(name)
    if step > max(count, 1):
        raise AttnlabError(f"{name} has no step {step}; it {format_has('step', 1, count)}.")
    if not has_display():
        raise AttnlabError(
            "There is no display to open a window on; attnlab lesson NAME --pdf OUT.pdf prints the lesson instead."
        )
    load_torch_before_qt()
    from attnlab.ui.app.application import end, run

    return end(run(theme=theme, lesson=(name, step)))
