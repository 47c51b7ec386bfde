# what: is replaced in part by its own code beside its tests
# mode: shared
# verdict: passed
from unittest import mock


def factor():
    return 3


def double(x):
    with mock.patch.dict(globals(), factor=mock.Mock(return_value=2)):
        return factor() * x
