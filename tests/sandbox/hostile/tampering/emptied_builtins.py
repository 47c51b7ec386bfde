# what: empties the builtins of the whole interpreter
# problem: double
# verdict: wrong|runtime_error
import builtins

remove = delattr
for name in [name for name in vars(builtins) if not name.startswith("__")]:
    remove(builtins, name)


def double(x):
    return x
