# what: the same by an exception of its own that derives from StopIteration
# problem: mapped
# verdict: runtime_error|wrong
class Enough(StopIteration):
    pass


def double(x):
    raise Enough(x)
