#include "cli/completion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/completion/words.h"
#include "tests/has.h"

namespace neutra::cli {
namespace {

using tests::has;

bool among(const Strings& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Candidates, NamesInHelpSayWhatCompletes) {
  const Candidates fault = candidates("FAULT|FILE.json");
  EXPECT_TRUE(among(fault.words, "D7") && among(fault.words, "iris"));
  EXPECT_EQ(fault.files, Strings{"json"});
  EXPECT_EQ(candidates("STORE|FILE.tsv").files, (Strings{"h5", "tsv"}));
  EXPECT_EQ(candidates("PICTURE").files, (Strings{"svg", "png", "pdf"}));
  EXPECT_TRUE(among(candidates("OPERATOR[@LAYER][=VALUE]").words, "change_label"));
  EXPECT_EQ(candidates("on|off").words, (Strings{"on", "off"}));
  EXPECT_TRUE(candidates("N").words.empty() && candidates("N").files.empty());
}

TEST(CompletionScript, EveryVerbAndOptionIsInEachShells) {
  for (const std::string& shell : completion_shells()) {
    const std::string script = completion_script(shell);
    for (const Verb& verb : verbs()) {
      if (verb.hidden) {
        EXPECT_FALSE(contains(script, verb.name)) << shell;
        continue;
      }
      EXPECT_TRUE(has(script, {verb.name})) << shell << " " << verb.name;
      for (const Option& option : options_of(verb.options))
        EXPECT_TRUE(has(script, {(shell == "fish" ? "-l " : "--") + option.name}))
            << shell << " " << option.name;
    }
  }
}

TEST(Actions, TakeOptionsOfTheirVerb) {
  for (const Verb& verb : verbs())
    for (const VerbAction& action : verb.options.actions)
      for (const std::string& name : action.options.value_or(Strings{}))
        EXPECT_TRUE(name == "format" || among(verb.options.names, name))
            << verb.name << " " << action.name << " " << name;
}

}  // namespace
}  // namespace neutra::cli
