#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/arguments.h"
#include "tests/has.h"

namespace neutra::cli {
namespace {

using Words = std::vector<std::string>;

VerbOptions verb(Words behind) {
  return {.names = {"max-data", "output", "python", "run"},
          .least_positional = 1,
          .most_positional = 1000,
          .positional_name = "SCRIPT.py",
          .behind_script = std::move(behind)};
}
const VerbOptions kVerb = verb({"output"});

struct Case {
  Words words, own, script;
};

TEST(ScriptWords, AreToldApart) {
  for (const Case& one : std::vector<Case>{
           {{"a.py"}, {}, {"a.py"}},
           {{"a.py", "--run", "-x"}, {}, {"a.py", "--run", "-x"}},
           {{"--run", "-o", "f", "a.py", "-o", "g"}, {"--run", "-o", "f"}, {"a.py", "-o", "g"}},
           {{"--output=f", "a.py", "b"}, {"--output=f"}, {"a.py", "b"}},
           {{"a.py", "1", "-o", "f", "--run"}, {"-o", "f", "--run"}, {"a.py", "1"}},
           {{"a.py", "1", "--output=f"}, {"--output=f"}, {"a.py", "1"}},
           {{"a.py", "1", "-o", "f", "--", "-o", "2"}, {"-o", "f"}, {"a.py", "1", "-o", "2"}},
           {{"a.py", "--", "-o", "2"}, {}, {"a.py", "-o", "2"}},
           {{"a.py", "1", "--", "-o", "2"}, {}, {"a.py", "1", "--", "-o", "2"}},
           {{"--run", "--", "-a.py", "--", "2"}, {"--run"}, {"-a.py", "--", "2"}},
           {{"--max-data", "1G", "a.py"}, {"--max-data", "1G"}, {"a.py"}},
           {{"--max-data"}, {"--max-data"}, {}},
           {{}, {}, {}}}) {
    const ScriptWords parts = split_script_words(kVerb, one.words);
    EXPECT_EQ(parts.own, one.own) << testing::PrintToString(one.words);
    EXPECT_EQ(parts.script, one.script) << testing::PrintToString(one.words);
  }
  const ScriptWords parts = split_script_words(verb({"json", "output"}), {"a.py", "1", "--json"});
  EXPECT_EQ(parts.own, Words{"--json"});
}

TEST(ScriptWords, AreTheVerbsPositionals) {
  const Arguments arguments = parse_arguments(kVerb, {"a.py", "-x", "-o", "f", "--run"});
  EXPECT_EQ(arguments.positional, (Words{"a.py", "-x"}));
  EXPECT_EQ(arguments.text("output"), "f");
  EXPECT_TRUE(arguments.flag("run"));
  for (const Words& words : {Words{}, Words{"--run"}, Words{"a.py", "-o", "f", "1"}})
    EXPECT_THROW(parse_arguments(kVerb, words), Error) << testing::PrintToString(words);
}

TEST(ScriptWords, NamesOptionsThatAreTheScripts) {
  const auto note = [](const Words& words) {
    return script_words_note(kVerb, parse_arguments(kVerb, words));
  };
  EXPECT_TRUE(tests::has(note({"a.py", "--run"}), {"--run", "a.py", "behind --output"}));
  EXPECT_EQ(note({"a.py", "--", "--run"}), "");
  EXPECT_EQ(note({"a.py", "--lr", "1"}), "");
}

}  // namespace
}  // namespace neutra::cli
