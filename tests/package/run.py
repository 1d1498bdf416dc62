#!/usr/bin/python3
"""The package test: builds the Debian packages of this tree, looks at them, installs them, runs the
service as its unit says, and purges them.

    tests/package/run.py [unittest's arguments, such as -k service]

Packages are built in build/package, from a copy of the tree. Installing needs root; what could not
be tested is said in lines that begin with NOT TESTED.
"""

import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))


def main():
    unittest.main(module=None, argv=[sys.argv[0], "discover", "-v", "-s", str(FOLDER),
                                     "-p", "*_test.py", *sys.argv[1:]])


if __name__ == "__main__":
    main()
