"""``nel endpoint``: serve a demo model, a demo judge, recorded outputs or a small real model, to rehearse against.

Arguments in, one line of text out. Trap: a key is given by the name of its environment variable; as a flag it would
show in the list of processes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Coroutine

app = typer.Typer(
    help="Serve an OpenAI-compatible endpoint to rehearse against.", no_args_is_help=True, rich_markup_mode=None
)

Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")]
ModelId = Annotated[str, typer.Option(help="The model name that is advertised and accepted.")]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option(help="Environment variable with the key that clients must send; without it, none is asked."),
]


@app.command()
def demo(
    host: Host = "127.0.0.1",
    port: Port = 8089,
    model_id: ModelId = "demo",
    api_key_env: ApiKeyEnv = None,
    accuracy: Annotated[float, typer.Option(help="Chance that a problem is answered right.")] = 0.8,
    seed: Annotated[int, typer.Option(help="Seed of everything the model does.")] = 0,
    latency_ms: Annotated[float, typer.Option(help="Wait before each answer, give or take a quarter.")] = 0.0,
    rate_limit_rate: Annotated[float, typer.Option(help="Chance that an attempt gets a 429.")] = 0.0,
    error_rate: Annotated[float, typer.Option(help="Chance that an attempt gets a 500.")] = 0.0,
    truncation_rate: Annotated[float, typer.Option(help="Chance that an answer stops in the middle.")] = 0.0,
) -> None:
    """Serve a demo model that answers the quickstart benchmark."""
    from nel.mock_server.demo import DemoOptions, demo_app  # noqa: PLC0415 - keeps `nel --help` fast
    from nel.mock_server.serve import serve  # noqa: PLC0415 - keeps `nel --help` fast

    options = DemoOptions(
        accuracy=accuracy,
        seed=seed,
        latency_ms=latency_ms,
        rate_limit_rate=rate_limit_rate,
        error_rate=error_rate,
        truncation_rate=truncation_rate,
        api_key=_key(api_key_env),
        model=model_id,
    )
    _run(serve(demo_app(options), host, port, on_ready=_say))


@app.command()
def judge(
    host: Host = "127.0.0.1",
    port: Port = 8092,
    model_id: ModelId = "demo-judge",
    api_key_env: ApiKeyEnv = None,
    accuracy: Annotated[float, typer.Option(help="Chance that a verdict is the honest one.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of everything the judge does.")] = 0,
    latency_ms: Annotated[float, typer.Option(help="Wait before each verdict, give or take a quarter.")] = 0.0,
    rate_limit_rate: Annotated[float, typer.Option(help="Chance that an attempt gets a 429.")] = 0.0,
    error_rate: Annotated[float, typer.Option(help="Chance that an attempt gets a 500.")] = 0.0,
    garbled_rate: Annotated[float, typer.Option(help="Chance that a reply holds no verdict that can be read.")] = 0.0,
    lenient_rate: Annotated[
        float, typer.Option(help="Chance that what deserves less gets the best grade all the same.")
    ] = 0.0,
    wobble_rate: Annotated[float, typer.Option(help="Chance that asking the same again gets another verdict.")] = 0.0,
    first_seat_rate: Annotated[
        float, typer.Option(help="Chance that of a pair the answer shown first wins, whichever it is.")
    ] = 0.0,
    longer_rate: Annotated[
        float, typer.Option(help="Chance that of a pair the longer answer wins, whichever it is.")
    ] = 0.0,
) -> None:
    """Serve a demo judge that compares answers with their references, and errs as often as it is told to.

    Where there is no reference and the question is not one of the quickstart benchmark, it guesses and says so.
    """
    from nel.mock_server.judge import JudgeOptions, judge_app  # noqa: PLC0415 - keeps `nel --help` fast
    from nel.mock_server.serve import serve  # noqa: PLC0415 - keeps `nel --help` fast

    options = JudgeOptions(
        accuracy=accuracy,
        seed=seed,
        latency_ms=latency_ms,
        rate_limit_rate=rate_limit_rate,
        error_rate=error_rate,
        garbled_rate=garbled_rate,
        lenient_rate=lenient_rate,
        wobble_rate=wobble_rate,
        first_seat_rate=first_seat_rate,
        longer_rate=longer_rate,
        api_key=_key(api_key_env),
        model=model_id,
    )
    _run(serve(judge_app(options), host, port, on_ready=_say))


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A .jsonl or .jsonl.gz file of recorded outputs.")],
    question_field: Annotated[
        list[str], typer.Option(help="Field whose text occurs in the prompt; repeat it to require several.")
    ],
    output_field: Annotated[str, typer.Option(help="Field with what the model said.")],
    host: Host = "127.0.0.1",
    port: Port = 8090,
    model_id: ModelId = "replay",
    api_key_env: ApiKeyEnv = None,
    id_field: Annotated[
        str | None, typer.Option(help="Field with the sample's id, to tell equal questions apart.")
    ] = None,
    finish_reason_field: Annotated[str | None, typer.Option(help="Field with why the model stopped.")] = None,
) -> None:
    """Serve recorded outputs: each prompt gets what was recorded for its question, or an error."""
    from nel.mock_server.recordings import ReplayOptions  # noqa: PLC0415 - keeps `nel --help` fast
    from nel.mock_server.replay import replay_app  # noqa: PLC0415 - keeps `nel --help` fast
    from nel.mock_server.serve import serve  # noqa: PLC0415 - keeps `nel --help` fast

    options = ReplayOptions(
        path=file,
        question_fields=tuple(question_field),
        output_field=output_field,
        id_field=id_field,
        finish_reason_field=finish_reason_field,
    )
    _run(serve(replay_app(options, model=model_id, api_key=_key(api_key_env)), host, port, on_ready=_say))


@app.command()
def model(
    host: Host = "127.0.0.1",
    port: Port = 8091,
    model_id: ModelId = "smollm2-135m",
    api_key_env: ApiKeyEnv = None,
) -> None:
    """Serve SmolLM2-135M-Instruct, a small real model, on the CPU; needs the extra local-model."""
    from nel.mock_server.local_model import LocalModelOptions, serve_local_model  # noqa: PLC0415 - keeps `nel --help` fast

    options = LocalModelOptions(model=model_id, api_key=_key(api_key_env))
    _run(serve_local_model(options, host, port, on_ready=_say))


def _key(name: str | None) -> str | None:
    from nel.config.redaction import read_secret  # noqa: PLC0415 - keeps `nel --help` fast

    return read_secret(name)


def _say(line: str) -> None:
    typer.echo(line)


def _run(work: Coroutine[Any, Any, None]) -> None:
    from nel.core.event_loop import run  # noqa: PLC0415 - keeps `nel --help` fast

    run(work)
