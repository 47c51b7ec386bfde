"""Needs a package that does not exist."""

import a_package_that_nobody_has

benchmark = a_package_that_nobody_has.benchmark
