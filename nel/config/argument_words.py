"""Messages of nel as a call in Python raises them: where the command line has a flag, a call has a
key of its configuration or an argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from nel.config.settings import EACH, settings
from nel.errors import NelError

_FLAG: Final = re.compile(
    r"(?P<command> \bnel\ [a-z]+ [^;,:()]* )    # a command keeps its flags: it is for a shell"
    "\n"
    r"| (?P<flag> --[a-z][a-z-]+ ) (?: \ (?P<value> [a-z][a-z_]* ) \b (?!=) )?",
    re.VERBOSE,
)

_TWICE: Final = re.compile(r"(?<!\S)(\S+) and \1(?=[\s,;:)]|$)")
"""Two flags of one key, such as ``--judge-url and --judge-id``."""


@contextmanager
def arguments_for_flags(arguments: Mapping[str, str] | None = None) -> Iterator[None]:
    """Let errors of nel speak of keys where they name flags.

    Args:
        arguments: Names of arguments by flag, for a call that takes no configuration; a word after
            the flag is its value.
    """
    try:
        yield
    except NelError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (_in_python(error.args[0], arguments), *error.args[1:])
        raise


def _in_python(text: str, arguments: Mapping[str, str] | None) -> str:
    names = arguments if arguments is not None else _keys()

    def name_of(match: re.Match[str]) -> str:
        name = names.get(match["flag"] or "")
        if name is None:
            return match[0]
        value = match["value"]
        if value is None:
            return name
        # "--despite prompt" is despite=["prompt"] in a call; a key of the configuration is named in
        # a sentence, whose next word this may be.
        return f'{name}=["{value}"]' if arguments is not None else f"{name} {value}"

    return _TWICE.sub(r"\1", _FLAG.sub(name_of, text))


def _keys() -> dict[str, str]:
    """Return the key of each flag, ``benchmarks[].sample`` for one of every entry of a list."""
    return {
        setting.flag.name: ".".join(setting.path).replace(f".{EACH}", "[]")
        for setting in settings()
    }
