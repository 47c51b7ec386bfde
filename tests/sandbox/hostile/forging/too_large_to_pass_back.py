# what: returns a string just below every limit, which is beyond it when the tests pass it on
# problem: composed
# verdict: wrong|runtime_error
def double(x):
    return "\x00" * (((8 << 20) - 30) // 6)
