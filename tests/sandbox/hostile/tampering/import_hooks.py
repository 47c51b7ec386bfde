# what: puts an importer of its own before all others and forgets what the harness may import again
# problem: double
# verdict: wrong|runtime_error
import sys
import types


class Everything(types.ModuleType):
    def __getattr__(self, name):
        return lambda *_, **__: 4


class Finder:
    def find_spec(self, name, path=None, target=None):
        sys.modules[name] = Everything(name)
        raise ImportError(name)


sys.meta_path.insert(0, Finder())
sys.path_hooks.clear()
for name in ("traceback", "json", "reprlib", "linecache"):
    sys.modules[name] = Everything(name)


def double(x):
    raise ValueError(x)
