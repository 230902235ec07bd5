#include "cli/arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/strings.h"
#include "cli/verbs.h"
#include "tests/has.h"

namespace neutra::cli {
namespace {

using tests::has;

const VerbOptions kVerb = {
    {"replicas", "seed", "workers", "preset", "budget-time", "match", "reuse", "memory-limit"},
    0,
    1,
    "FAULT"};

std::string usage_message(const std::vector<std::string>& words) {
  try {
    parse_arguments(kVerb, words);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kUsage);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(OptionTable, IsSortedAndEveryDefaultIsValid) {
  const auto& table = option_table();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const auto& option : table) {
    EXPECT_FALSE(option.help.empty()) << option.name;
    if (!option.fallback.empty()) {
      EXPECT_NO_THROW(Arguments().set(option, {option.fallback}, option.name)) << option.name;
    }
  }
}

TEST(OptionTable, EveryOptionOfEveryVerbExists) {
  for (const auto& verb : verbs()) {
    EXPECT_TRUE(verb.run) << verb.name;
    for (const auto& name : verb.options.names)
      EXPECT_TRUE(find_option(name)) << verb.name << " " << name;
    EXPECT_TRUE(has(verb_help(verb), {"example:"})) << verb.name;
  }
  EXPECT_TRUE(std::is_sorted(verbs().begin(), verbs().end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST(ParseArguments, DefaultsAndCommandLine) {
  const auto defaults = parse_arguments(kVerb, {});
  EXPECT_EQ(defaults.integer("replicas"), 10);
  EXPECT_EQ(defaults.text("match"), "layer");
  // These depend on the fault and on the store.
  for (const char* name : {"workers", "preset", "budget-time"}) EXPECT_FALSE(defaults.has(name));
  const auto given = parse_arguments(
      kVerb, {"D7", "--replicas=3", "-s", "5", "--reuse", "a.h5", "--reuse", "b.h5"});
  EXPECT_EQ(given.integer("replicas"), 3);
  EXPECT_EQ(given.integer("seed"), 5);
  EXPECT_EQ(given.list("reuse"), (std::vector<std::string>{"a.h5", "b.h5"}));
  EXPECT_EQ(given.positional, std::vector<std::string>{"D7"});
}

TEST(ParseArguments, FormatsAreThoseOfTheVerb) {
  VerbOptions verb = kVerb;
  EXPECT_FALSE(contains(option_help(verb), "--format"));
  verb.formats = {"tsv", "json"};
  EXPECT_TRUE(has(option_help(verb), {"(tsv, json) [tsv]"}));
  EXPECT_EQ(parse_arguments(verb, {}).text("format"), "tsv");
  EXPECT_EQ(parse_arguments(verb, {"-f", "json"}).text("format"), "json");
  try {
    parse_arguments(verb, {"--format", "dot"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kUsage);
    EXPECT_STREQ(error.what(), "--format: found 'dot'; allowed: tsv, json");
  }
  for (const Verb& known : verbs()) {
    for (const std::string& format : known.options.formats) {
      const auto& all = find_option("format")->choices;
      EXPECT_NE(std::find(all.begin(), all.end(), format), all.end()) << known.name << format;
    }
  }
}

TEST(ParseArguments, FileBeforeEnvironmentBeforeCommandLine) {
  const auto file =
      std::filesystem::temp_directory_path() / ("neutra_config_" + std::to_string(getpid()));
  std::ofstream(file) << "# comment\nreplicas = 4\nseed = 7   # inline\nmin-pass = 0.5\n";
  const std::vector<std::string> words = {"--config", file.string()};
  EXPECT_EQ(parse_arguments(kVerb, words).integer("replicas"), 4);
  EXPECT_EQ(parse_arguments(kVerb, words).integer("seed"), 7);
  {
    const Variable variable("NEUTRA_REPLICAS", "6");
    EXPECT_EQ(parse_arguments(kVerb, words).integer("replicas"), 6);
    EXPECT_EQ(parse_arguments(kVerb, {"--config", file.string(), "-n", "8"}).integer("replicas"),
              8);
  }
  std::filesystem::remove(file);
}

TEST(ParseArguments, WrongConfigurationFileNamesTheLine) {
  const auto file =
      std::filesystem::temp_directory_path() / ("neutra_bad_config_" + std::to_string(getpid()));
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"replicas = 4\nreplicants = 5\n", "line 2"},
           {"replicas 4\n", "line 1"},
           {"replicas = many\n", "whole number"}}) {
    std::ofstream(file) << text;
    try {
      parse_arguments(kVerb, {"--config", file.string()});
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      EXPECT_TRUE(has(error.what(), {expected}));
    }
  }
  std::filesystem::remove(file);
}

TEST(ParseArguments, MistakesNameOptionValueAndWhatIsAllowed) {
  EXPECT_TRUE(has(usage_message({"--replica", "3"}), {"--replicas"}));
  EXPECT_TRUE(has(usage_message({"--replicas", "0"}), {"from 1 to 1000"}));
  EXPECT_TRUE(has(usage_message({"--replicas", "1e3"}), {"'1e3'"}));
  EXPECT_TRUE(has(usage_message({"--preset", "papr"}), {"did you mean paper?"}));
  EXPECT_TRUE(has(usage_message({"--seed", "1", "--seed", "2"}), {"once"}));
  EXPECT_TRUE(has(usage_message({"--workers", "-1"}), {"--workers"}));
  EXPECT_TRUE(has(usage_message({"--budget-time", "2 weeks"}), {"48h"}));
  EXPECT_TRUE(has(usage_message({"--memory-limit", "-5"}), {"--memory-limit"}));
  EXPECT_TRUE(has(usage_message({"D7", "D8"}), {"'D8'"}));
  EXPECT_FALSE(usage_message({"--seed"}).empty());
  const Variable variable("NEUTRA_SEED", "x");
  EXPECT_TRUE(has(usage_message({}), {"NEUTRA_SEED"}));
}

TEST(ParseDuration, Forms) {
  EXPECT_EQ(parse_duration("48h"), 172800);
  EXPECT_EQ(parse_duration("1h30m"), 5400);
  EXPECT_EQ(parse_duration("90s"), 90);
  EXPECT_EQ(parse_duration("2.5"), 2.5);
  EXPECT_EQ(parse_duration("1d"), 86400);
  for (const char* wrong : {"", "h", "1h30", "-1", "1w", "1e9d9", "nan", "1 h"})
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
}

TEST(ParseSize, Forms) {
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("2G"), 2ull << 30);
  EXPECT_EQ(parse_size("1.5k"), 1536u);
  for (const char* wrong : {"", "G", "-1", "1X", "1e30", "nan"})
    EXPECT_FALSE(parse_size(wrong)) << wrong;
}

}  // namespace
}  // namespace neutra::cli
