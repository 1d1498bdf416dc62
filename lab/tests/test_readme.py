"""README's figures against their records: a figure, a commit or a name that is wrong is noticed."""
import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from report import readme  # noqa: E402
from report.record import Record  # noqa: E402


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.git("init", "-q")
        self.commit = self.make_commit("one")
        self.write("r.csv", self.commit)
        (self.root / "README.md").write_text(
            "# x\n<!-- lab: r.csv speed -->\n<!-- /lab -->\n"
            "<!-- lab: r.csv chart -->\n<!-- /lab -->\n", encoding="utf-8")
        self.assertEqual(self.quietly(readme.renew), 0)

    def quietly(self, act):
        with contextlib.redirect_stdout(io.StringIO()):
            return act(self.root)

    def git(self, *words):
        asked = subprocess.run(
            ["git", "-C", self.root, "-c", "user.name=t", "-c", "user.email=t@localhost", *words],
            check=True, capture_output=True, text=True)
        return asked.stdout.strip()

    def make_commit(self, name):
        self.git("commit", "-q", "--allow-empty", "-m", name)
        return self.git("rev-parse", "HEAD")

    def write(self, name, commit, **fields):
        Record.write(self.root / name, {"commit": commit, "experiment": "table"},
                     rows.lookup_rows(rows.rates(), **fields))

    def problems(self):
        return "\n".join(readme.problems(self.root))

    def change(self, old, new, name="README.md"):
        file = self.root / name
        self.assertIn(old, file.read_text())
        file.write_text(file.read_text().replace(old, new))

    def test_figures_made_from_the_record_pass_also_later(self):
        self.assertEqual(self.problems(), "")
        self.make_commit("two")
        self.assertEqual(self.problems(), "")

    def test_a_changed_figure_is_noticed(self):
        self.change("| 1.50 / 1.50 / 1.50 | **1.65 /", "| 1.50 / 1.50 / 1.50 | **1.66 /")
        self.assertEqual(self.problems(), "README.md: block speed differs from r.csv; "
                                          "./dev lab readme makes it anew")

    def test_a_changed_and_a_missing_picture_are_noticed_and_made_anew(self):
        self.change("1.65×", "1.66×", "docs/speed-dark.svg")
        (self.root / "docs/speed-light.svg").unlink()
        self.assertEqual(self.problems(), "\n".join(
            f"docs/speed-{page}.svg: differs from r.csv; ./dev lab readme makes it anew"
            for page in ("light", "dark")))
        self.assertEqual(self.quietly(readme.renew), 0)

    def test_a_picture_of_another_record_is_noticed(self):
        self.write("r.csv", self.commit, slow_rounds=(0, 1, 2))
        self.assertIn("docs/speed-light.svg: differs", self.problems())

    def test_a_record_of_a_commit_that_is_no_ancestor_is_noticed(self):
        self.git("checkout", "-q", "--orphan", "other")
        self.make_commit("elsewhere")
        self.assertIn("no ancestor", self.problems())

    def test_a_record_of_a_changed_tree_or_a_broken_bench_is_noticed(self):
        self.write("r.csv", self.commit + "-dirty")
        self.assertIn("changed tree", self.problems())
        Record.write(self.root / "r.csv", {"commit": self.commit, "experiment": "table"},
                     rows.lookup_rows(rows.rates(ours=90.0)))
        self.assertIn("what memory allows", self.problems())

    def test_a_missing_record_and_a_missing_end_are_noticed(self):
        (self.root / "r.csv").unlink()
        self.assertIn("there is no record", self.problems())
        self.change("<!-- /lab -->", "")
        self.assertIn("not closed", self.problems())

    def test_every_page_with_figures_is_checked(self):
        root = Path(readme.__file__).resolve().parents[2]
        pages = {str(file.relative_to(root)) for folder in ("", "docs/", "apps/*/", "roost/*/")
                 for file in root.glob(f"{folder}*.md")
                 if readme.BLOCK.search(file.read_text(encoding="utf-8"))}
        self.assertEqual(pages, set(readme.PAGES))

    def test_outside_of_git_nothing_can_be_said(self):
        shutil.rmtree(self.root / ".git")
        self.assertEqual(self.quietly(readme.check), 0)


if __name__ == "__main__":
    unittest.main()
