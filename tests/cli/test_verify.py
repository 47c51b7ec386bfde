"""`nel verify`: store, identity and files agree, and a signature holds until something changes."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.cli.app import app
from nel.engine.store.lock import own_directory
from nel.runs.verification import verify_run
from tests.support.runs import nel, recorded_run

ANSWERS = {"right": "Answer: 18", "wrong": "Answer: 20", "none": "Let me think about that."}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of three answers, which tests copy."""
    folder = tmp_path_factory.mktemp("finished")
    rows = ({"id": name, "question": "9 + 9?", "answer": "#### 18", "said": said} for name, said in ANSWERS.items())
    return recorded_run(folder, rows, "-O", "output.reports=[markdown]")


@pytest.fixture
def run_dir(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run."""
    shutil.copytree(finished, tmp_path / finished.name)
    return tmp_path / finished.name


def _failed(run_dir: Path) -> list[str]:
    return [check.what for check in verify_run(run_dir).checks if not check.passed]


def test_a_finished_run_agrees_and_nothing_is_written(run_dir: Path) -> None:
    """Every artifact and report is compared; the directory stays byte for byte as it was."""
    before = {path: path.read_bytes() for path in run_dir.rglob("*") if path.is_file()}
    done = nel("verify", str(run_dir), cwd=run_dir.parent)
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("store", "gsm8k: prompts", "gsm8k: identity", "gsm8k/results.jsonl", "report.html", "summary.md"):
        assert f"ok    {name}: " in done.stdout
    assert {path: path.read_bytes() for path in run_dir.rglob("*") if path.is_file()} == before


CHANGES: dict[str, tuple[str, str]] = {
    "a better score": ("UPDATE steps SET response = replace(response, '0.0', '1.0') WHERE role = 1", "store"),
    "another question": ("UPDATE samples SET content = replace(content, '9 + 9', '9 + 8')", "store"),
    "another identity": (
        'UPDATE benchmarks SET plan = replace(plan, \'"mode":"recorded responses"\', \'"mode":"generation"\')',
        "gsm8k: identity",
    ),
    "an answer less": ("DELETE FROM steps WHERE role = 1 AND idx = 1", "gsm8k/results.jsonl"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_store_is_found(run_dir: Path, change: str) -> None:
    """A row that was edited outside of nel disagrees with the identity or with the files."""
    statement, what = CHANGES[change]
    with closing(sqlite3.connect(run_dir / "run.db")) as store, store:
        assert store.execute(statement).rowcount > 0
    assert what in _failed(run_dir)


def test_an_unfinished_run_agrees_and_is_said_to_be_partial(run_dir: Path) -> None:
    """Files of a part may be those that the store gives; the exit code is that of nel report."""
    with closing(sqlite3.connect(run_dir / "run.db")) as store, store:
        store.execute(CHANGES["an answer less"][0])
    assert nel("report", str(run_dir), cwd=run_dir.parent).returncode == 75
    done = nel("verify", str(run_dir), cwd=run_dir.parent)
    assert (done.returncode, "nel: the run is PARTIAL: nel eval resume" in done.stderr) == (75, True), done.stdout


@pytest.mark.parametrize("name", ["gsm8k/metrics.json", "report.html"])
def test_a_changed_or_missing_file_is_found(run_dir: Path, name: str) -> None:
    """One byte more, or no file: that file alone is named, and exit 2."""
    path = run_dir / name
    content = path.read_bytes()
    path.write_bytes(content + b"\n")
    assert _failed(run_dir) == [name]
    path.unlink()
    done = nel("verify", str(run_dir), cwd=run_dir.parent)
    assert done.returncode == 2
    assert f"FAIL  {name}: is missing" in done.stdout


def test_a_damaged_store_is_said_and_never_signed(run_dir: Path) -> None:
    """Flipped bytes in the middle of run.db: one check fails, exit 2, no traceback and no signature."""
    path = run_dir / "run.db"
    content = bytearray(path.read_bytes())
    content[5000:9000] = bytes(4000)
    path.write_bytes(content)
    done = nel("verify", str(run_dir), "--sign", "key", cwd=run_dir.parent)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (run_dir / "manifest.json").exists()


def _key(folder: Path, name: str) -> Path:
    path = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_signature_is_of_its_key_and_of_what_was_there(run_dir: Path) -> None:
    """Signed and unchanged it holds; under another key, or after a change, it does not."""
    folder = run_dir.parent
    key, other = _key(folder, "key"), _key(folder, "other")
    assert nel("verify", str(run_dir), "--sign", str(key), cwd=folder).returncode == 0
    manifest = json.loads((run_dir / "manifest.json").read_text())
    assert manifest["benchmarks"]["gsm8k"]["dataset_sha256"]
    assert "nel-eval" in manifest["packages"]
    checks: list[tuple[Path, Callable[[], object], str]] = [
        (key, lambda: None, "ok    signature: is of this key, and nothing has changed since"),
        (other, lambda: None, "FAIL  signature: cannot check the signature"),
        (
            key,
            lambda: (run_dir / "notes.txt").write_text("x"),
            "FAIL  signature: changed since it was signed: notes.txt",
        ),
    ]
    for one, change, line in checks:
        change()
        done = nel("verify", str(run_dir), "--check", f"{one}.pub", cwd=folder)
        assert line in done.stdout
        assert done.returncode == (0 if line.startswith("ok") else 2)


def test_wrong_usage_is_one_line(run_dir: Path) -> None:
    """No run, no key, an unsigned run, a run in use: exit 2 and one line with the cause."""
    folder = run_dir.parent
    cases = {
        ("nowhere",): "there is no run.db in nowhere",
        (str(run_dir), "--sign", "no-key"): "cannot sign with no-key",
        (str(run_dir), "--check", "no-key.pub"): "the signature cannot be checked",
    }
    for arguments, message in cases.items():
        done = nel("verify", *arguments, cwd=folder)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert not (run_dir / "manifest.json").exists()
    with own_directory(run_dir):
        done = nel("verify", str(run_dir), cwd=folder)
    assert (done.returncode, "is in use by process" in done.stderr) == (2, True)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    made = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made], check=True)
    return made


def test_symbolic_links_are_neither_signed_nor_passed_over(run_dir: Path, key: Path) -> None:
    """A decision.json that is a link was in no list of digests, so that any could be laid beside a signed run."""
    elsewhere = run_dir.parent / "decision.json"
    elsewhere.write_text("{}", encoding="utf-8")
    (run_dir / "gsm8k" / "decision.json").symlink_to(elsewhere)
    done = nel("verify", str(run_dir), "--sign", str(key), cwd=run_dir.parent)
    assert (done.returncode, "no signature covers: gsm8k/decision.json" in done.stderr) == (2, True), done.stderr
    assert not (run_dir / "manifest.json").exists()
    (run_dir / "gsm8k" / "decision.json").unlink()
    assert nel("verify", str(run_dir), "--sign", str(key), cwd=run_dir.parent).returncode == 0
    for target in (elsewhere, run_dir.parent):
        link = run_dir / "added"
        link.symlink_to(target)
        done = nel("verify", str(run_dir), "--check", f"{key}.pub", cwd=run_dir.parent)
        assert (done.returncode, "no signature covers: added" in done.stdout) == (2, True), done.stdout
        link.unlink()
    assert nel("verify", str(run_dir), "--check", f"{key}.pub", cwd=run_dir.parent).returncode == 0


def test_one_public_key_is_checked_and_no_further_signer(run_dir: Path, key: Path) -> None:
    """A second line of the file would have been a signer too, under the name that is looked for."""
    assert nel("verify", str(run_dir), "--sign", str(key), cwd=run_dir.parent).returncode == 0
    other = _key(run_dir.parent, "other").with_suffix(".pub").read_text(encoding="utf-8")
    both = run_dir.parent / "both.pub"
    both.write_text(f"{other}nel {key.with_suffix('.pub').read_text(encoding='utf-8')}", encoding="utf-8")
    done = nel("verify", str(run_dir), "--check", str(both), cwd=run_dir.parent)
    assert (done.returncode, "does not hold one public key on one line" in done.stderr) == (2, True), done.stderr


def test_a_run_at_a_url_is_not_signed() -> None:
    """Its copy is in a cache, where no reader looks for the signature; the refusal says what to do."""
    done = CliRunner().invoke(app, ["verify", "s3://bucket/run", "--sign", "key"])
    assert (done.exit_code, "nel eval archive s3://bucket/run" in done.stderr) == (2, True)
