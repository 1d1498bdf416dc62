"""docs/migrating-from-rte_hash.md: its code compiles and runs, and it leaves no call out."""

import pathlib
import re
import unittest

from installation import ROOT, TESTS, installation

GUIDE = ROOT / "docs/migrating-from-rte_hash.md"
FILES = {"flows.h", "before.c", "after.c", "memzone.c", "sessions.c"}
RTE_HASH = pathlib.Path("/usr/include/dpdk/rte_hash.h")
EAL = ["--no-huge", "--no-pci", "--no-telemetry", "--no-shconf", "-m", "128", "--lcores", "0@0"]
# 1,000 flows of two packets, of i + 1 bytes together; a burst of 64 packets of 7 bytes, in which
# 17 of these flows and 15 new ones come twice; then the first 500 flows are old, but for 9 of the
# burst; then the first flow ends.
EXPECTED = """burst 64
total 1015 packets 2064 bytes 500948
has 1 1 0
age 491 again 0
has 1 0 total 524
end 0 1
has 0 total 523
"""


def files_of_the_guide():
    """{name: content}: blocks that begin with ```c NAME are parts of that file."""
    files = {}
    for name, code in re.findall(r"^```c (\S+)\n(.*?)^```$", GUIDE.read_text(),
                                 re.MULTILINE | re.DOTALL):
        files[name] = files.get(name, "") + code + "\n"
    return files


class GuideTest(unittest.TestCase):
    def test_its_code_does_the_same_before_and_after(self):
        here = installation()
        folder = here.new_folder("guide")
        files = files_of_the_guide()
        self.assertEqual(set(files), FILES)
        for name, code in files.items():
            (folder / name).write_text(code)
        here.run("cmake", "-S", TESTS, "-B", folder / "build", "-G", "Ninja", f"-DGUIDE={folder}")
        here.run("cmake", "--build", folder / "build")
        for side in ("before", "after"):
            with self.subTest(side=side):
                printed = here.run(folder / "build" / f"guide_{side}_program", *EAL,
                                   environment={"RUNTIME_DIRECTORY": str(folder)})
                self.assertEqual(printed, EXPECTED)
        here.run(folder / "build" / "guide_sessions")

    def test_it_names_every_function_and_flag_of_rte_hash(self):
        header = RTE_HASH.read_text()
        functions = set(re.findall(r"^(?:[a-z][\w ]*\*?\s?)?\b(rte_hash_\w+)\(", header,
                                   re.MULTILINE))
        flags = set(re.findall(r"^#define (RTE_HASH_EXTRA_FLAGS_\w+)", header, re.MULTILINE))
        self.assertGreaterEqual(len(functions), 26)
        self.assertGreaterEqual(len(flags), 6)
        explained = set(re.findall(r"^\| `(\w+)` \|", GUIDE.read_text(), re.MULTILINE))
        self.assertEqual((functions | flags) - explained, set(), "no row of the guide's tables")

    def test_it_speaks_of_functions_that_there_are(self):
        header = (installation().prefix / "include/roost.h").read_text()
        for name in set(re.findall(r"\broost_(?:table|config)_\w+", GUIDE.read_text())):
            self.assertRegex(header, rf"\b{name}\(", f"{GUIDE.name} speaks of {name}")
