#!/usr/bin/python3
"""`roost-halo` from its command line: tables that a program in C saved, keys from a capture, text
and bytes; the same figures however many threads; everything that is wrong, refused with its place.

    tests/halo/command_line_test.py ROOST_HALO HALO_SAVE_TABLE
"""

import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CAPTURE = ROOT / "demo/lb/client.pcap"
EXIT_STOPPED, EXIT_USAGE, EXIT_MACHINE, EXIT_REFUSED = 1, 2, 3, 4
FEW = ("--warm-up", "100", "--lookups", "150", "--samples", "2", "--ladder", "0")
ACCELERATORS = ("blocking", "non-blocking", "overlapped")
SOFTWARE = ("rte_hash", "rte_hash-32", "roost-32")


class Halo:
    def __init__(self, program, save, folder):
        self.program, self.save, self.folder = program, save, folder

    def run(self, *words, status=0):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True,
                              check=False)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        assert status == 0 or done.stdout == "", done
        assert (done.stderr == "") == (status == 0), done
        return done.stdout if status == 0 else done.stderr

    def refused(self, *words, says, status=EXIT_REFUSED):
        said = self.run("run", *FEW, *words, status=status)
        assert says in said, (says, said)

    def file(self, name, content):
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path

    def table(self, name, keys, value_bytes=8, expires=0):
        path = self.folder / name
        keys_file = self.file(name + ".keys", b"".join(keys))
        subprocess.run([self.save, str(len(keys[0])), str(value_bytes), str(expires),
                        str(keys_file), str(path)], check=True)
        return path


def flows_of(capture):
    """The keys of FlowKey4 (roost/net/flow_key.h) of a classic capture's TCP and UDP packets."""
    data = capture.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at, keys = 24, []
    while at < len(data):
        captured = struct.unpack_from(order + "I", data, at + 8)[0]
        frame = data[at + 16:at + 16 + captured]
        at += 16 + captured
        if frame[12:14] != b"\x08\x00" or len(frame) < 34:
            continue
        protocol, header = frame[23], 14 + (frame[14] & 15) * 4
        if protocol not in (6, 17) or struct.unpack_from(">H", frame, 20)[0] & 0x3fff:
            continue
        # Whole packets, whose header's sum is right, with a whole TCP or UDP header.
        end = 14 + struct.unpack_from(">H", frame, 16)[0]
        words = struct.unpack_from(f">{(header - 14) // 2}H", frame, 14) if header >= 34 else (0,)
        if (end > len(frame) or sum(words) % 0xffff != 0 or words == (0,)
                or end - header < (20 if protocol == 6 else 8)
                or protocol == 6 and not 20 <= (frame[header + 12] >> 4) * 4 <= end - header):
            continue
        ports = struct.unpack_from(">HH", frame, header)
        keys.append(frame[26:34] + struct.pack("<HHB", *ports, protocol))
    return keys


def check_machines(halo):
    machine = halo.run("machine", "--print")
    right = halo.file("right.toml", machine)
    assert re.fullmatch(r".*right.toml is right: 16 tiles, \d+ open numbers. Nothing was "
                        r"simulated.\n", halo.run("machine", "--check", right))
    hops = "hop_cycles = { unit = \"cycles\", low = 1"
    line = machine[:machine.index(hops)].count("\n") + 1
    for old, new, says in [
            (hops, hops[:-1] + "9", f":{line}: "),
            (hops, "hops" + hops[10:], "hops"),
            ("[mesh]", "[mesh", ":"),
            ("rows = { unit = \"tiles\", low = 4, middle = 4, high = 4",
             "rows = { unit = \"tiles\", low = 3, middle = 3, high = 3", "12 tiles"),
            ("bytes = { unit = \"bytes\", low = 32768, middle = 32768, high = 32768",
             "bytes = { unit = \"bytes\", low = 40000, middle = 40000, high = 40000",
             "40000 bytes")]:
        assert old in machine
        wrong = halo.file("wrong.toml", machine.replace(old, new, 1))
        for words in (("machine", "--check", wrong),
                      ("run", "--machine", wrong, "--build", "100")):
            said = halo.run(*words, status=EXIT_MACHINE)
            assert "wrong.toml:" in said and says in said, said
    halo.run("machine", "--check", halo.folder / "none.toml", status=EXIT_MACHINE)
    four = halo.file("four.toml", machine.replace(
        "rows = { unit = \"tiles\", low = 4, middle = 4, high = 4",
        "rows = { unit = \"tiles\", low = 1, middle = 1, high = 1", 1))
    said = json.loads(halo.run("run", "--machine", four, "--build", 1000, *FEW, "--json"))
    assert said["machine"]["tiles"] == 4, said
    halo.run("run", "--machine", four, "--build", 100, "--cores", 5, status=EXIT_USAGE)


def narrow_machine(halo):
    """The default one with numbers of [mesh] and [software] open only: a quarter of the points."""
    parts = halo.run("machine", "--print").split("\n[")
    narrow = [part if part.startswith(("mesh]", "software]")) else
              re.sub(r"low = \d+, middle = (\d+), high = \d+",
                     r"low = \1, middle = \1, high = \1", part) for part in parts]
    return halo.file("narrow.toml", "\n[".join(narrow))


def check_report(halo, narrow):
    whole = json.loads(halo.run("run", "--build", 5000, *FEW, "--json"))["machine"]
    assert whole["open_parameters"] > 30 and whole["samples"] == 2, whole
    for form in ("paper", "split", "inline"):
        words = ("run", "--machine", narrow, "--build", 5000, "--load", 0.9, "--format", form,
                 *FEW)
        once = halo.run(*words, "--json", "--threads", 1)
        assert halo.run(*words, "--json", "--threads", 3) == once, "threads change figures"
        said = json.loads(once)
        assert said["simulated"] and said["table"]["entries"] == 5000, said
        assert said["trace"]["hits"] == said["trace"]["keys"] == 250, said
        machine = said["machine"]
        assert machine["machines"] == 1 + 2 * machine["open_parameters"] + machine["samples"], said
        assert tuple(way["name"] for way in said["ways"]) == ACCELERATORS + SOFTWARE
        for way in said["ways"]:
            rate = way["lookups_per_second"]
            assert way["simulated"] and 0 < rate["least"] < rate["greatest"], way
            assert rate["least"] <= rate["middle"] <= rate["greatest"], way
            swings = [abs(mover["lookups_per_second_at_high"] - mover["lookups_per_second_at_low"])
                      for mover in way["decided_by"]]
            assert len(swings) == 3 and swings == sorted(swings, reverse=True), way
            middle = way["middle"]
            assert middle["hit_share"] == 1 and way["is_software"] == (way["name"] in SOFTWARE), way
            if way["is_software"]:
                assert 60 < middle["instructions_per_lookup"] < 250, way
                continue
            assert 1 <= middle["lines_per_lookup"] < 4, way
            assert 0 < middle["places_used"] <= 10 and middle["accelerators"] == 1, way
        text = halo.run(*words)
        lines = text.splitlines()
        assert all(line.startswith("simulated: ") for line in lines), text
        assert len(lines) == 4 + 3 * 6 + 3 * 6 + 9 + 1, text
        for way in said["ways"]:
            rate = way["lookups_per_second"]
            assert (f"simulated: {way['name']}: {rate['least'] / 1e6:.2f} to "
                    f"{rate['greatest'] / 1e6:.2f} million lookups a second, "
                    f"{rate['middle'] / 1e6:.2f} in the middle") in text, text
        check_speed_ups(said, text)
        check_floor(said, lines)


def check_speed_ups(said, text):
    rates = {way["name"]: way["lookups_per_second"] for way in said["ways"]}
    pairs = [(one["way"], one["over"]) for one in said["speed_ups"]]
    assert pairs == [(way, over) for way in ACCELERATORS for over in SOFTWARE], pairs
    for one in said["speed_ups"]:
        way, over, times = rates[one["way"]], rates[one["over"]], one["times"]
        assert one["simulated"] and abs(times["middle"] - way["middle"] / over["middle"]) < 1e-9
        # Of ratios on one machine each: within what the ends of both rates allow.
        assert (way["least"] / over["greatest"] <= times["least"] <= times["middle"]
                <= times["greatest"] <= way["greatest"] / over["least"]), one
        assert times["least"] < times["greatest"], one
        movers = one["decided_by"]
        swings = [abs(mover["times_at_high"] - mover["times_at_low"]) for mover in movers]
        assert len(swings) == 3 and swings == sorted(swings, reverse=True), one
        assert (f"simulated: {one['way']} over {one['over']}: {times['least']:.2f} to "
                f"{times['greatest']:.2f} times as fast, {times['middle']:.2f} in the middle; "
                f"moved most by {movers[0]['parameter']} from") in text, text


def check_floor(said, lines):
    """Of the kept host check, the ratio farthest from 1; behind the speed-ups."""
    kept = tomllib.loads((ROOT / "sim/host_check.toml").read_text(encoding="utf-8"))
    ratios = {point["name"]: point["predicted_ns"] / point["measured_ns"]
              for point in kept["point"] if not point["standing"].startswith("finds")}
    worst = max(ratios, key=lambda name: max(ratios[name], 1 / ratios[name]))
    floor = said["floor"]
    assert floor["point"] == worst and abs(floor["predicted_over_measured"] - ratios[worst]) < 1e-9
    assert (floor["machine"], floor["date"]) == (kept["machine"], kept["date"]), floor
    assert lines[-1].startswith("simulated: floor: ") and f"{ratios[worst]:.2f}" in lines[-1]
    assert worst in lines[-1] and kept["machine"] in lines[-1] and kept["date"] in lines[-1], lines


def check_break_even(halo, table, machine):
    words = ("--machine", machine, "--warm-up", 200, "--lookups", 400, "--samples", 1, "--ladder",
             200)
    for start in (("--build", 100, "--load", 0.7), ("--table", table, "--trace", CAPTURE)):
        said = json.loads(halo.run("run", *start, *words, "--json"))["break_even"]
        assert said["sizes"] == [8, 32, 128] and said["lookups"] == 100, said
        assert said["load"] == (0.7 if start[0] == "--build" else 0.8), said
        found = {(one["way"], one["over"]): one["entries"] for one in said["found"]}
        assert list(found) == [(way, over) for way in ACCELERATORS for over in SOFTWARE], found
        for entries in found.values():
            least, middle, greatest = (entries[name] or 1 << 60
                                       for name in ("least", "middle", "greatest"))
            assert least <= middle <= greatest and least in (8, 32, 128, 1 << 60), entries
        # What the caches of a core hold is not asked for blocking; many at a time always gain.
        assert found["blocking", "roost-32"]["least"] is None, found
        assert found["overlapped", "rte_hash"]["greatest"] == 8, found
    text = halo.run("run", "--build", 100, "--load", 0.7, *words)
    assert ("simulated: break-even: tables of 8, 32, 128 entries, load 0.7, 100 lookups of each\n"
            in text), text
    assert ("simulated: break-even: blocking over roost-32: entries from which on it is as fast: "
            "none in the middle, none at best, none at worst\n") in text, text


def check_saved_tables(halo, machine):
    few = ("--machine", machine, *FEW)
    flows = flows_of(CAPTURE)
    kept = sorted(set(flows))[::2]
    assert len(kept) > 10, len(kept)
    hits = sum(flow in set(kept) for flow in flows)
    table = halo.table("flows.table", kept)
    said = json.loads(halo.run("run", "--table", table, "--trace", CAPTURE, *few, "--json"))
    assert said["table"]["entries"] == len(kept), said
    assert said["table"]["image_bytes"] == table.stat().st_size
    assert (said["trace"]["keys"], said["trace"]["hits"]) == (len(flows), hits), said
    # The same keys as text and as bytes are the same figures.
    text = halo.file("keys.txt", "".join(f"{flow.hex(':')}  # a flow\n" for flow in flows))
    raw = halo.file("keys.bin", b"".join(flows))
    for trace, form in ((text, "text"), (raw, "binary")):
        other = json.loads(halo.run("run", "--table", table, "--trace", trace, "--trace-format",
                                    form, *few, "--json"))
        assert other["ways"] == said["ways"], form
    wide = halo.table("wide.table", [flow + bytes(3) for flow in kept], value_bytes=16)
    other = json.loads(halo.run("run", "--table", wide, "--trace", CAPTURE, *few, "--json"))
    assert other["trace"]["hits"] == hits and "split" in other["table"]["kind"], other
    assert "inline" in said["table"]["kind"], said
    return table, wide, kept


def check_refusals(halo, table, wide, kept):
    image = wide.read_bytes()
    keys = halo.file("some.txt", (kept[0] + bytes(3)).hex() + "\n")
    for name, content, says in [
            ("cut", image[:-64], "save the whole image"),
            ("short", image[:64], "too few for a table"),
            ("long", image + bytes(64), "save the whole image"),
            ("foreign", b"x" + image[1:], "this is no image of a table"),
            ("newer", image[:8] + b"\x02" + image[9:], "the image is of format 2"),
            ("kind", image[:16] + b"S" + image[17:], "\"Split, filtered, keyed\""),
            ("numbers", image[:104] + bytes(8) + image[112:], "contradict each other")]:
        path = halo.file(name, content)
        halo.refused("--table", path, "--trace", keys, says=says)
        halo.refused("--table", path, "--trace", keys, says=f"{path}: ")
    # Keys, behind the lines of buckets, that their hashes do not lead to.
    buckets = sum(struct.unpack_from("<QQ", image, 104))
    entries = 4096 + 64 * buckets
    damaged = halo.file("damaged", image[:entries] + bytes(b ^ 255 for b in image[entries:]))
    halo.refused("--table", damaged, "--trace", keys,
                 says=f"{damaged}: the table is damaged: the entry in slot")
    timed = halo.table("timed", [key + bytes(3) for key in kept], expires=1)
    halo.refused("--table", timed, "--trace", keys, says="a table with timers")
    halo.refused("--table", halo.folder / "none", "--trace", keys, says="none cannot be read")
    huge = halo.folder / "huge"
    with huge.open("wb") as file:
        file.truncate(1 << 42)
    halo.refused("--table", huge, "--trace", keys, says=f"{huge}: ")
    halo.refused("--table", huge, "--trace", keys, says="MiB are there; give a smaller table")
    halo.refused("--build", 1 << 31, says="MiB are there; give a smaller table")
    halo.refused("--build", 4096, "--load", 1, says="build it with a lower load")

    stranger = halo.file("stranger.txt", "ff" * 16 + "\n")
    halo.refused("--table", wide, "--trace", stranger,
                 says=f"{stranger}: none of its 1 keys is in {wide}; the first one is {'ff' * 16}")
    halo.refused("--table", wide, "--trace", halo.file("bad.txt", keys.read_text() + "12\n"),
                 says="bad.txt:2: 2 digits")
    halo.refused("--table", wide, "--trace", halo.file("bad.bin", b"1" * 17), "--trace-format",
                 "binary", says="the last one begins at byte 16")
    halo.refused("--table", wide, "--trace", halo.file("empty", ""), says="there is no key in it")
    halo.refused("--table", wide, "--trace", halo.folder / "none", says="none cannot be read")
    cut = halo.file("cut.pcap", CAPTURE.read_bytes()[:-7])
    halo.refused("--table", table, "--trace", cut, says="cut.pcap")
    words = halo.table("words.table", [struct.pack("<Q", i) for i in range(100)])
    halo.refused("--table", words, "--trace", CAPTURE, says="give its keys as text")


def check_stops(halo):
    said = halo.run("run", "--build", 1000, *FEW, "--cycles-max", 200, status=EXIT_STOPPED)
    assert "200 cycles have passed" in said and "core 0" in said, said


def check_usage(halo):
    for words in ((), ("run",), ("run", "--table", "x"), ("run", "--build", "0"),
                  ("run", "--build", "10", "--table", "x", "--trace", "y"),
                  ("run", "--build", "10", "--cores", "17"),
                  ("run", "--build", "10", "--cores", "4", "--lookups", "3"),
                  ("run", "--build", "10", "--format", "packed"), ("machine",),
                  ("machine", "--print", "--check", "x")):
        halo.run(*words, status=EXIT_USAGE)


def check_manual(halo):
    manual = (ROOT / "apps/halo/man/roost-halo.1").read_text()
    completion = (ROOT / "apps/halo/completion/roost-halo").read_text()
    for command in ("run", "machine"):
        options = set(re.findall(r"--([a-z][a-z-]*)", halo.run(command, "--help")))
        words = re.search(rf"^ +' {command}'\*\) words='(.*)' ;;$", completion, re.MULTILINE)
        completed = set(re.findall(r"--([a-z-]+)", words.group(1)))
        assert completed == options - {"expand-help"}, (completed ^ options)
        for option in options - {"help"}:
            assert re.search(rf"It Fl -{option}\s", manual), f"the manual has not --{option}"


def main(program, save):
    with tempfile.TemporaryDirectory() as folder:
        halo = Halo(program, save, pathlib.Path(folder))
        check_usage(halo)
        check_manual(halo)
        check_machines(halo)
        machine = narrow_machine(halo)
        check_report(halo, machine)
        table, wide, kept = check_saved_tables(halo, machine)
        check_refusals(halo, table, wide, kept)
        check_break_even(halo, table, machine)
        check_stops(halo)
    print("roost-halo says what it should, and refuses the rest")


if __name__ == "__main__":
    main(*sys.argv[1:])
