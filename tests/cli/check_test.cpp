// `neutra check`: findings in every form, exit codes, repairs, rules of the user's own.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/schema.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

const char* const kFaulty =
    "for x, y in loader:\n"
    "    loss = criterion(model(x), y)\n"
    "    loss.backward()\n"
    "    optimizer.step()\n";

TEST(Check, NamesThePlaceInTheFormOfCompilers) {
  const Folder folder;
  folder.write("train.py", kFaulty);
  const Called text = call({"check", "train.py"}, folder.path());
  EXPECT_EQ(text.exit, 1) << text.err;
  EXPECT_EQ(text.out,
            "train.py:3:10: error: gradients of all batches add up: nothing zeroes them before "
            "`loss.backward()` runs again [missing-zero-grad]\n");
  folder.write("fine.py", "x = 1\n");
  const Called fine = call({"check", "fine.py"}, folder.path());
  EXPECT_EQ(fine.exit, 0) << fine.err;
  EXPECT_EQ(fine.out, "");
}

TEST(Check, WritesJsonAndSarif) {
  const Folder folder;
  std::filesystem::create_directories(folder.path() / "a b" / ".hidden");
  folder.write("a b/train.py", kFaulty);
  folder.write("a b/.hidden/train.py", kFaulty);
  const Called called = call({"check", "a b", "--json"}, folder.path());
  EXPECT_EQ(called.exit, 1);
  const Json json = parse_json(called.out, "out");
  EXPECT_EQ(json["format"], "neutra-check");
  EXPECT_EQ(json["files"], 1);
  EXPECT_EQ(json["lines"], 4);
  ASSERT_EQ(json["findings"].size(), 1u);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["rule"], "missing-zero-grad");
  EXPECT_EQ(finding["pattern"], 3);
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["file"], "a b/train.py");
  EXPECT_EQ(finding["line"], 3);
  EXPECT_EQ(finding["column"], 10);
  EXPECT_EQ(finding["faults"], Json::array({"GMZ"}));
  EXPECT_EQ(finding["path"][0]["text"], "loss.backward()");
  EXPECT_EQ(finding["fix"]["text"], "    optimizer.zero_grad()\n");

  const Called sarif =
      call({"check", "a b", "--format", "sarif", "-o", "out.sarif"}, folder.path());
  EXPECT_EQ(sarif.exit, 1);
  const Json document = parse_json(folder.read("out.sarif"), "out.sarif");
  EXPECT_EQ(document["version"], "2.1.0");
  const Json& run = document["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"][0]["id"], "missing-zero-grad");
  const Json& result = run["results"][0];
  EXPECT_EQ(result["ruleIndex"], 0);
  EXPECT_EQ(result["level"], "error");
  const Json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "a%20b/train.py");
  EXPECT_EQ(place["region"]["startLine"], 3);
  EXPECT_EQ(result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"],
            "    optimizer.zero_grad()\n");
}

TEST(Check, SeverityAndPatternChooseFindings) {
  const Folder folder;
  folder.write("train.py", "from torch.autograd import Variable\nx = Variable(x)\n");
  EXPECT_EQ(call({"check", "train.py"}, folder.path()).exit, 0);  // a hint
  EXPECT_EQ(call({"check", "train.py", "--severity", "hint"}, folder.path()).exit, 1);
  EXPECT_EQ(call({"check", "train.py", "--pattern", "9"}, folder.path()).exit, 1);
  EXPECT_EQ(
      call({"check", "train.py", "--pattern", "9", "--severity", "error"}, folder.path()).exit, 0);
  EXPECT_EQ(call({"check", "train.py", "--pattern", "10"}, folder.path()).exit, 0);
  EXPECT_EQ(
      call({"check", "train.py", "--pattern", "9", "--variant", "as-published"}, folder.path())
          .exit,
      1);
  EXPECT_EQ(call({"check", "train.py", "--pattern", "9", "--rules", "keras"}, folder.path()).exit,
            2);
}

TEST(Check, RepairsFiles) {
  const Folder folder;
  folder.write("train.py", kFaulty);
  const Called called = call({"check", "train.py", "--fix"}, folder.path());
  EXPECT_EQ(called.exit, 0) << called.out << called.err;
  EXPECT_TRUE(has(called.err, {"train.py: 1 repaired"}));
  EXPECT_EQ(folder.read("train.py"),
            "for x, y in loader:\n"
            "    loss = criterion(model(x), y)\n"
            "    optimizer.zero_grad()\n"
            "    loss.backward()\n"
            "    optimizer.step()\n");
}

/// A notebook with a cell of text and two of code, written as Jupyter writes it.
std::string notebook() {
  return Json{{"nbformat", 4},
              {"cells",
               {{{"cell_type", "markdown"}, {"source", "text"}},
                {{"cell_type", "code"}, {"source", "import torch\n"}},
                {{"cell_type", "code"},
                 {"source",
                  {"for x, y in loader:\n", "    loss = criterion(model(x), y)\n",
                   "    loss.backward()\n", "    optimizer.step()"}}}}}}
      .dump(1);
}

TEST(Check, NamesCellAndLineOfNotebooks) {
  const Folder folder;
  folder.write("train.ipynb", notebook());
  const Called text = call({"check", "train.ipynb"}, folder.path());
  EXPECT_EQ(text.exit, 1) << text.err;
  EXPECT_TRUE(has(text.out, {"train.ipynb:cell 3:3:10: error: gradients"}));
  const Called called = call({"check", "train.ipynb", "--json"}, folder.path());
  const Json document = parse_json(called.out, "out");
  EXPECT_EQ(document["lines"], 7);
  const Json& finding = document["findings"][0];
  EXPECT_EQ(finding["cell"], 3);
  EXPECT_EQ(finding["line"], 3);
  EXPECT_EQ(finding["path"][0]["cell"], 3);
  EXPECT_EQ(finding["fix"]["line"], 3);
  // A code host shows the file's own lines.
  const Called sarif = call({"check", "train.ipynb", "--format", "sarif"}, folder.path());
  const Json found = parse_json(sarif.out, "out")["runs"][0]["results"][0];
  const std::uint32_t line =
      found["locations"][0]["physicalLocation"]["region"]["startLine"].get<std::uint32_t>();
  std::istringstream lines(notebook());
  std::string shown;
  for (std::uint32_t i = 0; i < line; ++i) std::getline(lines, shown);
  EXPECT_TRUE(has(shown, {"loss.backward()"}));
  EXPECT_TRUE(has(found["message"]["text"].get<std::string>(), {"(cell 3, line 3)"}));
  EXPECT_FALSE(found.contains("fixes"));
  const Called fixed = call({"check", "train.ipynb", "--fix"}, folder.path());
  EXPECT_EQ(fixed.exit, 1);
  EXPECT_TRUE(has(fixed.err, {"train.ipynb: not repaired"}));
  EXPECT_EQ(folder.read("train.ipynb"), notebook());
}

TEST(Check, FailsAtTheSeverityThatIsAskedFor) {
  const Folder folder;
  folder.write("train.py", "from torch.autograd import Variable\nx = Variable(x)\n");  // a hint
  folder.write("faulty.py", kFaulty);                                                  // an error
  const auto exit = [&](const char* file, const char* least, const char* failing) {
    return call({"check", file, "--severity", least, "--fail-on", failing}, folder.path()).exit;
  };
  EXPECT_EQ(exit("train.py", "hint", "hint"), 1);
  EXPECT_EQ(exit("train.py", "hint", "warning"), 0);
  EXPECT_EQ(exit("faulty.py", "hint", "error"), 1);
  EXPECT_EQ(exit("faulty.py", "hint", "never"), 0);
  EXPECT_TRUE(refused(call({"check", "faulty.py", "--fail-on", "hint"}, folder.path()), 2,
                      {"--fail-on", "found hint", "warning or graver"}));
  const Called shown = call({"check", "faulty.py", "--fail-on", "never"}, folder.path());
  EXPECT_TRUE(has(shown.out, {"missing-zero-grad"}));
}

TEST(Check, CommentsSwitchRulesOff) {
  const Folder folder;
  const auto exit = [&](const std::string& backward, const char* variant) {
    folder.write("train.py", "for x, y in loader:\n    loss = criterion(model(x), y)\n" + backward +
                                 "    optimizer.step()\n");
    return call({"check", "train.py", "--pattern", "3", "--variant", variant}, folder.path()).exit;
  };
  for (const char* variant : {"repaired", "as-published"}) {
    EXPECT_EQ(exit("    loss.backward()\n", variant), 1) << variant;
    EXPECT_EQ(exit("    loss.backward()  # neutra: ignore\n", variant), 0) << variant;
    EXPECT_EQ(exit("    # neutra: ignore\n    loss.backward()\n", variant), 0) << variant;
  }
  // Two rules of the pattern see it.
  const std::string both = "# neutra: ignore[missing-zero-grad, perhaps-missing-zero-grad]\n";
  EXPECT_EQ(exit("    loss.backward()  " + both, "repaired"), 0);
  EXPECT_EQ(exit("    loss.backward()  # neutra: ignore[missing-step]\n", "repaired"), 1);
  EXPECT_EQ(exit("    loss.backward(\n        None)  " + both, "repaired"), 0);
}

TEST(Check, ABaselineLeavesOutWhatWasThere) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "src");
  folder.write("src/train.py", kFaulty);
  const auto check = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"check", "src"};
    words.insert(words.end(), more.begin(), more.end());
    return call(words, folder.path());
  };
  const Called recorded = check({"--write-baseline", "base.json"});
  EXPECT_EQ(recorded.exit, 0) << recorded.err;
  EXPECT_EQ(recorded.out, "");
  EXPECT_TRUE(has(recorded.err, {"base.json: 1 findings recorded"}));
  const Json baseline = parse_json(folder.read("base.json"), "base.json");
  EXPECT_EQ(Schema(source_file("docs/schemas/baseline.schema.json")).problem(baseline), "");
  EXPECT_EQ(baseline["findings"], Json::array({{{"rule", "missing-zero-grad"},
                                                {"file", "src/train.py"},
                                                {"text", "loss.backward()"},
                                                {"before", "loss = criterion(model(x), y)"},
                                                {"after", "optimizer.step()"}}}));
  EXPECT_EQ(check({"--baseline", "base.json"}).exit, 0);
  // Moved, indented, and the line in front of it changed.
  const std::string moved =
      "import torch\n\ndef train():\n    for x, y in loader:\n        loss = loss_of(model(x), y)\n"
      "        loss.backward()\n        optimizer.step()\n";
  folder.write("src/train.py", moved);
  const Called known = check({"--baseline", "base.json", "--json"});
  EXPECT_EQ(known.exit, 0) << known.out;
  EXPECT_EQ(parse_json(known.out, "out")["recorded"], 1);
  // Of two that are alike one is recorded, and the other is told: that with other lines around it.
  folder.write("src/train.py", kFaulty + std::string("\n") + moved);
  const Called second = check({"--baseline", "base.json"});
  EXPECT_EQ(second.exit, 1);
  EXPECT_TRUE(has(second.out, {"src/train.py:11:14: error"}));
  EXPECT_EQ(std::count(second.out.begin(), second.out.end(), '\n'), 1) << second.out;
  // Another file, and one that was repaired.
  folder.write("src/other.py", kFaulty);
  folder.write("src/train.py", "x = 1\n");
  const Called other = check({"--baseline", "base.json"});
  EXPECT_TRUE(has(other.out, {"src/other.py:3:10"}));
  EXPECT_TRUE(has(other.err, {"1 of the recorded findings are gone"}));
  // The names are relative to the baseline, wherever the command is called.
  folder.write("src/train.py", kFaulty);
  EXPECT_EQ(call({"check", "train.py", "--baseline", "../base.json"}, folder.path() / "src").exit,
            0);
}

TEST(Check, ABaselineCountsAndRefusesWhatItIsNot) {
  const Folder folder;
  const std::string twice = kFaulty + std::string(kFaulty);
  folder.write("train.py", twice);
  EXPECT_EQ(call({"check", "train.py", "--write-baseline", "b.json"}, folder.path()).exit, 0);
  EXPECT_EQ(call({"check", "train.py", "--baseline", "b.json"}, folder.path()).exit, 0);
  folder.write("train.py", twice + kFaulty);
  const Called third = call({"check", "train.py", "--baseline", "b.json"}, folder.path());
  EXPECT_EQ(third.exit, 1);
  EXPECT_EQ(std::count(third.out.begin(), third.out.end(), '\n'), 1) << third.out;
  EXPECT_TRUE(
      refused(call({"check", "train.py", "--baseline", "no.json"}, folder.path()), 3, {"no.json"}));
  folder.write(
      "wrong.json",
      R"({"format": "neutra-baseline", "version": 1, "findings": [{"rule": "a", "file": 3}]})");
  EXPECT_TRUE(refused(call({"check", "train.py", "--baseline", "wrong.json"}, folder.path()), 3,
                      {"wrong.json", "/findings/0/file", "found 3"}));
  folder.write("other.json", R"({"format": "neutra-baseline", "version": 2, "findings": []})");
  EXPECT_TRUE(refused(call({"check", "train.py", "--baseline", "other.json"}, folder.path()), 3,
                      {"other.json", "version"}));
  EXPECT_TRUE(
      refused(call({"check", "train.py", "--baseline", "b.json", "--write-baseline", "c.json"},
                   folder.path()),
              2, {"--write-baseline", "--baseline"}));
  EXPECT_TRUE(refused(call({"check", "train.py", "--write-baseline", "no/b.json"}, folder.path()),
                      3, {"--write-baseline", "no/b.json"}));
}

TEST(Check, KeepsWhatItRepairsWhole) {
  namespace fs = std::filesystem;
  const Folder folder;
  folder.write("script.py", std::string("\xEF\xBB\xBF") + kFaulty);
  fs::permissions(folder.path() / "script.py", fs::perms::owner_exec, fs::perm_options::add);
  folder.write("there.py", kFaulty);
  fs::create_symlink("there.py", folder.path() / "link.py");
  const Called called =
      call({"check", "script.py", "link.py", "./script.py", "--fix"}, folder.path());
  EXPECT_EQ(called.exit, 0) << called.out << called.err;
  EXPECT_TRUE(folder.read("script.py")
                  .starts_with("\xEF\xBB\xBF"
                               "for x, y in loader:"));
  EXPECT_TRUE(has(folder.read("script.py"), {"    optimizer.zero_grad()\n"}));
  EXPECT_NE(fs::status(folder.path() / "script.py").permissions() & fs::perms::owner_exec,
            fs::perms::none);
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link.py"));
  EXPECT_TRUE(has(folder.read("there.py"), {"zero_grad"}));
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"link.py", "script.py", "there.py"}));
}

TEST(Check, FoldersWithOddThingsInThem) {
  namespace fs = std::filesystem;
  const Folder folder;
  fs::create_directories(folder.path() / "a/b");
  folder.write("a/train.py", kFaulty);
  folder.write("a/.hidden.py", kFaulty);
  fs::create_directory_symlink("..", folder.path() / "a/b/loop");
  fs::create_symlink("nothing", folder.path() / "a/gone.py");
  fs::create_symlink("self.py", folder.path() / "a/self.py");
  ASSERT_EQ(::mkfifo((folder.path() / "a/pipe.py").c_str(), 0600), 0);
  fs::create_directory(folder.path() / "a/folder.py");
  const Called called = call({"check", "a", "a/train.py", "--json"}, folder.path());
  EXPECT_EQ(called.exit, 1) << called.err;
  EXPECT_EQ(parse_json(called.out, "out")["files"], 1);
  EXPECT_EQ(parse_json(called.out, "out")["findings"].size(), 1u);
}

TEST(Check, TakesRulesOfTheUsersOwn) {
  const Folder folder;
  const auto rules = [](bool fires) {
    return Json{{"format", "neutra-rules"},
                {"version", 1},
                {"name", "ours"},
                {"rules",
                 {{{"id", "no-print"},
                   {"severity", "warning"},
                   {"category", "erroneous"},
                   {"root_cause", "ours"},
                   {"symptom", "ours"},
                   {"message", "use the log"},
                   {"start", ".say"},
                   {"examples",
                    {{{"fires", true}, {"code", {"a.say(1)"}}},
                     {{"fires", false}, {"code", {fires ? "b.say(2)" : "b = 2"}}}}}}}}}
        .dump();
  };
  std::filesystem::create_directory(folder.path() / "rules");
  folder.write("rules/a.json", rules(false));
  folder.write("train.py", "x.say(1)\n");
  const Called called = call({"check", "train.py", "--rules", "rules"}, folder.path());
  EXPECT_EQ(called.out, "train.py:1:3: warning: use the log [no-print]\n") << called.err;
  EXPECT_EQ(call({"check", "--check-rule", "rules/a.json"}, folder.path()).exit, 0);
  folder.write("wrong.json", rules(true));
  const Called wrong = call({"check", "--check-rule", "wrong.json"}, folder.path());
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_TRUE(has(wrong.out, {"no-print: example 2 fires"}));
}

TEST(Check, RefusesWhatItCannotRead) {
  const Folder folder;
  folder.write("binary.py", std::string("a\0b", 3));
  std::filesystem::create_directory(folder.path() / "empty");
  folder.write("empty/x.txt", "");
  folder.write("rules.json",
               "{\"format\": \"neutra-rules\", \"version\": 1, \"name\": \"a\", \"rules\": [{}]}");
  folder.write("fine.py", "x = 1\n");
  EXPECT_TRUE(refused(call({"check", "none.py"}, folder.path()), 3, {"none.py"}));
  EXPECT_TRUE(refused(call({"check", "binary.py"}, folder.path()), 3, {"binary.py", "byte 1"}));
  EXPECT_TRUE(refused(call({"check", "empty"}, folder.path()), 3, {"empty"}));
  EXPECT_TRUE(refused(call({"check"}, folder.path()), 2, {"FILE is missing"}));
  EXPECT_TRUE(
      refused(call({"check", "fine.py", "--rules", "keas"}, folder.path()), 3, {"keas", "keras"}));
  EXPECT_TRUE(refused(call({"check", "fine.py", "--rules", "rules.json"}, folder.path()), 3,
                      {"rules.json", "rules[0]", "id"}));
  const Called both = call({"check", "fine.py", "binary.py"}, folder.path());
  EXPECT_EQ(both.exit, 3);
  EXPECT_TRUE(has(both.err, {"binary.py"}));
}

}  // namespace
}  // namespace neutra::cli
