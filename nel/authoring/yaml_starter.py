"""Writes the text of a first benchmark in YAML, with further settings as comments. No I/O."""

from __future__ import annotations

from typing import Final

_TEXT: Final = """\
# A benchmark without Python: rows, a prompt, and checks of each response; nel docs write-a-benchmark-in-yaml.
# `nel plugin check {path}` tries it without an endpoint.
prompt: '{{question}}'            # {{field}} is a field of the row
# system_prompt: Answer briefly.
# dataset: my_rows.jsonl        # instead of rows; also csv, parquet or hf://
rows:
  - question: What is the capital of France? Answer with its name alone.
    answer: Paris
  - question: What is 6 x 7?
    checks:                     # instead of the checks of all rows
      - numeric: 42
        # tolerance: 0.5
  - question: Give the population of Rome as JSON with the key "n".
    checks:
      - json_schema: {{type: object, required: [n], properties: {{n: {{type: integer}}}}}}
checks:                         # of every row that has none of its own; a row is right where all of its checks pass
  - contains: {{field: answer}}   # what is expected stands in the row
  - not_contains: as an AI
  # - equals: Paris
  # - regex: '\\bParis\\b'
  # - judge: The answer is polite.   # asks the run's judge (--judge-url, --judge-id)
"""


def yaml_starter(path: str) -> str:
    """Return a commented benchmark.

    Args:
        path: Of the file, for the command in it.
    """
    return _TEXT.format(path=path)
