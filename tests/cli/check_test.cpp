// `neutra check`: findings in every form, exit codes, repairs, rules of the user's own.

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/cli/command.h"

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

TEST(Check, ReadsNotebooks) {
  const Folder folder;
  folder.write("train.ipynb", Json{{"nbformat", 4},
                                   {"cells",
                                    {{{"cell_type", "markdown"}, {"source", "text"}},
                                     {{"cell_type", "code"}, {"source", kFaulty}}}}}
                                  .dump());
  const Called called = call({"check", "train.ipynb", "--json"}, folder.path());
  EXPECT_EQ(called.exit, 1) << called.err;
  EXPECT_EQ(parse_json(called.out, "out")["findings"][0]["line"], 4);
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
