"""Runs clang-tidy over the project's sources in a build folder, several at a time.

    tools/clang_tidy.py CLANG_TIDY BUILD_FOLDER JOBS [--without FOLDER]

CLANG_TIDY is the program, FOLDER one of the tree whose sources are left out. The sources of a
target are analysed together where the build compiles them together, so that each header is read
once a target. Prints findings only. A source is analysed again only when something that clang-
tidy would read has changed: a clean one leaves a file in the user's cache, whose name is a hash
of the source and all it includes, of the command, of the settings and of the program's version.
So a clean source is clean in every clone. What a source includes the build knows, if it has
compiled the source as it is now; else the preprocessor is asked.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache",
                     "roost-clang-tidy")
# The build folder is GCC's: Clang does not know all of its warning options.
EXTRA_ARGUMENTS = ["--extra-arg=-Wno-unknown-warning-option"]
# A file that the build system made of sources includes them, which is this check's business.
UNITY_CHECKS = ["--checks=-bugprone-suspicious-include"]


def is_unity(source):
    return source.parent.name == "Unity"


def sources(build):
    """(source, compile command) of each source of the project, once, biggest first."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if "_headers.dir/" in entry["command"] or "header_sets.dir/" in entry["command"]:
            continue
        if is_unity(source) or source.is_relative_to(ROOT) and not source.is_relative_to(build):
            commands.setdefault(source, entry)
    return sorted(commands.items(), key=lambda item: -size_of(item[0]))


def size_of(source):
    if not is_unity(source):
        return source.stat().st_size
    return sum(pathlib.Path(line.split('"')[1]).stat().st_size
               for line in source.read_text().splitlines() if line.startswith("#include"))


def folder_of(build, source):
    """The folder of the tree whose .clang-tidy holds for a source."""
    if not is_unity(source):
        return source.parent
    return ROOT / str(source.relative_to(build)).split("/CMakeFiles/")[0]


def settings_of(folder):
    """The .clang-tidy files that hold in a folder, outermost first."""
    places = [place for place in (folder, *folder.parents) if place.is_relative_to(ROOT)]
    return [place / ".clang-tidy" for place in reversed(places) if (place / ".clang-tidy").exists()]


class Includes:
    """What the sources of a build folder include, by what the build has noted of each object."""

    def __init__(self, build):
        self.build = build
        self.files = {}
        self.read = functools.cache(pathlib.Path.read_bytes)
        noted = subprocess.run(["ninja", "-C", str(build), "-t", "deps"],
                               capture_output=True, text=True).stdout
        for block in noted.split("\n\n"):
            head, *files = block.splitlines() or [""]
            if head.endswith("(VALID)"):
                self.files[head.split(":")[0]] = [build / file.strip() for file in files]

    def text(self, target):
        """All files that the object was made of; nothing if one has changed since."""
        files = self.files.get(target)
        if not files or not all(file.exists() for file in files):
            return None
        made = (self.build / target).stat().st_mtime
        if any(file.stat().st_mtime > made for file in files):
            return None
        return b"".join(map(self.read, files))


def preprocessed(words, folder):
    """What the compiler reads, macros expanded; comments count too, for NOLINT."""
    return subprocess.run([*words, "-E", "-C", "-P"], cwd=folder, capture_output=True).stdout


def fingerprint(clang_tidy, entry, settings, includes):
    """A hash of all that clang-tidy's findings depend on, without the tree's own path. The
    program's folder is named for its version."""
    words = shlex.split(entry["command"])
    words = words[1:] if words[0].endswith("ccache") else words
    output = words.index("-o")
    target = words[output + 1]
    words = words[:output] + words[output + 2:]
    words.remove("-c")
    source = includes.text(target) or preprocessed(words, entry["directory"])
    texts = b"".join(file.read_bytes() for file in settings)
    program = str(pathlib.Path(clang_tidy).resolve())
    told = b"\n".join([source, texts, " ".join(words).encode(), program.encode()])
    return hashlib.sha256(told.replace(str(ROOT).encode(), b".")).hexdigest()


def analyse(clang_tidy, build, includes, source, entry):
    """Findings about one source and what it includes of the project; nothing if it is clean."""
    settings = settings_of(folder_of(build, source))
    clean = CLEAN / fingerprint(clang_tidy, entry, settings, includes)
    if clean.exists():
        clean.touch()
        return ""
    result = subprocess.run(
        [clang_tidy, "--quiet", f"-p={build}", f"--config-file={settings[-1]}",
         *(UNITY_CHECKS if is_unity(source) else []), *EXTRA_ARGUMENTS, str(source)],
        capture_output=True, text=True)
    if result.returncode == 0:
        clean.touch()
        return ""
    return result.stdout or result.stderr


def forget_old():
    """Files of sources that nobody has had for a month."""
    for file in CLEAN.iterdir():
        if file.stat().st_mtime < time.time() - 30 * 86_400:
            file.unlink()


def main(clang_tidy, folder, jobs, option=None, left_out=None):
    if option not in (None, "--without") or (option and not left_out):
        sys.exit(__doc__)
    build = pathlib.Path(folder).resolve()
    CLEAN.mkdir(parents=True, exist_ok=True)
    forget_old()
    work = [(source, entry) for source, entry in sources(build)
            if not left_out or not folder_of(build, source).is_relative_to(ROOT / left_out)]
    includes = Includes(build)
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        results = list(pool.map(lambda item: analyse(clang_tidy, build, includes, *item), work))
    for text in dict.fromkeys(filter(None, results)):
        print(text)
    dirty = sum(map(bool, results))
    print(f"clang-tidy: {dirty} of {len(work)} sources have findings")
    return 1 if dirty or not work else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
