"""The commands of `nel eval` that run or score: progress on stderr, result on stdout, exit code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nel.cli.other_program import say_other_program
from nel.cli.progress import QUIET, showing
from nel.cli.settings import ChosenSettings
from nel.cli.streams import discard_stdout, stdout_kept
from nel.cli.terminal import say
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
"""A frame of a traceback: its file, line and function."""


def show_run(
    config: RunConfig,
    *,
    resume: bool,
    as_json: bool,
    allowed: frozenset[str],
    fail_under: Sequence[str] = (),
    verbosity: int = 0,
) -> None:
    """Run, and exit with the exit code of the run, or of the decision by its floors."""
    floors: Sequence[Floor] = ()
    if fail_under:
        from nel.comparison.floors import read_floors  # noqa: PLC0415 - few runs have floors

        floors = read_floors(fail_under)
    progress = Progress()
    with showing(progress, verbosity), stdout_kept():
        result = evaluate(config, resume=resume, progress=progress, allowed_changes=allowed)
    show_result(result, progress, as_json=as_json, floors=floors, verbosity=verbosity)


def show_rescored(
    run_dir: Path, chosen: ChosenSettings, *, as_json: bool, verbosity: int = 0
) -> None:
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
    """Print a run's table and what there is to know of it, and exit as `show_run` does.

    Where stdout takes no more, stderr says where the result is; the exit code shows it unless the
    reader of stdout has gone.
    """
    from nel.cli.run_table import (  # noqa: PLC0415 - the first request need not wait for it
        print_result,
        remarks,
    )

    output_code = 0
    try:
        print_result(result, as_json=as_json)
    except OSError as error:
        discard_stdout()
        if not isinstance(error, BrokenPipeError):
            output_code = EXIT_STOPPED_EARLY
            where = f"it is in {result.report}, and {result.resume_command} prints it"
            progress.notes.append(f"the result could not be printed ({error.strerror}); {where}")
    if verbosity > QUIET or result.exit_code or output_code:
        say([*progress.notes, *_words(progress, result), *remarks(result)])
    if result.exit_code:
        say_other_program()
    code = result.exit_code
    if floors:
        from nel.cli.gate_show import decide_floors  # noqa: PLC0415 - as above

        code = decide_floors(result.run_dir, code, floors, err=as_json)
    raise typer.Exit(code or output_code)


def _words(progress: Progress, result: RunResult) -> list[str]:
    """Return what was said most often of each kind of fault, but not what ended the run again."""
    lines = []
    for kind, words in sorted(progress.faults.items()):
        text, n = words.most_common(1)[0]
        if text not in result.ending.reason:
            message = shorten(_last_exception(text), _WORDS_MAX)
            lines.append(f"{kind}, {n:,} of {words.total():,} times: {message}")
    return lines


def _last_exception(text: str) -> str:
    """Return the exception of a traceback and where it was raised; another text as it is."""
    frames = _FRAME.findall(text)
    if not frames:
        return text
    path, line, function = frames[-1]
    return f"{text.strip().splitlines()[-1]} ({path}, line {line}, in {function})"
