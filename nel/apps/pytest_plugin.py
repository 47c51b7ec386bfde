"""The pytest plugin: each sample of a benchmark is a test, and a failing one says why.

    @pytest.mark.nel("capitals.yaml", limit=20)
    def test_capitals(nel_sample):
        nel_sample.check()

The benchmark runs once for all its tests, also under xdist, in pytest's base directory. A sample
that was not scored is an error of its test, never a pass. Imports the engine only when a test asks
for a sample, since every session of pytest loads this module.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from nel.types import JsonObject

_FIXTURE: Final = "nel_sample"
_OPTIONS: Final = {
    "--nel-url": "NEL_MODEL_URL",
    "--nel-model": "NEL_MODEL_ID",
}
_OPTION_OF_FLAG: Final = {
    "--model-url": "--nel-url",
    "--model-id": "--nel-model",
    "--api-key-env": "--nel-api-key-env",
}
"""The options of pytest for the flags of `nel eval run` that messages name."""


class NotScored(Exception):
    """A sample has no score, through no fault of the model, or the run failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NelSample:
    """One scored sample of a benchmark."""

    id: str
    reward: float
    """From the scorer; most scorers give 1 for a pass."""
    prompt: str
    response: str
    """Empty where the model gave none."""
    expected: object
    """The gold answer."""
    extracted: str | None
    """The answer that was read from the response."""
    details: JsonObject
    """The scorer's explanation."""
    state: str
    """``scored`` or ``model_failure``."""
    kind: str | None
    """Of a model failure: ``no_answer``, ``truncated`` …"""

    @property
    def passed(self) -> bool:
        """Whether its reward is 1 or more."""
        return self.reward >= 1

    def check(self, *, at_least: float = 1.0) -> None:
        """Fail the test where the reward is lower; the message is that of `explain`."""
        if self.reward < at_least:
            pytest.fail(f"sample {self.id}: {self.explain(at_least)}", pytrace=False)

    def explain(self, at_least: float = 1.0) -> str:
        """Return question, gold answer, response and extracted answer, a line or block each."""
        why = f" ({self.kind})" if self.kind else ""
        blocks = [
            f"reward {self.reward:g}{why}, at least {at_least:g} is wanted",
            f"asked:    {self.prompt}",
            f"expected: {self.expected}",
            f"response: {self.response}",
            f"read as:  {self.extracted}",
        ]
        details = {key: value for key, value in self.details.items() if key != "metrics"}
        if details:
            blocks.append(f"details:  {json.dumps(details, ensure_ascii=False)}")
        return "\n".join(blocks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the endpoint; each also has an environment variable."""
    group = parser.getgroup("nel", "evaluation of a model, sample by sample")
    group.addoption("--nel-url", help="Base URL of the model's endpoint, or NEL_MODEL_URL.")
    group.addoption("--nel-model", help="Its name there, or NEL_MODEL_ID.")
    group.addoption(
        "--nel-api-key-env", help="Name of the variable that holds the key, or NEL_API_KEY_ENV."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "nel(benchmark, limit=None, **settings): one test for each sample of a benchmark of nel.",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each sample."""
    test = metafunc.definition
    if _FIXTURE not in metafunc.fixturenames:
        # A marker of its class or module may be for other tests.
        if any(marker.name == "nel" for marker in test.own_markers):
            raise pytest.Collector.CollectError(
                f"{test.nodeid}: it asks for no sample; give it the parameter {_FIXTURE}"
            )
        return
    marker = test.get_closest_marker("nel")
    if marker is None or len(marker.args) != 1:
        raise pytest.Collector.CollectError(
            f'{test.nodeid}: name the benchmark: @pytest.mark.nel("FILE or NAME")'
        )
    spec = _spec(marker, Path(test.path).parent)
    from nel.apps.pytest_run import sample_ids  # noqa: PLC0415 - every run of pytest loads this

    ids = sample_ids(spec)
    metafunc.parametrize(_FIXTURE, [(spec, sample_id) for sample_id in ids], ids=ids, indirect=True)


@pytest.fixture
def nel_sample(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> NelSample:
    """Return the scored sample of this test.

    Raises:
        NotScored: It has no score.
    """
    spec, sample_id = request.param
    line = _results(request.config, tmp_path_factory, spec)[sample_id]
    outcome = line["outcome"]
    if outcome["state"] == "unscored":
        raise NotScored(
            f"sample {sample_id} is unscored by {outcome['cause']} ({outcome['kind']}):"
            f" {outcome['detail']}"
        )
    return NelSample(
        id=sample_id,
        reward=line["reward"],
        prompt=line["prompt"] or "",
        response=line["model_response"] or "",
        expected=line["expected_answer"],
        extracted=line["extracted_answer"],
        details=line["scoring_details"] or {},
        state=outcome["state"],
        kind=outcome["kind"],
    )


def _spec(marker: pytest.Mark, folder: Path) -> str:
    """Return a marker as an entry of ``benchmarks`` in JSON; a file is found beside the test."""
    settings = dict(marker.kwargs)
    name = str(marker.args[0])
    file, colon, member = name.partition(":")
    if (folder / file).is_file():
        name = f"{(folder / file).resolve()}{colon}{member}"
    if "repeats" in settings:
        raise pytest.Collector.CollectError(
            "pytest.mark.nel takes no repeats: a test is one answer; use nel eval run --repeats"
        )
    entry = {"name": name, "max_problems": settings.pop("limit", None), **settings}
    return json.dumps(entry, sort_keys=True)


def _results(
    config: pytest.Config, factory: pytest.TempPathFactory, spec: str
) -> dict[str, dict[str, Any]]:
    """Return the lines of results.jsonl by sample; the first test that needs them runs it."""
    base = factory.getbasetemp()
    # A worker of xdist has a base directory of its own below the common one.
    shared = base.parent if hasattr(config, "workerinput") else base
    home = shared / f"nel-{hashlib.sha256(spec.encode()).hexdigest()[:12]}"
    home.mkdir(mode=0o700, exist_ok=True)
    with _lock(home / "lock"):
        record = home / "done.json"
        if not record.exists():
            record.write_text(json.dumps(_run(config, spec, home / "runs")), encoding="utf-8")
        ending = json.loads(record.read_text(encoding="utf-8"))
    if "error" in ending:
        raise NotScored(ending["error"])
    lines = Path(ending["results"]).read_text(encoding="utf-8").splitlines()
    return {line["sample_id"]: line for line in map(json.loads, lines)}


def _run(config: pytest.Config, spec: str, output: Path) -> dict[str, str]:
    """Run a benchmark; return the path of its ``results``, or an ``error``."""
    options = {
        option: config.getoption(option) or os.environ.get(name)
        for option, name in _OPTIONS.items()
    }
    if not options["--nel-url"] or not options["--nel-model"]:
        return {
            "error": (
                "there is no endpoint; give --nel-url and --nel-model, or set NEL_MODEL_URL and"
                " NEL_MODEL_ID"
            )
        }
    endpoint = {"url": options["--nel-url"], "model": options["--nel-model"]}
    if key_env := config.getoption("--nel-api-key-env"):
        endpoint["api_key_env"] = key_env
    from nel.apps.pytest_run import run_benchmark  # noqa: PLC0415 - every run of pytest loads this

    ending = run_benchmark(spec, endpoint, output)
    if "error" in ending:
        return {"error": _with_pytest_options(ending["error"])}
    return ending


def _with_pytest_options(message: str) -> str:
    flags = re.compile(rf"(?<![\w-])(?:{'|'.join(_OPTION_OF_FLAG)})(?![\w-])")
    return flags.sub(lambda match: _OPTION_OF_FLAG[match[0]], message)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a file's lock, so that one worker runs the benchmark and the others wait."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
