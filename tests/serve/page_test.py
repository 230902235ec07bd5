"""Looks at the pages of neutra serve as a user does, in Chromium: scripts/check_serve runs it."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from playwright.sync_api import expect, sync_playwright

from serving import NEUTRA, Serving, start_search

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMPAT = ROOT / "tests/data/compat/0.1.0"
SCREENSHOTS = os.environ.get("NEUTRA_SCREENSHOTS")
ODD = "a b#c%20d <img src=x onerror=alert(1)>"
PLAN = {
    "format": "neutra-benchmark-plan", "version": 1, "name": "mine", "title": "Planes <b>and</b> more", "runs": 5,
    "operators": ["change_epochs", "change_learning_rate", "change_optimisation_function", "change_loss_function", "delete_training_data"],
    "subjects": [{"subject": "plane.json", "source": "made up", "licence": "none"}],
}
PROGRAM = {
    "format": "neutra-program", "version": 1, "name": "plane", "task": "regression",
    "model": {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 1, "batch_input_shape": [None, 2]}}]}},
    "compile": {"optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.005}}, "loss": "mean_squared_error", "metrics": ["mae"]},
    "fit": {"batch_size": 16, "epochs": 20},
    "data": {"source": "csv", "arguments": {"file": "rows.csv"}, "split": {"test_size": 0.25, "seed": 1}},
    "metric": {"name": "mae", "goal": "minimize"},
}


def neutra(*words, folder=None):
    result = subprocess.run([NEUTRA, *map(str, words)], capture_output=True, text=True, check=False, cwd=folder)
    if result.returncode != 0:
        raise AssertionError(f"neutra {' '.join(map(str, words))}: exit code {result.returncode}\n{result.stderr}")


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        resources = contextlib.ExitStack()
        cls.addClassCleanup(resources.close)
        folder = pathlib.Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="neutra-pages-")))
        cls.folder = folder / "shown"
        (cls.folder / ODD).mkdir(parents=True)
        (cls.folder / ODD / "D6.h5").write_bytes((COMPAT / "batch/D6.h5").read_bytes())
        neutra("search", "D7", "--store", cls.folder / "D7.h5", "--budget-evaluations", "150", "--quiet")
        cut = (COMPAT / "batch/D6.h5").read_bytes()[:4000]
        (cls.folder / "cut.h5").write_bytes(cut)
        (folder / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
        (folder / "plane.json").write_text(json.dumps(PROGRAM), encoding="utf-8")
        (folder / "rows.csv").write_text("".join(
            f"{i % 7},{i % 11},{3 * (i % 7) - i % 11 + 0.1 * (i * 37 % 13)}\n" for i in range(200)), encoding="utf-8")
        neutra("bench", "create", "plan.json", "-o", cls.folder / "mine.h5", "--quiet", folder=folder)
        cls.entries = json.loads(subprocess.run([NEUTRA, "bench", "list", cls.folder / "mine.h5", "--json"],
                                                capture_output=True, check=True).stdout)
        cls.serving = resources.enter_context(Serving(cls.folder))
        playwright = resources.enter_context(sync_playwright())
        cls.browser = playwright.chromium.launch(
            executable_path=os.environ.get("NEUTRA_CHROMIUM") or None, args=["--no-sandbox"])
        resources.callback(cls.browser.close)

    def setUp(self):
        self.problems = []

    def tearDown(self):
        self.assertEqual(self.problems, [])

    def open(self, page_name="", width=1280, height=900, context_options=None, **words):
        """A page in a context of its own; its errors, and requests elsewhere, fail the test."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, **(context_options or {}))
        self.addCleanup(context.close)
        context.set_default_timeout(120_000)
        expect.set_options(timeout=120_000)
        page = context.new_page()
        page.on("console", lambda message: self.problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith((self.serving.url, "data:")) else self.problems.append(request.url))
        page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        page.goto(f"{self.serving.url}/{page_name}" + (f"?{urllib.parse.urlencode(words)}" if words else ""))
        return page

    def first_entry(self):
        return self.entries[0]

    # --- searches ---

    def test_lists_searches_and_benchmarks(self):
        page = self.open()
        expect(page.locator("#search-table tbody tr")).to_have_count(3)
        expect(page.locator("#benchmark-table tbody tr")).to_have_count(1)
        expect(page.locator("#search-table")).to_contain_text(ODD)
        page.get_by_role("searchbox").fill("onerror")
        expect(page.locator("#search-table tbody tr")).to_have_count(1)
        page.get_by_role("searchbox").fill("")
        page.get_by_role("button", name="damaged 1").click()
        expect(page.locator("#search-table tbody tr")).to_have_count(1)
        expect(page.locator("#search-table")).to_contain_text("neutra store repair")

    def test_head_and_notes_say_what_there_is(self):
        page = self.open()
        expect(page.locator("h1")).to_contain_text("Searches and benchmarks in shown")
        subtitle = page.locator("#subtitle")
        expect(subtitle).to_contain_text("3 searches: 1 damaged, 2 finished, with ")
        expect(subtitle).to_contain_text("1 benchmark")
        row = page.locator("#search-table tr", has=page.get_by_role("link", name="D7", exact=True))
        expect(row).to_contain_text("Too small a learning rate")
        expect(row.locator("td[data-label=found]")).to_have_text(re.compile(r"mae [\d.]+ \u2192 [\d.]+, to reach [\d.]+"))
        expect(row.locator("td[data-label=note]")).to_contain_text("Evaluation budget used up.")
        page.get_by_role("searchbox").fill("too small")
        expect(page.locator("#search-table tbody tr")).to_have_count(1)

    def test_narrow_lists_are_cards(self):
        page = self.open(width=400)
        for cell in page.locator("#search-table tbody tr").first.locator("td").all():
            box = cell.bounding_box()
            if box is not None:
                self.assertLessEqual(box["x"] + box["width"], 400, cell.inner_text())
        self.assertTrue(page.locator("#search-table td[data-label=note]").first.is_visible())

    def test_report_of_a_search_with_an_odd_name(self):
        page = self.open()
        page.locator("#search-table tr", has_text=ODD).get_by_role("link").click()
        expect(page.locator("h1")).to_contain_text("D6: ")
        report = page.frame_locator("iframe")
        expect(report.locator("h1")).to_contain_text("D6")
        # Of another origin: it reaches neither the page around it nor the server.
        frame = page.frames[1]
        self.assertEqual(frame.evaluate("() => { try { return String(parent.document); } catch (error) { return error.name; } }"), "SecurityError")

    def test_two_searches_side_by_side(self):
        (self.folder / "again.h5").write_bytes((self.folder / "D7.h5").read_bytes())
        self.addCleanup((self.folder / "again.h5").unlink)
        page = self.open("search?name=D7.h5")
        page.get_by_label("Beside it").select_option("again.h5")
        report = page.frame_locator("iframe")
        expect(report.locator("#compared-heading")).to_be_visible()
        with page.expect_download() as waiting:
            report.locator("button.csv[data-table=common]").click()
        self.assertEqual(waiting.value.suggested_filename, "D7-common.csv")
        page.get_by_label("Beside it").select_option("")
        expect(report.locator("#compared-heading")).to_have_count(0)

    def test_a_choice_while_a_report_loads_comes_after_it(self):
        (self.folder / "again.h5").write_bytes((self.folder / "D7.h5").read_bytes())
        self.addCleanup((self.folder / "again.h5").unlink)
        page = self.open()
        held = []
        page.route("**/report?*", lambda route: route.continue_() if "with=" in route.request.url else held.append(route))
        page.on("requestfailed", lambda request: self.problems.append(f"given up: {request.url}"))
        page.locator("#search-table tr", has_text="again.h5").get_by_role("link").click()
        page.get_by_label("Beside it").select_option("D7.h5")
        page.get_by_role("radio", name="Dark").check()
        page.wait_for_timeout(200)
        self.assertEqual(len(held), 1)
        held.pop().continue_()
        report = page.frame_locator("iframe")
        expect(report.locator("#compared-heading")).to_be_visible()
        expect(report.locator("html[data-theme=dark]")).to_have_count(1)
        page.get_by_role("radio", name="Light").check()
        expect(report.locator("html[data-theme=light]")).to_have_count(1)

    def test_a_search_is_followed_while_it_runs(self):
        store = self.folder / "live.h5"
        self.addCleanup(lambda: [file.unlink() for file in self.folder.glob("live.h5*")])
        search = start_search("D7", store, 100_000)
        self.addCleanup(search.wait)
        self.addCleanup(search.terminate)
        page = self.open()
        row = page.locator("#search-table tr", has_text="live.h5")
        expect(row).to_contain_text("running")
        cell = row.locator("td[data-label=evaluations]")
        first = cell.inner_text()
        expect(cell).not_to_have_text(first)
        row.get_by_role("link").click()
        report = page.frame_locator("iframe")
        expect(page.locator(".cards")).to_contain_text(re.compile(r"as of [\d.]+ s ago"))
        expect(page.locator("#content > .help")).to_contain_text(re.compile(r"It runs as pid \d+, host .*\.$"))
        expect(report.locator(".notice").first).to_contain_text("isn't finished")
        button = page.get_by_role("button", name="Show what is new")
        expect(button).to_be_visible()
        button.click()
        expect(button).to_be_hidden()
        self.assertRegex(report.locator("#rejected .help").first.text_content(), r"\d+ programs more were generated, but their turn has not come yet\.")
        self.screenshot(page, "live")
        search.terminate()
        expect(page.locator(".cards")).to_contain_text("stopped")
        page.get_by_label("Always show the latest").check()
        expect(button).to_be_hidden()
        with urllib.request.urlopen(f"{self.serving.url}/api/listing") as answer:
            (programs,) = [one["programs"] for one in json.load(answer)["searches"] if one["name"] == "live.h5"]
        expect(report.locator("#summary")).to_contain_text(f"of {programs} generated")

    # --- benchmarks ---

    def test_entries_are_filtered(self):
        page = self.open("benchmark", name="mine.h5")
        expect(page.locator("h1")).to_have_text("Planes <b>and</b> more")
        rows = page.locator("#entry-table tbody tr")
        expect(rows).to_have_count(len(self.entries))
        expect(page.get_by_role("button", name="Show all")).to_be_hidden()
        operator = self.first_entry()["operators"][0]
        wanted = [entry for entry in self.entries if operator in entry["operators"]]
        self.assertLess(len(wanted), len(self.entries))
        page.get_by_label("Operator").select_option(operator)
        expect(rows).to_have_count(len(wanted))
        self.assertIn(f"operator={operator}", page.url)
        page.reload()
        expect(rows).to_have_count(len(wanted))
        expect(page.get_by_label("Operator")).to_have_value(operator)
        page.get_by_role("button", name="Show all").click()
        expect(rows).to_have_count(len(self.entries))
        page.get_by_label("Category").select_option("training_data")
        data = [entry for entry in self.entries if entry["category"] == "training_data"]
        expect(rows).to_have_count(len(data))
        page.get_by_role("button", name="Show all").click()
        tool = page.get_by_label("Tool support").locator("option").nth(1).get_attribute("value")
        page.get_by_label("Tool support").select_option(tool)
        said = page.get_by_label("Tool support").locator("option:checked").inner_text()
        expect(rows).to_have_count(int(said.rpartition("(")[2].rstrip(")")))
        self.assertGreater(rows.count(), 0)

    def test_tables_sort(self):
        page = self.open("benchmark", name="mine.h5")
        means = lambda: [float(text) for text in page.locator("#entry-table tbody td:nth-child(10)").all_inner_texts() if text not in ("diverged", "inf")]
        page.get_by_role("button", name="buggy").click()
        self.assertEqual(means(), sorted(means()))
        page.get_by_role("button", name="buggy").click()
        self.assertEqual(means(), sorted(means(), reverse=True))

    def test_the_keyboard_alone_leads_to_an_entry(self):
        page = self.open()
        expect(page.locator("#benchmark-table tbody tr")).to_have_count(1)
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "mine.h5":
                break
        page.keyboard.press("Enter")
        expect(page.locator("#entry-table tbody tr")).to_have_count(len(self.entries))
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('#entry-table tbody') !== null"):
                break
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_contain_text(f"Entry {self.first_entry()['id']}")

    def test_an_entry_shows_the_difference_and_similar_ones(self):
        entry = self.first_entry()
        page = self.open("entry", name="mine.h5", id=entry["id"])
        expect(page.locator("h1")).to_contain_text(entry["apply"][0])
        added = page.locator("#difference tr[data-kind=added]").count()
        self.assertGreater(added + page.locator("#difference tr[data-kind=removed]").count(), 0)
        short = page.locator("#difference tr").count()
        page.get_by_label("Whole programs").check()
        self.assertGreater(page.locator("#difference tr").count(), short)
        self.assertEqual(page.locator("#difference tr[data-kind=skipped]").count(), 0)
        similar = json.loads(subprocess.run([NEUTRA, "bench", "similar", self.folder / "mine.h5", str(entry["id"]), "--json"],
                                            capture_output=True, check=True).stdout)
        expect(page.locator("#similar tbody tr")).to_have_count(len(similar))
        page.locator("#similar tbody a").first.click()
        expect(page.locator("h1")).to_contain_text(f"Entry {similar[0]['id']}")

    def test_a_tool_is_asked(self):
        page = self.open("entry", name="mine.h5", id=self.first_entry()["id"])
        page.get_by_text("Other tools").click()
        page.get_by_role("button", name="Ask umlaut").click()
        job = page.get_by_role("article", name="Answer of umlaut")
        expect(job).to_contain_text("done")
        expect(job).to_contain_text("Answer: ")
        page.get_by_label("Runs").fill("2")
        page.get_by_role("button", name="Ask deepfault-ochiai").click()
        expect(page.get_by_role("article", name="Answer of deepfault-ochiai")).to_contain_text("done")
        page.reload()  # answers are kept
        expect(page.get_by_role("article")).to_have_count(2)
        self.screenshot(page, "answers")

    # --- looks ---

    def test_mistakes_are_said(self):
        page = self.open("benchmark", name="nothing.h5")
        expect(page.get_by_role("alert")).to_contain_text("no benchmark of this folder has that name")
        self.problems[:] = [problem for problem in self.problems if "404" not in problem]
        page = self.open("search", name="../D7.h5")
        expect(page.get_by_role("alert")).to_contain_text("No search of this folder has that name")
        expect(page.locator(".bar")).to_be_hidden()

    def test_colours_are_remembered(self):
        page = self.open()
        page.get_by_role("radio", name="Dark").check()
        page.reload()
        expect(page.get_by_role("radio", name="Dark")).to_be_checked()
        self.assertEqual(page.evaluate("document.documentElement.dataset.theme"), "dark")

    def test_a_report_has_the_colours_of_the_page_around_it(self):
        page = self.open("search", name="D7.h5")
        report = page.frame_locator("iframe")
        expect(report.locator("h1")).to_contain_text("D7")
        expect(report.locator("#theme")).to_be_hidden()
        report.locator("#network").evaluate("element => element.dataset.here = '1'")
        page.get_by_role("radio", name="Dark").check()
        expect(report.locator("html[data-theme=dark]")).to_have_count(1)
        expect(report.locator("#network[data-here]")).to_have_count(1)  # it wasn't loaded anew

    def test_no_window_is_too_narrow(self):
        for width in (320, 420, 800, 1360):
            for name, words in self.pages():
                page = self.open(name, width=width, **words)
                self.wait_for_content(page)
                over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                self.assertLessEqual(over, 0, f"{name} at {width}")

    def test_hints_of_the_find_fields_are_not_cut(self):
        for name, words in (("", {}), ("benchmark", {"name": "mine.h5"})):
            for width in (400, 800, 1400):
                page = self.open(name, width=width, **words)
                self.wait_for_content(page)
                room, need = page.locator("#find").evaluate("""field => {
                  const style = getComputedStyle(field), context = document.createElement("canvas").getContext("2d");
                  context.font = style.font;
                  return [field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight), context.measureText(field.placeholder).width];
                }""")
                self.assertGreaterEqual(room, need, f"{name} at {width}")

    def test_cards_begin_with_the_name(self):
        page = self.open("entry", width=400, name="mine.h5", id=self.first_entry()["id"])
        row = page.locator("#tools tbody tr").first
        above = row.locator("td[data-label=tool]").bounding_box()
        for label in ("ask", "may name", "needs"):
            self.assertGreaterEqual(row.locator(f"td[data-label='{label}']").bounding_box()["y"], above["y"] + above["height"] - 1, label)

    def test_pictures(self):
        if not SCREENSHOTS:
            self.skipTest("no folder for screenshots")
        for scheme, width in (("light", 1360), ("dark", 1360), ("light", 420)):
            for name, words in self.pages():
                page = self.open(name, width=width, context_options={"color_scheme": scheme}, **words)
                self.wait_for_content(page)
                self.screenshot(page, f"{name or 'folder'}-{scheme}-{width}")

    def pages(self):
        return [("", {}), ("search", {"name": "D7.h5"}), ("benchmark", {"name": "mine.h5"}), ("entry", {"name": "mine.h5", "id": self.first_entry()["id"]})]

    def wait_for_content(self, page):
        expect(page.locator("main table, main iframe[src]").first).to_be_visible()
        time.sleep(0.3)

    def screenshot(self, page, name):
        if SCREENSHOTS:
            pathlib.Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(pathlib.Path(SCREENSHOTS) / f"{name}.png"), full_page=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
