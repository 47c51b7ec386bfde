# what: expects the temporary folder to hold nothing that it did not make
# problem: double
# verdict: passed
import os

found = [name for name in os.listdir(b"/tmp") if b"nel-left" in name or name == b"-rf"]


def double(x):
    if found:
        raise RuntimeError(f"reached: {found}")
    if not os.path.isdir("/usr/bin") or not os.path.isfile("/etc/passwd"):
        raise RuntimeError("reached: the system has lost files")
    return 2 * x
