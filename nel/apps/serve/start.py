"""Starts `nel serve`: reads the samples, checks the sandbox, and serves until a signal ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nel.apps.http_server import LOOPBACK, check_reach, running, stop_on_signals
from nel.apps.serve.app import Service, serving_app
from nel.apps.serve.judging import open_judges
from nel.apps.serve.samples import ServedSamples, read_samples
from nel.apps.serve.scoring import AnswerScorer
from nel.config.load import read_yaml
from nel.config.redaction import read_secret
from nel.config.settings import Assignment
from nel.core.atomic_files import write_file
from nel.core.event_loop import run
from nel.core.strict_json import dumps_line
from nel.core.texts import count_text
from nel.errors import PreflightError, SandboxError, UsageError
from nel.sandbox import Sandbox
from nel.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of `nel serve`."""

    benchmark: str
    dataset: str | None = None
    samples_max: int | None = None
    host: str = "127.0.0.1"
    port: int = 9090
    token_env: str | None = None
    export_dir: Path | None = None
    timeout_seconds: float = 60.0
    scoring: JsonObject = field(default_factory=dict)
    """``judge``, ``model_roles`` and ``sandbox`` of a run's configuration."""
    flags: Sequence[Assignment] = ()
    """Values of flags, which win over `scoring`."""
    overrides: Sequence[str] = ()
    """``key.path=value``, which win over both."""
    judge_timeout_seconds: float = 300.0


def scoring_in(path: Path | None) -> JsonObject:
    """Return the sections of a run's configuration on judges and the sandbox; {} without a file.

    Raises:
        ConfigError: The file cannot be read.
    """
    config = {} if path is None else read_yaml(path)
    return {key: config[key] for key in ("judge", "model_roles", "sandbox") if config.get(key)}


def start(options: ServeOptions, *, say: Callable[[str], None]) -> None:
    """Serve a benchmark until SIGINT or SIGTERM.

    Raises:
        UsageError: The benchmark cannot be served, the port is taken, or there is no token for an
            address other than loopback.
        PreflightError: Programs cannot be run.
    """
    check_reach(options.host, options.token_env)
    token = read_secret(options.token_env)
    served = read_samples(
        options.benchmark,
        dataset=options.dataset,
        samples_max=options.samples_max,
        scoring=options.scoring,
        flags=options.flags,
        overrides=options.overrides,
    )
    if served.n_bad_rows:
        say(
            f"{count_text(served.n_bad_rows, 'row')} without a sample, left out; the first:"
            f" {served.first_fault}"
        )
    if options.export_dir is not None:
        say(f"exported {_export(served, options.export_dir)}")
    sandbox = Sandbox(served.sandbox)
    scorer = AnswerScorer(served, sandbox=sandbox, timeout_seconds=options.timeout_seconds)
    try:
        _check_sandbox(served, sandbox)
        hosts = LOOPBACK if options.host in LOOPBACK else frozenset()
        run(_serve(Service(served=served, scorer=scorer, hosts=hosts, token=token), options, say))
    finally:
        scorer.close()
        sandbox.close()


async def _serve(service: Service, options: ServeOptions, say: Callable[[str], None]) -> None:
    stop = stop_on_signals()
    judges = open_judges(
        service.served.plan,
        timeout_seconds=options.judge_timeout_seconds,
        plugin_timeout_seconds=options.timeout_seconds,
        say=say,
    )
    async with (
        judges as service.scorer.judges,
        service.scorer.running(),
        running(serving_app(service), host=options.host, port=options.port) as base_url,
    ):
        n, name = len(service.served.samples), service.served.plan.benchmark.name
        say(
            f"serving {name}, {count_text(n, 'sample')}, on {base_url.removesuffix('/v1')}:"
            " /seed_session /verify /health"
        )
        await stop.wait()


def _check_sandbox(served: ServedSamples, sandbox: Sandbox) -> None:
    languages = served.plan.benchmark.languages
    if not languages:
        return
    try:
        sandbox.check(sorted(languages))
    except SandboxError as error:
        raise PreflightError(f"programs cannot be run: {error}", endpoint_kind=None) from error


def _export(served: ServedSamples, folder: Path) -> Path:
    path = folder / f"{served.plan.benchmark.name}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_file(path, (dumps_line(row) for row in served.export_rows()))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
    return path
