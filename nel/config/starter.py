"""Writes the text of a first configuration, with what else may be set as comments. Does no I/O."""

from __future__ import annotations

from typing import Final

from nel.config.load import build_config
from nel.core.strict_json import dumps

_TEXT: Final = """\
# `nel eval run {path} --dry-run` shows what this does and sends nothing; `nel eval run {path}` does it.
# Every key: nel docs configuration. A flag of the command wins over a key here.
endpoint:
  url: {url}
  model: {model}
{key}
  # stream: true                  # measures the time to the first token too
benchmarks:
  - name: {benchmark}
    # sample: 20                  # 20 problems drawn from all of them, to try it
    # repeats: 4                  # answers to each problem
    # dataset: my_rows.jsonl      # other rows of the same fields
    # truncated: score            # score answers that were cut off as they stand; they count 0 otherwise
# generation:                     # what is not set is not sent, and the endpoint decides it
#   temperature: 0
#   max_tokens: 4096
engine:
  concurrency: 32                 # requests in flight; fewer where the endpoint asks for it
# budget:
#   max_requests: 2000            # the run stops before it sends more
output:
  dir: eval_results
"""
_KEY: Final = (
    "  api_key_env: {name}            # the name of the variable that holds the key, never the key"
)
_NO_KEY: Final = (
    "  # api_key_env: MY_KEY           # the name of the variable that holds the key, never the key"
)


def starter_text(*, path: str, url: str, model: str, benchmark: str, key_env: str | None) -> str:
    """Return a commented configuration in YAML.

    Args:
        path: Of the file, for the commands in it.
        url: Of the endpoint.
        model: Its name there.
        benchmark: The name of a benchmark, or the path of its file.
        key_env: The variable that holds the key; None where none is needed.

    Raises:
        ConfigError: One of them is wrong, as it would be in a run.
    """
    endpoint = {"url": url, "model": model} | ({} if key_env is None else {"api_key_env": key_env})
    build_config({"endpoint": endpoint, "benchmarks": [{"name": benchmark}]}, where=path)
    return _TEXT.format(
        path=path,
        url=_scalar(url),
        model=_scalar(model),
        benchmark=_scalar(benchmark),
        key=_NO_KEY if key_env is None else _KEY.format(name=key_env),
    )


def _scalar(text: str) -> str:
    """Return a text as YAML, in which ``${`` does not name a variable."""
    return dumps(text.replace("${", "$${"))
