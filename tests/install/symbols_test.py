"""What libroost.so exports: functions of the C headers, and of C++ what its own sources define."""

import re
import subprocess
import unittest

from installation import ROOT, VERSION, installation, run

LIST = "capi/abi/symbols.txt"
# Members of classes that a source instantiates and a header declares `extern template`, and what is
# static in them.
INSTANTIATED = re.compile(r"_ZZ?NK?5roost7compact\d+BasicParrot(Builder|Reader)I")


def defined():
    """The mangled names of the functions that sources define, not headers, roost::capi aside."""
    listing = run("nm", "--defined-only", "--extern-only", "--portability",
                  installation().libraries / "libroost.a")
    symbols = [line.split()[:2] for line in listing.splitlines() if line and line[-1] != ":"]
    return {name for name, kind in symbols
            if kind == "T" and re.match(r"_ZN?K?5roost(?!4capi)", name)}


def exported():
    """(type, mangled name, version node) of each symbol that a program may bind to."""
    listing = run("nm", "--dynamic", "--defined-only", "--extern-only", "--with-symbol-versions",
                  "--portability", installation().libraries / "libroost.so")
    for line in listing.splitlines():
        name, kind = line.split()[:2]
        if kind != "A":  # the names of the nodes themselves
            yield kind, *re.split("@+", name)


def listed():
    """(name, version node) of each C function that was promised."""
    lines = (ROOT / LIST).read_text().splitlines()
    return {tuple(reversed(line.split())) for line in lines if not line.startswith("#")}


class SymbolsTest(unittest.TestCase):
    def test_c_functions_are_those_of_the_list_and_of_the_header(self):
        functions = {(name, node) for _, name, node in exported() if not name.startswith("_Z")}
        self.assertEqual(functions, listed())
        include = installation().prefix / "include"
        header = "".join(path.read_text() for path in sorted(include.glob("*.h")))
        declared = set(re.findall(r"^(?!static)[a-z][\w* ]*?\b(roost_\w+)\(", header, re.MULTILINE))
        self.assertEqual({name for name, _ in functions}, declared, f"add it to {LIST}")

    def test_no_commit_took_a_c_function_from_the_list(self):
        history = subprocess.run(["git", "log", "--format=", "--patch", "--", LIST], cwd=ROOT,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if history.returncode != 0:
            print("NOT TESTED: that the list of C functions only grew: no history here")
        taken = re.findall(r"^-(ROOST_.*)$", history.stdout, re.MULTILINE)
        self.assertEqual(taken, [], f"{LIST} only grows; programs in use rely on it")

    def test_cpp_is_what_sources_define_and_is_versioned_by_release(self):
        symbols = [symbol for symbol in exported() if symbol[1].startswith("_Z")]
        for kind, name, node in symbols:
            self.assertEqual(node, f"ROOST_CXX_{VERSION}", name)
            if not INSTANTIATED.match(name):
                self.assertIn(kind, "TRDB", f"{name} is weak: an inline function or a template")
        names = {name for _, name, _ in symbols if not INSTANTIATED.match(name)}
        self.assertEqual(names - defined(), set(), "exported, but of no source of Roost")
        self.assertEqual(defined() - names, set(), "defined, but not listed in cmake/roost.map.in")
