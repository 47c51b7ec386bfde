"""`nel eval reproduce`: run a finished run's configuration again, and compare the two runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nel.cli.compare import FLIPS_MAX, Margin
from nel.cli.compare_show import show_comparison
from nel.cli.eval_show import show_result
from nel.cli.options import ComparisonAsJson, RunDir
from nel.cli.progress import showing
from nel.cli.settings import chosen_settings, taking_settings
from nel.cli.streams import stdout_kept
from nel.comparison.compare import check_before_asking
from nel.comparison.measures import Settings
from nel.comparison.reading import read_sides
from nel.engine.progress import Progress
from nel.errors import UsageError
from nel.runs.evaluation import evaluate, stored_config
from nel.runs.reproduction import refuse_changed

if TYPE_CHECKING:
    from nel.config.schema import RunConfig

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=taking_settings("--output-dir", "--concurrency", "--timeout"))
def reproduce(
    ctx: typer.Context,
    run_dir: RunDir,
    margin: Margin = 0.0,
    as_json: ComparisonAsJson = False,
) -> None:
    """Start the same run again beside the old one, without its response cache, and compare the two
    sample by sample.

    Exit codes: 0 both are there and compared, whatever the verdict; those of nel eval run where the
    new run did not end well; 2 the two cannot be compared.
    """
    choice = chosen_settings(ctx)
    config = stored_config(run_dir, settings=choice.settings, overrides=choice.overrides)
    if config.shard is not None:
        raise UsageError(
            f"{run_dir} is shard {config.shard} of a run, which is compared with nothing; reproduce"
            " the run"
        )
    # All that would refuse the comparison later is checked before requests are paid for.
    before = read_sides([str(run_dir)])[0]
    check_before_asking(before, margin)
    config = _beside(config, run_dir)
    progress = Progress()
    with showing(progress), stdout_kept():
        refuse_changed(config, before)
        result = evaluate(config, progress=progress)
    if result.exit_code:
        show_result(result, progress, as_json=as_json)
    for note in progress.notes:
        typer.echo(f"nel: {note}", err=True)
    typer.echo(f"reproduced: {result.run_dir}", err=as_json)
    show_comparison(
        [f"before={run_dir}", f"again={result.run_dir}"],
        Settings(margin=margin),
        flips=FLIPS_MAX,
        as_json=as_json,
    )


def _beside(config: RunConfig, run_dir: Path) -> RunConfig:
    """Return a stored configuration as one of a new run that asks the endpoint about everything."""
    home = config.output.dir
    if Path(home) == run_dir:
        home = str(run_dir.resolve().parent)
    output = config.output.model_copy(update={"dir": home, "run_id": None})
    cache = config.cache.model_copy(update={"dir": None})
    return config.model_copy(update={"output": output, "cache": cache})
