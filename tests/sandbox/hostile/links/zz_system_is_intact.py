# what: looks, after all the programs before it in this folder, whether the system is whole and /tmp is clean
# verdict: passed
import json
import os
import subprocess
import tempfile

missing = [path for path in ("/etc/passwd", "/usr/bin/env", "/bin/sh", os.__file__, json.__file__) if not os.path.exists(path)]
left = [name for name in os.listdir("/tmp") if name.startswith(("link-", "sealed-", "race", "gone", "file-"))]
with tempfile.NamedTemporaryFile() as file:
    file.write(b"x")
if subprocess.run(["/bin/sh", "-c", "exit 7"]).returncode != 7:
    missing.append("the shell")


def double(x):
    if missing or left:
        raise RuntimeError(f"reached: missing {missing}, left {left}")
    return 2 * x
