"""Rules about sizes: of lines, functions and files."""

import ast
import re

from tidy_tree import Finding

FILE_LINES_MAX = 350
FUNCTION_LINES_MAX = 60
LINE_COLUMNS_MAX = 100
SOURCES = (".cc", ".c", ".h", ".py", ".sh")
# What begins a block that holds functions instead of being one.
CONTAINER = re.compile(
    r'^\s*(?:inline\s+)?(?:namespace\b|extern\s*""'
    r"|(?:template\s*<.*>\s*)?(?:requires\b.*)?(?:class|struct|union|enum)\b)", re.DOTALL)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\[^\n]|\\\n)*", re.MULTILINE)


def is_source(path):
    return path.endswith(SOURCES) or path in ("dev", ".ci/run")


def sizes_of_files_and_lines(tree):
    for path in filter(is_source, tree.files):
        lines = tree.text(path).splitlines()
        if len(lines) > FILE_LINES_MAX:
            yield Finding("file-lines", path, 1, f"{len(lines)} lines, at most {FILE_LINES_MAX}: "
                          "one idea a file", len(lines))
        for number, line in enumerate(lines, 1):
            if len(line) > LINE_COLUMNS_MAX:
                yield Finding("columns", path, number,
                              f"{len(line)} columns, at most {LINE_COLUMNS_MAX}")


def cpp_functions(code):
    """(line, body lines) of the functions of comment-free C++, lambdas within them not counted."""
    code = PREPROCESSOR.sub(lambda match: "\n" * match.group().count("\n"), code)
    stack = []
    line = 1
    begin = 0
    for place, character in enumerate(code):
        if character == "\n":
            line += 1
        elif character == "{":
            head = code[begin:place]
            inside = any(kind == "function" for kind, _ in stack)
            is_function = "(" in head and not CONTAINER.search(head) and not inside
            kind = "function" if is_function else "block"
            stack.append((kind, line))
            begin = place + 1
        elif character == "}":
            if stack:
                kind, opened = stack.pop()
                if kind == "function":
                    yield opened, line - opened + 1
            begin = place + 1
        elif character == ";":
            begin = place + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def sizes_of_functions(tree):
    for path in tree.files:
        if path.endswith((".cc", ".c", ".h")):
            functions = cpp_functions(tree.code(path))
        elif path.endswith(".py"):
            functions = python_functions(tree.text(path))
        else:
            continue
        for line, length in functions:
            if length > FUNCTION_LINES_MAX:
                yield Finding("function-lines", path, line,
                              f"a function of {length} lines, at most {FUNCTION_LINES_MAX}: "
                              "give a part its name", length)


RULES = [sizes_of_files_and_lines, sizes_of_functions]
