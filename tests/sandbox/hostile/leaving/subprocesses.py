# what: leaves shells in the background that nobody waits for
# problem: double
# verdict: passed
import subprocess

for _ in range(3):
    subprocess.Popen("(trap '' HUP TERM INT; sleep 3600 & sleep 3600) &", shell=True, start_new_session=True)


def double(x):
    return 2 * x
