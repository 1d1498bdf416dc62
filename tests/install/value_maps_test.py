"""Value-only tables from C++: templates that are partly the library's, partly the program's."""

import itertools
import unittest

from installation import TESTS, installation


class ValueMapsTest(unittest.TestCase):
    def test_programs_build_both_kinds(self):
        here = installation()
        folder = here.new_folder("value-maps")
        for level, package in itertools.product(("-O0", "-O2"), ("roost", "roost-static")):
            program = folder / f"value_maps{level}-{package}"
            here.run("g++", "-std=c++20", level, "-Wall", "-Wextra", "-Werror",
                     TESTS / "value_maps.cc", "-o", program, *here.flags(package))
            self.assertEqual(here.run(program), "line map 1000\nParrot 1000\n")


if __name__ == "__main__":
    unittest.main()
