#!/usr/bin/python3
"""The module's tests, with the module as its users have it: installed by pip.

    bindings/python/tests/run.py [--only install|test] [unittest's arguments, such as -k timeouts]

The virtual environment is build/python/venv, of the system's Python with its numpy and matplotlib,
whichever Python runs this.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
VENV = ROOT / "build/python/venv"


def install():
    environment = dict(os.environ)
    if shutil.which("ccache"):
        environment.update(CMAKE_CXX_COMPILER_LAUNCHER="ccache", CCACHE_BASEDIR=str(ROOT))
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", "--system-site-packages", VENV],
                   check=True)
    subprocess.run([VENV / "bin/pip", "install", "--no-deps", FOLDER.parent], check=True,
                   env=environment)


def test(arguments):
    return subprocess.run([VENV / "bin/python", "-m", "unittest", "discover", "-v", "-s", FOLDER,
                           "-p", "*_test.py", *arguments]).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=("install", "test"))
    arguments, others = parser.parse_known_args()
    if arguments.only != "test":
        install()
    return test(others) if arguments.only != "install" else 0


if __name__ == "__main__":
    sys.exit(main())
