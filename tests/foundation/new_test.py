#!/usr/bin/env python3
"""scripts/new in a copy of the sources: each skeleton is in its lists, has its page, and compiles.

usage: new_test.py COMPILER. What needs LibTorch's headers isn't compiled: they take as long as all the rest."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROOMS = ["base", "program", "mutators", "evaluators", "training", "search", "fl_adapters", "experiments", "cli", "docs", "tests"]
KINDS = {"mutator": "swap_pixels", "tool": "bughound", "layer": "ThresholdedReLU", "verb": "count_layers"}
COMPILER = sys.argv.pop() if len(sys.argv) > 1 else "c++"


def new(*words):
    return subprocess.run([ROOT / "scripts/new", *map(str, words)], capture_output=True, text=True, check=False)


class New(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.copy = pathlib.Path(cls.folder.name)
        for room in ROOMS:
            shutil.copytree(ROOT / room, cls.copy / room, ignore=shutil.ignore_patterns("data", "corpus", "__pycache__"))
        for file in (".clang-format", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"):
            shutil.copy(ROOT / file, cls.copy)
        # Other names than those of fields would be: data/ has sources, too.
        shutil.copytree(ROOT / "training/data", cls.copy / "training/data")
        cls.said = {kind: new(kind, name, cls.copy) for kind, name in KINDS.items()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def read(self, file):
        return (self.copy / file).read_text(encoding="utf-8")

    def test_each_kind_says_what_it_wrote(self):
        for kind, said in self.said.items():
            self.assertEqual(said.returncode, 0, kind + said.stderr)
            for line in said.stdout.splitlines()[:-1]:
                self.assertTrue((self.copy / line).exists(), line)
            page = said.stdout.splitlines()[-1].split()[0]
            self.assertTrue((ROOT / page).exists(), page)

    def test_all_places_are_touched(self):
        for file, text in {
            "mutators/mutation/swap_pixels.cpp": '.abbreviation = "SP"',
            "docs/mutators/swap_pixels.md": "| abbreviation | SP |",
            "fl_adapters/registry.cpp": "TOOL(bughound)",
            "docs/index.md": "[bughound](methods/bughound.md), [DeepDiagnosis]",
            "program/layer_list.h": "LAYER(thresholded_relu)",
            "docs/schemas/program.schema.json": '"ThresholdedReLU", "TimeDistributed"',
            "docs/formats/program.md": "`ThresholdedReLU`.",
            "docs/methods/training.md": "| ThresholdedReLU |",
            "cli/verbs.cpp": "ROW(count_layers)",
            "tests/cli/CMakeLists.txt": "Compat CountLayers Divergence",
            "cli/verb_count_layers.cpp": '"count-layers FAULT',
        }.items():
            self.assertIn(text, " ".join(self.read(file).split()), file)
        for folder in ("mutators", "fl_adapters", "training", "cli"):
            lists = self.read(f"tests/{folder}/CMakeLists.txt")
            name = next(file.name for file in (self.copy / "tests" / folder).glob("*_test.cpp")
                        if not (ROOT / "tests" / folder / file.name).exists())
            self.assertTrue("GLOB" in lists or f" {name}" in lists, name)

    def test_links_of_the_pages_lead_somewhere(self):
        check = subprocess.run([ROOT / "scripts/check_links", self.copy], capture_output=True, text=True, check=False)
        self.assertNotRegex(check.stdout, "swap_pixels|bughound")

    def test_all_compiles(self):
        own = [file for file in self.copy.rglob("*.cpp") if not (ROOT / file.relative_to(self.copy)).exists()]
        self.assertEqual(len(own), 9)
        lists = ["fl_adapters/registry.cpp", "program/layer.cpp", "cli/verbs.cpp"]
        sources = [file for file in own if "training/layers" not in str(file)] + [self.copy / file for file in lists]
        unit = self.copy / "all.cpp"
        unit.write_text("".join(f'#include "{file}"\n' for file in sources), encoding="utf-8")
        compiled = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-w", "-I", self.copy, unit],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(compiled.returncode, 0, compiled.stderr[-3000:])

    def test_refuses_what_it_cannot_do(self):
        for words, text in [
            (["mutator", "swap_pixels", self.copy], "swap_pixels.md is there already"),
            (["mutator", "SwapPixels", self.copy], "found name 'SwapPixels'; allowed: small letters"),
            (["layer", "dense", self.copy], "found name 'dense'; allowed: a class name"),
            (["room", "attic", self.copy], "allowed: mutator|tool|layer|verb NAME"),
        ]:
            said = new(*words)
            self.assertEqual(said.returncode, 1)
            self.assertIn(text, said.stderr)


if __name__ == "__main__":
    unittest.main()
