#include "cli/manual.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/has.h"

namespace neutra::cli {
namespace {

using tests::has;

TEST(ManualPage, SaysWhatHelpSays) {
  const std::string page = manual_page(*find_verb("search"), "2026-01-02");
  EXPECT_TRUE(has(
      page,
      {".TH NEUTRA\\-SEARCH 1 2026-01-02 \"neutra ", "neutra\\-search \\- search all small patches",
       "\\fB\\-n\\fR, \\fB\\-\\-replicas\\fR \\fIN\\fR\ntrainings of each "
       "program\n.br\nDefault: 10.",
       "One of: paper, keras.", ".SH EXIT STATUS", "mpirun \\-n 8 neutra search D7"}));
}

TEST(ManualPage, NoTextIsARequest) {
  for (const Verb& verb : verbs()) {
    std::istringstream page(manual_page(verb, "2026-01-02"));
    for (std::string line; std::getline(page, line);) {
      EXPECT_NE(line.substr(0, 1), "'") << line;
      if (!line.starts_with('.')) continue;
      const std::string request = line.substr(0, line.find(' '));
      EXPECT_TRUE(request == ".TH" || request == ".SH" || request == ".TP" || request == ".PP" ||
                  request == ".B" || request == ".BR" || request == ".br" || request == ".nf" ||
                  request == ".fi" || line.starts_with(".\\\""))
          << line;
    }
  }
}

TEST(ManualPage, TheFirstNamesAllVerbs) {
  const std::string page = manual_page("2026-01-02");
  for (const Verb& verb : verbs()) {
    std::string name;
    for (const char c : verb.name) name += c == '-' ? "\\-" : std::string(1, c);
    const bool named = page.find("neutra\\-" + name + " (1)") != std::string::npos;
    EXPECT_EQ(named, !verb.hidden) << verb.name;
  }
}

}  // namespace
}  // namespace neutra::cli
