#!/usr/bin/python3
"""Turns the fixtures' frames into seeds of the parser's fuzz target: make_corpus.py OUTPUT_FOLDER.

Also writes OUTPUT_FOLDER.list, which libFuzzer's -seed_inputs=@FILE reads, so that a run with a
fixed seed starts from the same inputs and stores nothing.
"""

import pathlib
import sys

NO_CHOICES = b"\0\0"  # the fuzz target's first two bytes


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    seeds = []
    for path in sorted((pathlib.Path(__file__).parent / "fixtures").glob("*.txt")):
        for number, line in enumerate(path.read_text().splitlines()):
            if line.startswith("frame: "):
                seed = folder / f"{path.stem}-{number}"
                seed.write_bytes(NO_CHOICES + bytes.fromhex(line.removeprefix("frame: ")))
                seeds.append(str(seed))
    folder.with_suffix(".list").write_text(",".join(seeds))


if __name__ == "__main__":
    main()
