# what: uses exceptions, StopIteration among them, without letting them out
# problem: mapped
# verdict: passed
def double(x):
    things = iter([2 * x])
    result = next(things)
    try:
        next(things)
    except StopIteration:
        pass
    return result
