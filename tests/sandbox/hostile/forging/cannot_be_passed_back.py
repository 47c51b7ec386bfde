# what: returns something that the tests can receive but not pass back, to make the tests look broken
# problem: composed
# verdict: wrong|runtime_error
import sys

for module in list(sys.modules.values()):
    if hasattr(module, "DEPTH_MAX"):
        module.DEPTH_MAX = 100_000


def double(x):
    value = 1
    for _ in range(201):
        value = [value]
    return value
