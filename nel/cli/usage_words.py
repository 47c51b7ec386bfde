"""Says in plain words what is wrong with a command line, and what an unknown word may mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import typer

from nel import plugins
from nel.config.numbers import number_problem
from nel.errors import NelError

_MEANT: Final = {
    "plugins": "list",
    "benchmarks": "list benchmarks",
    "scorers": "list scorers",
    "judges": "list judges",
    "metrics": "list metrics",
    "evaluate": "eval run",
    "test": "eval run",
    "run_eval": "eval run",
    "start": "eval run",
    "continue": "eval resume",
    "status": "eval watch --once",
    "logs": "eval watch",
    "jobs": "view",
    "validate": "benchmark check",
    "package": "byob containerize",
    "diff": "compare",
    "ui": "view",
    "viewer": "view",
    "merge": "eval merge",
}
"""What other tools call a command, and the arguments of nel that do it."""
_NOT_A_COMMAND: Final = {
    "stop": "press Ctrl-C where the run goes on; `nel eval resume` continues it",
    "clean": (
        "a run is its directory under eval_results, and deleting that is all; `nel sandbox prune`"
        " removes containers"
    ),
    "config": "`nel init` writes a file, `nel eval run FILE -O key=value` changes one value of it",
}
"""What other tools have a command for, and how it is done here."""
_OPTIONS_MEANT: Final = {
    "--bench": ("benchmark", "benchmarks", "task", "tasks", "datasets", "eval", "eval-type", "-t"),
    "--sample": (
        "limit", "limit-samples", "max-samples", "max-examples", "num-samples", "n-samples", "num-examples", "examples",
        "samples", "filter-first-n", "filter-sample", "-L",
    ),
    "--repeats": ("epochs", "repeat", "num-repeats", "n-repeats"),
    "--num-fewshot": ("fewshot", "few-shot", "few-shot-num", "shots", "n-shots", "-f"),
    "--system-prompt": ("system", "system-message", "system-instruction"),
    "--model-id": ("model", "model-name", "-m"),
    "--model-url": ("url", "base-url", "model-base-url", "api-url", "api-base", "endpoint", "endpoint-url"),
    "--api-key-env": ("api-key", "key", "token", "api-key-name"),
    "--judge-id": ("judge", "judge-model", "grader"),
    "--judge-url": ("judge-base-url",),
    "--judge-api-key-env": ("judge-api-key",),
    "--concurrency": (
        "max-connections", "max-concurrency", "num-concurrent", "parallelism", "max-workers", "workers", "num-threads",
        "threads", "batch-size", "eval-batch-size", "parallel", "-j",
    ),
    "--max-tokens": ("max-new-tokens", "max-gen-toks", "max-output-tokens", "max-completion-tokens"),
    "--timeout": ("request-timeout", "time-limit"),
    "--requests-per-minute": ("rpm", "rate-limit"),
    "--tokens-per-minute": ("tpm",),
    "--output-dir": ("output", "output-path", "out", "out-dir", "log-dir", "work-dir", "results-dir"),
    "--cache": ("use-cache", "cache-dir"),
    "--truncated": ("on-truncated",),
    "--to": ("format",),
    "--format": ("to",),
    "--stop-when": ("early-stop",),
}  # fmt: skip
"""Options of nel, and what other tools call them."""
_NOT_AN_OPTION: Final = {
    "model-type": "the end of --model-url says it: `…/v1` for chat, `…/v1/completions` for prompts",
    "background": (
        "`nohup nel eval run … &` runs it in the background, `nel eval watch DIR` shows it from any"
        " terminal, and `nel eval resume DIR` continues it after a stop"
    ),
    **dict.fromkeys(
        ("strict", "no-strict"),
        "`nel gate` always exits with 4 for NO-GO and 5 for INCONCLUSIVE; `nel compare` decides"
        " nothing",
    ),
    **dict.fromkeys(
        ("max-drop", "-t"),
        "max_drop is a key of the policy of `nel gate`, and --margin of `nel compare` is what does"
        " not matter",
    ),
    "submit": "`nel eval submit` writes the files that run it on a scheduler",
    **dict.fromkeys(
        (
            "gen-kwargs",
            "generation-config",
            "generation-kwargs",
            "top-k",
            "presence-penalty",
            "frequency-penalty",
        ),
        "--temperature, --top-p, --max-tokens, --stop and --seed have flags of their own, and"
        " -O generation.extra.NAME=VALUE sends any other field",
    ),
    **dict.fromkeys(
        ("-M", "model-args", "model-config", "device", "trust-remote-code"),
        "the server has loaded the model, so that --model-url and --model-id name it;"
        " -O generation.extra.NAME=VALUE sends a field with each request",
    ),
    **dict.fromkeys(
        ("-T", "task-config", "task-args", "dataset-args"),
        "-O benchmarks.0.KEY=VALUE sets what the first benchmark takes (nel docs configuration)",
    ),
    **dict.fromkeys(
        ("-c", "config"),
        "a configuration is the argument of `nel eval run FILE.yaml`; --cache DIR caches answers",
    ),
    **dict.fromkeys(
        ("max-retries", "retries", "retry-on-error"),
        "-O endpoint.attempts_max=N is how often one request is tried in all",
    ),
    **dict.fromkeys(("-s", "log-samples"), "results.jsonl always has a line for every sample"),
    **dict.fromkeys(
        ("log-level", "verbosity", "debug"),
        "-v shows what happens, and run.log in the run's directory keeps it",
    ),
    "csv": "`nel export DIR --to csv` writes a finished run as a table",
    "watch": "`nel eval watch DIR` shows a run from any terminal",
    "apply-chat-template": "the server applies it: requests are chat messages by default",
    "include-path": "--bench ./FILE.py names a benchmark by its file",
    "no-cache": "answers are cached only where --cache DIR says so",
    "override": "-O KEY=VALUE sets any key of the configuration",
}
"""What other tools have an option for, and how it is done here."""
_KEY_IS_NAMED: Final = "It takes the name of the variable that holds the key, never the key."
_NO_COMMAND: Final = "No such command "
_COMMANDS_MAX: Final = 3
"""That one message proposes."""
_OF_A_COMMAND: Final = ("-q", "--quiet", "-v", "--verbose")
"""Options that other tools take before the command."""
_SIMILARITY_MIN: Final = 0.75
"""Of a word to a command's name, as difflib has it."""


def say_plainly(error: Any) -> None:
    """Put plain words into the message of a usage error, in place, where it lacks them."""
    list_problems = getattr(error.__cause__, "errors", None)  # of a ValidationError of pydantic
    if isinstance(error, typer.BadParameter) and list_problems is not None:
        problem = list_problems(include_url=False)[0]
        words = number_problem(problem)
        if words is not None:
            error.message = f'"{problem["input"]}" {words}'
        return
    if error.ctx is not None and getattr(error, "option_name", None):
        _say_option_meant(error)
        return
    if error.message.startswith(_NO_COMMAND) and error.ctx is not None:
        _say_command_meant(error)


def _say_command_meant(error: Any) -> None:
    # click says: No such command 'ui'.
    word = error.message.removeprefix(_NO_COMMAND).split("'")[1]
    if word in _NOT_A_COMMAND:
        error.message = f"No such command '{word}': {_NOT_A_COMMAND[word]}."
        return
    root = error.ctx.find_root()
    run = _run_meant(word, error.ctx)
    commands = [run] if run else _commands_meant(word, root)[:_COMMANDS_MAX]
    if commands:
        proposals = " or ".join(f"`{root.info_name} {command}`" for command in commands)
        error.message = f"No such command '{word}'. Did you mean {proposals}?"


def _run_meant(word: str, context: Any) -> str | None:
    """Return the command that runs a benchmark, or a file, which stands where a command is due."""
    suffix = Path(word).suffix.lower()
    if suffix in (".yaml", ".yml"):
        return f"eval run {word}"
    if suffix in (".csv", ".tsv", ".jsonl"):
        return f"byob new {word}"
    is_run = suffix == ".py"
    if context.info_name == "eval":
        is_run |= any(ref.name == word for ref in plugins.discover("benchmarks"))
    return f"eval run --bench {word}" if is_run else None


def _say_option_meant(error: Any) -> None:
    """Name the command's option that a word may mean: its other spelling, or its name elsewhere."""
    option = error.option_name
    if hasattr(error.ctx.command, "list_commands") and option in _OF_A_COMMAND:
        root = error.ctx.find_root().info_name
        error.message = (
            f"No such option: {option}. It stands after the command: `{root} eval run {option}`."
        )
        return
    is_letter = not option.startswith("--")  # its case counts: -M and -m are two options elsewhere
    word = option if is_letter else option.lstrip("-").replace("_", "-").lower()
    options = {
        name for parameter in error.ctx.command.params for name in getattr(parameter, "opts", ())
    }
    # `-sample`, or `--max_tokens` with an underscore; then what other tools call it.
    names = [f"--{word.lstrip('-')}"]
    names += [name for name, synonyms in _OPTIONS_MEANT.items() if word in synonyms]
    meant = next((name for name in names if name in options), None)
    if meant is None and word in _NOT_AN_OPTION:
        error.possibilities = None
        error.message = f"No such option: {option}: {_NOT_AN_OPTION[word]}."
    if meant is None or meant == option:
        return
    error.possibilities = None
    explanation = f" {_KEY_IS_NAMED}" if meant.endswith("key-env") else ""
    error.message = f"No such option: {option}. Did you mean {meant}?{explanation}"


def _commands_meant(word: str, root: Any) -> list[str]:
    """Return the commands that a word may mean: a synonym, else namesakes, else similar ones."""
    if word in _MEANT:
        return [_MEANT[word]]
    # "eval run" by "run"; of several with one last word, those nearest to the root first.
    by_last_word: dict[str, list[str]] = {}
    for path in sorted(_paths(root), key=lambda path: (path.count(" "), path)):
        by_last_word.setdefault(path.split()[-1], []).append(path)
    if word in by_last_word:
        return by_last_word[word]
    similar = get_close_matches(word, by_last_word, cutoff=_SIMILARITY_MIN)
    return [path for name in similar for path in by_last_word[name]]


def _paths(context: Any, prefix: str = "") -> Iterator[str]:
    """Yield the commands below a group, but for those of plugins that cannot be imported."""
    for name in sorted(context.command.list_commands(context)):
        with suppress(NelError):
            command = context.command.get_command(context, name)
            yield prefix + name
            if hasattr(command, "list_commands"):
                subcontext = type(context)(command, info_name=name, parent=context)
                yield from _paths(subcontext, f"{prefix}{name} ")
