#!/usr/bin/python3
"""`roost map` from its command line: a million vendor addresses under both kinds, a model refused
and one taken; every key asked for; what is wrong is said and leaves no file behind.

    tests/map/command_line_test.py ROOST
"""

import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

PREFIXES = pathlib.Path("/usr/share/ieee-data/oui.csv")
COUNT = 1_000_000
EXIT_USAGE, EXIT_REFUSED, EXIT_FILES = 2, 3, 4


def run(roost, *words, status=0):
    done = subprocess.run([roost, "map", *words], capture_output=True, text=True, check=False)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    assert (done.stderr == "") == (status == 0 or (status == 1 and "--compare" not in words)), done
    return done


def vendor_lines(count):
    """Addresses of real vendors in runs, as devices of one delivery have them: all rising."""
    with PREFIXES.open(encoding="utf-8") as file:
        prefixes = sorted({row["Assignment"] for row in csv.DictReader(file)})
    draw = random.Random(1)
    lines = []
    for prefix in sorted(draw.sample(prefixes, count // 1000)):
        begin = draw.randrange(0xffffff - 1000)
        for number in range(begin, begin + 1000):
            digits = f"{prefix}{number:06x}".lower()
            mac = ":".join(digits[at:at + 2] for at in range(0, 12, 2))
            lines.append(f"{mac} {draw.randrange(65535)}\n")
    return lines


def check_vendors(roost, folder):
    entries, image = folder / "vendors.txt", folder / "vendors.image"
    lines = vendor_lines(COUNT)
    entries.write_text("".join(lines))
    said = json.loads(run(roost, "build", entries, "-o", image, "--json").stdout)
    assert said["keys"] == COUNT and said["kind"] == "line-map", said
    assert 24 < 8 * said["bytes"] / COUNT <= 26.5, said
    assert said["bytes"] == image.stat().st_size == sum(said["parts"].values())
    run(roost, "ask", image, "--file", entries, "--compare")

    said = json.loads(
        run(roost, "build", entries, "-o", image, "--kind", "parrot", "--json").stdout)
    assert said["keys"] == COUNT and said["kind"] == "parrot", said
    tried = said["models_tried"]
    assert any(model["is_refused"] for model in tried), tried
    assert [model["is_taken"] for model in tried].count(True) == 1, tried
    assert said["longest_walk"] <= 16 and 8 * said["bytes"] / COUNT < 45, said
    run(roost, "ask", image, "--file", entries, "--compare")
    # Another value for one of them, and a key that is not there.
    key, value = lines[COUNT // 2].split()
    entries.write_text(f"{key} {int(value) ^ 1}\n")
    wrong = run(roost, "ask", image, "--file", entries, "--compare", status=1)
    assert wrong.stdout == f"{key} {value} unverified\n", wrong
    assert "1 of 1 keys have another value than in" in wrong.stderr, wrong

    entries.write_text("".join(lines))
    before = image.read_bytes()
    refused = run(roost, "build", entries, "-o", image, "--kind", "parrot", "--model", "rmi:128",
                  status=EXIT_REFUSED)
    assert "no model fits the keys" in refused.stderr, refused
    assert "--kind line-map takes any keys" in refused.stderr, refused
    assert image.read_bytes() == before


def check_words(roost, folder):
    """What a person reads."""
    entries, image = folder / "ports.txt", folder / "ports.image"
    entries.write_text("# ports\n" + "".join(f"10.0.{i // 256}.{i % 256} {i % 7}\n"
                                             for i in range(3000)))
    said = run(roost, "build", entries, "-o", image, "--fingerprint-bits", "8",
               "--seed", "1").stdout
    for words in ("line map, keys of 64 bits, values of 16; fingerprints of 8 bits",
                  "3000, load 0.7", "bits a key", "level 0", "one level further", "longest walk"):
        assert words in said, said
    assert run(roost, "show", image).stdout == said
    assert run(roost, "ask", image, "10.0.0.3", "10.0.0.9").stdout == (
        "10.0.0.3 3 unverified\n10.0.0.9 2 unverified\n")
    strangers = [f"172.16.0.{i}" for i in range(100)]
    answers = run(roost, "ask", image, *strangers, status=1).stdout
    assert answers.count(" - certain\n") > 90, answers
    rows = json.loads(run(roost, "ask", image, "10.0.0.3", "--json").stdout)
    assert rows == [{"key": "10.0.0.3", "value": 3, "is_certain": False}], rows
    run(roost, "export", image, folder / "parts")
    assert (folder / "parts/layout.json").exists()
    said = run(roost, "build", entries, "-o", image, "--kind", "parrot", "--keep-keys").stdout
    for words in ("models tried:", ": taken, the fewest", "failed buckets", "in the stash",
                  "entries of the stash", "keys kept beside the slots"):
        assert words in said, said
    assert run(roost, "ask", image, "10.0.0.3").stdout == "10.0.0.3 3 certain\n"
    run(roost, "build", entries, "-o", image, "--kind", "parrot", "--steps")
    assert " steps under " in run(roost, "show", image).stdout
    for kind, name in (("swx", "parrot.spec"), ("p4", "parrot.p4"), ("report", "tofino.txt")):
        run(roost, "export", image, folder / kind, "--format", kind, "--ports", "7")
        assert (folder / kind / name).stat().st_size > 100
    run(roost, "export", image, folder / "swx", "--format", "swx", status=EXIT_FILES)  # is there
    six = folder / "six.txt"
    six.write_text("2001:db8::1 1\n2001:db8::2 2\n")
    run(roost, "build", six, "-o", image)
    assert run(roost, "ask", image, "2001:db8::2").stdout == "2001:db8::2 2 unverified\n"
    said = run(roost, "export", image, folder / "six", "--format", "p4", status=EXIT_FILES)
    assert "switches take Parrot tables" in said.stderr, said
    run(roost, "ask", image, "10.0.0.3", status=EXIT_REFUSED)


def check_refusals(roost, folder):
    entries, image = folder / "bad.txt", folder / "bad.image"

    def refused(text, *options, words, status=EXIT_REFUSED):
        entries.write_text(text)
        said = run(roost, "build", entries, "-o", image, *options, status=status).stderr
        assert words in said, said
        assert not image.exists() and not list(folder.glob("*.new"))

    refused("1 2\n1 3\n", words=f"{entries}:2: this key is in line 1 already")
    refused("1 65535\n", words=f"{entries}:1: the value 65535 is too wide")
    refused("256 1\n", "--kind", "parrot", "--key-bits", "8", words=f"{entries}:1: the key \"256\"")
    refused("1 1\n", "--key-bits", "8", words="give --kind parrot")
    refused("1 1\n", "--load", "0.98", words="load: give more than 0 and at most 0.97")
    for options in (("--value-bits", "33"), ("--fingerprint-bits", "7"), ("--kind", "tree"),
                    ("--model", "rmi")):
        refused("1 1\n", *options, words=options[0], status=EXIT_USAGE)
    entries.write_text("1 1\n")
    run(roost, "build", entries, "-o", folder / "none/image", status=EXIT_FILES)
    for words in ((), ("ask", image), ("show",), ("build", entries)):
        run(roost, *words, status=EXIT_USAGE)
    for command in (("show", entries), ("ask", entries, "1"), ("export", entries, folder / "out")):
        said = run(roost, *command, status=EXIT_FILES).stderr
        assert "this is no image" in said, said
    run(roost, "build", entries, "-o", image)
    whole = image.read_bytes()
    image.write_bytes(whole[:-64])
    assert "it is cut" in run(roost, "show", image, status=EXIT_FILES).stderr
    image.write_bytes(whole[:-9] + b"\1" + whole[-8:])
    assert "checksum is wrong" in run(roost, "show", image, status=EXIT_FILES).stderr


def main(roost):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_words(roost, folder)
        check_refusals(roost, folder)
        if PREFIXES.exists():
            check_vendors(roost, folder)
        else:
            print(f"NOT TESTED: {PREFIXES} is missing; ./dev setup test installs ieee-data")


if __name__ == "__main__":
    main(*sys.argv[1:])
