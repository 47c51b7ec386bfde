# what: leaves links that lead to themselves, to each other and through forty others
# problem: double
# verdict: passed
import os

for target, name in (("self", "self"), ("b", "a"), ("a", "b"), (".", "here"), ("here/here/here", "again")):
    os.symlink(target, name)
for place in range(45):
    os.symlink(f"chain-{place + 1}", f"chain-{place}")


def double(x):
    return 2 * x
