# what: wraps the function in decorators and makes it an object
# problem: double
# verdict: passed
import functools


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


class Callable:
    def __init__(self, function):
        self.function = function

    def __call__(self, x):
        return self.function(x)

    def __getattr__(self, name):
        raise AttributeError(name)


@Callable
@counted
@functools.lru_cache(maxsize=None)
def double(x):
    return 2 * x
