"""The debugger's printers, as installed, over a program that was built against the package."""

import re
import unittest

from installation import TESTS, installation

# Finds the buckets in use, for which slots they are in depends on the hash.
SHOW_BUCKETS = """
table = Table(gdb.parse_and_eval("flows"))
for bucket in table.busy_buckets():
  gdb.execute(f"roost-bucket flows {bucket}")
  gdb.set_convenience_variable("line", table.line(bucket))
  gdb.execute("print $line")
for bucket in Table(gdb.parse_and_eval("ports")).busy_buckets():
  gdb.execute(f"roost-bucket ports {bucket}")
  gdb.set_convenience_variable("line", Table(gdb.parse_and_eval("ports")).line(bucket))
  gdb.execute("print $line")
last = Table(gdb.parse_and_eval("names")).bucket_count - 1
gdb.execute(f"roost-bucket names {last}")
for wrong in ("flows 126", "flows", "flows.core_ 0"):
  try:
    gdb.execute(f"roost-bucket {wrong}")
  except gdb.error as error:
    print(f"refused: {error}")
"""


class GdbTest(unittest.TestCase):
    def session(self, compiler, options):
        here = installation()
        folder = here.new_folder("gdb")
        program, commands = folder / "gdb_program", folder / "buckets.py"
        commands.write_text(SHOW_BUCKETS)
        here.run("cmake", "-S", TESTS, "-B", folder, "-G", "Ninja",
                 f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS=-g {options}")
        here.run("cmake", "--build", folder)
        script = here.run("pkg-config", "--variable=gdb_script", "roost").strip()
        return here.run("gdb", "-nx", "-batch", "-x", script, "-ex", "break stop_here",
                        "-ex", "run", "-ex", "print flows", "-ex", "print names",
                        "-ex", "print ports", "-x", commands, program, seconds=60)

    def test_tables_and_buckets_are_shown_in_words(self):
        for compiler, options in (("g++", "-O2"), ("g++", "-O0"), ("clang++-16", "-O2")):
            with self.subTest(compiler=compiler, options=options):
                self.check(self.session(compiler, options))

    def check(self, shown):
        self.assertRegex(shown, r"flow table: 2 of 1008 slots busy \(load 0\.2%\), kernel \w+, "
                                r"now 110 = \{\[\{client = 3, server = 4\}\] = "
                                r"\{packets = 33, bytes = 44\}\}\n")
        self.assertRegex(shown, r"flow table: 1 of 18 slots busy \(load 5\.6%\), kernel \w+ = "
                                r"\{\{client = 5, server = 6\}\}\n")
        # Keys come back from where they are, in either of their buckets.
        ports = re.search(r"\$\d+ = flow table: 30 of \d+ slots busy .*?\n", shown).group(0)
        for number in range(128, 158):
            self.assertIn(f'\\004\\{number:o}"}}] = {number}', ports)
            self.assertIn(f'\\004\\{number:o}"}}\n    value {number}\n', shown)
        self.assertRegex(shown, r"remainder 0x\w{12}, displaced\n    key")
        self.assertRegex(shown, r"bucket line: \d of 8 slots busy = \{slot \d = remainder 0x\w{12}")
        self.assertRegex(shown, r"bucket \d+: 1 of 8 slots busy, 0 moved away, filter 0x0{16}\n"
                                r"  slot \d: tag 0x\w{4}, primary, expired 5 ago\n"
                                r"    key \{client = 1, server = 2\}\n"
                                r"    value \{packets = 11, bytes = 22\}\n")
        self.assertIn("expires at 150 (in 40)\n    key {client = 3, server = 4}", shown)
        self.assertRegex(shown, r"bucket line: 1 of 8 slots busy, .* = "
                                r"\{slot \d = tag 0x\w{4}, primary, timer 150\}")
        self.assertIn("stash bucket 21: 0 of 3 slots busy", shown)
        self.assertIn("refused: there is no bucket 126; the last one is 125", shown)
        self.assertIn("refused: roost-bucket takes a FlowTable and a bucket's index", shown)
        self.assertRegex(shown, "refused: flows.core_ is a .*, not a roost::FlowTable")
