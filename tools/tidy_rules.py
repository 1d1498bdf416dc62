"""Rules about what may stand in which room, and about names and places of files."""

import pathlib
import re

from tidy_tree import Finding, without_comments

# The rooms in dependency order: a room includes only itself and those before it.
ROOMS = ["roost/base", "roost/memory", "roost/isa", "roost/hash", "roost/expiry", "roost/table",
         "roost/concurrent", "roost/compact", "roost/balance", "roost/traffic", "roost/net",
         "roost/bridge", "roost/assets", "roost/capture", "roost/conntrack", "roost/classify",
         "roost/config", "roost/acl", "roost/openflow", "roost/l3", "roost/io", "roost/routing",
         "roost/node", "roost/control", "roost/trace", "targets", "sim", "apps", "capi",
         "bindings", "lab", "tests"]

# Rooms that may use only some of those before them.
USES = {"sim": ("sim", "roost/base", "roost/memory", "roost/isa", "roost/hash", "roost/expiry",
                "roost/table", "roost/traffic", "roost/classify", "roost/config"),
        "capi": ("capi", "roost/base", "roost/memory", "roost/isa", "roost/hash", "roost/expiry",
                 "roost/table", "roost/concurrent", "roost/compact"),
        "bindings": ("bindings",)}

# Folders of apps that know the network functions; a function's folder knows none but itself.
KNOW_FUNCTIONS = ("apps/program", "apps/ctl", "apps/advise")

# What a token means, where it may stand, and what to do elsewhere.
TOKENS = [
    ("intrinsics",
     r"\b_mm\d*_\w+|\b__m(?:64|128|256|512)[id]?\b|\b__builtin_ia32_\w+"
     r"|<(?:[a-z]*intrin|arm_neon|arm_sve|arm_acle)\.h>",
     ("roost/isa/",), "intrinsics belong to roost/isa"),
    ("dpdk", r"\b(?:rte|RTE)_\w+",
     ("roost/io/", "targets/switch/swx_pipeline.", "lab/contestants/", "lab/functions/", "lab/lb/",
      "lab/store/", "tests/io/", "tests/targets/swx_",
      "tests/capi/lcore_test.cc", "tests/install/guide_program.c", "examples/rte_hash_or_roost.c"),
     "DPDK belongs to roost/io and targets/switch/swx_pipeline, and in the lab to contestants, "
     "functions, lb and store"),
    ("atomics",
     r"\bstd::atomic\w*|\bmemory_order\w*|\b__(?:atomic|sync)_\w+|<(?:stdatomic\.h|atomic)>",
     ("roost/concurrent/", "tests/", "lab/"),
     "synchronisation belongs to roost/concurrent; a signal's flag is a volatile sig_atomic_t"),
    ("printing",
     r"\b(?:v?f?printf|f?puts|f?putc|putchar|perror)\s*\(|\bstd::(?:cout|cerr|clog|print\w*)\b"
     r"|\bfmt::print\w*|<iostream>",
     ("apps/", "lab/", "tools/", "tests/", "examples/", "roost/base/assert.cc",
      "roost/control/event_log.cc"),
     "the library is silent: return a value, and let the program print it"),
    ("prefetches", r"\b__builtin_prefetch\b", ("roost/isa/",),
     "call prefetch() of roost/isa/prefetch.h, in a function that is inlined by command if it does "
     "nothing else: calls of another are dropped"),
    ("cycles",
     r"\b_*rdtscp?\b|\b__builtin_ia32_rdtscp?\b|\brte_(?:rdtsc|get_tsc|get_timer|tsc)\w*",
     ("lab/", "roost/io/clock."),
     "time is an argument: cycle counters are for lab and io's clock"),
    ("exceptions", r"\bthrow\b", ("apps/", "bindings/", "lab/", "tests/"),
     "errors are values: return Result or an outcome"),
]

CODE = (".cc", ".c", ".h", ".py", ".sh")
MACROS_ALLOWED = {"ROOST_ASSERT", "ROOST_DEBUG_ASSERT"}
# The headers of the C interface, where constants are macros; installed side by side.
C_HEADERS = {"roost.h": "capi/roost.h", "roost_types.h": "capi/roost_types.h",
             "roost_shared.h": "capi/roost_shared.h", "roost_map.h": "capi/roost_map.h"}
NAME_BANNED = re.compile(
    r"(?:^|[_\-/.])(?:utils?|misc|helpers?|managers?)(?:[_\-/.]|$)|_v\d+(?:[_\-/.]|$)")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.\"'}/])/(?:home|work|Users)/\w+")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def tokens_in_their_rooms(tree):
    for rule, pattern, allowed, message in TOKENS:
        expression = re.compile(pattern)
        for path in tree.cpp():
            if path.startswith(allowed):
                continue
            seen = set()
            for match in expression.finditer(tree.code(path)):
                line = line_of(tree.code(path), match.start())
                if line not in seen:
                    seen.add(line)
                    yield Finding(rule, path, line, f"{match.group().strip()}: {message}")


def room_of(path):
    return next((place for place, room in enumerate(ROOMS) if path.startswith(room + "/")), None)


def is_another_function(path, included):
    own, other = ("/".join(name.split("/")[:2]) for name in (path, included))
    return (own.startswith("apps/") and other.startswith("apps/") and own != other
            and own not in KNOW_FUNCTIONS)


def includes_follow_rooms(tree):
    """A file includes only its own room and those before it, by the path from the root."""
    for path in tree.cpp():
        own = room_of(path)
        code = without_comments(tree.text(path), keep_strings=True)
        for match in re.finditer(r'^\s*#\s*include\s+"([^"]+)"', code, re.MULTILINE):
            included, line = match.group(1), line_of(code, match.start(1))
            if path in C_HEADERS.values():
                included = C_HEADERS.get(included, included)
            place = room_of(included)
            if place is None or not tree.exists(included):
                yield Finding("includes", path, line,
                              f'"{included}": name a file that is there by its path from the root')
            elif own is not None and place > own:
                yield Finding("includes", path, line,
                              f"{ROOMS[own]} comes before {ROOMS[place]} and must not include it")
            elif is_another_function(path, included):
                yield Finding("includes", path, line,
                              "a network function knows no other one: what both need is a room's")
            elif own is not None and ROOMS[place] not in USES.get(ROOMS[own], ROOMS):
                yield Finding("includes", path, line,
                              f"{ROOMS[own]} must not include {ROOMS[place]}")


STRUCT = re.compile(
    r"\b(?:struct|class|union)\s+(?P<attributes>(?:\[\[[^\]]*\]\]"
    r"|alignas\s*\([^()]*(?:\([^()]*\))?[^()]*\)|__attribute__\s*\(\([^)]*\)\)|\s)*)"
    r"(?P<name>\w+)[^;{}()]*\{")
PACKED_LATE = re.compile(
    r"\}\s*(?:__attribute__\s*\(\(\s*packed|\[\[gnu::packed)|#\s*pragma\s+pack")


def packed_structs_assert_their_size(tree):
    """Tests are free to lay out what they like: nobody relies on it."""
    for path in tree.cpp("roost/", "targets/", "apps/", "capi/", "sim/", "lab/"):
        code = tree.code(path)
        for match in STRUCT.finditer(code):
            attributes, name = match.group("attributes"), match.group("name")
            if "packed" not in attributes and "alignas" not in attributes:
                continue
            if not re.search(rf"static_assert\s*\(\s*sizeof\s*\(\s*(?:\w+::)*{name}\b", code):
                yield Finding("layout", path, line_of(code, match.start()),
                              f"{name} has a layout: put static_assert(sizeof({name}) beside it")
        for match in PACKED_LATE.finditer(code):
            yield Finding("layout", path, line_of(code, match.start()),
                          "write [[gnu::packed]] before the name, where readers see it")


def names_say_what_a_file_is(tree):
    for path in tree.files:
        if NAME_BANNED.search(path):
            yield Finding("names", path, 1, "a file is named after the one thing it holds")
        if re.search(r"\s", path):
            yield Finding("names", path, 1, "no white space in file names")


def cmake_names(tree, folder):
    """Expressions for the files that a folder's CMakeLists.txt names, variables resolved."""
    text = re.sub(r"#[^\n]*", "", tree.text(f"{folder}/CMakeLists.txt"))
    tokens = set(re.findall(r'[^\s()";]+', text))
    words = "|".join(sorted(map(re.escape, tokens)))
    for token in tokens:
        token = token.removeprefix("${CMAKE_CURRENT_SOURCE_DIR}/")
        if token.endswith((".cc", ".c", ".h")):
            variable = r"\\\$\\\{\w+\\\}"
            yield re.compile(re.sub(variable, lambda _: f"(?:{words})", re.escape(token)))


def files_have_a_target(tree):
    """A CMakeLists.txt lists each source and each room's header; other headers are included."""
    named = {}
    included = set()
    for path in tree.cpp():
        included.update(re.findall(r'#\s*include\s+"([^"]+)"', tree.text(path)))
    for path in tree.files:
        if path.endswith("/CMakeLists.txt"):
            folder = str(pathlib.PurePosixPath(path).parent)
            named[folder] = list(cmake_names(tree, folder))
    for path in tree.cpp("roost/", "targets/", "apps/", "lab/", "tests/", "bindings/", "capi/",
                         "sim/"):
        pure = pathlib.PurePosixPath(path)
        listed = any(
            expression.fullmatch(str(pure.relative_to(folder)))
            for folder in map(str, pure.parents) if folder in named
            for expression in named[folder])
        must_be_listed = path.endswith((".cc", ".c")) or path.startswith(("roost/", "targets/"))
        if not listed and (must_be_listed or path not in included):
            yield Finding("targets", path, 1, "is in no CMake target: list it, or remove it")


def files_begin_with_their_idea(tree):
    """A file begins by saying what it is; a source leaves that to the header beside it."""
    for path in tree.files:
        if not path.endswith(CODE):
            continue
        text = tree.text(path)
        header = str(pathlib.PurePosixPath(path).with_suffix(".h"))
        if path == header or (path.endswith((".cc", ".c")) and not tree.exists(header)):
            if not text.startswith("//"):
                yield Finding("head", path, 1, "begin with a comment: what this file is, and why")
        if path.endswith(".h") and not re.search(r"^#pragma once$", text, re.MULTILINE):
            yield Finding("head", path, 1, "a header needs #pragma once")
        lines = [line for line in text.splitlines() if not line.startswith(("#!", "# shellcheck"))]
        begin = lines[0] if lines else ""
        if path.endswith((".py", ".sh")) and not begin.startswith(('"""', "#", 'r"""')):
            yield Finding("head", path, 1, "begin with a comment: what this file is, and why")


def rooms_have_a_readme(tree):
    for path in tree.files:
        if re.fullmatch(r"(?:(?:roost|targets|apps)/\w+|capi)/CMakeLists\.txt", path):
            readme = str(pathlib.PurePosixPath(path).parent / "README.md")
            if not tree.exists(readme):
                yield Finding("readme", readme, 1, "each room says in a README.md what it holds")


def rooms_are_in_the_lists(tree):
    """Each room stands in ROOMS, and ARCHITECTURE.md tells of the same ones in the same order."""
    for path in tree.files:
        room, file = path.rpartition("/")[::2]
        if re.fullmatch(r"roost/\w+", room) and file == "CMakeLists.txt" and room not in ROOMS:
            yield Finding("rooms", path, 1, "say in ROOMS of tidy_rules.py what it may include")
    told = re.findall(r"^\| `(roost/\w+)` \|", tree.text("ARCHITECTURE.md"), re.MULTILINE)
    known = [room for room in ROOMS if room.startswith("roost/")]
    if told != known:
        yield Finding("rooms", "ARCHITECTURE.md", 1,
                      f"its table has {told}; ROOMS in tidy_rules.py {known}")


def files_named_in_comments_are_there(tree):
    names = {pathlib.PurePosixPath(path).name for path in tree.files}
    for path in tree.cpp("roost/", "targets/", "apps/", "capi/", "lab/", "examples/"):
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            comment = line.partition("//")[2]
            for name in re.findall(r"\b\w+\.(?:h|cc)\b", comment):
                if name not in names:
                    yield Finding("comments", path, number, f"there is no file {name}")


def decisions_are_indexed(tree):
    index = "docs/decisions/README.md"
    for path in tree.files:
        name = pathlib.PurePosixPath(path).name
        if path.startswith("docs/decisions/") and path != index and name not in tree.text(index):
            yield Finding("decisions", path, 1, f"list it in {index}")


def macros_are_two(tree):
    for path in tree.cpp():
        for match in re.finditer(r"^\s*#\s*define\s+(\w+)", tree.code(path), re.MULTILINE):
            is_c_name = path in C_HEADERS.values() and match.group(1).startswith("ROOST_")
            if match.group(1) not in MACROS_ALLOWED and not is_c_name:
                yield Finding("macros", path, line_of(tree.code(path), match.start(1)),
                              f"{match.group(1)}: a constant, function or template is better")


def nothing_is_unfinished(tree):
    for path in tree.files:
        if path.startswith("tools/tidy") or not path.endswith(CODE + (".md", ".txt", ".toml")):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if path.endswith(CODE) and UNFINISHED.search(line):
                yield Finding("unfinished", path, number, "finish it, or leave it out")
            if MACHINE_PATH.search(line):
                yield Finding("paths", path, number, "a path that only one machine has")


RULES = [tokens_in_their_rooms, includes_follow_rooms, packed_structs_assert_their_size,
         names_say_what_a_file_is, files_have_a_target, files_begin_with_their_idea,
         rooms_have_a_readme, rooms_are_in_the_lists, files_named_in_comments_are_there,
         decisions_are_indexed, macros_are_two, nothing_is_unfinished]
