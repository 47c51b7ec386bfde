"""A server that answers at once: nginx with one fixed completion, so that what is measured is the client.

Note: nginx unescapes what stands in quotes, so the completion's line break is escaped once more than JSON wants it.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ANSWER = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "The answer is 42.\\nAnswer: 42"},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
}
LOG_FORMAT = "$msec $request_method $status"


@contextmanager
def instant_server(folder: Path, access_log: Path | None = None) -> Iterator[str]:
    """Serve the fixed completion with nginx, and yield the URL that ends in /v1.

    Args:
        access_log: Where each answer leaves a line in `LOG_FORMAT`. It is written in blocks, so it is complete only
            once the server has stopped.
    """
    nginx = shutil.which("nginx")
    if nginx is None:
        sys.exit("this measurement needs nginx; on Debian: apt-get install nginx-light")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    log = f"{access_log} answers buffer=64k flush=1s" if access_log else "off"
    (folder / "nginx.conf").write_text(
        f"""worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
        events {{ worker_connections 1024; }}
        http {{ log_format answers '{LOG_FORMAT}'; access_log {log};
          keepalive_requests 100000000; client_body_buffer_size 64k; client_body_temp_path {folder}/body;
          server {{ listen 127.0.0.1:{port}; default_type application/json;
            location = /v1/models {{ return 200 '{{"data":[{{"id":"m"}}]}}'; }}
            location / {{ return 200 '{json.dumps(ANSWER)}'; }} }} }}"""
    )
    server = subprocess.Popen(
        [nginx, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"], stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(10)
