"""Writes the reports of a run through the plugin group ``nel.reports``.

A writer is a function of the run's directory. It reads the artifact files there, writes one file
beside them and returns its path. nel's own are ``html`` (report.html), ``markdown`` (summary.md),
``csv``, ``json``, ``latex`` (summary.tex) and ``junit`` (summary.junit.xml).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from nel import plugins
from nel.errors import NelError, PluginError

HTML = "html"
"""The report that every run has."""


def check_writers(names: Iterable[str]) -> None:
    """Import the report writers of these names.

    Raises:
        PluginError: One is not installed or fails to import.
    """
    for name in names:
        plugins.load("reports", name)


def write_report(name: str, run_dir: Path) -> Path:
    """Write one report of a run and return its path.

    Args:
        name: Of the installed writer, ``name`` or ``package:name``.
        run_dir: The run's directory, with its artifacts.

    Raises:
        PluginError: There is no such writer, it raised, or the path that it returned does not
            exist.
        NelError: Errors of nel that a writer raises pass, such as `OutputError` for a damaged
            artifact.
    """
    ref = plugins.find("reports", name)
    writer = plugins.load_ref(ref)
    what = f'the report "{name}" of {ref.provider}'
    try:
        report_path: object = writer(run_dir)
    except NelError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"{what} failed: {type(error).__name__}: {error}; the other files of {run_dir} are"
            " complete"
        ) from error
    if not isinstance(report_path, str | os.PathLike) or not Path(report_path).exists():
        raise PluginError(
            f"{what} returned {report_path!r}, which is not the path of a file; it must return one it"
            " wrote"
        )
    return Path(report_path)


def write_reports(names: Iterable[str], run_dir: Path) -> tuple[list[Path], list[str]]:
    """Write several reports; return the paths written and the errors of the others."""
    paths: list[Path] = []
    problems: list[str] = []
    for name in dict.fromkeys(names):
        try:
            paths.append(write_report(name, run_dir))
        except PluginError as error:
            problems.append(str(error))
    return paths, problems
