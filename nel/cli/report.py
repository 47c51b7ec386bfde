"""`nel report`: rebuilds every artifact of a run from its run.db alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run_dir: Annotated[Path, typer.Argument(help="The directory of the run.")],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            "-f",
            help="Further report beside report.html (nel list reports); repeatable. Default: the run's.",
        ),
    ] = None,
) -> None:
    """Rebuild all artifacts and the reports of a run from its run.db."""
    from nel.engine.resume_checks import check_records  # noqa: PLC0415 - keeps --help fast
    from nel.engine.store.snapshot import FILE_NAME  # noqa: PLC0415
    from nel.errors import PluginError  # noqa: PLC0415 - keeps --help fast
    from nel.evaluation import rebuild, stored_reports  # noqa: PLC0415
    from nel.reports.writers import check_writers, write_reports  # noqa: PLC0415

    check_records(run_dir / FILE_NAME)
    names = stored_reports(run_dir) if formats is None else formats
    if formats is not None:
        check_writers(formats)
    benchmarks, page = rebuild(run_dir)
    for item in benchmarks:
        typer.echo(f"{item.directory}")
    typer.echo(f"report: {page}")
    paths, problems = write_reports(names, run_dir)
    for path in paths:
        typer.echo(f"report: {path}")
    if problems:
        raise PluginError("; ".join(problems))
