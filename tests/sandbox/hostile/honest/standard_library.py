# what: imports much of the standard library
# verdict: passed
import array
import bisect
import collections
import datetime
import decimal
import fractions
import functools
import heapq
import hashlib
import itertools
import json
import math
import operator
import random
import re
import sqlite3
import statistics
import string
import typing
import unittest
import zlib


def double(x):
    return functools.reduce(operator.add, itertools.repeat(x, 2))
