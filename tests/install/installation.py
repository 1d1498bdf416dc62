"""A build of Roost, installed into an empty prefix that was then moved, as its users have it."""

import atexit
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests/install"
VERSION = re.search(r"^project\(roost VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(),
                    re.MULTILINE).group(1)


def run(*command, folder=None, environment=None, seconds=600):
    """Standard output of a command; a command that fails is an AssertionError with all it said."""
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=folder, env={**os.environ, **(environment or {})}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds)
    assert result.returncode == 0, (
        f"exit status {result.returncode} of {' '.join(words)}\n{result.stdout}{result.stderr}")
    return result.stdout


class Installation:
    def __init__(self, build):
        self.build = build
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="roost-install-"))
        atexit.register(shutil.rmtree, self.folder)
        first = self.folder / "installed"
        run("cmake", "--install", build, "--prefix", first)
        self.prefix = self.folder / "moved" / "roost"
        self.prefix.parent.mkdir()
        first.rename(self.prefix)
        self.libraries = self.prefix / "lib"
        self.documents = self.prefix / "share/doc/roost"
        self.examples = self.documents / "examples"

    @property
    def environment(self):
        """Where pkg-config, CMake and the dynamic linker find it."""
        return {"PKG_CONFIG_PATH": str(self.libraries / "pkgconfig"),
                "CMAKE_PREFIX_PATH": str(self.prefix), "LD_LIBRARY_PATH": str(self.libraries)}

    def run(self, *command, environment=None, **options):
        return run(*command, environment=self.environment | (environment or {}), **options)

    def flags(self, *packages, static=False):
        """What pkg-config gives for compiling and linking, as a list."""
        options = ["--static"] if static else []
        return self.run("pkg-config", *options, "--cflags", "--libs", *packages).split()

    def new_folder(self, name):
        return pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))

    def files(self):
        return sorted(path for path in self.prefix.rglob("*") if path.is_file())


@functools.cache
def installation():
    """The one that all tests share; run.py says which build it is of."""
    return Installation(pathlib.Path(os.environ["ROOST_BUILD"]))
