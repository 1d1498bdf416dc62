"""Tests of tools/tidy.py: violations are planted in a small clean tree, and each is named."""

import pathlib
import tempfile
import unittest

import tidy
import tidy_readme
import tidy_rules
from tidy_tree import Tree

# A tree in which every rule holds; a test changes one file of it.
CLEAN = {
    "dev": "#!/bin/sh\n# The one script.\ncat <<'TEXT'\n./dev run   replays\nTEXT\n",
    "README.md": "```sh\n./dev run\nroost lb --check -c demo.toml\n```\n"
                 "```\nport -> parse -> table\n```\n",
    "apps/lb/CMakeLists.txt": "add_executable(roost main.cc)\n",
    "apps/lb/README.md": "The balancer.\n",
    "apps/lb/main.cc": '// The program.\n#include <cstdio>\n#include "roost/net/parse.h"\n'
                       'int main() { std::puts("--check"); }\n',
    "apps/nat/CMakeLists.txt": "add_library(nat nat.cc)\n",
    "apps/nat/README.md": "Another function.\n",
    "apps/nat/nat.cc": "// It translates.\n",
    "ARCHITECTURE.md": "".join(f"| `{room}` | holds |\n" for room in tidy_rules.ROOMS
                               if room.startswith("roost/")),
    "roost/base/CMakeLists.txt": "roost_room(NAME base HEADERS bits.h)\n",
    "roost/base/README.md": "Bits.\n",
    "roost/base/bits.h": "// Bits, never printf() in a comment.\n#pragma once\n",
    "roost/net/CMakeLists.txt": "foreach(name parse)\n  add(${name}.h ${name}.cc)\nendforeach()\n",
    "roost/net/README.md": "Parsing.\n",
    "roost/net/parse.h": '// Parsing.\n#pragma once\n#include "roost/base/bits.h"\n'
                         "struct [[gnu::packed]] Header {\n  char bytes[4];\n};\n"
                         "static_assert(sizeof(Header) == 4);\n",
    "docs/decisions/README.md": "Index: 0001-one.md\n",
    "docs/decisions/0001-one.md": "One.\n",
    "roost/net/parse.cc": '#include "roost/net/parse.h"\n',
    "tests/net/CMakeLists.txt": "roost_test(NAME parse SOURCES parse_test.cc)\n",
    "tests/net/parse_test.cc": '// Tests of parsing.\n#include "tests/net/frames.h"\n',
    "tests/net/frames.h": "// Frames that tests send.\n#pragma once\n",
    "capi/CMakeLists.txt": "add_library(roost_capi roost.h roost_types.h table.cc)\n",
    "capi/README.md": "The C interface.\n",
    "capi/roost.h": '// C.\n#pragma once\n#include "roost_types.h"\n#define ROOST_MAJOR 0\n',
    "capi/roost_types.h": "// Types of C.\n#pragma once\n",
    "bindings/python/CMakeLists.txt": "nanobind_add_module(_roost table.cc)\n",
    "bindings/python/table.cc": "// The table.\n#include <roost.h>\n",
    "tests/install/guide_test.py": '"""The guide."""\n\n\nclass GuideTest:\n'
                                   "    def test_calls(self):\n        pass\n",
    "tests/mutants/net.toml": """
[[mutant]]
name = "net-short-header"
why = "A header is a byte short."
tests = ["parse", "install:calls"]
file = "roost/net/parse.h"
find = "char bytes[4];"
replace = "char bytes[3];"
""",
    "tools/given_up_words.txt": "# The words.\nlittle box -> mailbox  # of workers\n"
                                "pillow @ roost/net/ apps/ -> cushion\n",
    "tools/stages.sh": "# The stages.\nstages='check:60\n  docs:10'\n",
    "CONTRIBUTING.md": "| `check` | 60 |\n| `docs` | 10 | told |\n",
    "capi/table.cc": '// The table.\n#include "capi/roost.h"\n#include "roost/base/bits.h"\n',
}


MUTANTS = "tests/mutants/net.toml"


def mutant(before, after):
    """The clean tree's list of mutants with another text in it."""
    assert before in CLEAN[MUTANTS]
    return MUTANTS, CLEAN[MUTANTS].replace(before, after)


def long_function(lines):
    return "// A function.\nnamespace roost {\ninline int f() {\n" + "  f();\n" * lines + "}\n}\n"


# (rule, file, its text): each is found once, and nothing else with it.
PLANTED = [
    ("intrinsics", "roost/net/parse.cc", "#include <immintrin.h>\n"),
    ("intrinsics", "roost/net/parse.cc", "auto x = _mm256_set1_epi16(1);\n"),
    ("intrinsics", "tests/net/frames.h", "// Frames.\n#pragma once\n#include <arm_neon.h>\n"),
    ("dpdk", "roost/net/parse.cc", "#include <rte_mbuf.h>\n"),
    ("dpdk", "apps/lb/main.cc", '// P.\nauto s = "--check";\nvoid f() { rte_exit(); }\n'),
    ("atomics", "roost/net/parse.cc", "std::atomic<int> count;\n"),
    ("atomics", "apps/lb/main.cc", '// P.\nauto s = "--check";\nint x = __atomic_load_n(&y, 0);\n'),
    ("printing", "roost/net/parse.cc", 'void f() { std::printf("x"); }\n'),
    ("printing", "roost/net/parse.cc", "void f() { fmt::print(stderr, 1); }\n"),
    ("printing", "roost/net/parse.cc", "#include <iostream>\n"),
    ("prefetches", "roost/net/parse.cc", "void f(char* p) { __builtin_prefetch(p); }\n"),
    ("cycles", "roost/net/parse.cc", "auto t = __rdtsc();\n"),
    ("exceptions", "roost/net/parse.cc", "void f() { throw 1; }\n"),
    ("includes", "roost/base/bits.h", '// B.\n#pragma once\n#include "tests/net/frames.h"\n'),
    ("includes", "roost/net/parse.cc", '#include "apps/lb/main.cc"\n'),
    ("includes", "roost/net/parse.cc", '#include "parse.h"\n'),
    ("includes", "roost/net/parse.cc", '#include "roost/net/absent.h"\n'),
    ("includes", "capi/table.cc", '// T.\n#include "roost/net/parse.h"\n'),
    ("includes", "capi/table.cc", '// T.\n#include "roost_types.h"\n'),
    ("includes", "bindings/python/table.cc", '// T.\n#include "roost/base/bits.h"\n'),
    ("includes", "apps/nat/nat.cc", '// N.\n#include "apps/lb/main.cc"\n'),
    ("includes", "apps/lb/main.cc", '// P. "--check"\n#include "capi/roost.h"\n'),
    ("circles", "tests/net/frames.h",
     '// Frames.\n#pragma once\n#include "tests/net/frames.h"\n'),
    ("circles", "tools/look.py", '"""Looks."""\n\nimport look\n'),
    ("circles", "tools/look.py", '"""Looks."""\n\nfrom tools import look\n'),
    ("circles", "tools/look.py", '"""Looks."""\n\nfrom . import look\n'),
    ("circles", "tools/look.py", '"""Looks."""\n\n\ndef f():\n    import tools.look as other\n'),
    ("layout", "roost/net/parse.cc", "struct [[gnu::packed]] Tag {\n  char c;\n};\n"),
    ("layout", "roost/net/parse.cc", "struct alignas(64) Line {\n  char c[64];\n};\n"),
    ("layout", "roost/net/parse.cc", "struct Tag {\n  char c;\n} __attribute__((packed));\n"),
    ("names", "tools/string_utils.py", '"""Strings."""\n'),
    ("names", "docs/design_v2.md", "Design.\n"),
    ("names", "docs/two words.md", "Words.\n"),
    ("targets", "roost/net/lost.h", "// Lost.\n#pragma once\n"),
    ("targets", "tests/net/lost_test.cc", "// Lost.\n"),
    ("targets", "tests/net/lost_test.c", "// Lost.\n"),
    ("targets", "tests/net/lost.h", "// Lost.\n#pragma once\n"),
    ("head", "roost/base/bits.h", "#pragma once\n"),
    ("head", "roost/base/bits.h", "// Bits, twice included.\n"),
    ("head", "tools/look.py", "import sys\n"),
    ("head", "tests/look.sh", "#!/bin/sh\nset -eu\n"),
    ("readme", "roost/hash/CMakeLists.txt", "roost_room(NAME hash)\n"),
    ("rooms", "ARCHITECTURE.md", CLEAN["ARCHITECTURE.md"].replace("| `roost/io` | holds |\n", "")),
    ("comments", "roost/net/parse.cc", '#include "roost/net/parse.h"  // not roost/net/lost.h\n'),
    ("decisions", "docs/decisions/0002-two.md", "Two.\n"),
    ("macros", "capi/roost.h",
     '// C.\n#pragma once\n#include "roost_types.h"\n#define MAJOR 0\n'),
    ("macros", "roost/base/bits.h", "// B.\n#pragma once\n#define KEYS 3\n"),
    ("unfinished", "roost/net/parse.cc", "// TODO: the rest\n"),
    ("paths", "docs/start.md", "Go to /home/ada/roost first.\n"),
    ("words", "roost/net/parse.cc", "// Each worker has a little box.\n"),
    ("words", "roost/net/parse.cc", "// Each worker has a little\n// box.\n"),
    ("words", "roost/net/parse.cc", "int little_boxes = 2;\n"),
    ("words", "docs/little-box.md", "Mail.\n"),
    ("words", "roost/net/parse.cc", "// A pillow.\n"),
    ("words", "apps/nat/nat.cc", "// A pillow.\n"),
    ("file-lines", "roost/net/parse.cc", "// x\n" * 351),
    ("columns", "roost/net/parse.cc", "// " + "x" * 98 + "\n"),
    ("function-lines", "roost/base/bits.h", "// B.\n#pragma once\n" + long_function(61)),
    ("function-lines", "tools/look.py", '"""Looks."""\n\n\ndef f():\n' + "    f()\n" * 60),
    ("readme", "README.md", "```sh\n./dev fly\n```\n"),
    ("budget", "CONTRIBUTING.md", "| `check` | 61 |\n| `docs` | 10 |\n"),
    ("budget", "CONTRIBUTING.md", "| `check` | 60 |\n"),
    ("budget", "CONTRIBUTING.md", "| `check` | 60 |\n| `docs` | 10 |\n| `fly` | 10 |\n"),
    ("readme", "README.md", "```\nroost bridge -c x.toml\n```\n"),
    ("readme", "README.md", "```\nroost lb --colour\n```\n"),
    ("readme", "README.md", "```sh\nmake install\n```\n"),
    ("mutants", *mutant("bytes[4]", "bytes[5]")),
    ("mutants", *mutant('"char bytes[4];"', '"a"')),
    ("mutants", *mutant("bytes[3]", "bytes[4]")),
    ("mutants", *mutant("net/parse.h", "net/gone.h")),
    ("mutants", *mutant('"parse"', '"lost"')),
    ("mutants", *mutant("install:calls", "install:lost")),
    ("mutants", *mutant("install:calls", "package:calls")),
    ("mutants", *mutant('tests = ["parse", "install:calls"]', "tests = []")),
    ("mutants", *mutant("net-short", "lb-short")),
    ("mutants", *mutant("find =", "search =")),
    ("mutants", *mutant('file = "roost/net/parse.h"', "")),
    ("mutants", *mutant("[[mutant]]", '[[mutant]]\ncaught_by = "luck"')),
    ("mutants", *mutant("[[mutant]]", "[[mutants]]")),
    ("mutants", *mutant("[[mutant]]", "[[mutant]")),
    ("mutants", MUTANTS, CLEAN[MUTANTS] * 2),
    ("mutants", "tests/net/CMakeLists.txt",
     "add_executable(net parse_test.cc)\nadd_test(NAME parse COMMAND net)\n"),
]


class TidyTest(unittest.TestCase):
    def found(self, changes):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**CLEAN, **changes}.items():
                file = pathlib.Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return list(tidy.findings(Tree(folder)))

    def test_a_clean_tree_breaks_no_rule(self):
        self.assertEqual([], self.found({}))

    def test_each_planted_violation_is_named_and_nothing_else(self):
        for rule, path, text in PLANTED:
            with self.subTest(rule=rule, path=path, text=text[-60:]):
                found = self.found({path: text})
                self.assertEqual([rule], [finding.rule for finding in found])

    def test_a_mutant_may_name_a_test_of_the_lab(self):
        path, text = mutant('"parse"', '"lab_store"')
        self.assertEqual([], self.found({path: text,
                                         "lab/CMakeLists.txt": "lab_test(lab_store LINKS x)\n"}))

    def test_a_mutant_may_have_several_edits_and_a_preset(self):
        whole = mutant('"parse"', '"parse_on_v2"')[1].replace(
            "file = ", "preset = 'aarch64'\n[[mutant.edit]]\nfile = ") + """
[[mutant.edit]]
file = "roost/net/parse.cc"
find = "#include"
replace = "#import"
"""
        presets = '{"configurePresets": [{"name": "%s"}]}'
        self.assertEqual([], self.found({MUTANTS: whole,
                                         "CMakePresets.json": presets % "aarch64"}))
        found = self.found({MUTANTS: whole, "CMakePresets.json": presets % "debug"})
        self.assertEqual([(MUTANTS, 2)], [(finding.path, finding.line) for finding in found])

    def test_rules_allow_what_is_in_its_room(self):
        self.assertEqual([], self.found({
            "roost/isa/CMakeLists.txt": "roost_room(NAME isa HEADERS sse42.h)\n",
            "roost/isa/README.md": "Kernels.\n",
            "roost/isa/sse42.h": "// K.\n#pragma once\n#include <nmmintrin.h>\n",
            "roost/io/CMakeLists.txt": "roost_room(NAME io HEADERS clock.h)\n",
            "roost/io/README.md": "Ports.\n",
            "roost/io/clock.h": "// The clock.\n#pragma once\nauto now = rte_rdtsc();\n",
        }))

    def test_a_room_that_no_list_knows_is_named(self):
        found = self.found({"roost/bits/CMakeLists.txt": "roost_room(NAME bits)\n",
                            "roost/bits/README.md": "Bits.\n"})
        self.assertEqual(["rooms"], [finding.rule for finding in found])

    def test_a_class_of_many_lines_is_no_function(self):
        members = "  int f() { return 1; }\n" * 70
        for head in ("class Table {", "template <class Key, int (*f)(int)>\nstruct Table {"):
            text = "// B.\n#pragma once\n" + head + "\n" + members + "};\n"
            self.assertEqual([], self.found({"roost/base/bits.h": text}))

    def test_a_circle_of_python_files_may_go_through_a_package_and_a_function(self):
        found = self.found({
            "lab/lb/experiment.py": '"""E."""\n\n\ndef f():\n    from lb import packets\n',
            "lab/lb/packets.py": '"""P."""\n\nfrom json import loads\nfrom lb import experiment\n',
            "lab/lb/jobs.py": '"""J."""\n\nfrom lb import packets\n'})
        self.assertEqual(["lab/lb/experiment.py -> lab/lb/packets.py -> lab/lb/experiment.py"],
                         [finding.message.split(":")[0] for finding in found])

    def test_six_lines_of_code_stand_in_one_folder_of_apps(self):
        lines = [f"int step_{number}();\n" for number in range(12)]
        spread = "".join(f"  {line}\n// Why.\n{{ }};\n#include <ratio>\n" for line in lines)

        def found(text, other_text):
            return self.found({"apps/lb/main.cc": '// P. "--check"\n' + text,
                               "apps/nat/nat.cc": "// N.\nint nat;\n" + other_text})
        for count, twins in ((5, 0), (6, 1), (12, 1)):
            for text in ("".join(lines[:count]), spread[:spread.index(lines[count - 1]) + 20]):
                with self.subTest(count=count, text=text[-60:]):
                    places = [(finding.rule, finding.path, finding.line)
                              for finding in found("".join(lines), text)]
                    self.assertEqual([("twins", "apps/nat/nat.cc", 3)] * twins, places)
        apart = "".join(lines[:6]) + "int other;\n" + "".join(lines[6:])
        self.assertEqual([3, 10], [finding.line for finding in found("".join(lines), apart)])
        words = [line.replace("()", '[] = "a"') for line in lines]
        self.assertEqual([], found("".join(words), "".join(words).replace("a", "b")))
        self.assertEqual([], self.found({
            "apps/lb/main.cc": '// P. "--check"\n#include "apps/lb/steps.h"\n' + "".join(lines),
            "apps/lb/steps.h": "// Steps.\n#pragma once\n" + "".join(lines)}))

    def test_a_word_may_be_given_up_in_some_places_only(self):
        self.assertEqual([], self.found({"roost/base/bits.h": "// A pillow.\n#pragma once\n"}))

    def test_history_keeps_its_words(self):
        self.assertEqual([], self.found({"CHANGELOG.md": "little_box is mailbox now.\n",
                                         "docs/decisions/0001-one.md": "A little box each.\n"}))

    def test_the_allow_list_excuses_and_only_shrinks(self):
        file = {"roost/net/parse.cc": "// x\n" * 360}

        def rules(entries):
            return [finding.rule for finding in self.found({**file, tidy.ALLOW_LIST: entries})]
        self.assertEqual([], rules("file-lines roost/net/parse.cc 360  # a table of protocols\n"))
        self.assertEqual(["file-lines"], rules("file-lines roost/net/parse.cc 359\n"))
        self.assertEqual(["allow-list"], rules("file-lines roost/net/parse.cc 361\n"))
        self.assertEqual(["file-lines", "allow-list"], rules("dpdk roost/net/parse.cc\n"))

    def test_readme_commands_are_found_in_fences_only(self):
        text = "./dev fly\n```sh\n$ ./dev run \\\n  x.pcap\n# why\n```\n./dev no\n"
        self.assertEqual(["./dev run x.pcap"],
                         [command for _, command, _ in tidy_readme.commands(text)])

    def test_output_that_readme_shows_is_held_against_what_its_command_prints(self):
        text = ("```\n./dev run\n```\nIt says:\n```text\none\n...\n  four\n```\n"
                "```\n./dev test\n```\n")
        shown = tidy_readme.shown_output(text)
        self.assertEqual({"./dev run": ["one", "...", "  four"]}, shown)
        lines = shown["./dev run"]
        self.assertIsNone(tidy_readme.not_printed(lines, ["zero", "one", "two", "  four"]))
        self.assertEqual("  four", tidy_readme.not_printed(lines, ["  four", "one"]))
        self.assertEqual("one", tidy_readme.not_printed(lines, ["on", "  four"]))
        self.assertEqual((1, ["a", " b"]),
                         tidy_readme.run_and_read(["sh", "-c", "echo a; echo ' b'; exit 1"], "/"))


if __name__ == "__main__":
    unittest.main()
