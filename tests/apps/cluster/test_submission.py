"""Scripts and manifests of a run in shards: limits divided, keys by name, checked by the shell and a real schema."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from nel.apps.cluster.division import divide, secrets_of
from nel.apps.cluster.writing import SchedulerTarget, Submission, write_submission
from nel.config.load import build_config
from nel.config.schema import RunConfig
from nel.errors import NelError
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, read_json, sums

SHARDS = 4
POD = SchedulerTarget(image="registry.example/nel:1", claim="runs", secret="nel-keys", namespace="evals")


def config(home: Path, **more: Any) -> RunConfig:
    sums(home / "rows.jsonl", 12)
    data = {
        "benchmarks": [{"name": "gsm8k", "dataset": str(home / "rows.jsonl")}],
        "endpoint": {"url": "http://127.0.0.1:9/v1", "model": "m", "api_key_env": "MODEL_KEY",
                     "headers_env": {"X-Team": "TEAM_KEY"}, "requests_per_minute": 90, "tokens_per_minute": 1000},
        "judge": {"url": "http://127.0.0.1:9/v1", "model": "j", "api_key_env": "JUDGE_KEY", "requests_per_minute": 10,
                  "concurrency": 9},
        "budget": {"max_requests": 101},
        "output": {"dir": str(home / "out"), "run_id": "r"},
    }  # fmt: skip
    return build_config({**data, **more}, where="test")


def _bash(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)


def _pods(written: Submission) -> dict[str, Any]:
    """Return the manifests by kind and name."""
    paths = [path for path in written.files if path.suffix == ".yaml"]
    found = [one for path in paths for one in yaml.safe_load_all(path.read_text(encoding="utf-8"))]
    return {f"{one['kind']} {one['metadata']['name']}": one for one in found}


def test_a_limiter_shares_what_would_be_divided(tmp_path: Path) -> None:
    """With a limiter only budgets are divided; its token is a name; too few requests in flight are refused."""
    whole = config(tmp_path, limiter={"url": "http://head:9191", "token_env": "LIMITER_TOKEN"})
    part = divide(whole, SHARDS)
    assert part.config["engine"]["concurrency"] == 32
    assert part.config["endpoint"]["requests_per_minute"] == 90
    assert part.config["budget"]["max_requests"] == 25
    assert "endpoint.requests_per_minute: 90 in all, shared through the limiter" in part.limits
    assert "LIMITER_TOKEN" in secrets_of(whole)
    written = write_submission(whole, "slurm", SHARDS, SchedulerTarget())
    assert any("reach it at http://head:9191" in note for note in written.notes)
    with pytest.raises(NelError, match="which 33 shards would have to share without the limiter"):
        divide(whole, 33)


def test_every_limit_is_divided_and_said(tmp_path: Path) -> None:
    """Rates, requests in flight and budgets of all shards together are at most those of the run; keys stay names."""
    whole = config(tmp_path)
    part = divide(whole, SHARDS)
    assert part.config["engine"]["concurrency"] == 8
    assert part.config["endpoint"]["requests_per_minute"] == 22.5
    assert part.config["judge"]["panel"][0]["concurrency"] == 2
    assert part.config["budget"]["max_requests"] == 25
    assert part.limits == (
        "engine.concurrency: 8 in each shard, 32 of 32 in all",
        "endpoint.requests_per_minute: 22.5 in each shard, 90 in all",
        "endpoint.tokens_per_minute: 250 in each shard, 1000 in all",
        "judge.panel.0.requests_per_minute: 2.5 in each shard, 10 in all",
        "judge.panel.0.concurrency: 2 in each shard, 8 of 9 in all",
        "budget.max_requests: 25 in each shard, 100 of 101 in all",
    )
    assert secrets_of(whole) == ("MODEL_KEY", "TEAM_KEY", "JUDGE_KEY")
    assert RunConfig.model_validate(part.config).shard is None


@pytest.mark.parametrize(
    ("more", "target", "said"),
    [
        ({"engine": {"concurrency": 3}}, SchedulerTarget(), "engine.concurrency is 3, which 4 shards cannot share"),
        ({"shard": "1/4"}, SchedulerTarget(), "each job gets its own, so leave it out"),
        ({"stop": {"when": ["width<0.1"]}}, SchedulerTarget(), "leave one of --shard and --stop-when out"),
        ({"observability": {"metrics_port": 9000}}, SchedulerTarget(), "cannot both serve observability.metrics_port"),
        ({"endpoint": None, "endpoints": [{"url": "http://a/v1", "model": "m"}]}, SchedulerTarget(), "several endpoints"),
        ({"benchmarks": [{"name": "gsm8k", "dataset": "gone.jsonl"}]}, SchedulerTarget(), "gone.jsonl"),
        ({}, SchedulerTarget(options=("partition=a",)), "is not an option of sbatch; write --sbatch=--partition=NAME"),
        ({}, SchedulerTarget(options=("--comment=a\nrm -rf /",)), "is not an option of sbatch"),
        ({}, SchedulerTarget(namespace="team"), "--to slurm has no --namespace; leave it out"),
        ({}, SchedulerTarget(image="nel", claim="runs", options=("--partition=a",)), "--to kubernetes has no --sbatch"),
        ({}, SchedulerTarget(image="nel"), "--volume-claim is missing"),
        ({}, SchedulerTarget(image="nel", claim="runs"), "needs --secret, the Secret that holds MODEL_KEY, TEAM_KEY, JUDGE_KEY"),
        ({"output": {"dir": "out", "run_id": "A_b"}}, POD, '"A_b" cannot name an object of Kubernetes'),
        ({"benchmarks": [{"name": "gsm8k", "dataset": "rows.jsonl"}]}, POD, "is a path on this machine"),
    ],
)  # fmt: skip
def test_what_cannot_be_submitted_is_refused_and_nothing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any], target: SchedulerTarget, said: str
) -> None:
    """One clear line for each limit, name, path and option that does not fit."""
    monkeypatch.chdir(tmp_path)
    scheduler = "slurm" if target.image is None and target.claim is None else "kubernetes"
    with pytest.raises(NelError, match=said):
        write_submission(config(tmp_path, **more), scheduler, SHARDS, target)
    assert not (tmp_path / "out").exists()


def test_a_key_in_the_configuration_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of a key that a variable is named for goes into no file, wherever somebody has put it."""
    monkeypatch.setenv("MODEL_KEY", "sk-0123456789abcdef")
    whole = config(tmp_path, generation={"extra": {"user": "sk-0123456789abcdef"}})
    with pytest.raises(NelError, match="holds the value of a key"):
        write_submission(whole, "slurm", SHARDS, SchedulerTarget())
    assert not (tmp_path / "out").exists()


def test_scripts_of_slurm_are_scripts(tmp_path: Path) -> None:
    """The shell reads them; the array has a task for each shard, and the merge waits for all of them."""
    home = tmp_path / "a folder's"
    home.mkdir()
    written = write_submission(config(home), "slurm", SHARDS, SchedulerTarget(options=("--partition=cpu", "--mem=4G")))
    assert [path.name for path in written.files] == ["nel.yaml", "shards.sbatch", "merge.sbatch", "submit.sh"]
    for path in written.files[1:]:
        _bash(path)
    shards = written.files[1].read_text(encoding="utf-8")
    assert "#SBATCH --array=1-4\n" in shards
    assert "#SBATCH --partition=cpu\n#SBATCH --mem=4G\n" in shards
    assert '--shard "${SLURM_ARRAY_TASK_ID}/4"' in shards
    assert "# endpoint.requests_per_minute: 22.5 in each shard, 90 in all\n" in shards
    assert ': "${MODEL_KEY:?holds a key; export it before submitting}"' in shards
    assert '--dependency="afterok:${shards%%;*}"' in written.files[3].read_text(encoding="utf-8")
    with pytest.raises(NelError, match=r"r.shards exists already; choose another --run-id"):
        write_submission(config(home), "slurm", SHARDS, SchedulerTarget())


def test_manifests_are_those_of_an_indexed_job(tmp_path: Path) -> None:
    """A pod for each shard, no rights, a read-only file system, and keys from a Secret by name."""
    written = write_submission(config(tmp_path), "kubernetes", SHARDS, POD)
    _bash(written.files[-1])
    pods = _pods(written)
    assert sorted(pods) == ["ConfigMap r", "Job r", "Job r-merge"]
    spec = pods["Job r"]["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", SHARDS, SHARDS)
    (container,) = spec["template"]["spec"]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert spec["template"]["spec"]["securityContext"]["runAsNonRoot"] is True
    keys = {one["name"]: one["valueFrom"]["secretKeyRef"] for one in container["env"] if "valueFrom" in one}
    assert keys == {name: {"name": "nel-keys", "key": name} for name in ("MODEL_KEY", "TEAM_KEY", "JUDGE_KEY")}
    script = container["command"][2]
    assert '--shard "$number/4"' in script
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    held = yaml.safe_load(pods["ConfigMap r"]["data"]["nel.yaml"])
    assert build_config(held, where="nel.yaml").budget.max_requests == 25
    assert "kubectl create secret generic nel-keys --from-literal=MODEL_KEY=" in " ".join(written.notes)


def test_pods_have_what_the_configuration_names(tmp_path: Path) -> None:
    """Prompts and a judge's template are in the manifest; a certificate and a cache are named as files of the pods."""
    (tmp_path / "short.jinja").write_text("Say {{ question }}", encoding="utf-8")
    (tmp_path / "strict.md").write_text("Is {response} right?\nGRADE: C or I", encoding="utf-8")
    more = {
        "benchmarks": [{"name": "gsm8k", "dataset": str(tmp_path / "rows.jsonl"), "prompt": str(tmp_path / "short.jinja")}],
        "judge": {"url": "http://127.0.0.1:9/v1", "model": "j", "template": str(tmp_path / "strict.md"), "concurrency": 9,
                  "ca_bundle": "/data/ca.pem"},
        "cache": {"dir": "/data/cache"},
    }  # fmt: skip
    written = write_submission(config(tmp_path, **more), "kubernetes", SHARDS, POD)
    held = yaml.safe_load(_pods(written)["ConfigMap r"]["data"]["nel.yaml"])
    assert held["benchmarks"][0]["prompt"] == ["{##}Say {{ question }}"]
    assert held["judge"]["template"] == "Is {response} right?\nGRADE: C or I"
    paths = [note.partition(" has to be")[0] for note in written.notes if "has to be in the image" in note]
    assert paths == [str(tmp_path / "rows.jsonl"), "/data/ca.pem", "/data/cache"]


def test_manifests_hold_against_the_schema_of_kubernetes(tmp_path: Path) -> None:
    """Every document fits the published schema, in which no key is unknown."""
    oracle = pytest.importorskip("kubernetes_validate", reason="the schema of Kubernetes is not installed")
    found = _pods(write_submission(config(tmp_path), "kubernetes", SHARDS, POD))
    assert sorted(found) == ["ConfigMap r", "Job r", "Job r-merge"]
    for manifest in found.values():
        oracle.validate(manifest, "1.37", strict=True)
    unknown = {**found["Job r"], "spec": {**found["Job r"]["spec"], "shards": SHARDS}}
    with pytest.raises(oracle.ValidationError, match="shards"):
        oracle.validate(unknown, "1.37", strict=True)


_SBATCH = """#!/bin/bash
# Runs what it is given at once, a task after the other, with what Slurm sets.
script="${@: -1}"
echo "$@" >> "$SBATCH_LOG"
echo 7
array=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
for task in $(seq 1 "${array:-1}"); do
    SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task bash "$script" >&2 || exit 1
done
"""


@pytest.mark.slow
def test_what_is_written_runs(tmp_path: Path) -> None:
    """A stand-in for sbatch runs the scripts: shards that were killed go on, and the merged run has every sample."""

    def reply(call: Call, _: int) -> Reply:
        return answer(f"It is {2 * int(call.text.rpartition('What is ')[2].split()[0])}.")

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sbatch").write_text(_SBATCH)
    (tmp_path / "bin" / "sbatch").chmod(0o755)
    sums(tmp_path / "rows.jsonl", 20)
    variables = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "MODEL_KEY": "sk-0123456789abcdef",
                 "SBATCH_LOG": str(tmp_path / "log")}  # fmt: skip
    with scripted(reply, models=["m"]) as endpoint:
        written = nel(
            "eval", "submit", "--to", "slurm", "--shards", "2", "--dry-run", "--bench", "gsm8k", "--dataset",
            "rows.jsonl", "--model-id", "m", "--model-url", endpoint.url, "--api-key-env", "MODEL_KEY", "-o", "out",
            "--run-id", "r", cwd=tmp_path,
        )  # fmt: skip
        assert written.returncode == 0, written.stderr
        submit = [str(tmp_path / "out" / "r.shards" / "submit.sh")]
        (tmp_path / "out" / "r.shards" / "shard-2").mkdir()  # killed before it had begun
        killed = subprocess.run(submit, env={**variables, "NEL_FAILPOINT": "after_commit:3"}, check=False)
        assert killed.returncode != 0
        done = subprocess.run(submit, env=variables, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "afterok:7" in (tmp_path / "log").read_text()
    metrics = read_json(tmp_path / "out" / "r" / "gsm8k" / "metrics.json")
    assert (metrics["complete"], metrics["accounting"]["n_scored"]) == (True, 20)
    stored = (tmp_path / "out" / "r" / "run.yaml").read_text() + json.dumps(metrics)
    assert "sk-0123456789abcdef" not in stored
