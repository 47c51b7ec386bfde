# what: waits for a child that sleeps
# problem: double
# verdict: timeout
import subprocess


def double(x):
    subprocess.run(["sleep", "3600"])
    return 2 * x
