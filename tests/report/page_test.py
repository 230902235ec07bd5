"""Looks at reports as a user does, in Chromium: scripts/check_report runs it."""
import contextlib
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NEUTRA = os.environ["NEUTRA"]
SCREENSHOTS = os.environ.get("NEUTRA_SCREENSHOTS")
HOSTILE = "</script><img src=x onerror=alert(1)><b>\u202e"


def neutra(*words):
    result = subprocess.run([NEUTRA, *map(str, words)], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"neutra {' '.join(map(str, words))}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def parameter_text(parameters):
    return ",".join(f"{key}={value}" for key, value in sorted(parameters.items()))


def tsv(rows):
    """Rows: (parent id, id, parent's metrics, metrics, parent's parameters, parameters, is a repair)."""
    names = ("parent_node_id", "current_node_id", "parent_accs", "current_node_accs", "parent_node_param_string",
             "current_node_param_string", "is_gt")
    lines = ["\t".join(names)]
    for parent, child, before, after, old, new, repair in rows:
        lines.append("\t".join(map(str, (parent, child, before, after, parameter_text(old), parameter_text(new), repair))))
    return "\n".join(lines) + "\n"


def large_network(start, count):
    """A network of so many programs, each one change from its parent, five from a parent."""
    values = {
        "act1": ["linear", "relu", "tanh", "sigmoid", "elu"], "ki1": ["glorot_uniform", "he_normal", "zeros", "ones"],
        "bi1": ["zeros", "ones", "random_normal"], "loss": ["mean_squared_error", "mean_absolute_error", "logcosh"],
        "batch_size": ["8", "16", "32", "64"], "optimizer": ["rmsprop", "adam", "sgd"], "epochs": ["100", "200", "400"],
        "lr": ["0.001", "0.01", "0.1"],
    }
    chance = random.Random(1)
    seen, queue, rows = {parameter_text(start)}, [(0, start, [6.0] * 10)], []
    for parent, parameters, metrics in queue:  # grows on the way
        for _ in range(5):
            key = chance.choice(sorted(values))
            child = {**parameters, key: chance.choice(values[key])}
            if parameter_text(child) in seen or len(seen) == count:
                continue
            seen.add(parameter_text(child))
            mean = max(0.01, metrics[0] - chance.uniform(0, 1.5))
            own = [round(mean + chance.uniform(-0.005, 0.005), 6) for _ in range(10)]
            queue.append((len(rows) + 1, child, own))
            rows.append((parent, len(rows) + 1, metrics, own, parameters, child, mean < 2))
    return tsv(rows)


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        resources = contextlib.ExitStack()
        cls.addClassCleanup(resources.close)
        cls.folder = pathlib.Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="neutra-report-")))
        playwright = resources.enter_context(sync_playwright())
        cls.browser = playwright.chromium.launch(
            executable_path=os.environ.get("NEUTRA_CHROMIUM") or None, args=["--no-sandbox"])
        resources.callback(cls.browser.close)

        store = cls.folder / "D7.h5"
        neutra("search", "D7", "--store", store, "--budget-evaluations", "150", "--quiet")
        neutra("report", store, "-o", cls.folder / "d7.html", "--answers", ROOT / "experiments/tables/answers.csv")
        neutra("report", store, "-o", cls.folder / "curves.html", "--curves", "2", "--quiet")
        other = cls.folder / "other.h5"
        neutra("search", "D7", "--store", other, "--budget-evaluations", "150", "--seed", "1", "--quiet")
        neutra("report", store, other, "-o", cls.folder / "both.html")
        cls.both = json.loads(neutra("report", store, other, "--json"))["compared"]
        cls.curves = json.loads(neutra("report", store, "--json", "--curves", "2", "--quiet"))["curves"]
        cls.document = json.loads(neutra("report", store, "--json"))
        cls.start = cls.document["start"]
        (cls.folder / "large.tsv").write_text(large_network(cls.start, 1000), encoding="utf-8")
        neutra("report", cls.folder / "large.tsv", "-o", cls.folder / "large.html")
        odd = {"lr": HOSTILE, "constructor": "1", "__proto__": "2"}
        (cls.folder / "odd.tsv").write_text(
            tsv([(0, 1, [1.0, "nan"], ["inf", 0.5], {**odd, "lr": "1"}, odd, True)]).replace("'", ""), encoding="utf-8")
        neutra("report", cls.folder / "odd.tsv", "-o", cls.folder / "odd.html")
        # A few programs in a column, with long names and values.
        names = {"activation_of_the_first_layer": "hard_sigmoid", "loss": "mean_squared_error", "batch_size": "32"}
        losses = [{**names, "loss": f"mean_absolute_percentage_error_{i}"} for i in range(4)]
        deep = [{**losses[1], "activation_of_the_first_layer": f"exponential_linear_unit_{i}"} for i in range(9)]
        rows = [(0, 1 + i, [0.123456], [0.0001234567 * (i + 1)], names, loss, False) for i, loss in enumerate(losses)]
        rows += [(2, 11234 + i, rows[1][3], [0.0001234567 + i], losses[1], one, i == 3) for i, one in enumerate(deep)]
        (cls.folder / "long.tsv").write_text(tsv(rows), encoding="utf-8")
        neutra("report", cls.folder / "long.tsv", "-o", cls.folder / "long.html")
        # A fault that was captured from a script, with patches and without.
        captured = cls.folder / "captured.h5"
        neutra("search", ROOT / "tests/data/script/fault.json", "--store", captured, "--replicas", "5",
               "--budget-evaluations", "150", "--max-depth", "1", "--quiet")
        neutra("report", captured, "-o", cls.folder / "captured.html")
        neutra("report", captured, "-o", cls.folder / "unpatched.html", "--python", "/no/such/python")
        cls.captured = json.loads(neutra("report", captured, "--json"))
        # Its repairs are as good as can be, and one hyperparameter explains nearly all.
        neutra("report", ROOT / "tests/data/compat/0.1.0/batch/D6.h5", "-o", cls.folder / "d6.html")
        neutra("report", store, other, store, other, store, other, "-o", cls.folder / "six.html")
        cls.write_changed("empty", "d7", lambda data: (
            data["network"].update(nodes=[], links=[], fixed_metrics=[], ground_truth=None, complexity=None, improvement=None),
            data.update(scores=None, start={}, finished=False, warnings=[])))

    @classmethod
    def write_changed(cls, name, of, change):
        """NAME.html: the report `of` with `change(document)` done to its document."""
        page = (cls.folder / f"{of}.html").read_text(encoding="utf-8")
        begin = page.index('id="report-data">') + len('id="report-data">')
        end = page.index("</script>", begin)
        data = json.loads(page[begin:end])
        change(data)
        (cls.folder / f"{name}.html").write_text(page[:begin] + json.dumps(data).replace("<", "\\u003c") + page[end:], encoding="utf-8")

    def setUp(self):
        self.problems = []

    def open(self, name, width=1280, height=900, init="", **options):
        """A page in a context of its own; its errors and requests fail the test."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        self.addCleanup(context.close)
        context.set_default_timeout(120_000)
        page = context.new_page()
        if init:
            page.add_init_script(init)
        page.on("console", lambda message: self.problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.problems.append(request.url) if request.url != url else None)
        page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        url = (self.folder / f"{name}.html").as_uri()
        page.goto(url)
        return page

    def tearDown(self):
        self.assertEqual(self.problems, [])

    @staticmethod
    def pixel(page, red, green, blue):
        """Middle of the first patch of a colour on the graph, in pixels of the page; None: there is none."""
        return page.evaluate("""([red, green, blue]) => {
          const canvas = document.getElementById("graph"), {width, height} = canvas;
          const copy = new OffscreenCanvas(width, height).getContext("2d", {willReadFrequently: true});
          copy.drawImage(canvas, 0, 0);
          const data = copy.getImageData(0, 0, width, height).data;
          const is = (x, y) => [red, green, blue].every((c, i) => Math.abs(data[4 * (y * width + x) + i] - c) < 12);
          for (let y = 2; y < height - 2; ++y) for (let x = 2; x < width - 2; ++x) {
            if (![[0, 0], [1, 0], [-1, 0], [0, 1], [0, 2]].every(([dx, dy]) => is(x + dx, y + dy))) continue;
            const box = canvas.getBoundingClientRect(), ratio = width / box.width;
            return {x: box.left + x / ratio, y: box.top + (y + 1) / ratio};
          }
          return null;
        }""", [red, green, blue])

    def settle(self, page):
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def table_rows(self, page):
        return page.locator("#program-table tbody tr")

    # --- what is there ---

    def test_says_what_the_search_found(self):
        page = self.open("d7")
        self.assertIn("D7: ", page.locator("h1").inner_text())
        repairs = [node for node in self.document["network"]["nodes"] if node["alternative"]]
        self.assertEqual(self.table_rows(page).count(), len(repairs))
        sizes = page.locator("#program-table tbody td:nth-child(5)").all_inner_texts()
        minimal = [text.startswith("yes") for text in sizes]
        self.assertEqual(sum(minimal), self.document["network"]["minimal"]["minimal"])
        self.assertEqual(minimal, sorted(minimal, reverse=True))  # small repairs first
        page.locator("#program-table th button", has_text="mae").click()
        means = [float(text) for text in page.locator("#program-table tbody td:nth-child(3)").all_inner_texts()]
        self.assertEqual(means, sorted(means))  # an error: the least first
        page.get_by_role("radio", name="All programs").check()
        self.assertEqual(self.table_rows(page).count(), len(self.document["network"]["nodes"]))
        self.assertEqual(page.locator("#score-table tbody tr").count(), 4)
        self.assertEqual(page.locator("#time-figure svg").count(), 1)
        provenance = page.locator("#provenance").inner_text()
        self.assertIn("neutra search D7", provenance)
        self.assertEqual(page.locator(".notice").count(), 0)

    def test_graph_is_drawn_and_a_click_shows_the_difference(self):
        page = self.open("d7")
        page.locator("#graph").scroll_into_view_if_needed()
        self.assertIsNotNone(self.pixel(page, 0, 0, 0), "no buggy program")
        place = self.pixel(page, 0, 0x72, 0xB2)
        self.assertIsNotNone(place, "no repair that is significantly better")
        page.mouse.move(**place)
        self.assertIn("repair, better", page.locator("#tooltip").inner_text())
        page.mouse.click(**place)
        detail = page.locator("#detail").inner_text()
        chosen = int(re.search(r"Program (\d+)", detail)[1])
        node = next(node for node in self.document["network"]["nodes"] if node["id"] == chosen)
        self.assertEqual(node["role"], "significantly_better")
        self.assertIn("how likely so large a difference would be by chance", detail)
        self.assertIn(node["difference"], detail)
        for key, value in node["changes"].items():
            row = page.locator("#detail table tbody tr", has=page.locator(f'code:text-is("{key}")')).inner_text()
            self.assertIn(self.start[key], row)
            self.assertIn(value, row)
        self.assertEqual(page.locator("#detail .path li").count(), 1 + node["depth"])
        dots = page.locator("#detail svg.chart [data-role=significantly_better]").count()
        self.assertGreaterEqual(dots, 10)
        self.assertEqual(page.url.partition("#")[2], f"program-{chosen}")
        page.locator("#detail .path button").first.click()
        self.assertIn("Buggy program", page.locator("#detail h3").first.inner_text())

    def best_repair(self):
        """Lowest mean (an error); D7 has one best."""
        return min((node for node in self.document["network"]["nodes"] if node["alternative"]), key=lambda node: node["mean"])

    def test_opens_with_the_best_repair(self):
        page = self.open("d7")
        best = self.best_repair()
        self.assertEqual(page.locator("#detail h3").first.inner_text().strip(), f"Program {best['id']}")
        self.assertIn("the best by its mean", page.locator("#detail").inner_text())
        self.assertNotIn("#", page.url)  # an address that was given stays as it is
        self.assertEqual(page.locator("#announcement").text_content(), "")
        card = page.locator("#summary > div", has_text="Best repair")
        page.locator("#detail .path button").first.click()
        card.get_by_role("link").click()
        self.assertIn(f"Program {best['id']}", page.locator("#detail h3").first.inner_text())
        self.assertIsNotNone(self.pixel(page, 0xC2, 0x50, 0x0A), "no path to it")

    def test_opens_with_the_buggy_program_where_there_is_no_repair(self):
        def change(data):
            for node in data["network"]["nodes"]:
                node["alternative"], node["role"] = False, "buggy" if node["id"] == 0 else "neutral"
        self.write_changed("none", "d7", change)
        self.assertIn("Buggy program", self.open("none").locator("#detail h3").first.inner_text())

    def test_warnings_of_the_terminal_are_on_the_page(self):
        self.write_changed("warned", "d7", lambda data: data.update(warnings=["The buggy program reaches the level itself.", HOSTILE]))
        notices = self.open("warned").locator(".notice").all_inner_texts()
        self.assertEqual(notices[0], "The buggy program reaches the level itself.")
        self.assertEqual(notices[1], HOSTILE)

    def test_says_by_which_rule_a_repair_is_significantly_better(self):
        best = self.best_repair()["id"]

        def change(data):
            network = data["network"]
            network.update(fixed_metrics=[None] * 3)
            node = next(node for node in network["nodes"] if node["id"] == best)
            node.update(metrics=[0.01, 0.02, 0.03], p=0.1, d=None, significant=True)
        self.write_changed("few", "d7", change)
        detail = self.open("few").locator("#detail").inner_text()
        self.assertIn("p = 0.1, d = infinite", detail)
        self.assertIn("all trainings of the known fix diverged, none of this program", detail)
        self.assertNotIn("p < 0.05", detail)
        self.assertIn("p < 0.05, and d 0.5 or more", self.open("d7").locator("#detail").inner_text())

    def test_labels_of_the_graph_cover_neither_each_other_nor_programs(self):
        for name, width in (("d7", 1400), ("d7", 400), ("long", 1400), ("long", 800), ("long", 400), ("large", 1400)):
            page = self.open(name, width=width, init="""
              const fill = CanvasRenderingContext2D.prototype.fillText;
              window.drawn = [];
              CanvasRenderingContext2D.prototype.fillText = function(text, x, y) {
                const {width} = this.measureText(text), size = parseFloat(this.font.match(/([\\d.]+)px/)[1]);
                window.drawn.push({text, x0: x, x1: x + width, y0: y - size / 2, y1: y + size / 2});
                return fill.call(this, text, x, y);
              };""")
            page.locator("#graph").focus()
            for key in ("", "Home", "ArrowRight", "ArrowRight", "+", "+", "+", "0"):
                page.evaluate("window.drawn = []")
                page.keyboard.press(key) if key else page.evaluate("window.dispatchEvent(new Event('resize'))")
                page.evaluate("document.getElementById('graph').dispatchEvent(new PointerEvent('pointerleave'))")
                self.settle(page)
                drawn = page.evaluate("window.drawn")
                for i, a in enumerate(drawn):
                    for b in drawn[i + 1:]:
                        self.assertFalse(a["x0"] < b["x1"] and b["x0"] < a["x1"] and a["y0"] < b["y1"] and b["y0"] < a["y1"],
                                         (name, width, key, a, b))
                if key == "0":
                    inside = page.locator("#graph").bounding_box()["width"]
                    for label in drawn:
                        self.assertLessEqual(label["x1"], inside, (name, width, label))
                        self.assertGreaterEqual(label["x0"], 0, (name, width, label))
                    if name == "long":
                        self.assertTrue(drawn)

    def test_drag_and_wheel_move_the_graph(self):
        page = self.open("d7")
        page.locator("#graph").scroll_into_view_if_needed()
        before = self.pixel(page, 0, 0, 0)
        box = page.locator("#graph").bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + 80, box["y"] + 50, steps=4)
        page.mouse.up()
        self.settle(page)
        after = self.pixel(page, 0, 0, 0)
        self.assertAlmostEqual(after["x"] - before["x"], 60, delta=3)
        self.assertAlmostEqual(after["y"] - before["y"], 30, delta=3)
        page.mouse.wheel(0, -300)
        self.settle(page)
        self.assertNotEqual(self.pixel(page, 0, 0, 0), after)
        page.get_by_role("button", name="Show the whole graph").click()
        self.settle(page)
        self.assertAlmostEqual(self.pixel(page, 0, 0, 0)["x"], before["x"], delta=2)

    def test_address_names_a_program(self):
        repair = next(node["id"] for node in self.document["network"]["nodes"] if node["alternative"])
        page = self.open("d7")
        page.goto(page.url + f"#program-{repair}")
        page.reload()
        self.assertIn(f"Program {repair}", page.locator("#detail h3").first.inner_text())
        self.problems = [problem for problem in self.problems if not problem.startswith(page.url.partition("#")[0])]

    # --- filter ---

    def test_filter_by_fault_type_and_search(self):
        page = self.open("d7")
        page.get_by_role("radio", name="All programs").check()
        nodes = self.document["network"]["nodes"]
        with_epochs = [node for node in nodes if "HNE" in node["fault_types"]]
        chip = page.locator("#type-filter button", has_text="HNE")
        chip.click()
        self.assertEqual(chip.get_attribute("aria-pressed"), "true")
        self.assertEqual(self.table_rows(page).count(), len(with_epochs))
        self.assertIn(f"{len(with_epochs)} of {len(nodes)}", page.locator("#count").inner_text())
        page.locator("#role-filter button", has_text="better").click()
        both = [node for node in with_epochs if node["role"] == "significantly_better"]
        self.assertEqual(self.table_rows(page).count(), len(both))
        page.get_by_role("button", name="Show all").click()
        self.assertEqual(self.table_rows(page).count(), len(nodes))
        page.locator("#size-filter button", has_text="1-minimal").first.click()
        small = [node for node in nodes if node.get("minimal") is True]
        self.assertEqual(self.table_rows(page).count(), len(small))
        page.get_by_role("button", name="Show all").click()
        page.locator("#search").fill("lr hlr")
        rates = [node for node in nodes if "lr" in node["changes"]]
        self.assertEqual(self.table_rows(page).count(), len(rates))
        page.locator("#search").fill("nothing like that")
        self.assertEqual(self.table_rows(page).count(), 0)
        self.settle(page)
        self.assertIsNotNone(self.pixel(page, 0, 0, 0), "the buggy program stays")
        self.assertIsNone(self.pixel(page, 0, 0x72, 0xB2), "a repair is drawn that doesn't match")

    def test_headings_sort(self):
        page = self.open("d7")
        page.get_by_role("radio", name="All programs").check()
        heading = page.locator("#program-table th button", has_text="Id")
        heading.click()
        ids = [int(text) for text in page.locator("#program-table tbody td:nth-child(1)").all_inner_texts()]
        self.assertEqual(ids, sorted(ids))
        heading.click()
        ids = [int(text) for text in page.locator("#program-table tbody td:nth-child(1)").all_inner_texts()]
        self.assertEqual(ids, sorted(ids, reverse=True))
        self.assertEqual(page.locator("th[aria-sort=descending]").inner_text().strip(), "Id")

    # --- access ---

    def test_keyboard_reaches_everything(self):
        page = self.open("d7")
        reached, unseen = [], []
        for _ in range(120):
            page.keyboard.press("Tab")
            name, ring = page.evaluate("""() => {
              const element = document.activeElement;
              const seen = element.type === "radio" ? element.nextElementSibling : element;
              const name = element.id || element.name || element.dataset.zoom || element.closest("[id]")?.id || element.tagName;
              return [`${element.tagName} ${name}`, getComputedStyle(seen).outlineStyle];
            }""")
            if name.startswith("BODY"):
                break
            reached.append(name)
            if ring == "none":
                unseen.append(name)
        for name in ("INPUT theme", "INPUT search", "BUTTON role-filter", "BUTTON type-filter", "BUTTON key-filter",
                     "CANVAS graph", "BUTTON in", "BUTTON out", "BUTTON fit", "INPUT rows", "BUTTON program-table",
                     "TR program-table"):
            self.assertIn(name, reached)
        self.assertEqual(unseen, [])

    def test_graph_by_keyboard(self):
        page = self.open("d7")
        page.locator("#graph").focus()
        page.keyboard.press("Home")
        self.assertIn("Buggy program", page.locator("#announcement").text_content())
        page.keyboard.press("ArrowRight")
        first = page.locator("#announcement").text_content()
        self.assertRegex(first, r"Program \d+, ")
        page.keyboard.press("ArrowDown")
        self.assertNotEqual(page.locator("#announcement").text_content(), first)
        page.keyboard.press("ArrowUp")
        self.assertEqual(page.locator("#announcement").text_content(), first)
        page.keyboard.press("ArrowLeft")
        self.assertIn("Buggy program", page.locator("#announcement").text_content())
        page.keyboard.press("+")
        page.keyboard.press("0")

    def test_table_by_keyboard(self):
        page = self.open("d7")
        rows = self.table_rows(page)
        rows.first.focus()
        page.keyboard.press("ArrowDown")
        self.assertEqual(rows.nth(1).get_attribute("aria-selected"), "true")
        chosen = rows.nth(1).get_attribute("data-program")
        self.assertIn(f"Program {chosen}", page.locator("#detail").inner_text())
        page.keyboard.press("Enter")
        self.assertEqual(page.evaluate("document.activeElement.id"), "detail")

    def test_rows_come_as_they_are_needed(self):
        page = self.open("large")
        rows = self.table_rows(page)
        made = rows.count()
        repairs = sum(map(int, page.locator("#role-filter button", has_text="repair").locator("small").all_inner_texts()))
        self.assertLess(made, repairs)
        page.locator("#program-table").evaluate("element => { element.scrollTop = element.scrollHeight; }")
        page.wait_for_function("made => document.querySelectorAll('#program-table tbody tr').length > made", arg=made)
        rows.first.focus()
        page.keyboard.press("End")
        self.assertEqual(rows.count(), repairs)
        self.assertEqual(page.evaluate("document.activeElement === document.querySelector('#program-table tbody tr:last-child')"), True)

    def test_contrast_in_both_themes(self):
        """WCAG 2: 4.5 for texts; roles are told apart by lightness, too."""
        for scheme in ("light", "dark"):
            page = self.open("d7", color_scheme=scheme)
            colours = page.evaluate("""() => Object.fromEntries(
              ["ground", "panel", "marked", "warning", "text", "quiet", "accent", "path", "better", "on-par"].map(name => {
                const probe = document.body.appendChild(document.createElement("i"));
                probe.style.color = `var(--${name})`;
                const colour = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
                probe.remove();
                return [name, colour];
              }))""")

            def luminance(name):
                parts = [c / 255 for c in colours[name][:3]]
                return sum(weight * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
                           for weight, c in zip((0.2126, 0.7152, 0.0722), parts))

            def contrast(a, b):
                low, high = sorted((luminance(a), luminance(b)))
                return (high + 0.05) / (low + 0.05)

            for ground in ("ground", "panel"):
                for text in ("text", "quiet", "accent"):
                    self.assertGreaterEqual(contrast(text, ground), 4.5, (scheme, text, ground))
            for ground in ("marked", "warning"):
                self.assertGreaterEqual(contrast("text", ground), 4.5, (scheme, ground))
            self.assertGreaterEqual(contrast("path", "ground"), 4.5, scheme)
            self.assertGreaterEqual(contrast("better", "on-par"), 1.8, scheme)

    def test_theme_switch(self):
        page = self.open("d7", color_scheme="light")
        ground = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")  # noqa: E731
        light = ground()
        page.get_by_role("radio", name="Dark").check()
        self.assertNotEqual(ground(), light)
        self.settle(page)
        self.assertIsNone(self.pixel(page, 255, 255, 255))
        page.get_by_role("radio", name="Auto").check()
        self.assertEqual(ground(), light)

    def test_narrow_windows_do_not_scroll_sideways(self):
        for name in ("d7", "large", "odd", "curves", "both"):
            page = self.open(name, width=360, height=740)
            row = self.table_rows(page).first
            row.click()
            for section in page.locator("main > section:not([hidden])").all():
                section.scroll_into_view_if_needed()
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 360, name)

    def test_narrow_tables_are_cards(self):
        for width in (400, 700):
            page = self.open("d7", width=width, height=900)
            for cells in (self.table_rows(page).first.locator("td"), page.locator("#score-table tbody tr").first.locator("td")):
                for cell in cells.all():
                    box = cell.bounding_box()
                    if box is None:
                        continue  # empty
                    self.assertGreaterEqual(box["x"], 0)
                    self.assertLessEqual(box["x"] + box["width"], width, cell.inner_text())
            change = self.table_rows(page).first.locator("td", has_text="\u2192")
            self.assertTrue(change.is_visible())
            self.assertIn("Change from the buggy program",
                          change.evaluate("cell => getComputedStyle(cell, '::before').content"))
            page.locator("#program-table th button", has_text="Id").click()  # a heading sorts here, too
            ids = [int(text) for text in page.locator("#program-table tbody td:nth-child(1)").all_inner_texts()]
            self.assertEqual(ids, sorted(ids))
            self.assertGreater(page.locator("#best-repairs svg").bounding_box()["width"], 0.85 * min(width, 700) - 40)

    def test_print(self):
        page = self.open("d7", color_scheme="dark")
        page.emulate_media(media="print")
        self.assertFalse(page.locator("#filters").is_visible())
        self.assertEqual(page.locator("#program-table").evaluate("element => getComputedStyle(element).maxHeight"), "none")

    # --- training curves ---

    def trained(self):
        """Id of a repair with curves that isn't the known fix."""
        return next(program["node"] for program in self.curves["programs"] if program["node"] and not program["fixed"])

    def test_no_curves_no_section(self):
        self.assertFalse(self.open("d7").locator("#curves").is_visible())

    def test_curves_of_the_chosen_program(self):
        page = self.open("curves")
        self.assertIn("bit for bit", page.locator("#curves-help").inner_text())
        captions = page.locator("#curves figcaption").all_inner_texts()
        self.assertEqual(captions, ["loss", "mae, lower is better"])
        lines = page.locator("#curves figure >> nth=0 >> path.curve")
        self.assertEqual(lines.count(), 6)  # buggy, fixed and the best repair, rows of training and validation
        page.locator("#curves-note button", has_text="buggy program").click()
        self.assertEqual(lines.count(), 4)
        trained = self.trained()
        page.locator("#curves-note button", has_text=re.compile(rf"\b{trained}$")).click()
        self.assertIn(f"Program {trained}", page.locator("#detail h3").first.inner_text())
        self.assertEqual(lines.count(), 6)
        legend = page.locator("#curves-legend button")
        self.assertEqual(legend.locator("text=known fix").count(), 1)
        page.locator("#curves-legend button", has_text="validation").click()
        self.assertEqual(lines.count(), 3)
        page.locator("#curves-legend button", has_text="each training").click()
        self.assertEqual(lines.count(), 33)
        page.locator("#curves-legend button", has_text="known fix").click()
        self.assertEqual(lines.count(), 22)
        self.assertEqual(page.locator("#curves-legend button", has_text="known fix").get_attribute("aria-pressed"), "false")
        for button in legend.all()[:4]:
            if button.get_attribute("aria-pressed") == "true":
                button.click()
        self.assertIn("Nothing to draw", page.locator("#curves-figures").inner_text())
        chosen = {program["node"] for program in self.curves["programs"]}
        other = next(node["id"] for node in self.document["network"]["nodes"] if node["id"] not in chosen)
        page.get_by_role("radio", name="All programs").check()
        page.locator(f'#program-table tr[data-program="{other}"]').click()
        self.assertIn(f"no curves of program {other}", page.locator("#curves-note").inner_text())

    def test_curves_tell_their_values(self):
        page = self.open("curves")
        buggy = self.curves["programs"][0]
        page.locator("#curves-note button", has_text="buggy program").click()
        plot = page.locator("#curves svg.curves").nth(1)

        def mean(epoch, name):
            return sum(one["series"][name][epoch - 1] for one in buggy["replicas"]) / len(buggy["replicas"])

        plot.focus()
        page.keyboard.press("Home")
        self.assertEqual(plot.get_attribute("aria-valuenow"), "1")
        page.keyboard.press("ArrowRight")
        text = plot.get_attribute("aria-valuetext")
        self.assertIn("epoch 2; buggy program: ", text)
        self.assertAlmostEqual(float(re.search(r"buggy program: ([\d.]+)", text)[1]), mean(2, "mae"), delta=1e-3 * mean(2, "mae"))
        tip = page.locator("#curves .tip").nth(1)
        self.assertIn("epoch 2, mae", tip.inner_text())
        self.assertTrue(page.locator("#curves .tip").nth(0).is_visible())  # both look at the same epoch
        page.keyboard.press("Escape")
        self.assertFalse(tip.is_visible())
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2)
        self.assertTrue(tip.is_visible())
        inner = tip.bounding_box()
        self.assertGreaterEqual(inner["x"], box["x"] - 1)
        self.assertLessEqual(inner["x"] + inner["width"], box["x"] + box["width"] + 1)

    def test_curves_that_came_out_otherwise(self):
        def change(data):
            data["curves"].update(same=data["curves"]["compared"] - 3, trained_with="another machine")
            for replica in data["curves"]["programs"][0]["replicas"]:
                replica["series"] = {}  # none of its epochs came to an end
        self.write_changed("other", "curves", change)
        page = self.open("other")
        page.locator("#curves-note button", has_text="buggy program").click()
        self.assertRegex(page.locator("#curves-help").inner_text(), r"3 of \d+ trainings ended with another metric.*another machine")
        self.assertEqual(page.locator("#curves figure >> nth=0 >> path.curve").count(), 2)

    # --- all that was evaluated ---

    def test_course_of_the_search(self):
        page = self.open("d7")
        section = page.locator("#course")
        section.scroll_into_view_if_needed()
        text = section.inner_text()
        course = self.document["course"]
        self.assertIn("150 programs", text)
        self.assertIn(f"evaluation {next(step['evaluation'] for step in course if step['repairs'])}.", text)
        section.locator("svg.chart[role=slider] >> nth=1").wait_for()  # drawn when it comes into view
        metric, repairs = section.locator("svg.chart[role=slider]").all()
        metric.focus()
        page.keyboard.press("End")
        self.assertIn("evaluation 150", section.locator(".tip").first.inner_text())
        repairs.focus()
        page.keyboard.press("End")
        self.assertIn(f"{course[-1]['repairs']} repairs", repairs.get_attribute("aria-valuetext"))
        page.keyboard.press("Home")
        self.assertIn("0 repairs", repairs.get_attribute("aria-valuetext"))
        self.assertEqual(section.locator("path.best").count(), 2)

    def test_a_mark_of_the_course_chooses_its_program(self):
        page = self.open("d7")
        repair = next(node["id"] for node in self.document["network"]["nodes"] if node["alternative"])
        at = [one for one in sorted([node["id"] for node in self.document["network"]["nodes"]]
                                    + [one["id"] for one in self.document["evaluated"]["rejected"] if one["metrics"]])].index(repair)
        page.locator("#course").scroll_into_view_if_needed()
        picture = page.locator("#course svg[role=slider]").first
        picture.focus()
        page.keyboard.press("Home")
        for _ in range(at):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        self.assertIn(f"Program {repair}", page.locator("#detail h3").first.inner_text())

    def test_rejected_programs_say_why(self):
        page = self.open("d7")
        rejected = self.document["evaluated"]["rejected"]
        kept = len(self.document["network"]["nodes"])
        self.assertEqual(len(rejected) + kept, self.document["evaluated"]["evaluations"])
        section = page.locator("#rejected")
        self.assertIn(f"{len(rejected)} of the {len(rejected) + kept} programs", section.inner_text())
        reason, count = max(self.document["evaluated"]["reasons"].items(), key=lambda item: item[1])
        section.locator(f"[data-reason={reason}]").click()
        self.assertEqual(section.locator("output").inner_text(), f"{count} of {len(rejected)} programs")
        section.locator("#rejected-search").fill("loss")
        words = sum(one["reason"] == reason and "loss" in one["changes"] for one in rejected)
        self.assertEqual(section.locator("output").inner_text(), f"{words} of {len(rejected)} programs")
        page.locator("#reset").evaluate("button => button.click()")  # of the other filter
        self.assertEqual(section.locator(f"[data-reason={reason}]").get_attribute("aria-pressed"), "true")
        row = section.locator("tbody tr").first
        row.dblclick()
        parent = row.locator("td").nth(1).inner_text()
        self.assertIn("Buggy program" if parent == "0" else f"Program {parent}", page.locator("#detail h3").first.inner_text())

    def test_programs_that_were_not_evaluated_say_why(self):
        def help_text(finished, waiting, undecided):
            self.write_changed("waiting", "d7", lambda data: (
                data.update(finished=finished), data["evaluated"].update(waiting=waiting, undecided=undecided)))
            return self.open("waiting").locator("#rejected .help").first.text_content()
        self.assertIn("2 programs more were generated, but their turn has not come yet. 1 program more waits for the best of their parent.",
                      help_text(False, 2, 1))
        self.assertIn("1 program more was generated, but its turn has not come yet. 3 programs more wait for the best of their parent.",
                      help_text(False, 1, 3))
        self.assertIn("2 programs more were generated, but the search ended before their turn.", help_text(True, 2, 0))
        self.assertIn("1 program more was generated, but the search ended before its turn.", help_text(True, 1, 0))
        text = help_text(False, 0, 0)
        self.assertNotIn("more", text)
        self.assertIn("are not in the network. A double click", text)

    def test_which_hyperparameters_matter(self):
        page = self.open("d7")
        section = page.locator("#importance")
        section.scroll_into_view_if_needed()
        self.assertIn("Hutter, Hoos and Leyton-Brown", section.inner_text())
        picture = section.locator("svg.chart")
        label = picture.get_attribute("aria-label")
        for one in self.document["importance"]["keys"]:
            self.assertIn(f"{one['key']}: ", label)
        self.assertEqual(picture.locator("rect.bar").count(), 2 * len(self.document["importance"]["keys"]))
        self.assertEqual(section.locator("tbody tr").count(), len(self.document["effects"]))
        self.assertEqual(section.locator("tbody tr").first.locator("th code").inner_text(), self.document["effects"][0]["key"])

    def test_slices_follow_the_filter(self):
        page = self.open("d7")
        section = page.locator("#slices")
        section.scroll_into_view_if_needed()
        keys = len({key for one in self.document["evaluated"]["rejected"] + self.document["network"]["nodes"] for key in one["changes"]})
        section.locator(".slices figure >> nth=0").wait_for()  # drawn when it comes into view
        self.assertEqual(section.locator(".slices figure").count(), min(6, keys))
        section.get_by_role("button", name="All ").click()
        self.assertEqual(section.locator(".slices figure").count(), keys)
        self.assertEqual(section.locator(".pale path, .pale circle, .pale polygon").count(), 0)
        self.assertIn("Parallel coordinates of", section.locator("svg.over").get_attribute("aria-label"))
        page.locator("#search").fill("HLR")
        self.assertGreater(section.locator(".pale path, .pale circle, .pale polygon").count(), 0)

    def test_fix_as_a_script(self):
        page = self.open("d7")
        section = page.locator("#scripts")
        self.assertIn("learning_rate=0.1)", section.locator(".added").first.inner_text())
        self.assertIn("learning_rate=0.001)", section.locator(".removed").first.inner_text())
        repair = next(node["id"] for node in self.document["network"]["nodes"] if node["alternative"])
        page.evaluate(f"document.querySelector('#program-table tr[data-program=\"{repair}\"]').click()")
        self.assertIn(f"Program {repair}", section.inner_text())
        with page.expect_download() as waiting:
            section.get_by_role("button", name="fix.diff").click()
        self.assertEqual(waiting.value.suggested_filename, "D7-fix.diff")
        text = pathlib.Path(waiting.value.path()).read_text(encoding="utf-8")
        self.assertEqual(text.splitlines(), self.document["scripts"]["fix"])

    def test_lines_and_patches_of_a_captured_script(self):
        page = self.open("captured")
        repair = next(node for node in self.captured["network"]["nodes"] if node["changes"] == {"act3": "sigmoid"})
        row = page.locator(f"#program-table tr[data-program='{repair['id']}']")
        row.click()
        self.assertIn("train.py:21", row.inner_text())
        self.assertEqual(page.locator("#detail .lines").first.inner_text(), "train.py:21")
        section = page.locator("#patches")
        section.scroll_into_view_if_needed()
        self.assertIn("captured from train.py", section.inner_text())
        self.assertIn(f"Program {repair['id']}: act3 softmax \u2192 sigmoid", section.inner_text())
        self.assertIn('layers.Dense(1, activation="sigmoid")', section.locator(".added").first.inner_text())
        self.assertIn('layers.Dense(1, activation="softmax")', section.locator(".removed").first.inner_text())
        green, red = (section.locator(kind).first.evaluate("line => getComputedStyle(line).backgroundColor") for kind in (".added", ".removed"))
        self.assertNotEqual(green, red)
        name = f"patch_{repair['id']}.diff"
        with page.expect_download() as waiting:
            section.get_by_role("button", name=name).click()
        self.assertEqual(waiting.value.suggested_filename, f"captured-{name}")
        patch = pathlib.Path(waiting.value.path())
        self.assertEqual(patch.read_text(encoding="utf-8").splitlines(), self.captured["patches"]["repairs"][str(repair["id"])]["diff"])
        script = self.folder / "patched"
        script.mkdir()
        (script / "train.py").write_bytes((ROOT / "tests/data/script/train.py").read_bytes())
        subprocess.run(["patch", "-p1", "-s", "-i", patch], cwd=script, check=True)
        self.assertIn('activation="sigmoid"', (script / "train.py").read_text(encoding="utf-8"))

    def test_lines_alone_where_no_patch_can_be_made(self):
        page = self.open("unpatched")
        section = page.locator("#patches")
        self.assertIn("Patches weren't made: ", section.inner_text())
        self.assertIn("/no/such/python", section.inner_text())
        self.assertEqual(section.locator(".diff").count(), 0)
        self.assertIn("train.py:21", page.locator("#program-table").inner_text())

    def test_other_reports_have_no_lines(self):
        page = self.open("d7")
        self.assertEqual(page.locator("#patches").count(), 0)
        self.assertNotIn("Lines", page.locator("#program-table th").all_inner_texts())

    def test_tables_are_those_of_the_command(self):
        page = self.open("d7")
        buttons = page.locator("button.csv")
        names = [buttons.nth(i).get_attribute("data-table") for i in range(buttons.count())]
        self.assertEqual(sorted(names), sorted(self.document_with_answers()["tables"]))
        for name in names:
            with page.expect_download() as waiting:
                page.locator(f"button.csv[data-table={name}]").click()
            self.assertEqual(waiting.value.suggested_filename, f"D7-{name}.csv")
            own = pathlib.Path(waiting.value.path()).read_text(encoding="utf-8")
            self.assertEqual(own, neutra("report", self.folder / "D7.h5", "--answers", ROOT / "experiments/tables/answers.csv",
                                         "--format", "csv", "--table", name), name)
        # The programs here have none of these.
        source = (ROOT / "report/page/csv.js").read_text(encoding="utf-8")
        for number, text in ((1e-5, "1e-05"), (1.5e-7, "1.5e-07"), (0.0001, "0.0001"), (1e16, "1e+16"), (9, "9"), (-0.0, "-0")):
            self.assertEqual(page.evaluate(f"() => {{ {source}\n return csvNumber({number!r}); }}"), text)

    def document_with_answers(self):
        return json.loads(neutra("report", self.folder / "D7.h5", "--answers", ROOT / "experiments/tables/answers.csv", "--json"))

    def test_searches_side_by_side(self):
        page = self.open("both")
        section = page.locator("#compared")
        section.scroll_into_view_if_needed()
        rows = section.locator("#common-table tbody tr")
        self.assertEqual(rows.count(), min(300, len(self.both["repairs"])))
        section.get_by_role("button", name="in both").click()
        self.assertEqual(rows.count(), self.both["common"])
        section.get_by_role("button", name="only B").click()
        self.assertEqual(max(1, rows.count()), max(1, self.both["searches"][1]["only_here"]))
        self.assertEqual(section.locator("path.line-0").count(), 2)
        self.assertEqual(section.locator("path.line-1").count(), 2)
        self.assertIn("seed", section.locator("table").first.inner_text())
        self.assertEqual(self.open("d7").locator("#compared").count(), 0)

    # --- pictures ---

    def scroll_through(self, page):
        """Opens what can be opened, and waits until every picture is drawn, which happens when it comes near."""
        page.evaluate("""async () => {
          for (const one of document.querySelectorAll("details")) one.open = true;
          const root = document.documentElement;
          for (let y = 0; y < root.scrollHeight; y += 400) {
            scrollTo(0, y);
            await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
          }
        }""")
        self.settle(page)

    def test_every_text_of_a_picture_lies_in_it(self):
        def far_up(data):
            """Marks of the axes are long numbers, at their ends, too."""
            network = data["network"]
            for one in network["nodes"] + data["evaluated"]["rejected"]:
                one["metrics"] = [value and value + 123_450 for value in one["metrics"]]
                one["mean"] = one["mean"] and one["mean"] + 123_450
            network["fixed_metrics"] = [value + 123_450 for value in network["fixed_metrics"]]
            network["ground_truth"] += 123_450
        self.write_changed("numbers", "d7", far_up)
        for name in ("d6", "d7", "both", "curves", "numbers", "long", "odd"):
            for width in (400, 800, 1400):
                page = self.open(name, width=width)
                self.scroll_through(page)
                outside, count = page.evaluate("""() => {
                  const seen = [...document.querySelectorAll("svg text")].filter(text => text.checkVisibility() && text.textContent.trim());
                  return [seen.flatMap(text => {
                    const a = text.getBoundingClientRect(), b = text.ownerSVGElement.getBoundingClientRect();
                    return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 2 || a.bottom > b.bottom + 2
                      ? [[text.closest("section")?.id, text.textContent, a.left - b.left, a.right - b.left, b.width, a.top - b.top, a.bottom - b.top, b.height]] : [];
                  }), seen.length];
                }""")
                self.assertEqual(outside, [], (name, width))
                self.assertGreater(count, 10, (name, width))

    def test_letters_of_searches_lie_apart(self):
        for name, count in (("both", 2), ("six", 6)):
            page = self.open(name)
            self.scroll_through(page)
            for picture in page.locator("#compared svg.chart").all():
                letters = picture.locator("text").filter(has_text=re.compile("^[A-F]$"))
                self.assertEqual(letters.count(), count)
                heights = sorted(letter.bounding_box()["y"] for letter in letters.all())
                for above, below in zip(heights, heights[1:]):
                    self.assertGreaterEqual(below - above, 11, name)

    def test_the_description_of_a_program_needs_no_scrolling_sideways(self):
        for name in ("d6", "d7", "long", "odd"):
            for width in (320, 400, 1400):
                page = self.open(name, width=width)
                page.get_by_role("button", name="All hyperparameters").evaluate("button => button.click()")
                over = page.evaluate("""() => [...document.querySelectorAll("#detail, #detail *")]
                    .filter(one => one.scrollWidth > one.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(one).overflowX))
                    .map(one => [one.tagName, one.id, one.scrollWidth, one.clientWidth])""")
                self.assertEqual(over, [], (name, width))

    # --- odd and large ones ---

    def test_names_of_any_kind(self):
        page = self.open("odd")
        self.table_rows(page).first.click()
        self.assertIn("</script><img src=x onerror=alert(1)><b>", page.locator("#detail").inner_text())
        self.assertEqual(page.locator("img, b").count(), 0)
        for section in page.locator("main > section:not([hidden])").all():
            section.scroll_into_view_if_needed()
        self.assertIn("</script><img", page.locator("#slices").inner_text())
        page.get_by_role("button", name="All hyperparameters").click()
        self.assertEqual(page.locator("#detail tbody tr").count(), 3)
        self.assertIn("diverged", self.table_rows(page).first.inner_text())
        self.assertIn("isn't known here", page.locator("#notices").inner_text())

    def test_empty_network(self):
        page = self.open("empty")
        notices = page.locator("#notices").inner_text()
        self.assertIn("network is empty", notices)
        self.assertIn("isn't finished", notices)
        self.assertFalse(page.locator("#network").is_visible())
        self.assertTrue(page.locator("#provenance").is_visible())

    def test_a_thousand_programs_stay_fluid(self):
        """In time of the page's own thread: other programs may be running."""
        self.assertLess((self.folder / "large.html").stat().st_size, 3_000_000)
        page = self.open("large")
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

        def cost(act, times=1):
            """Milliseconds of one `act`, layout and drawing included."""
            def spent():
                metrics = devtools.send("Performance.getMetrics")["metrics"]
                return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
            begin = spent()
            act()
            return (spent() - begin) * 1000 / times

        def after_each(statement):
            """Runs it for every `value`, with a frame behind each."""
            return lambda: page.evaluate("""async values => {
              const canvas = document.getElementById("graph"), search = document.getElementById("search");
              for (const value of values) {
                STATEMENT;
                await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
              }
            }""".replace("STATEMENT", statement), values)

        costs = {"start": cost(page.reload)}
        self.assertIn("1000 programs", page.locator("#count").inner_text())
        page.locator("#graph").focus()
        values = [-100] * 10 + [100] * 10
        costs["wheel"] = cost(after_each("""canvas.dispatchEvent(
            new WheelEvent("wheel", {deltaY: value, clientX: 400, clientY: 400, cancelable: true}))"""), len(values))
        values = ["Right", "Right", "Right", "Left", "Down", "Down", "Up", "Right", "Left", "Left"]
        costs["key"] = cost(after_each("""canvas.dispatchEvent(
            new KeyboardEvent("keydown", {key: `Arrow${value}`, cancelable: true}))"""), len(values))
        values = ["l", "lo", "los", "loss", "loss h", "", "hlr", ""]
        costs["search"] = cost(after_each("search.value = value; search.dispatchEvent(new Event('input'))"), len(values))
        print("1,000 programs, milliseconds of", {name: round(time) for name, time in costs.items()})
        for name, most in {"start": 2000, "wheel": 30, "key": 60, "search": 200}.items():
            self.assertLess(costs[name], most, name)

    @unittest.skipUnless(SCREENSHOTS, "no folder for screenshots")
    def test_screenshots(self):
        folder = pathlib.Path(SCREENSHOTS)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("d7", "both", "curves", "large", "odd", "empty"):
            for scheme, width in (("light", 1360), ("dark", 1360), ("light", 390)):
                page = self.open(name, width=width, color_scheme=scheme)
                if name != "empty":
                    self.table_rows(page).first.click()
                self.settle(page)
                page.screenshot(path=folder / f"{name}-{scheme}-{width}.png", full_page=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
