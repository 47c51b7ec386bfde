"""The pytest plugin in a pytest of its own: a sample is a test, a failure shows why, and no fault is a pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.tiers import representatives

_BENCHMARK = """prompt: "{q}"
id_field: id
rows:
- {id: right, q: one, want: yes-1}
- {id: wrong, q: two, want: yes-2}
- {id: refused, q: three, want: yes-3}
checks:
- contains: {field: want}
"""
_TESTS = """import pytest

@pytest.mark.nel("mine.yaml")
def test_mine(nel_sample):
    nel_sample.check()
"""


def _pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", str(folder / "base"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def _alone(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest without the plugins of other packages, which take longer to import than nel's."""
    others = ("hypothesispytest", "asyncio", "anyio", "xdist", "xdist.looponfail", "timeout")
    return _pytest(folder, *(word for name in others for word in ("-p", f"no:{name}")), *arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.yaml").write_text(_BENCHMARK)
    (tmp_path / "test_mine.py").write_text(_TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def _reply(call: Call, _: int) -> Reply:
    asked = call.body["messages"][0]["content"]
    if asked == "three":
        return Reply(status=400, body={"error": {"message": "no"}})
    return answer("yes-1")


@pytest.mark.parametrize("workers", representatives(["0", "2"], "0"))
def test_each_sample_is_a_test(folder: Path, workers: str) -> None:
    """One passes, one fails with what was asked, expected and said, one is an error; each was asked once."""
    with scripted(_reply, models=["m"]) as endpoint:
        done = _pytest(folder, "-n", workers, "--nel-url", endpoint.url, "--nel-model", "m")
        asked = [call.body["messages"][0]["content"] for call in endpoint.calls]
    assert "1 failed, 1 passed, 1 error" in done.stdout, done.stdout
    assert "test_mine[wrong]" in done.stdout
    for text in ("asked:    two", "response: yes-1", '"expected": "yes-2"', "reward 0, at least 1 is wanted"):
        assert text in done.stdout
    assert "NotScored: sample refused is unscored" in done.stdout
    assert (asked.count("one"), asked.count("two")) == (1, 1)


def test_without_an_endpoint_nothing_passes(folder: Path) -> None:
    """Every test is an error that names the options."""
    done = _alone(folder)
    assert "3 errors" in done.stdout
    assert "give --nel-url and --nel-model" in done.stdout


@pytest.mark.slow
def test_messages_name_the_options_of_pytest(folder: Path) -> None:
    """Where nothing answers, the address to correct is that of --nel-url."""
    done = _alone(folder, "--nel-url", "http://127.0.0.1:9/v1", "--nel-model", "m")
    assert "start the endpoint or correct --nel-url" in done.stdout
    assert "--model-url" not in done.stdout


def test_what_cannot_be_collected_stops_the_collection(folder: Path) -> None:
    """Each is one line: no such benchmark, several answers to a question, and a test that asks for no sample."""
    mistakes = {
        "other.yaml": _TESTS.replace("mine.yaml", "other.yaml"),
        "takes no repeats": _TESTS.replace('"mine.yaml"', '"mine.yaml", repeats=3'),
        "one prompt": _TESTS.replace('"mine.yaml"', '"mine.yaml", prompt=["{q}", "Q: {q}"]'),
        "give it the parameter nel_sample": "import pytest\n\n@pytest.mark.nel('mine.yaml')\ndef test_it(): pass\n",
    }
    for number, text in enumerate(mistakes.values()):
        (folder / f"test_{number}.py").write_text(text)
    done = _alone(folder)
    assert all(words in done.stdout for words in mistakes), done.stdout
    assert "passed" not in done.stdout
    assert "Error: " not in done.stdout


def test_nothing_is_imported_where_no_sample_is_asked_for(folder: Path) -> None:
    """A run of pytest without such tests loads the plugin alone."""
    (folder / "test_mine.py").write_text(
        "import sys\n\ndef test_it():\n    assert 'nel.runs.evaluation' not in sys.modules\n"
    )
    done = _alone(folder)
    assert "1 passed" in done.stdout, done.stdout
