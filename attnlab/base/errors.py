"""Every error that attnlab raises on purpose; each carries one sentence for the person who can mend it.

AttnlabError
├── ArgumentError        a public function called with wrong arguments
├── ExperimentError      a field of an experiment that cannot be: names the field, what it got, what it needs
├── UnknownPresetError   a preset name that does not exist; names the nearest one
├── DeviceError          a device or number format that is unknown, absent or out of memory
├── TrainingError        a task, model or training that cannot be, or a probe that the task cannot read
└── FileError            a file that cannot be read or written; names the path and the reason
"""

from attnlab.base.printable import printable, shortened

LONGEST = 5000
"""How many letters a sentence may have; more can only come from a text in a file, such as a name."""


class AttnlabError(Exception):
    """Base of all errors raised on purpose; ``str(error)`` is a sentence to show to the user.

    Control characters in it, such as those in a file's name, are spelt out; the middle of an overlong one is left out.
    """

    def __init__(self, sentence: object = "") -> None:
        super().__init__(shortened(printable(shortened(str(sentence), LONGEST), keep="\n"), LONGEST))


class ArgumentError(AttnlabError, TypeError):
    """A public function was called with wrong arguments; the sentence names the right ones."""


class ExperimentError(AttnlabError, ValueError):
    """An experiment that cannot be: the sentence names the field, what it got and what it needs."""


class UnknownPresetError(AttnlabError, LookupError):
    """A preset name that does not exist."""


class DeviceError(AttnlabError):
    """A device or dtype that is unknown, absent, or out of memory."""


class TrainingError(AttnlabError, ValueError):
    """A run that cannot be: the sentence names the setting, what it got and what it needs."""


class FileError(AttnlabError):
    """A file that cannot be read or written."""
