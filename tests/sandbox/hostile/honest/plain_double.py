# what: the plain answer
# problem: double
# verdict: passed
def double(x: int) -> int:
    """Return twice x."""
    return 2 * x
