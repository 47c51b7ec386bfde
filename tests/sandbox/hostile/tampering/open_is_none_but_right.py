# what: removes open and input from the builtins and answers right
# verdict: passed
import builtins

builtins.open = builtins.input = None


def double(x):
    return 2 * x
