"""What the packages hold and ask for, before anybody installs them."""

import pathlib
import re
import tempfile
import unittest

from packages import FOLDER, ROOT, packages, run

TRIPLET = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
LIBRARIES = f"/usr/lib/{TRIPLET}"
FILES = {
    "roost": {
        "/usr/bin/roost", "/usr/bin/roost-halo", "/etc/roost/lb.toml", "/etc/default/roost-lb",
        "/lib/systemd/system/roost-lb.service", "/usr/share/bash-completion/completions/roost",
        "/usr/share/bash-completion/completions/roost-halo",
        "/usr/share/man/man1/roost-halo.1.gz",
        "/usr/share/man/man1/roost.1.gz", "/usr/share/man/man8/roost-lb.8.gz",
        "/usr/share/man/man8/roost-ctl.8.gz", "/usr/share/man/man8/roost-forward.8.gz",
        "/usr/share/man/man8/roost-switch.8.gz", "/usr/share/man/man8/roost-advise.8.gz",
        "/usr/share/man/man8/roost-trafficgen.8.gz", "/usr/share/man/man8/roost-classify.8.gz",
        "/usr/share/man/man8/roost-firewall.8.gz",
        "/usr/share/man/man8/roost-assets.8.gz",
        "/usr/share/man/man8/roost-nat.8.gz", "/usr/share/man/man8/roost-map.8.gz",
        "/usr/share/doc/roost/examples/bird.conf"},
    "libroost0": {f"{LIBRARIES}/libroost.so.0"},
    "libroost-dev": {
        "/usr/include/roost.h", "/usr/include/roost_map.h",
        "/usr/include/roost/table/flow_table.h", "/usr/include/roost/compact/shared_map.h",
        f"{LIBRARIES}/libroost.so", f"{LIBRARIES}/libroost.a",
        f"{LIBRARIES}/pkgconfig/roost.pc", f"{LIBRARIES}/pkgconfig/roost-static.pc",
        f"{LIBRARIES}/cmake/roost/roostConfig.cmake", "/usr/share/roost/roost_gdb.py",
        "/usr/share/doc/libroost-dev/examples/flow_counter.c"},
}
# A first upload to Debian closes a wish there.
LINTIAN_SUPPRESSED = "initial-upload-closes-no-bugs"


class ContentsTest(unittest.TestCase):
    def test_contents_are_all_there_and_nowhere_twice(self):
        seen = set()
        for name, expected in FILES.items():
            files = set(packages().files(name))
            self.assertLessEqual(expected, files, f"{name}: {expected - files} missing")
            self.assertFalse(seen & files)
            seen |= files
        version = packages().version
        self.assertIn(f"{LIBRARIES}/libroost.so.{version}", seen)
        headers = {path for path in seen if path.endswith(".h")}
        self.assertEqual(headers, set(packages().files("libroost-dev")) & headers)

    def test_contents_are_what_the_manual_says(self):
        manual = (ROOT / "apps/lb/README.md").read_text()
        rows = re.findall(r"^\| `(roost|libroost0|libroost-dev)` \| (.*) \|$", manual, re.MULTILINE)
        self.assertEqual([name for name, _ in rows], list(FILES))
        for name, row in rows:
            files = packages().files(name)
            for path in re.findall(r"`(/[^`]+)`", row):
                held = [file for file in files
                        if file == path or path.endswith("/") and file.startswith(path)]
                self.assertTrue(held, f"{name} does not hold {path}")

    def test_contents_only_the_programs_run(self):
        for name in FILES:
            runs = {path for path, mode in packages().files(name).items()
                    if mode.startswith("-") and "x" in mode}
            programs = {"/usr/bin/roost", "/usr/bin/roost-halo"} if name == "roost" else set()
            self.assertEqual(runs, programs)

    def test_contents_conffiles_are_the_operators(self):
        with tempfile.TemporaryDirectory() as folder:
            run("dpkg-deb", "--control", packages().path("roost"), folder)
            conffiles = (pathlib.Path(folder) / "conffiles").read_text().split()
        self.assertEqual(set(conffiles), {"/etc/roost/lb.toml", "/etc/default/roost-lb"})

    def test_contents_the_version_is_the_projects(self):
        project = re.search(r"^project\(roost VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(),
                            re.MULTILINE).group(1)
        self.assertEqual(packages().version, project)

    def test_contents_the_example_is_a_right_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            packages().unpack("roost", folder)
            said = run(f"{folder}/usr/bin/roost", "lb", "--check", "-c",
                       f"{folder}/etc/roost/lb.toml")
            self.assertIn("is right", said)
            # No folder of whoever built it.
            for path in pathlib.Path(folder).rglob("*"):
                if path.is_file():
                    self.assertNotIn(str(FOLDER).encode(), path.read_bytes(), path)

    def test_dependencies_come_with_what_only_starts_at_run_time(self):
        depends = packages().relations("roost")
        # Drivers, buses and pools of DPDK are loaded by name; the linker knows nothing of them.
        for wanted in ("librte-meta-net", "librte-meta-bus", "librte-meta-mempool"):
            self.assertIn(wanted, depends)
        self.assertTrue(any(entry.startswith("librte-eal") for entry in depends), depends)
        for linked in ("libsystemd0", "libcurl4", "libmnl0"):
            self.assertTrue(any(entry.startswith(linked) for entry in depends), depends)
        self.assertFalse(any("rte" in entry for entry in packages().relations("libroost0")))
        self.assertIn(f"libroost0 (= {packages().version})", packages().relations("libroost-dev"))

    def test_dependencies_of_who_links_the_library(self):
        """C programs live as long as the soname, C++ programs a release."""
        with tempfile.TemporaryDirectory() as folder:
            run("dpkg-deb", "--control", packages().path("libroost0"), folder)
            symbols = (pathlib.Path(folder) / "symbols").read_text()
        self.assertIn("\n ROOST_0.1@ROOST_0.1 0.1.0\n", symbols)
        self.assertRegex(symbols, rf"\n ROOST_CXX_{packages().version}@\S+ \S+ 1\n")
        self.assertRegex(symbols, r"\n\| libroost0 #MINVER#, libroost0 \(<< ")

    def test_lintian_finds_nothing(self):
        said = run("lintian", "--fail-on", "error,warning", "--allow-root", "--suppress-tags",
                   LINTIAN_SUPPRESSED, packages().changes)
        self.assertEqual(said.strip(), "")


if __name__ == "__main__":
    unittest.main()
