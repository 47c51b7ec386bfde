# what: an exception whose class only claims to be StopIteration, by its name and its order of bases
# problem: mapped
# verdict: runtime_error|wrong
class StopIteration(Exception):
    pass


class Meta(type):
    def mro(cls):
        return [cls, StopIteration, Exception, BaseException, object]


class Enough(StopIteration, metaclass=Meta):
    pass


def double(x):
    raise Enough
