"""`nel scorer`: commands about scorers, apart from a run."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from nel.cli.options import ResultAsJson, RunDir
from nel.cli.scorer_show import show_audit
from nel.errors import ConfigError
from nel.runs.answer_reading import ReaderRequest

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Audit how scorers read answers.",
)

ReaderUrl = Annotated[
    str | None,
    typer.Option("--reader", help="Base URL of an endpoint that reads what no rule could read."),
]
ReaderId = Annotated[str | None, typer.Option("--reader-id", help="The model there.")]
ReaderKey = Annotated[
    str | None,
    typer.Option("--reader-api-key-env", help="The environment variable that holds its key."),
]
ReaderForm = Annotated[
    str, typer.Option("--reader-form", help="How it is asked: a plugin of the group nel.readers.")
]
_FORM: Final = "extract"
Override = Annotated[
    list[str] | None,
    typer.Option("-O", "--override", help="key.path=value of the reader's run; repeatable."),
]


@app.callback()
def _root() -> None:
    pass


@app.command(name="audit")
def audit(
    run_dir: RunDir,
    reader: ReaderUrl = None,
    reader_id: ReaderId = None,
    reader_key: ReaderKey = None,
    reader_form: ReaderForm = _FORM,
    override: Override = None,
    as_json: ResultAsJson = False,
) -> None:
    """Read the stored answers of a run in every way that applies, and show what the score owes to
    the way.

    Writes extraction_audit.json beside metrics.json, which gets the band; from then on both follow
    the run's answers. With --reader a model reads the answers in which the run's scorer found none.
    Its readings are counted apart: they change no score and no band. Exit codes: 0 done; 2 wrong
    usage; 3 the reader did not answer all; 75 stopped early.
    """
    if reader is None and (reader_id or reader_key or override or reader_form != _FORM):
        raise ConfigError(
            "--reader-id, --reader-api-key-env, --reader-form and -O are about a reader; give its"
            " URL: --reader URL"
        )
    request = None
    if reader is not None:
        if reader_id is None:
            raise ConfigError(
                "--reader names an endpoint; give the model there, too: --reader-id NAME"
            )
        request = ReaderRequest(
            url=reader,
            model=reader_id,
            api_key_env=reader_key,
            form=reader_form,
            overrides=override or (),
        )
    show_audit(run_dir, request, as_json=as_json)
