# what: holds objects whose __class__ is not their type, as mocks and proxies do
# problem: double
# verdict: passed
from unittest import mock

model = mock.Mock(spec=type)
thing = mock.MagicMock(spec=dict)


class Proxy:
    __class__ = property(lambda self: type)


proxy = Proxy()


def double(x):
    return 2 * x
