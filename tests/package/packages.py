"""The Debian packages of this tree, built once for all tests."""

import functools
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/package"
NAMES = ("roost", "libroost0", "libroost-dev")


def run(*command, folder=None, environment=None, status=0, seconds=1200):
    """All that a command says; another exit status than `status` is an AssertionError with it."""
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=folder, env={**os.environ, **(environment or {})}, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, timeout=seconds, check=False)
    assert result.returncode == status, (
        f"exit status {result.returncode} of {' '.join(words)}\n{result.stdout}")
    return result.stdout


def copy_tree(to):
    """The tree as git sees it, uncommitted work included; a folder without git, without build/."""
    if (ROOT / ".git").exists():
        listing = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                      folder=ROOT)
        names = [name for name in listing.split("\0") if name]
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if path.relative_to(ROOT).parts[0] not in ("build", "out")]
    for name in names:
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def build_environment():
    """Without debugging information, which only costs time here, and with a compiler cache if any.

    It has most objects already, of the release build, if they are compiled by the same flags; so
    Debian's hardening is left to ROOST_PACKAGE_HARDENED=1.
    """
    cores = len(os.sched_getaffinity(0))
    environment = {"DEB_BUILD_OPTIONS": f"nocheck noautodbgsym parallel={cores}"}
    if os.environ.get("ROOST_PACKAGE_HARDENED") == "1":
        environment |= {"DEB_CXXFLAGS_STRIP": "-g", "DEB_CFLAGS_STRIP": "-g"}
    else:
        print("NOT TESTED: packages with Debian's hardening, which ./dev test --all builds")
        environment |= {f"DEB_{kind}FLAGS_SET": "" for kind in ("C", "CXX", "CPP")}
        environment |= {"CC": "gcc", "CXX": "g++"}
    if shutil.which("ccache"):
        # debhelper gives builds a home of their own
        environment |= {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_NOHASHDIR": "1",
                        "CCACHE_BASEDIR": str(FOLDER / "tree"),
                        "CCACHE_DIR": run("ccache", "--get-config", "cache_dir").strip()}
    return environment


class Packages:
    def __init__(self):
        shutil.rmtree(FOLDER, ignore_errors=True)
        copy_tree(FOLDER / "tree")
        self.log = run("dpkg-buildpackage", "--build=binary", "--no-sign", folder=FOLDER / "tree",
                       environment=build_environment())
        self.changes = next(FOLDER.glob("*.changes"))
        self.version = run("dpkg-parsechangelog", "-S", "Version",
                           folder=FOLDER / "tree").strip()

    def path(self, name):
        found = list(FOLDER.glob(f"{name}_{self.version}_*.deb"))
        assert len(found) == 1, f"{name}: {found}\n{self.log}"
        return found[0]

    def paths(self):
        return [self.path(name) for name in NAMES]

    def field(self, name, field):
        return run("dpkg-deb", "--field", self.path(name), field).strip()

    def relations(self, name, field="Depends"):
        return [entry.strip() for entry in self.field(name, field).split(",")]

    def files(self, name):
        """Path to mode, as `ls -l` writes it, of all that is no folder."""
        modes = {}
        for line in run("dpkg-deb", "--contents", self.path(name)).splitlines():
            mode, _, _, _, _, path = line.split(maxsplit=5)
            if not mode.startswith("d"):
                modes[re.sub(r" -> .*", "", path).removeprefix(".")] = mode
        return modes

    def unpack(self, name, folder):
        run("dpkg-deb", "--extract", self.path(name), folder)
        return folder


@functools.cache
def packages():
    return Packages()
