# what: defines no function, only a module that makes one for every name
# problem: double
# verdict: runtime_error|wrong
def __getattr__(name):
    return lambda *_, **__: 4
