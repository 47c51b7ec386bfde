"""The image runs as any user, with a read-only file system; what stands beside it in compose.yaml agrees with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from nel.apps.cluster import kubernetes
from nel.config.load import build_config
from nel.config.yaml_file import read_yaml
from tests.support.containers import needed_engine
from tests.support.endpoint import answer, scripted
from tests.support.runs import read_json

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
BASE = "nel-base:bookworm"


def _services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return services


def test_services_have_no_rights_and_write_nowhere_else() -> None:
    """Each service is read-only and not root; but for the engine of programs, which stands in a profile of its own."""
    services = _services()
    assert sorted(services) == ["engine", "model", "nel", "prometheus"]
    assert services.pop("engine")["profiles"] == ["programs"]
    for service in services.values():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert service["user"] == "${NEL_USER:-10001:10001}"
        assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for one in services.values() for port in one.get("ports", ()))


def test_the_run_of_compose_names_what_is_there() -> None:
    """Its endpoint is the service `model`, and Prometheus asks the service `nel` where it serves metrics."""
    services = _services()
    config = build_config(read_yaml(DEPLOY / "nel.yaml"), where="nel.yaml")
    command = services["model"]["command"]
    assert config.endpoint is not None
    assert config.endpoint.url == f"http://model:{command[command.index('--port') + 1]}/v1"
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"][0]
    assert scraped["static_configs"][0]["targets"] == [f"nel:{config.observability.metrics_port}"]
    assert config.observability.metrics_host == "0.0.0.0"  # noqa: S104 - no port of it is published
    assert "ports" not in services["nel"]


def test_the_image_and_the_pods_have_one_user() -> None:
    """The user of the manifests is the one that the image is made for, and a number, as runAsNonRoot asks for."""
    found = re.findall(r"^USER (\d+):(\d+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert found == [(str(kubernetes.USER), str(kubernetes.USER))]


@pytest.fixture
def engine() -> Iterator[Any]:
    with needed_engine() as client:
        yield client


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_an_image_built_without_a_network_runs_read_only(tmp_path: Path, engine: Any) -> None:
    """Built from wheels on a local base, it evaluates as any user, with nothing writable but what is mounted."""
    sources = re.findall(r"^COPY (?!--)(.+?) \./\S*$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    for name in (*" ".join(sources).split(), "Dockerfile", ".dockerignore"):  # and nothing else, as the build sees it
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copy if (ROOT / name).is_file() else shutil.copytree
        copy(ROOT / name, tmp_path / name)
    gather = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", "wheels", ".[metrics]", "pip"]
    subprocess.run(gather, cwd=tmp_path, check=True)
    shutil.rmtree(tmp_path / "build", ignore_errors=True)
    arguments = {"BASE": BASE, "EXTRAS": "metrics"}
    built, _ = engine.images.build(path=str(tmp_path), buildargs=arguments, tag="nel-deploy-test", network_mode="none")
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o777)
    limits = {"read_only": True, "user": "12345:12345", "cap_drop": ["ALL"], "security_opt": ["no-new-privileges"]}
    try:
        with scripted(lambda call, _: answer("Answer: 1"), models=["m"]) as endpoint:
            said = engine.containers.run(
                built.id,
                [
                    "eval",
                    "run",
                    "--bench",
                    "quickstart",
                    "--model-url",
                    endpoint.url,
                    "--model-id",
                    "m",
                    "--run-id",
                    "r",
                ],
                network_mode="host",
                volumes={str(out): {"bind": "/data/eval_results", "mode": "rw"}},
                remove=True,
                **limits,
            ).decode()
        assert "report: eval_results/r/report.html" in said
        command = ["sh", "-c", "id -u; touch /opt/nel/x /data/x 2>&1 | wc -l"]
        found = engine.containers.run(built.id, command[1:], entrypoint=command[0], remove=True, **limits).decode()
        assert found.split() == ["12345", "2"]
        owner = (out / "r" / "quickstart" / "metrics.json").stat().st_uid
        assert owner == 12345
        if os.access(out / "r" / "quickstart" / "metrics.json", os.R_OK):  # where the tests run as root
            assert read_json(out / "r" / "quickstart" / "metrics.json")["complete"] is True
    finally:
        engine.images.remove(built.id, force=True)
