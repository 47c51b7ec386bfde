# what: imports everything from modules that shadow builtins
# problem: double
# verdict: passed
from math import *
from operator import *
from os import *
from typing import *


def double(x):
    return add(x, x)
