"""A Ray cluster of several nodes on this machine, in a process of its own: nodes can be killed and added.

As a program it is that process: it prints the address, then obeys ``add``, ``kill N``, ``head``, which kills the head
alone, and ``end``, which kills the head and every node, on its input.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.ports import free_port

HAS_RAY = importlib.util.find_spec("ray") is not None


class RayCluster:
    """A cluster, as tests see it."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self.address = address

    def order(self, text: str) -> None:
        """Have a node added or killed, and wait until that is done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def ray_client_server(cluster: RayCluster) -> Iterator[str]:
    """Serve a cluster to Ray's clients and return the ``ray://`` address; one process, for one client at a time."""
    port = free_port()
    command = [sys.executable, "-m", "ray.util.client.server", "--mode", "specific-server", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--address", cluster.address]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield f"ray://127.0.0.1:{port}"
        finally:
            process.kill()


@contextmanager
def ray_cluster(nodes: int = 2) -> Iterator[RayCluster]:
    """Start a cluster with one CPU and one Docker engine on each node; end it with the block."""
    command = [sys.executable, "-m", "tests.support.ray_cluster", str(nodes)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield RayCluster(process, process.stdout.readline().strip())
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=60)


def _serve(n_nodes: int) -> None:
    cluster_utils = importlib.import_module("ray.cluster_utils")
    node = {"num_cpus": 1, "resources": {"docker": 1}, "object_store_memory": 80 << 20}
    head = {**node, "include_dashboard": False}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    others = [cluster.add_node(**node) for _ in range(n_nodes - 1)]
    sys.__stdout__.write(f"{cluster.address}\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]
    for line in sys.stdin:
        what, _, which = line.strip().partition(" ")
        if what == "add":
            others.append(cluster.add_node(**node))
        elif what == "kill":
            cluster.remove_node(others[int(which)], allow_graceful=False)
        elif what == "head":
            cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
        else:
            _end(cluster, others)
        sys.__stdout__.write("done\n")  # type: ignore[union-attr]
        sys.__stdout__.flush()  # type: ignore[union-attr]
    _end(cluster, others)


def _end(cluster: Any, others: list[Any]) -> None:
    for one in (cluster.head_node, *others):
        one.kill_all_processes(check_alive=False, allow_graceful=False)


if __name__ == "__main__":
    sys.stdout = sys.stderr
    _serve(int(sys.argv[1]))
