"""The drop-in comparison: the same answers from both tables, and the right ones."""

import unittest

from installation import installation

KEYS = 1_500_007  # the last burst is not a whole one
MISS_PERCENT = 20
# Two lcores on one core: the work must run on a worker lcore, on any machine.
EAL = ["--no-huge", "--no-pci", "--no-telemetry", "--no-shconf", "-m", "1024",
       "--lcores", "0@0,1@0"]


def expected_answers():
    """The work of the program, on a dictionary."""
    table = {index: index + 1 for index in range(KEYS)}
    table.update({index: 2 * (index + 1) for index in range(KEYS // 10)})
    queries = [index * 7919 % KEYS for index in range(KEYS) if index % 100 >= MISS_PERCENT]
    answers = {"add": KEYS, "update": KEYS // 10, "lookup": len(queries),
               "lookup-sum": sum(table[query] for query in queries), "erase": KEYS // 3}
    for index in range(KEYS // 3):
        del table[index]
    found = [table[query] for query in queries if query in table]
    sources = 0
    for index in table:
        bits = index * 0x9E3779B97F4A7C15 % 2**64
        sources += (bits ^ bits >> 32) % 2**32
    return answers | {"lookup-after-erase": len(found), "lookup-after-erase-sum": sum(found),
                      "walk": len(table), "walk-keys": sources, "walk-values": sum(table.values())}


class RteHashOrRoostTest(unittest.TestCase):
    def test_both_tables_give_the_right_answers_on_a_worker_lcore(self):
        here = installation()
        folder = here.new_folder("rte")
        program = folder / "rte_hash_or_roost"
        here.run("gcc", "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror",
                 here.examples / "rte_hash_or_roost.c", "-o", program,
                 *here.flags("roost", "libdpdk"))
        expected = expected_answers()
        for table in ("rte_hash", "roost"):
            with self.subTest(table=table):
                output = here.run(program, *EAL, "--", "--table", table, "--keys", KEYS,
                                  "--misses", MISS_PERCENT,
                                  environment={"RUNTIME_DIRECTORY": str(folder)})
                lines = [line.split() for line in output.splitlines()]
                answers = {line[1]: int(line[2]) for line in lines if line[0] == "answer"}
                self.assertEqual(answers, expected)
                self.assertIn(f"{table}: {KEYS} keys, {MISS_PERCENT} % misses, on lcore 1", output)
                print("\n".join(line for line in output.splitlines() if line.startswith("rate")))
