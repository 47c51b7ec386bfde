# what: makes the entry point a class of exceptions, whose instances are all true
# problem: agrees
# verdict: passed|wrong|runtime_error
class is_odd(Exception):
    pass
