"""All errors that attnlab raises on purpose; each contains one sentence that helps the user fix the problem.

AttnlabError
├── ArgumentError        a public function called with wrong arguments
├── ExperimentError      an invalid field of an experiment: names the field, what it got, what it needs
├── UnknownPresetError   a preset name that does not exist; names the nearest one
├── DeviceError          a device or dtype that is unknown or missing, or a device out of memory
├── TrainingError        an invalid task, model or training setting, or a probe that the task cannot read
└── FileError            a file that cannot be read or written; names the path and the reason
"""

from attnlab.base.printable import escape, shorten

LONGEST = 5000
"""The maximum number of characters in a sentence; only a text from a file, such as a name, can exceed it."""
KEPT = "\n\N{NO-BREAK SPACE}"
"""Characters that are not spelt out: the second is before a percent sign."""


class AttnlabError(Exception):
    """Base of all errors raised on purpose; ``str(error)`` is a sentence to show to the user.

    Control characters, such as those in a file's name, are spelt out; the middle of a sentence that is too long is cut.
    """

    def __init__(self, sentence: object = "") -> None:
        super().__init__(shorten(escape(shorten(str(sentence), LONGEST), keep=KEPT), LONGEST))


class ArgumentError(AttnlabError, TypeError):
    """A public function was called with wrong arguments; the sentence names the right ones."""


class ExperimentError(AttnlabError, ValueError):
    """An invalid experiment: the sentence names the field, what it got and what it needs."""


class UnknownPresetError(AttnlabError, LookupError):
    """A preset name that does not exist."""


class DeviceError(AttnlabError):
    """A device or dtype that is unknown or missing, or a device out of memory."""


class TrainingError(AttnlabError, ValueError):
    """An invalid training run: the sentence names the setting, what it got and what it needs."""


class FileError(AttnlabError):
    """A file that cannot be read or written."""
