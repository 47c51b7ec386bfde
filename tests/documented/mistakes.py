"""Mistakes that people make, with what nel prints and which command that leads to: docs/reference/mistakes.md.

In commands, URL is the base URL of an endpoint that serves the model m-1, ROOT its address without `/v1`, and KEYED one
that wants a key; ID is the first sample of the run runs/one; the variable RIGHT holds that key and WRONG another.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROWS: Final = "eval run --bench gsm8k --dataset rows.jsonl"
HERE: Final = "--model-url URL --model-id m-1"
GOOD: Final = f"{ROWS} {HERE}"
SHOWN: Final = "THE COMMAND SHOWN"
"""Stands for the last command that was printed."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A command that is wrong, a text that is printed, and the command that this leads to."""

    what: str
    wrong: str
    says: str
    right: str
    code: int = 2
    """With which the wrong command ends."""
    right_code: int = 0
    is_asked: bool = False
    """Whether the endpoint is asked before the mistake can be seen."""
    edit: tuple[str, str, str] | None = None
    """A correction of a file first: its name, a text and what takes its place."""


_ENDPOINT: Final = (
    Mistake(
        "URL without a scheme",
        f"{ROWS} --model-url 127.0.0.1:8000/v1 --model-id m-1",
        "give one like http://127.0.0.1:8000/v1",
        GOOD,
    ),
    Mistake("URL without /v1", f"{ROWS} --model-url ROOT --model-id m-1", "/v1 lists models; set --model-url", SHOWN),
    Mistake("wrong path", f"{ROWS} --model-url ROOT/v2 --model-id m-1", "/v1 lists models; set --model-url", SHOWN),
    Mistake(
        "https for http",
        f"{ROWS} --model-url HTTPS --model-id m-1",
        "if it is one of plain HTTP, its URL begins with http://",
        SHOWN,
    ),
    Mistake(
        "nothing listens there",
        f"{ROWS} --model-url http://127.0.0.1:9/v1 --model-id m-1 -O endpoint.attempts_max=1",
        "start the endpoint or correct --model-url",
        f"{SHOWN} --model-url URL",
        code=75,
    ),
    Mistake("misspelt model", f"{ROWS} --model-url URL --model-id m1", 'did you mean "m-1"?', SHOWN),
    Mistake(
        "no key where one is wanted",
        f"{ROWS} --model-url KEYED --model-id m-1",
        "it wants a key; name the variable that holds it with --api-key-env",
        SHOWN,
    ),
    Mistake(
        "refused key",
        f"{ROWS} --model-url KEYED --model-id m-1 --api-key-env WRONG",
        "the key in WRONG was refused",
        f"{SHOWN} --api-key-env RIGHT",
    ),
    Mistake(
        "key itself in place of its variable",
        f"{GOOD} --api-key-env sk-12345678",
        "give the name, not the key itself",
        f"{GOOD} --api-key-env RIGHT",
    ),
    Mistake(
        "variable that is not set",
        f"{GOOD} --api-key-env UNSET",
        "UNSET, named to hold the key, is not set; export it first",
        f"{GOOD} --api-key-env RIGHT",
    ),
    Mistake("no URL", f"{ROWS} --model-id m-1", "give --model-url", GOOD),
    Mistake("no model", f"{ROWS} --model-url URL", "give --model-id", GOOD),
    Mistake("misspelt protocol", f"{GOOD} --protocol chatt", 'did you mean "chat"?', f"{GOOD} --protocol chat"),
    Mistake(
        "limiter without a scheme",
        f"{GOOD} --limiter 127.0.0.1:9191",
        "give one like http://127.0.0.1:9191",
        GOOD,
    ),
    Mistake(
        "misspelt model of a judge",
        f"{GOOD} --judge-url URL --judge-id m1",
        'did you mean "m-1"?',
        SHOWN,
    ),
    Mistake(
        "judge without a URL",
        f"{GOOD} --judge-id m-1",
        "--judge-url and --judge-id are given together; --judge-url is missing",
        f"{GOOD} --judge-id m-1 --judge-url URL",
    ),
)
_WHAT: Final = (
    Mistake("no benchmark", f"eval run {HERE}", "give --bench NAME", GOOD),
    Mistake(
        "misspelt benchmark",
        f"eval run --bench gms8k --dataset rows.jsonl {HERE}",
        'did you mean "gsm8k"?',
        GOOD,
    ),
    Mistake(
        "rows for a benchmark",
        f"eval run --bench rows.jsonl {HERE}",
        "--bench NAME --dataset rows.jsonl",
        GOOD,
    ),
    Mistake(
        "a data set of the hub for a benchmark",
        f"eval run --bench hf://openai/gsm8k {HERE}",
        "--bench NAME --dataset hf://openai/gsm8k",
        GOOD,
    ),
    Mistake(
        "rows for a configuration", f"eval run quiz.csv {HERE}", "nel byob new quiz.csv", "byob new quiz.csv --yes"
    ),
    Mistake(
        "benchmark for a configuration",
        f"eval run quickstart {HERE}",
        "did you mean --bench quickstart?",
        f"eval run --bench quickstart {HERE}",
    ),
    Mistake(
        "benchmark for a command",
        "eval quickstart",
        "Did you mean `nel eval run --bench quickstart`?",
        f"eval run --bench quickstart {HERE}",
    ),
    Mistake(
        "file that is not there",
        f"eval run --bench quiz.py {HERE}",
        "there is no benchmark file quiz.py",
        f"eval run --bench exam.py {HERE}",
    ),
    Mistake(
        "path of a data set", f"eval run --bench gsm8k --dataset rws.jsonl {HERE}", "rws.jsonl does not exist", GOOD
    ),
    Mistake("broken line", f"eval run --bench gsm8k --dataset broken.jsonl {HERE}", "line 2: invalid JSON", GOOD),
    Mistake(
        "column that is not there",
        f"eval run --bench gsm8k --dataset columns.jsonl {HERE}",
        '"question"',
        GOOD,
    ),
    Mistake(
        "column that a prompt names",
        f"eval run --bench column.py {HERE}",
        "qestion",
        f"eval run --bench column.py {HERE}",
        edit=("column.py", "qestion", "question"),
    ),
    Mistake(
        "scorer that crashes",
        f"eval run --bench crash.py {HERE}",
        "crash.py, line 7, in crashing",
        SHOWN,
        code=3,
        edit=("crash.py", '["text"]', ""),
    ),
    Mistake(
        "scorer that returns words",
        f"eval run --bench words.py {HERE}",
        "return a dict like {'correct': True}",
        SHOWN,
        code=3,
        edit=("words.py", '"yes"', "True"),
    ),
    Mistake(
        "benchmark file with a mistake in its syntax",
        f"eval run --bench syntax.py {HERE}",
        "syntax.py",
        f"eval run --bench syntax.py {HERE}",
        edit=("syntax.py", "def f(:", "def f():"),
    ),
    Mistake("misspelt scorer", f"{GOOD} --scorer exat", 'did you mean "exact"?', f"{GOOD} --scorer exact"),
    Mistake(
        "option that a scorer does not have",
        f"{GOOD} --scorer exact:case=1",
        'the scorer "exact" has no option "case"',
        f"{GOOD} --scorer exact",
    ),
    Mistake("misspelt metric", f"{GOOD} --metric acuracy", 'did you mean "accuracy"?', f"{GOOD} --metric accuracy"),
    Mistake(
        "metric that a floor names",
        f"{GOOD} --fail-under acuracy=0.1",
        'did you mean "accuracy"?',
        f"{GOOD} --fail-under accuracy=0.01",
        is_asked=True,
    ),
    Mistake(
        "floor without a value",
        f"{GOOD} --fail-under accuracy",
        "is not METRIC=VALUE, such as accuracy=0.8",
        f"{GOOD} --fail-under accuracy=0.8",
        right_code=4,
    ),
    Mistake("misspelt reducer", f"{GOOD} --reducer median3", 'did you mean "median"?', f"{GOOD} --reducer median"),
    Mistake("misspelt rule", f"{GOOD} --rule oficial", "use general or official", f"{GOOD} --rule official"),
    Mistake(
        "form that cannot be read",
        f"{GOOD} --answer-form brackets",
        'use "tag NAME"',
        f"{GOOD} --answer-form 'tag answer'",
    ),
    Mistake(
        "stop rule in other words",
        f"{GOOD} --stop-when soon",
        "say width<0.05",
        f"{GOOD} --stop-when 'width<0.05'",
    ),
    Mistake(
        "both kinds of a part",
        f"{GOOD} --sample 2 --max-problems 2",
        "leave one of --sample and --max-problems out",
        f"{GOOD} --sample 2",
    ),
    Mistake("shard beyond the last", f"{GOOD} --shard 3/2", "of 2 there is 1/2 to 2/2", f"{GOOD} --shard 2/2"),
    Mistake(
        "programs without a container engine",
        f"eval run --bench humaneval --dataset code.jsonl {HERE}",
        "programs cannot be run",
        "sandbox check --help",
    ),
)
_TYPED: Final = (
    Mistake("no `eval`", f"run --bench gsm8k --dataset rows.jsonl {HERE}", "Did you mean `nel eval run`?", GOOD),
    Mistake(
        "another tool's command", "status runs/one", "Did you mean `nel eval watch --once`?", "eval watch runs --once"
    ),
    Mistake("another tool's command for a file", "config", "`nel init` writes a file", "init --help"),
    Mistake("misspelt command", "exprot runs/one", "Did you mean `nel export`?", "export runs/one --to csv"),
    Mistake("misspelt option", f"{GOOD} --concurency 2", "--concurrency", f"{GOOD} --concurrency 2"),
    Mistake("lm-eval's --limit", f"{GOOD} --limit 2", "Did you mean --sample?", f"{GOOD} --sample 2"),
    Mistake("lm-eval's --tasks", f"eval run --tasks gsm8k {HERE}", "Did you mean --bench?", GOOD),
    Mistake(
        "lm-eval's --num_fewshot", f"{GOOD} --num_fewshot 1", "Did you mean --num-fewshot?", f"{GOOD} --num-fewshot 1"
    ),
    Mistake("Inspect's --model", f"{ROWS} --model-url URL --model m-1", "Did you mean --model-id?", GOOD),
    Mistake("Inspect's --epochs", f"{GOOD} --epochs 2", "Did you mean --repeats?", f"{GOOD} --repeats 2"),
    Mistake(
        "Inspect's --max-connections",
        f"{GOOD} --max-connections 4",
        "Did you mean --concurrency?",
        f"{GOOD} --concurrency 4",
    ),
    Mistake("EvalScope's --api-url", f"{ROWS} --api-url URL --model-id m-1", "Did you mean --model-url?", GOOD),
    Mistake(
        "EvalScope's --api-key",
        f"{GOOD} --api-key sk-12345678",
        "It takes the name of the variable that holds the key",
        f"{GOOD} --api-key-env RIGHT",
    ),
    Mistake(
        "NeMo Evaluator's --output_dir", f"{GOOD} --output_dir out", "Did you mean --output-dir?", f"{GOOD} -o out"
    ),
    Mistake("-q before the command", "eval -q run", "`nel eval run -q`", f"{GOOD} -q"),
    Mistake("-q and -v", f"{GOOD} -q -v", "leave one out", f"{GOOD} -v"),
    Mistake("word for a number", f"{GOOD} --repeats two", '"two" is not a whole number', f"{GOOD} --repeats 2"),
    Mistake("number too small", f"{GOOD} --repeats 0", "too small: at least 1", f"{GOOD} --repeats 1"),
    Mistake(
        "word for a temperature", f"{GOOD} --temperature cold", '"cold" is not a number', f"{GOOD} --temperature 0"
    ),
    Mistake(
        "misspelt key of a setting",
        f"{GOOD} -O engine.concurency=3",
        'did you mean "concurrency"',
        f"{GOOD} -O engine.concurrency=3",
    ),
)
_FILES: Final = (
    Mistake("no such configuration", "eval run nell.yaml", "cannot read the configuration", "eval run nel.yaml"),
    Mistake("misspelt key", "eval run key.yaml", 'did you mean "url"?', "eval run nel.yaml"),
    Mistake("misspelt section", "eval run section.yaml", 'did you mean "benchmarks"?', "eval run nel.yaml"),
    Mistake("tab for spaces", "eval run tab.yaml", "line 2", "eval run nel.yaml"),
    Mistake("key that stands twice", "eval run twice.yaml", 'the key "model" stands twice', "eval run nel.yaml"),
    Mistake("variable that is not set", "eval run variable.yaml", "NEL_TEST_UNSET", "eval run nel.yaml"),
    Mistake("output that is a file", f"{GOOD} -o exam.csv", "choose another --output-dir", f"{GOOD} -o out"),
    Mistake("output that cannot be written", f"{GOOD} -o /proc/x", "choose another --output-dir", f"{GOOD} -o out"),
    Mistake(
        "full disk",
        "show quickstart > /dev/full",
        "stdout cannot be written (No space left on device); send it elsewhere, and repeat the command",
        "show quickstart",
        code=75,
    ),
)
_RUNS: Final = (
    Mistake("resume of nothing", "eval resume runs/two", "give the directory of a run", "eval resume runs/one"),
    Mistake(
        "resume with another model",
        "eval resume runs/one --model-id m-2",
        "start a new run",
        f"{ROWS} --model-url URL --model-id m-1",
    ),
    Mistake(
        "scorer of a stored run",
        "eval score runs/one --scorer exat",
        'did you mean "exact"?',
        "eval score runs/one --scorer exact",
    ),
    Mistake(
        "sample that is not there",
        "eval score runs/one --explain x",
        "results.jsonl has the ids",
        "eval score runs/one --explain ID",
    ),
    Mistake("misspelt exporter", "export runs/one --to cvs", 'did you mean "csv"?', "export runs/one --to csv"),
    Mistake("directory of no runs", "view run", "give the directory of a run, or one of runs", "view --help"),
    Mistake("comparison of one run", "compare runs/one", "give two run directories", "compare runs/one runs/one"),
    Mistake("name for a directory", "compare one one", "give a run directory", "compare runs/one runs/one"),
    Mistake(
        "gate without a policy",
        "gate runs/one",
        "--fail-under METRIC=VALUE for one run alone",
        "gate runs/one --fail-under accuracy=0.8",
        right_code=4,
    ),
    Mistake("kind of plugin", "list benchmark", 'did you mean "benchmarks"?', "list benchmarks"),
    Mistake("benchmark to look at", "show quickstrt", 'did you mean "quickstart"?', "show quickstart"),
    Mistake(
        "calibration of no judge",
        "judge calibrate runs/one",
        "calibrate a run whose benchmark asks a judge",
        "judge calibrate --help",
    ),
    Mistake("plan without numbers", "power", "assume --score or --discordant", "power --score 0.8"),
    Mistake(
        "name of a plugin", "plugin new 'Bad Name'", "write lower case, as in nel-bad-name", "plugin new nel-bad-name"
    ),
)
SECTIONS: Final = {
    "The endpoint": _ENDPOINT,
    "What is asked, and how it is scored": _WHAT,
    "What is typed": _TYPED,
    "Files and directories": _FILES,
    "Runs, and what is made of them": _RUNS,
}
_INTRODUCTION: Final = """# Mistakes, and what nel says

What people get wrong at first, a part of what is printed, and the command that this leads to. Each row is tried by
`tests/documented/test_mistakes.py`: the first command ends with exit code 2 unless another is named, and the second does
what was wanted. `URL` is the base URL of an endpoint, `ROOT` the same without `/v1`, and `KEYED` one that wants a key.
"""


def page() -> str:
    """Return docs/reference/mistakes.md."""
    parts = [_INTRODUCTION]
    for title, mistakes in SECTIONS.items():
        rows = [
            f"| {mistake.what} | {_code(f'nel {mistake.wrong}')} | {_exit(mistake)}{_code(mistake.says)} | {_step(mistake)} |"
            for mistake in mistakes
        ]
        parts.append(
            "\n".join([f"## {title}\n", "| mistake | typed | printed | then |", "|---|---|---|---|", *rows, ""])
        )
    return "\n".join(parts)


def _exit(mistake: Mistake) -> str:
    return "" if mistake.code == 2 else f"exit {mistake.code}: "


def _step(mistake: Mistake) -> str:
    edit = "" if mistake.edit is None else f"correct {_code(mistake.edit[0])}, then "
    rest = mistake.right.removeprefix(SHOWN)
    if rest == mistake.right:
        return f"{edit}{_code(f'nel {rest}')}"
    return f"{edit}the command that it prints" + (f", with {_code(rest.strip())}" if rest else "")


def _code(text: str) -> str:
    ticks = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}".replace("|", "\\|")


if __name__ == "__main__":
    Path("docs/reference/mistakes.md").write_text(page(), encoding="utf-8")
