"""The reservation of pages, on a folder that stands in for the kernel's."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness import huge_pages  # noqa: E402  (found by the line above)


class ShortOfMemory(huge_pages.HugePages):
    """A kernel that has no more than ten pages to give."""

    def _ask_for(self, count):
        super()._ask_for(min(count, 10))


class HugePages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.setting = self.folder / "nr_hugepages"
        self.setting.write_text("3\n")

    def reserved(self):
        return int(self.setting.read_text())

    def pages(self, count, kind=huge_pages.HugePages):
        return kind(count, folder=self.folder, compact=self.folder / "compact")

    def test_pages_are_added_and_given_back(self):
        with self.pages(5):
            self.assertEqual(self.reserved(), 8)
        self.assertEqual(self.reserved(), 3)

    def test_they_are_given_back_when_the_run_is_ended(self):
        for ending in (KeyboardInterrupt, SystemExit, ValueError):
            with self.assertRaises(ending), self.pages(5):
                raise ending
            self.assertEqual(self.reserved(), 3)

    def test_what_others_reserved_meanwhile_stays(self):
        with self.pages(5):
            self.setting.write_text("10\n")
        self.assertEqual(self.reserved(), 5)

    def test_too_few_are_given_back_and_said(self):
        with self.assertRaisesRegex(huge_pages.NoHugePages, "7 of 20"), \
                self.pages(20, ShortOfMemory):
            self.fail("there are not enough pages")
        self.assertEqual(self.reserved(), 3)

    def test_a_setting_that_cannot_be_written_is_said(self):
        with self.assertRaisesRegex(huge_pages.NoHugePages, "root"), \
                huge_pages.HugePages(5, folder=self.folder / "absent"):
            self.fail("there is no setting")


if __name__ == "__main__":
    unittest.main()
