"""`nel eval reproduce`: starts a finished run again, with the same configuration, and compares the
two.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nel.cli.compare import Margin
from nel.cli.settings import chosen_settings, taking_settings
from nel.errors import UsageError

if TYPE_CHECKING:
    from nel.config.schema import RunConfig

_FLIPS_MAX = 1000


app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=taking_settings("--output-dir", "--concurrency", "--timeout"))
def reproduce(
    ctx: typer.Context,
    run_dir: Annotated[Path, typer.Argument(help="The directory of a finished run.")],
    margin: Margin = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Start the same run again beside the old one, without its response cache, and compare the two
    sample by sample.

    Exit codes: 0 both are there and compared, whatever the verdict; those of nel eval run where the
    new run did not end well; 2 the two cannot be compared.
    """
    from nel.cli.compare_show import show_comparison  # noqa: PLC0415 - keeps --help fast
    from nel.cli.eval_show import show_result  # noqa: PLC0415
    from nel.cli.progress import showing  # noqa: PLC0415
    from nel.cli.streams import stdout_kept  # noqa: PLC0415
    from nel.comparison.compare import check_before_asking  # noqa: PLC0415
    from nel.comparison.measures import Settings  # noqa: PLC0415
    from nel.comparison.reading import read_sides  # noqa: PLC0415
    from nel.engine.progress import Progress  # noqa: PLC0415
    from nel.runs.evaluation import evaluate, stored_config  # noqa: PLC0415
    from nel.runs.reproduction import refuse_changed  # noqa: PLC0415

    chosen = chosen_settings(ctx)
    stored = stored_config(run_dir, settings=chosen.settings, overrides=chosen.overrides)
    if stored.shard is not None:
        raise UsageError(
            f"{run_dir} is shard {stored.shard} of a run, which is compared with nothing; reproduce"
            " the run"
        )
    before = read_sides([str(run_dir)])[0]
    check_before_asking(before, margin)
    again = _beside(stored, run_dir)
    progress = Progress()
    with showing(progress), stdout_kept():
        refuse_changed(again, before)
        result = evaluate(again, progress=progress)
    if result.exit_code:
        show_result(result, progress, as_json=as_json)
    for note in progress.notes:
        typer.echo(f"nel: {note}", err=True)
    typer.echo(f"reproduced: {result.run_dir}", err=as_json)
    show_comparison(
        [f"before={run_dir}", f"again={result.run_dir}"],
        Settings(margin=margin),
        flips=_FLIPS_MAX,
        as_json=as_json,
    )


def _beside(stored: RunConfig, run_dir: Path) -> RunConfig:
    """Return a stored configuration as one of a new run that asks the endpoint about everything."""
    home = (
        stored.output.dir if Path(stored.output.dir) != run_dir else str(run_dir.resolve().parent)
    )
    output = stored.output.model_copy(update={"dir": home, "run_id": None})
    cache = stored.cache.model_copy(update={"dir": None})
    return stored.model_copy(update={"output": output, "cache": cache})
