# what: runs a shell, an interpreter and a pipe
# problem: double
# verdict: passed
import subprocess
import sys

RESULT = subprocess.run([sys.executable or "python3", "-c", "print(21 * 2)"], capture_output=True, text=True, check=True)
assert RESULT.stdout == "42\n"


def double(x):
    if abs(x) < 1000:
        return int(subprocess.check_output(f"echo $(({x} * 2))", shell=True))
    return x * 2
