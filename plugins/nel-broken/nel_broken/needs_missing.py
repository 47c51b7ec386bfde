"""Needs a package that nobody has."""

import a_package_that_nobody_has

benchmark = a_package_that_nobody_has.benchmark
