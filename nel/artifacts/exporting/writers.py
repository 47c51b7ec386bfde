"""Exports a run through the plugin group ``nel.exporters``.

An exporter is a function of the run's directory and a new, empty directory. It reads the artifacts
of the run, writes files into the other directory and returns them. The directory gets its final
name when all files are there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from nel import plugins
from nel.artifacts.exporting.contract import Exported
from nel.artifacts.plugin_output import call_plugin, new_directory
from nel.core.atomic_files import write_file
from nel.errors import PluginError, UsageError

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
    exporter, what = plugins.load_ref(ref), f'the exporter "{name}" of {ref.provider}'
    _check_output(run_dir, output)
    if not callable(exporter):
        raise PluginError(f"{what} is a {type(exporter).__name__}, not a function")
    with new_directory(output, shared=shared) as work:
        exported = _check_exported(call_plugin(what, exporter, run_dir, work), work, what)
        notes = work / NOTES_FILE
        write_file(notes, [f"{note}\n".encode() for note in exported.notes])
        for path in work.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
    files = [output / Path(path).relative_to(work) for path in (*exported.files, notes)]
    return Exported(files=files, notes=exported.notes)


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


def _check_exported(exported: object, work: Path, what: str) -> Exported:
    if not isinstance(exported, Exported):
        raise PluginError(f"{what} returned {exported!r}, not a nel.artifacts.exporting.Exported")
    foreign_values = [
        path
        for path in exported.files
        if work not in Path(path).parents or not Path(path).is_file()
    ]
    if foreign_values or not exported.files:
        returned = foreign_values[0] if foreign_values else "no file"
        raise PluginError(
            f"{what} returned {returned}; it must return the files that it wrote into its directory"
        )
    return exported
