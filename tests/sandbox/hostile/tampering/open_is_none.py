# what: removes open, print and import from the builtins and answers wrong
# problem: double
# verdict: wrong|runtime_error
import builtins

builtins.open = builtins.print = builtins.__import__ = builtins.exec = builtins.compile = None


def double(x):
    return x
