"""Runs clang-tidy-16 over the project's sources in a build folder, several at a time.

    tools/clang_tidy.py BUILD_FOLDER JOBS

Prints findings only. A source is analysed again only when something that clang-tidy would read has
changed: the stamp in BUILD_FOLDER/tidy is a hash of the preprocessed source and of the settings.
"""

import concurrent.futures
import hashlib
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The build folder is GCC's: Clang does not know all of its warning options.
EXTRA_ARGUMENTS = ["--extra-arg=-Wno-unknown-warning-option"]


def sources(build):
    """(source, compile command) of each source of the project, once, biggest first."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if source.is_relative_to(ROOT) and not source.is_relative_to(build):
            commands.setdefault(source, entry)
    return sorted(commands.items(), key=lambda item: -item[0].stat().st_size)


def fingerprint(entry):
    """A hash of what the compiler reads, macros expanded; comments count too, for NOLINT."""
    words = shlex.split(entry["command"])
    words = words[1:] if words[0].endswith("ccache") else words
    output = words.index("-o")
    words = words[:output] + words[output + 2:]
    words.remove("-c")
    preprocessed = subprocess.run([*words, "-E", "-C"], cwd=entry["directory"], capture_output=True)
    places = (".clang-tidy", "*/.clang-tidy", "*/*/.clang-tidy")
    files = [file for place in places for file in sorted(ROOT.glob(place))]
    settings = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(preprocessed.stdout + settings).hexdigest()


def analyse(build, source, entry):
    """Findings about one source and the headers it includes; nothing if it is clean."""
    mark = fingerprint(entry)
    stamp = build / "tidy" / (str(source.relative_to(ROOT)).replace("/", "-") + ".clean")
    if stamp.exists() and stamp.read_text() == mark:
        return ""
    result = subprocess.run(
        ["clang-tidy-16", "--quiet", f"-p={build}", *EXTRA_ARGUMENTS, str(source)],
        capture_output=True, text=True)
    if result.returncode == 0:
        stamp.write_text(mark)
        return ""
    return result.stdout or result.stderr


def main(folder, jobs):
    build = pathlib.Path(folder).resolve()
    (build / "tidy").mkdir(exist_ok=True)
    work = sources(build)
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        results = list(pool.map(lambda item: analyse(build, *item), work))
    for text in dict.fromkeys(filter(None, results)):
        print(text)
    dirty = sum(map(bool, results))
    print(f"clang-tidy: {dirty} of {len(work)} sources have findings")
    return 1 if dirty or not work else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
