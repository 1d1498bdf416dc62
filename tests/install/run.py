#!/usr/bin/python3
"""The install test: what users do with the package, done with nothing but the installed files.

    tests/install/run.py [--build build/release] [unittest's arguments, such as -k guide]

The build must hold roost_shared and roost_static. Every test is in a *_test.py beside this file.
"""

import argparse
import os
import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=FOLDER.parents[1] / "build/release")
    arguments, others = parser.parse_known_args()
    os.environ["ROOST_BUILD"] = str(arguments.build.resolve())
    unittest.main(module=None, argv=[sys.argv[0], "discover", "-v", "-s", str(FOLDER),
                                     "-p", "*_test.py", *others])


if __name__ == "__main__":
    main()
