"""The installed files: they may be moved, know nothing of where they were built, and are enough."""

import filecmp
import re
import unittest

from installation import ROOT, installation, run


class PrefixTest(unittest.TestCase):
    def test_no_file_names_the_tree_or_the_build_folder(self):
        here = installation()
        traces = [str(path).encode() for path in (ROOT, here.build.resolve(), here.folder)]
        for path in here.files():
            content = path.read_bytes()
            for trace in traces:
                self.assertNotIn(trace, content, f"{path} names {trace.decode()}")

    def test_the_library_searches_no_folder_of_its_own(self):
        dynamic = run("readelf", "--dynamic", "--wide", installation().libraries / "libroost.so")
        self.assertNotRegex(dynamic, r"RPATH|RUNPATH")
        self.assertRegex(dynamic, r"soname: \[libroost\.so\.0\]")
        needed = set(re.findall(r"Shared library: \[([^\]]+)\]", dynamic))
        self.assertLessEqual(needed, {"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6",
                                      "ld-linux-x86-64.so.2"})

    def test_a_staged_installation_holds_the_same_files(self):
        here = installation()
        stage = here.new_folder("stage")
        run("cmake", "--install", here.build, "--prefix", "/opt/roost",
            environment={"DESTDIR": str(stage)})
        staged = stage / "opt" / "roost"
        self.assertEqual([path.relative_to(staged) for path in sorted(staged.rglob("*"))],
                         [path.relative_to(here.prefix) for path in sorted(here.prefix.rglob("*"))])
        for path in here.files():
            twin = staged / path.relative_to(here.prefix)
            self.assertTrue(filecmp.cmp(path, twin, shallow=False), f"{twin} differs")
        self.assertEqual([path.name for path in stage.iterdir()], ["opt"])

    def test_headers_need_nothing_but_one_another(self):
        here = installation()
        include = here.prefix / "include"
        headers = [path.relative_to(include) for path in sorted(include.rglob("*.h"))]
        self.assertEqual({header.parts[1] for header in headers if header.parts[0] == "roost"},
                         {"base", "memory", "isa", "hash", "expiry", "table", "concurrent",
                          "compact", "balance", "net", "conntrack"})
        source = here.new_folder("headers") / "all.cc"
        source.write_text("".join(f"#include <{header}>\n" for header in headers))
        for compiler in ("g++", "clang++-16"):
            run(compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                f"-I{include}", source)
        in_c = source.with_suffix(".c")
        in_c.write_text("#include <roost.h>\n#include <roost_shared.h>\n#include <roost_map.h>\n")
        for compiler in ("gcc", "clang-16"):
            run(compiler, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                f"-I{include}", in_c)

    def test_licence_and_documents_come_along(self):
        documents = installation().documents
        self.assertIn("Apache License", (documents / "LICENSE").read_text())
        self.assertTrue((documents / "CHANGELOG.md").is_file())
        guide = documents / "docs/migrating-from-rte_hash.md"
        for link in re.findall(r"\]\(([^)#]+)\)", guide.read_text()):
            self.assertTrue((guide.parent / link).is_file(), f"{guide.name} links to {link}")
