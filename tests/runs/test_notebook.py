"""A notebook shows a bar and a table, takes an interrupt as a stop, and runs what its page of the documentation shows."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests.support.endpoint import Call, Reply, Turnstile, answer, scripted
from tests.support.runs import sums

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "use-in-a-notebook.md"
CELLS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
SECONDS = 60

pytestmark = pytest.mark.filterwarnings("ignore:Kernel is running over TCP", "ignore:unclosed:ResourceWarning")


class Kernel:
    """A kernel in a directory of its own, and what its cells show."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager, self.client = manager, client

    def run(self, code: str, while_it_runs: Any = None) -> dict[str, list[dict[str, Any]]]:
        """Execute a cell and return the contents of its messages by their kinds."""
        shown: dict[str, list[dict[str, Any]]] = {}

        def note(message: dict[str, Any]) -> None:
            shown.setdefault(message["msg_type"], []).append(message["content"])
            if while_it_runs is not None:
                while_it_runs(message)

        self.client.execute_interactive(code, output_hook=note, timeout=SECONDS)
        return shown


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """Start a kernel whose working directory is empty."""
    home = tmp_path_factory.mktemp("notebook")
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(home), env={**os.environ, "PYTHONPATH": str(ROOT), "NEL_CONFIG": ""})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=SECONDS)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def right(call: Call, number: int) -> Reply:
    numbers = re.findall(r"What is (\d+)", call.text)
    return answer(f"#### {2 * int(numbers[0])}" if numbers else "Answer: 10")


@pytest.mark.slow
def test_the_cells_of_the_page_run(kernel: Kernel) -> None:
    """Each ends without an error; the first has a bar that is updated, and a table as its last line."""
    assert len(CELLS) > 5
    with scripted(right, models=["demo"]) as endpoint:
        shown = [kernel.run(cell.replace("http://127.0.0.1:8089/v1", endpoint.url)) for cell in CELLS]
    assert [messages["error"] for messages in shown if "error" in messages] == []
    first = shown[0]
    assert "<progress" in first["display_data"][0]["data"]["text/html"]
    assert first["update_display_data"][-1]["data"]["text/plain"].startswith("done: 40/40")
    table = first["execute_result"][0]["data"]
    assert "<td" in table["text/html"]
    assert "quickstart: accuracy" in table["text/plain"]


@pytest.mark.slow
def test_an_interrupt_stops_the_run_and_a_wrong_key_is_one_line(kernel: Kernel, tmp_path: Path) -> None:
    """The result says how to go on, and the run is finished by a resume; an error has no traceback."""
    rows = sums(tmp_path / "rows.jsonl", 12)
    turnstile = Turnstile(right)
    turnstile.hold_after(6)
    interrupted = threading.Event()

    def interrupt(message: dict[str, Any]) -> None:
        if re.search(r"running: [1-9]\d*/12", str(message["content"])) and not interrupted.is_set():
            interrupted.set()
            kernel.manager.interrupt_kernel()

    with scripted(turnstile, models=["m"]) as endpoint:
        kernel.run(
            "import nel\n"
            f"config = {{'endpoint': {{'url': '{endpoint.url}', 'model': 'm'}}, 'engine': {{'concurrency': 1, "
            f"'drain_seconds': 0}}, 'benchmarks': [{{'name': 'gsm8k', 'dataset': '{rows}'}}]}}"
        )
        stopped = kernel.run("nel.evaluate(config)", interrupt)
        turnstile.open()
        resumed = kernel.run("nel.evaluate(config, resume=True)")
    assert "error" not in stopped
    assert stopped["execute_result"][0]["data"]["text/plain"].startswith("SIGINT (exit code 130): ")
    assert "go on with: nel eval resume" in stopped["execute_result"][0]["data"]["text/plain"]
    assert "accuracy 100.00" in resumed["execute_result"][0]["data"]["text/plain"]
    wrong = kernel.run("nel.evaluate({**config, 'engin': {}})")
    assert wrong["error"][0]["traceback"] == ['evaluate(): unknown key "engin"; did you mean "engine"?']
