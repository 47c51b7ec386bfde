# what: the classic fork bomb of the shell
# problem: double
# verdict: runtime_error|timeout|out_of_memory
import os


def double(x):
    os.system("b() { b | b & }; b; sleep 60")
    raise RuntimeError("the shell came back")
