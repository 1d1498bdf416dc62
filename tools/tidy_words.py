"""Rule about words that were given up: a term of the field took the place of each.

tools/given_up_words.txt lists them, some for a few places only. History keeps the words that it was
written in.
"""

import re

from tidy_rules import line_of
from tidy_tree import Finding

WORDS = "tools/given_up_words.txt"
HISTORY = (WORDS, "CHANGELOG.md", "LICENSE", "docs/decisions/", "docs/dead-ends.md", "lab/record/")
TEXTS = (".cc", ".c", ".h", ".py", ".sh", ".md", ".toml", ".txt", ".json", ".csv", ".cmake", ".in",
         ".1", ".8")


def given_up(tree):
    """[(expression, places, term)] of the list; a space in a word is also a hyphen, underscore or
    new line.
    """
    words = []
    if tree.exists(WORDS):
        for line in tree.text(WORDS).splitlines():
            word, separator, term = line.split("#")[0].partition(" -> ")
            if separator:
                word, _, places = word.partition(" @ ")
                gap = r"(?:[ _-]|\s*\n\s*(?://|#)?\s*)"
                expression = re.compile(gap.join(re.escape(part) for part in word.split()))
                words.append((expression, tuple(places.split()) or ("",), term.strip()))
    return words


def words_that_were_given_up_stay_away(tree):
    words = given_up(tree)
    for path in tree.files:
        if path.startswith(HISTORY) or not path.endswith(TEXTS):
            continue
        text = tree.text(path)
        for expression, places, term in words:
            if not path.startswith(places):
                continue
            for match in expression.finditer(text):
                yield Finding("words", path, line_of(text, match.start()),
                              f"{' '.join(match.group().split())}: the term is {term}")
            if expression.search(path):
                yield Finding("words", path, 1, f"a file's name: the term is {term}")


RULES = [words_that_were_given_up_stay_away]
