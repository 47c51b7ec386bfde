"""Writes a run as an offline run of Weights & Biases, which ``wandb sync`` sends where you want it.

Needs wandb. Nothing is sent, and neither the machine, the command line, the terminal's text nor the
code is recorded.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import RunToExport, open_run
from nel.artifacts.exporting.table import METRIC_COLUMNS, SAMPLE_COLUMNS, metric_rows, sample_rows
from nel.core.paths import final_directory
from nel.errors import OutputError, PluginError
from nel_tracking.tracked import files_of, numbers_of, settings_of

ROWS_MAX: Final = 200_000
"""Of a table; W&B cuts longer ones."""
_STAGING: Final = "staging"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")


def export_wandb(run_dir: Path, output: Path) -> Exported:
    """An offline run of Weights & Biases, with metrics, tables and artifacts, for wandb sync.

    Raises:
        PluginError: wandb is not installed.
        OutputError: The run is still written, its artifacts are damaged, or the directory is in
            use.
    """
    run = open_run(run_dir)
    wandb = _library()
    notes = [
        *run.notes,
        (
            "A metric without a value is left out; counts of what has no score are numbers of their"
            " own."
        ),
    ]
    with _staging_variables(output) as environment, _environment(environment):
        tracked = wandb.init(
            project="nel",
            name=run.run_id,
            id=sha256(run.run_id.encode("utf-8", "replace")).hexdigest()[:8],
            dir=str(output),
            mode="offline",
            config={files.title: settings_of(files) for files in run.benchmarks},
            notes="\n".join(run.notes),
            settings=_settings(wandb),
        )
        try:
            notes += _log(wandb, tracked, run)
        finally:
            tracked.finish()
    for logs in (output / "wandb").glob("*/logs"):
        shutil.rmtree(logs, ignore_errors=True)
    for path in list(output.rglob("*")):
        if path.is_symlink():  # absolute, to places that go
            path.unlink()
    (result,) = (output / "wandb").glob("offline-run-*/*.wandb")
    notes.append(
        f"Send it with: wandb sync {final_directory(output) / result.parent.relative_to(output)}"
    )
    notes.append(
        "Artifacts are read from the staging directory beside it: do not move the directory before"
        " that."
    )
    return Exported(files=(result,), notes=notes)


def _library() -> Any:
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    try:
        import wandb  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise PluginError(f"--to wandb needs wandb ({error}); pip install wandb") from error
    return wandb


def _settings(wandb: Any) -> Any:
    return wandb.Settings(
        console="off",
        disable_code=True,
        disable_git=True,
        disable_job_creation=True,
        host="nel",
        quiet=True,
        save_code=False,
        silent=True,
        x_disable_machine_info=True,
        x_disable_meta=True,
        x_disable_stats=True,
        x_save_requirements=False,
    )


def _log(wandb: Any, tracked: Any, run: RunToExport) -> Iterator[str]:
    """Log numbers, tables and files; yield what could not be."""
    wandb.Table.MAX_ROWS = wandb.Table.MAX_ARTIFACT_ROWS = ROWS_MAX
    for files in run.benchmarks:
        for name, value in numbers_of(files).items():
            tracked.summary[f"{files.title}/{name}"] = value
        single_run = RunToExport(run_dir=run.run_dir, run_id=run.run_id, benchmarks=(files,))
        rows = {
            "metrics": (METRIC_COLUMNS, metric_rows(single_run)),
            "samples": (SAMPLE_COLUMNS, sample_rows(single_run)),
        }
        if files.metrics["accounting"]["n_total"] > ROWS_MAX:
            yield (
                f"{files.title}: there is no table of more than {ROWS_MAX:,} results; results.jsonl"
                " is an artifact."
            )
            del rows["samples"]
        for name, (columns, table_rows) in rows.items():
            table = wandb.Table(
                columns=list(columns),
                data=[list(row.values()) for row in table_rows],
                allow_mixed_types=True,
            )
            tracked.log({f"{files.title}/{name}": table})
        artifact = wandb.Artifact(
            _UNSAFE.sub("-", f"{files.title}-{run.run_id}")[:120], type="evaluation"
        )
        for path in files_of(files):
            artifact.add_file(str(path), name=path.name)
        tracked.log_artifact(artifact)


@contextmanager
def _staging_variables(output: Path) -> Iterator[dict[str, str]]:
    """Yield variables that make W&B stage artifacts where they will stand, and move them there at
    the end.

    The run's file names the staged files by their absolute paths, and the exported directory gets
    its name last.
    """
    final = final_directory(output)
    directory = final / _STAGING
    was_there = final.is_dir()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot make {directory}: {error.strerror or error}; choose another directory with -o"
        ) from error
    scratch = output / ".scratch"
    folders = {
        "CACHE": scratch / "cache",
        "CONFIG": scratch / "config",
        "ARTIFACT": scratch / "artifacts",
        "DATA": directory,
    }
    try:
        yield {f"WANDB_{name}_DIR": str(value.absolute()) for name, value in folders.items()}
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        if directory != output / _STAGING:
            directory.rename(output / _STAGING)
            if not was_there:
                final.rmdir()


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    own_values = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in own_values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
