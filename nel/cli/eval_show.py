"""The commands of `nel eval` that run or score: progress on stderr, the result on stdout, and the
exit code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nel.cli.other_program import say_other_program
from nel.cli.progress import QUIET, showing
from nel.cli.settings import Chosen
from nel.cli.streams import discard_stdout, stdout_kept
from nel.cli.terminal import plain
from nel.config.schema import RunConfig
from nel.core.texts import shorten
from nel.engine.progress import Progress
from nel.errors import EXIT_STOPPED_EARLY
from nel.runs.evaluation import evaluate, rescore
from nel.runs.result import RunResult

if TYPE_CHECKING:
    from nel.comparison.floors import Floor

_WORDS_MAX = 300
"""Characters of what an endpoint or an exception said."""
_FRAME = re.compile(r'^ *File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
"""Of a traceback."""


def show_run(
    config: RunConfig,
    *,
    resume: bool,
    as_json: bool,
    allowed: frozenset[str],
    fail_under: Sequence[str] = (),
    verbosity: int = 0,
) -> None:
    """Run, show progress on stderr and the result on stdout, and exit with the run's or the
    decision's exit code.
    """
    floors = _read_floors(fail_under)
    progress = Progress()
    with showing(progress, verbosity), stdout_kept():
        result = evaluate(config, resume=resume, progress=progress, allowed_changes=allowed)
    show_result(result, progress, as_json=as_json, floors=floors, verbosity=verbosity)


def show_rescored(run_dir: Path, chosen: Chosen, *, as_json: bool, verbosity: int = 0) -> None:
    """Score stored answers, print the result on stdout, and exit with the run's exit code."""
    progress = Progress()
    with showing(progress, verbosity), stdout_kept():
        result = rescore(
            run_dir, settings=chosen.settings, overrides=chosen.overrides, progress=progress
        )
    show_result(result, progress, as_json=as_json, verbosity=verbosity)


def show_result(
    result: RunResult,
    progress: Progress,
    *,
    as_json: bool,
    floors: Sequence[Floor] = (),
    verbosity: int = 0,
) -> None:
    """Print a run's table and what there is to know of it, and exit with its exit code or that of
    its floors.

    Where stdout takes no more, the rest goes to stderr; the exit code shows it unless the
    reader has gone.
    """
    from nel.cli.run_table import (  # noqa: PLC0415 - the first request need not wait for it
        print_result,
        remarks,
    )

    lost = 0
    try:
        print_result(result, as_json=as_json)
    except OSError as error:
        discard_stdout()
        if not isinstance(error, BrokenPipeError):
            lost = EXIT_STOPPED_EARLY
            where = f"it is in {result.report}, and nel eval resume {result.run_dir} prints it"
            progress.notes.append(f"the result could not be printed ({error.strerror}); {where}")
    notes = [*progress.notes, *_words(progress, result), *remarks(result)]
    for line in notes if verbosity > QUIET or result.exit_code or lost else ():
        typer.echo(f"nel: {plain(line)}", err=True)
    if result.exit_code:
        say_other_program()
    code = (
        _exit_code(result.run_dir, result.exit_code, floors, err=as_json)
        if floors
        else result.exit_code
    )
    raise typer.Exit(code or lost)


def _words(progress: Progress, result: RunResult) -> list[str]:
    """Return for each kind of fault what was said most often, unless the run ended by it and says
    so anyway.
    """
    most = [
        (kind, *words.most_common(1)[0], words.total())
        for kind, words in sorted(progress.faults.items())
    ]
    return [
        f"{kind}, {n:,} of {total:,} times: {shorten(_last_exception(text), _WORDS_MAX)}"
        for kind, text, n, total in most
        if text not in result.ending.reason
    ]


def _last_exception(text: str) -> str:
    """Return of a traceback the exception with the file and line where it was raised; another text
    as it is.
    """
    frames = _FRAME.findall(text)
    if not frames:
        return text
    path, line, function = frames[-1]
    return f"{text.strip().splitlines()[-1]} ({path}, line {line}, in {function})"


def _read_floors(fail_under: Sequence[str]) -> Sequence[Floor]:
    if not fail_under:
        return ()
    from nel.comparison.floors import read_floors  # noqa: PLC0415 - few runs have floors

    return read_floors(fail_under)


def _exit_code(run_dir: Path, exit_code: int, floors: Sequence[Floor], *, err: bool) -> int:
    from nel.cli.gate_show import decide_floors  # noqa: PLC0415

    return decide_floors(run_dir, exit_code, floors, err=err)
