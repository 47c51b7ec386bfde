"""Exports a run through the plugin group ``nel.exporters``.

An exporter is a function of the run's directory and a new, empty directory. It reads the artifacts
of the run, writes files into the other directory and returns them. The directory gets its final
name when all files are there.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from nel import plugins
from nel.artifacts.exporting.contract import Exported
from nel.core.atomic_files import write_file
from nel.core.paths import make_work_directory, share
from nel.errors import NelError, OutputError, PluginError, UsageError

NOTES_FILE: Final = "export-notes.txt"
"""What the format does not say, one note a line."""


def export_run(name: str, run_dir: Path, output: Path, *, shared: bool = False) -> Exported:
    """Export a run and return the files in their final place; a file of notes is the last.

    Args:
        name: Of the installed exporter, ``name`` or ``package:name``.
        run_dir: The run's directory, with its artifacts; nothing is written there.
        output: A directory that does not exist, or is empty; not in the run's.
        shared: Let everyone on this machine read it.

    Raises:
        PluginError: There is no such exporter, it raised, or it did not return files below its
            directory.
        UsageError: The output directory is not empty, or lies in the run's.
        OutputError: The run cannot be exported, or the output directory cannot be made.
        NelError: Other errors of nel that an exporter raises.
    """
    ref = plugins.find("exporters", name)
    exporter = plugins.load_ref(ref)
    _check_output(run_dir, output)
    try:
        work = make_work_directory(output)
    except OSError as error:
        raise OutputError(
            f"cannot make a directory for {output}: {error.strerror or error}; choose another"
            " directory with -o"
        ) from error
    what = f'the exporter "{name}" of {ref.provider}'
    try:
        exported = _checked(_called(exporter, run_dir, work, what), work, what)
        return _moved(exported, work, output, shared=shared)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check_output(run_dir: Path, output: Path) -> None:
    if not run_dir.is_dir():
        raise UsageError(f"{run_dir} is not a directory; give the directory of a run")
    path, run = output.resolve(), run_dir.resolve()
    if path == run or run in path.parents:
        raise UsageError(
            f"{output} lies in the run's directory, which is never written; choose another with -o"
        )
    is_empty = output.is_dir() and not output.is_symlink() and not any(output.iterdir())
    if os.path.lexists(output) and not is_empty:
        raise UsageError(
            f"{output} exists and is not an empty directory; choose another with -o, or remove it"
        )


def _called(exporter: object, run_dir: Path, work: Path, what: str) -> object:
    if not callable(exporter):
        raise PluginError(f"{what} is a {type(exporter).__name__}, not a function")
    try:
        return exporter(run_dir, work)
    except NelError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"{what} failed: {type(error).__name__}: {error}; nothing was written"
        ) from error


def _checked(exported: object, work: Path, what: str) -> Exported:
    if not isinstance(exported, Exported):
        raise PluginError(f"{what} returned {exported!r}, not a nel.artifacts.exporting.Exported")
    wrong = [
        path
        for path in exported.files
        if work not in Path(path).parents or not Path(path).is_file()
    ]
    if wrong or not exported.files:
        named = wrong[0] if wrong else "no file"
        raise PluginError(
            f"{what} returned {named}; it must return the files that it wrote into its directory"
        )
    return exported


def _moved(exported: Exported, work: Path, output: Path, *, shared: bool) -> Exported:
    notes = work / NOTES_FILE
    write_file(notes, [f"{note}\n".encode() for note in exported.notes])
    try:
        for path in work.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        if shared:
            share(work)
        work.rename(output)
    except OSError as error:
        raise OutputError(
            f"cannot write {output}: {error.strerror or error}; choose another with -o"
        ) from error
    files = [output / Path(path).relative_to(work) for path in (*exported.files, notes)]
    return Exported(files=files, notes=exported.notes)
