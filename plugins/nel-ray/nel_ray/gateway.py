"""The process between a run and a Ray cluster: starts an actor for each host, and carries packets
between the two.

Run as a program, so that Ray sends the actor's class by value, and a node without nel is named by
its host's own error. Depends on Ray and the standard library; Ray is imported when it is run.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Any, BinaryIO

HEAD = struct.Struct("<cII")
"""Of a frame on the pipe: its kind, the number of the host, the length of what follows."""
_LENGTH = "<I"
_LENGTH_BYTES = 4
_NODES_SECONDS = 2.0
"""Between two looks at which nodes there are."""
_HEAD_SECONDS = 15.0
"""The cluster is given up when its head has not answered for so long."""
_RECEIVE_SECONDS = 1.0
_REPLACED_MAX = 5
"""Actors that may end on one node before no more are started there."""
_PACKETS_BYTES = 1 << 20
_ENDS_SECONDS = 5.0


class Host:
    """An actor: a child process of its node that scores, and the packets to and from it."""

    def __init__(self, start: bytes) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        command = [sys.executable, "-m", "nel.engine.executors.host"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._errors)  # noqa: S603 - nel
        self._packets: queue.Queue[bytes | None] = queue.Queue()
        self._lock = threading.Lock()
        self.send([start])
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, packets: list[bytes]) -> None:
        """Write packets to the process."""
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        try:
            with self._lock:
                for packet in packets:
                    self._process.stdin.write(struct.pack(_LENGTH, len(packet)) + packet)
                self._process.stdin.flush()
        except OSError:
            return  # `receive` says so

    def receive(self, seconds: float) -> tuple[list[bytes], str | None]:
        """Return the packets that the process has written, waiting so long for one, and why it
        ended if it did.
        """
        packets: list[bytes] = []
        size = 0
        try:
            packet = self._packets.get(timeout=seconds)
            while True:
                if packet is None:
                    return packets, self._ending()
                packets.append(packet)
                size += len(packet)
                if size > _PACKETS_BYTES:
                    break
                packet = self._packets.get_nowait()
        except queue.Empty:
            return packets, None
        return packets, None

    def _ending(self) -> str:
        ending = f"its process ended with status {self._process.wait()}"
        line = last_line(self._errors)
        return f"{ending}: {line}" if line else ending

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        while True:
            header = self._process.stdout.read(_LENGTH_BYTES)
            if len(header) < _LENGTH_BYTES:
                break
            (size,) = struct.unpack(_LENGTH, header)
            self._packets.put(self._process.stdout.read(size))
        self._packets.put(None)


class _Actor:
    """An actor of the cluster, as the gateway knows it."""

    def __init__(self, handle: Any, kind: str, node: str) -> None:
        self.handle = handle
        self.kind = kind
        self.node = node
        self.has_joined = False


class Gateway:
    """Carries packets between a pipe and the actors of a cluster."""

    def __init__(
        self, ray: Any, options: dict[str, Any], starts: dict[str, bytes], out: BinaryIO
    ) -> None:
        self._ray = ray
        self._options = options
        self._starts = starts
        self._out = out
        self._out_lock = threading.Lock()
        self._lock = threading.Lock()
        self._actors: dict[int, _Actor] = {}
        self._n_started = 0
        self._lost_on: dict[str, int] = {}
        self._nodes_at = time.monotonic()
        self._pending: dict[Any, int] = {}
        """References of `receive`, by actor."""

    def write(self, kind: bytes, number: int, data: bytes) -> None:
        """Write a frame to the run."""
        with self._out_lock:
            self._out.write(HEAD.pack(kind, number, len(data)) + data)
            self._out.flush()

    def tell(self, frame: bytes, number: int, /, **facts: Any) -> None:
        """Write a frame of JSON to the run."""
        self.write(frame, number, json.dumps(facts).encode())

    def begin(self) -> None:
        """Start the first actors and say how many there are."""
        planned = self._plan()
        if "sandbox" in self._starts and not any(kind == "sandbox" for kind, _, _ in planned):
            self.tell(b"F", 0, reason=_NO_DOCKER)
            return
        self.tell(b"C", 0, ray=self._ray.__version__, planned=len(planned))
        self._start(planned)
        threading.Thread(target=self._watch_nodes, daemon=True).start()
        threading.Thread(target=self._watch_head, daemon=True).start()
        threading.Thread(target=self._receive, daemon=True).start()

    def send(self, number: int, packet: bytes) -> None:
        """Send a packet to an actor."""
        with self._lock:
            actor = self._actors.get(number)
        if actor is not None:
            actor.handle.send.remote([packet])

    def end(self, number: int) -> None:
        """Kill an actor."""
        with self._lock:
            actor = self._actors.pop(number, None)
        if actor is not None:
            self._ray.kill(actor.handle)

    def _plan(self) -> list[tuple[str, str, str]]:
        """Return the actors that there should be and are not: kind, node id and the node's name."""
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        self._nodes_at = time.monotonic()
        with self._lock:
            actors = [(actor.kind, actor.node) for actor in self._actors.values()]
        room = self._options["workers"] or sys.maxsize
        room -= sum(kind == "scoring" for kind, _ in actors)
        planned: list[tuple[str, str, str]] = []
        for node in sorted(nodes, key=lambda node: str(node["NodeID"])):
            identity, resources = str(node["NodeID"]), node["Resources"]
            name = f"{node['NodeManagerHostname']}:{identity[:6]}"
            if self._lost_on.get(identity, 0) >= _REPLACED_MAX:
                continue
            n_wanted = int(resources.get("CPU", 0)) - actors.count(("scoring", identity))
            for _ in range(max(0, min(n_wanted, room))):
                planned.append(("scoring", identity, name))
                room -= 1
            wants_sandbox = "sandbox" in self._starts and resources.get("docker", 0) > 0
            if wants_sandbox and ("sandbox", identity) not in actors:
                planned.append(("sandbox", identity, name))
        return planned

    def _start(self, planned: list[tuple[str, str, str]]) -> None:
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        remote = self._ray.remote(Host)
        for kind, identity, name in planned:
            strategy = strategies.NodeAffinitySchedulingStrategy(node_id=identity, soft=False)
            needs: dict[str, Any] = (
                {"num_cpus": 1}
                if kind == "scoring"
                else {"num_cpus": 0, "resources": {"docker": 1e-4}}
            )
            handle = remote.options(
                scheduling_strategy=strategy,
                max_concurrency=2,
                max_restarts=0,
                max_task_retries=0,
                **needs,
            ).remote(self._starts[kind])
            with self._lock:
                self._n_started += 1
                number = self._n_started
                self._actors[number] = _Actor(handle, kind, identity)
            self.tell(b"J", number, kind=kind, node=name)
            self._expect(number, handle)

    def _expect(self, number: int, handle: Any) -> None:
        reference = handle.receive.remote(_RECEIVE_SECONDS)
        with self._lock:
            self._pending[reference] = number

    def _watch_nodes(self) -> None:
        """Start actors on nodes that have come, and in place of those that were lost."""
        while True:
            time.sleep(_NODES_SECONDS)
            self._start(self._plan())

    def _watch_head(self) -> None:
        """Say that the cluster is gone when its head does not answer; Ray itself waits for a
        minute.
        """
        while time.monotonic() - self._nodes_at < _HEAD_SECONDS:
            time.sleep(1)
        self.tell(b"F", 0, reason=f"its head has not answered for {_HEAD_SECONDS:g} s")
        os._exit(1)

    def _receive(self) -> None:
        while True:
            with self._lock:
                references = list(self._pending)
            if not references:
                time.sleep(_RECEIVE_SECONDS / 20)
                continue
            answers, _ = self._ray.wait(references, num_returns=1, timeout=_RECEIVE_SECONDS / 4)
            if answers:
                answers, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
            for reference in answers:
                with self._lock:
                    number = self._pending.pop(reference)
                self._take(number, reference)

    def _take(self, number: int, reference: Any) -> None:
        is_own_fault = True
        try:
            packets, ending = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            packets, ending, is_own_fault = [], _first_line(error), False
        for packet in packets:
            self.write(b"P", number, packet)
        with self._lock:
            actor = self._actors.get(number)
            if ending is not None:
                self._actors.pop(number, None)
        if ending is None and actor is not None:
            self._expect(number, actor.handle)
        elif actor is not None:
            self._lost_on[actor.node] = self._lost_on.get(actor.node, 0) + 1
            self.tell(b"L", number, reason=ending, is_own_fault=is_own_fault)


_NO_DOCKER = (
    "no node of the Ray cluster runs programs; start a node that has a Docker engine with "
    "ray start --resources='{\"docker\": 1}' --address=HEAD:PORT"
)


def _lines(text: str) -> list[str]:
    """Return the lines of a text that are not empty, each of 300 characters at most."""
    return [line.strip()[:300] for line in text.splitlines() if line.strip()]


def last_line(errors: IO[bytes]) -> str:
    """Return the last line that a process wrote, empty for none."""
    errors.seek(0)
    return (_lines(errors.read().decode(errors="replace")) or [""])[-1]


def _first_line(error: BaseException) -> str:
    return (_lines(str(error)) or [type(error).__name__])[0]


def read_frame(stream: IO[bytes]) -> tuple[bytes, int, bytes] | None:
    """Return the next frame, None at the end of the pipe."""
    header = stream.read(HEAD.size)
    if len(header) < HEAD.size:
        return None
    kind, number, size = HEAD.unpack(header)
    data = stream.read(size)
    return (kind, number, data) if len(data) == size else None


def _connect(options: dict[str, Any]) -> Any:
    """Connect with a cluster, or start one on this machine, and return the module of Ray."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray: Any = importlib.import_module("ray")

    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "namespace": "nel"}
    new_cluster = {
        "include_dashboard": False,
        "resources": {"docker": 1},
        "object_store_memory": 128 << 20,
    }
    address = options["address"]
    if address == "local":
        ray.init(address="local", **quiet, **new_cluster)
    elif address is None and "RAY_ADDRESS" not in os.environ:
        try:
            ray.init(address="auto", **quiet)
        except ConnectionError:
            ray.init(address="local", **quiet, **new_cluster)
    else:
        ray.init(address=address, **quiet)
    return ray


def _end(ray: Any) -> None:
    """Leave the cluster, and exit whether that works or not."""
    threading.Timer(_ENDS_SECONDS, os._exit, (1,)).start()
    ray.shutdown()
    os._exit(0)


def main() -> None:
    """Serve a run until its pipe closes."""
    stdin, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Ray prints is not a frame
    options: dict[str, Any] = {}
    starts: dict[str, bytes] = {}
    while (frame := read_frame(stdin)) is not None and frame[0] != b"G":
        if frame[0] == b"O":
            options = json.loads(frame[2])
        else:
            kind, _, start = frame[2].partition(b"\n")
            starts[kind.decode()] = start
    ray = _connect(options)
    signal.signal(signal.SIGTERM, lambda *_: _end(ray))
    gateway = Gateway(ray, options, starts, out)
    gateway.begin()
    while (frame := read_frame(stdin)) is not None:
        kind_of, number, data = frame
        if kind_of == b"S":
            gateway.send(number, data)
        else:
            gateway.end(number)
    _end(ray)


if __name__ == "__main__":
    main()
