"""What libroost.so exports: the C functions, and of C++ what its own sources define."""

import re
import unittest

from installation import installation, run

VERSION = "0.1.0"


def defined():
    """The mangled names of the functions of namespace roost that sources define, not headers."""
    listing = run("nm", "--defined-only", "--extern-only", "--portability",
                  installation().libraries / "libroost.a")
    symbols = [line.split()[:2] for line in listing.splitlines() if line and line[-1] != ":"]
    return {name for name, kind in symbols if kind == "T" and re.match(r"_ZN?K?5roost", name)}


def exported():
    """(type, mangled name, version node) of each symbol that a program may bind to."""
    listing = run("nm", "--dynamic", "--defined-only", "--extern-only", "--with-symbol-versions",
                  "--portability", installation().libraries / "libroost.so")
    for line in listing.splitlines():
        name, kind = line.split()[:2]
        if kind != "A":  # the names of the nodes themselves
            yield kind, *re.split("@+", name)


class SymbolsTest(unittest.TestCase):
    def test_cpp_is_versioned_by_release_and_has_no_inline_function(self):
        symbols = [symbol for symbol in exported() if symbol[1].startswith("_Z")]
        self.assertGreater(len(symbols), 30)
        for kind, name, node in symbols:
            self.assertRegex(name, r"^_ZN?K?5roost", "exported and not of namespace roost")
            self.assertNotIn("4capi", name)
            self.assertEqual(node, f"ROOST_CXX_{VERSION}", name)
            self.assertIn(kind, "TRDB", f"{name} is weak: an inline function or a template")
        internal = {name for name in defined() if "4capi" in name}
        self.assertEqual({name for _, name, _ in symbols}, defined() - internal)
