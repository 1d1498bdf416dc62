"""The examples, built by the installed package's own means and run over the demo captures."""

import itertools
import unittest

from expected_connections import expected_connections
from expected_flows import expected_flows, is_plain_ipv4, is_sound, printed_flows
from installation import ROOT, TESTS, VERSION, installation

CAPTURES = [ROOT / "demo/lb" / name for name in (
    "client.pcap", "backends.pcap", "long/client.pcap", "long/backends.pcap")]
WARNINGS = ["-O2", "-pedantic", "-Wall", "-Wextra", "-Werror"]
# Neither has -march. libpcap's headers want more than C99's library.
CXX = ["-std=c++20", *WARNINGS]
C = ["-std=c99", "-D_DEFAULT_SOURCE", *WARNINGS]
C_EXAMPLE_LINES_MAX = 60
TABLE_MAGIC = b"RoostTbl"  # roost/table/image_header.h
CONNECTION_EXAMPLE_LINES_MAX = 80
# Clients and their servers, of which the demonstration captures show one side each: what the
# balancer received from clients in the first of them, and sent to them.
BOTH_WAYS = TESTS / "both_ways.pcap"


class LinkTest(unittest.TestCase):
    def check_flow_counter(self, program, is_c):
        printed_count = 0
        for capture in CAPTURES:
            with self.subTest(program=program, capture=capture):
                flows, others = expected_flows(capture, is_plain_ipv4 if is_c else is_sound)
                printed = printed_flows(installation().run(program, capture))
                self.assertEqual(printed, (flows, None if is_c else others))
                printed_count += len(printed[0])
        self.assertGreater(printed_count, 300)
        if not is_c:
            saved = program.with_suffix(".table")
            installation().run(program, CAPTURES[0], saved)
            self.assertTrue(saved.read_bytes().startswith(TABLE_MAGIC), "a saved table")

    def check_connection_counter(self, program):
        for capture in [*CAPTURES, BOTH_WAYS]:
            with self.subTest(program=program, capture=capture):
                printed = installation().run(program, capture).splitlines()
                self.assertEqual(set(printed), expected_connections(capture))
                self.assertEqual(len(printed), len(set(printed)))

    def check_linkage(self, program, is_static):
        needed = installation().run("readelf", "--dynamic", program)
        self.assertEqual("libroost" in needed, not is_static, needed)

    def check_pkg_config(self, compilers, options, source, is_c):
        here = installation()
        folder = here.new_folder("pkg-config")
        for compiler, package in itertools.product(compilers, ("roost", "roost-static")):
            program = folder / f"{compiler}-{package}"
            here.run(compiler, *options, here.examples / source, "-o", program,
                     *here.flags(package, "libpcap"))
            self.check_linkage(program, package == "roost-static")
            self.check_flow_counter(program, is_c)

    def test_pkg_config_links_the_c_example_shared_and_static(self):
        self.check_pkg_config(("gcc", "clang-16"), C, "flow_counter.c", is_c=True)

    def test_pkg_config_links_the_cpp_example_shared_and_static(self):
        self.check_pkg_config(("g++", "clang++-16"), CXX, "flow_counter.cc", is_c=False)

    def test_cmake_links_the_examples_shared_and_static(self):
        here = installation()
        for is_static in (False, True):
            folder = here.new_folder("cmake")
            here.run("cmake", "-S", here.examples, "-B", folder, "-G", "Ninja",
                     "-DCMAKE_BUILD_TYPE=Release", f"-DSTATIC_ROOST={int(is_static)}")
            here.run("cmake", "--build", folder)
            for program, is_c in (("flow_counter", True), ("flow_counter_cpp", False)):
                self.check_linkage(folder / program, is_static)
                self.check_flow_counter(folder / program, is_c)
            self.check_linkage(folder / "connection_counter", is_static)
            self.check_connection_counter(folder / "connection_counter")

    def test_a_project_of_c_alone_links_shared_and_static(self):
        here = installation()
        folder = here.new_folder("c-only")
        here.run("cmake", "-S", TESTS / "c_only", "-B", folder, "-G", "Ninja")
        here.run("cmake", "--build", folder)
        here.run("gcc", *C, "-static", TESTS / "c_only/version.c", "-o",
                 folder / "version_all_static", *here.flags("roost", static=True))
        for name in ("roost", "roost_static", "all_static"):
            program = folder / f"version_{name}"
            self.check_linkage(program, name != "roost")
            self.assertEqual(here.run(program), f"{VERSION} {VERSION}\n")

    def test_another_minor_version_is_not_found(self):
        folder = installation().new_folder("wrong-version")
        listing = "cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES C)\n"
        (folder / "CMakeLists.txt").write_text(f"{listing}find_package(roost 0.2 REQUIRED)\n")
        with self.assertRaisesRegex(AssertionError, 'with requested version "0.2"'):
            installation().run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja")

    def test_the_c_example_is_short(self):
        lines = (installation().examples / "flow_counter.c").read_text().splitlines()
        self.assertLessEqual(len(lines), C_EXAMPLE_LINES_MAX)

    def test_the_example_of_connections_is_short(self):
        lines = (installation().examples / "connection_counter.cc").read_text().splitlines()
        self.assertLessEqual(len(lines), CONNECTION_EXAMPLE_LINES_MAX)
