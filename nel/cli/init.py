"""`nel init`: a commented configuration from three answers, of flags or else of questions."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from nel import plugins
from nel.authoring.registry import is_new_file
from nel.authoring.yaml_starter import yaml_starter
from nel.cli.completion import names_of
from nel.config.starter import starter_text
from nel.core.paths import as_argument
from nel.errors import ConfigError, OutputError

_URL = "http://127.0.0.1:8000/v1"
_BENCHMARK = "gsm8k"


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("nel.yaml"),
    model_url: Annotated[str | None, typer.Option(help="Base URL of the endpoint.")] = None,
    model_id: Annotated[str | None, typer.Option(help="The model's name at the endpoint.")] = None,
    bench: Annotated[
        str | None,
        typer.Option(
            help="A benchmark (nel list benchmarks).", autocompletion=names_of("benchmarks")
        ),
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Name of the variable that holds the key.")
    ] = None,
) -> None:
    """Write a commented configuration from three answers: the endpoint, the model, the benchmark.

    With --model-url, --model-id and --bench nothing is asked. A benchmark that is named FILE.yaml
    is written too, with rows and checks to replace, where there is no such file.
    """
    if path.exists():
        raise OutputError(f"{path} exists and is left as it is; name another file: nel init FILE")
    url = _ask("Base URL of the endpoint", _URL, model_url)
    model = _ask("Name of the model there", None, model_id)
    benchmark = _ask(
        "Benchmark (nel list benchmarks shows them; FILE.yaml begins your own)",
        _BENCHMARK,
        bench,
    )
    # Before anything is written; a path or an address is looked at when it is run.
    if plugins.is_name(benchmark):
        plugins.find("benchmarks", benchmark)
    text = starter_text(
        path=as_argument(path), url=url, model=model, benchmark=benchmark, key_env=api_key_env
    )
    if is_new_file(benchmark):
        benchmark_path = Path(benchmark)
        if benchmark_path.resolve() == path.resolve():
            raise OutputError(
                f"{path} is the configuration; name another file for the benchmark, such as"
                " questions.yaml"
            )
        _write(benchmark_path, yaml_starter(quote(benchmark)))
        typer.echo(f"wrote {benchmark_path}, a benchmark: put your rows and checks into it")
    _write(path, text)
    typer.echo(f"wrote {path}\n\nsee what it does:  nel eval run {as_argument(path)} --dry-run")
    typer.echo(f"run it:            nel eval run {as_argument(path)}")


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def _ask(question: str, proposed: str | None, flag: str | None) -> str:
    if flag is not None:
        return flag
    try:
        return str(typer.prompt(question, default=proposed)).strip()
    except typer.Abort as error:
        raise ConfigError("no answer; give --model-url, --model-id and --bench") from error
