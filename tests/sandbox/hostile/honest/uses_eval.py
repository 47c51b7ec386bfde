# what: uses eval, exec, compile and globals
# problem: double
# verdict: passed
exec(compile("def twice(x):\n    return eval('x + x', {'x': x})", "<made>", "exec"))


def double(x):
    return globals()["twice"](x)
