# what: imports a module that is not installed
# verdict: runtime_error
import no_such_module_at_all


def double(x):
    return 2 * x
