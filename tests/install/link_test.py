"""The examples, built by the installed package's own means and run over the demo captures."""

import itertools
import unittest

from expected_flows import expected_flows, is_sound, printed_flows
from installation import EXAMPLES, ROOT, installation

CAPTURES = [ROOT / "demo/lb" / name for name in (
    "client.pcap", "backends.pcap", "long/client.pcap", "long/backends.pcap")]
CXX = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror"]


class LinkTest(unittest.TestCase):
    def check_flow_counter(self, program, is_counted):
        for capture in CAPTURES:
            with self.subTest(program=program, capture=capture):
                printed = printed_flows(installation().run(program, capture))
                self.assertEqual(printed, expected_flows(capture, is_counted))
                self.assertGreater(len(printed[0]), 300)

    def check_linkage(self, program, is_static):
        needed = installation().run("readelf", "--dynamic", program)
        self.assertEqual("libroost" in needed, not is_static, needed)

    def test_pkg_config_links_the_cpp_example_by_both_compilers(self):
        here = installation()
        folder = here.new_folder("pkg-config")
        packages = ("roost", "roost-static")
        for compiler, package in itertools.product(("g++", "clang++-16"), packages):
            program = folder / f"{compiler}-{package}"
            here.run(compiler, *CXX, EXAMPLES / "flow_counter.cc", "-o", program,
                     *here.flags(package, "libpcap"))
            self.check_linkage(program, package == "roost-static")
            self.check_flow_counter(program, is_sound)

    def test_cmake_links_the_cpp_example_shared_and_static(self):
        here = installation()
        for is_static in (False, True):
            folder = here.new_folder("cmake")
            here.run("cmake", "-S", EXAMPLES, "-B", folder, "-G", "Ninja",
                     "-DCMAKE_BUILD_TYPE=Release", f"-DSTATIC_ROOST={int(is_static)}")
            here.run("cmake", "--build", folder)
            self.check_linkage(folder / "flow_counter_cpp", is_static)
            self.check_flow_counter(folder / "flow_counter_cpp", is_sound)
