# what: raises an exception of its own that no "except Exception" catches
# problem: double
# verdict: runtime_error
class Done(BaseException):
    pass


def double(x):
    raise Done
