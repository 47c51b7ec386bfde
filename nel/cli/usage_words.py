"""Says what is wrong with a command line in words a person uses, and which command an unknown one may mean."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

import typer

_MEANT: Final = {
    "plugins": "list",
    "benchmarks": "list benchmarks",
    "scorers": "list scorers",
    "judges": "list judges",
    "metrics": "list metrics",
    "evaluate": "eval run",
    "start": "eval run",
    "continue": "eval resume",
    "status": "eval watch",
    "logs": "eval watch",
    "jobs": "view",
    "validate": "byob validate",
    "package": "byob containerize",
    "diff": "compare",
    "ui": "view",
    "viewer": "view",
    "merge": "eval merge",
}
"""What other tools call a command, and the arguments of nel that do it."""
_NOT_A_COMMAND: Final = {
    "stop": "press Ctrl-C where the run goes on; `nel eval resume` continues it",
    "clean": "a run is its directory under eval_results, and deleting that is all; `nel sandbox clean` ends containers",
    "config": "`nel init` writes a file, `nel eval run FILE -O key=value` changes one value of it",
}
"""What other tools have a command for, and how it is done here."""
_NO_COMMAND: Final = "No such command "
_SHOWN_MAX: Final = 3
_LIKE: Final = 0.75


def say_plainly(error: Any) -> None:
    """Put plain words into the message of a usage error, in place; one that has them stays as it is."""
    from nel.config.number_words import number_problem  # noqa: PLC0415 - keeps --help fast

    kinds = getattr(error.__cause__, "errors", None)
    if isinstance(error, typer.BadParameter) and kinds is not None:
        wrong = kinds(include_url=False)[0]
        words = number_problem(wrong)
        if words is not None:
            error.message = f'"{wrong["input"]}" {words}'
        return
    if error.message.startswith(_NO_COMMAND) and error.ctx is not None:
        asked = error.message.removeprefix(_NO_COMMAND).split("'")[1]
        meant = _commands_meant(asked, error.ctx.find_root())
        if asked in _NOT_A_COMMAND:
            error.message = f"No such command '{asked}': {_NOT_A_COMMAND[asked]}."
        elif meant:
            listed = " or ".join(f"`{error.ctx.find_root().info_name} {path}`" for path in meant[:_SHOWN_MAX])
            error.message = f"No such command '{asked}'. Did you mean {listed}?"


def _commands_meant(asked: str, root: Any) -> list[str]:
    """Return the paths of commands that a word may mean: known synonyms, the same last word, then a similar one."""
    if asked in _MEANT:
        return [_MEANT[asked]]
    paths = sorted(_paths(root.command), key=lambda path: (path.count(" "), path))
    same = [path for path in paths if path.split()[-1] == asked]
    words = get_close_matches(asked, {path.split()[-1] for path in paths}, cutoff=_LIKE)
    return same or [path for word in words for path in paths if path.split()[-1] == word]


def _paths(group: Any, before: str = "") -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        yield before + name
        if hasattr(command, "commands"):
            yield from _paths(command, f"{before}{name} ")
