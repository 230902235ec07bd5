// One word for one thing: what docs/glossary.md says is not used stands in no text for users.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>

#include "base/files.h"
#include "tests/cli/command.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;
const fs::path kDocs = source_file("docs");

/// The first column of the table "Words that are not used".
std::vector<std::string> unused_words() {
  std::istringstream page(read_file(kDocs / "glossary.md", "a page"));
  std::vector<std::string> words;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) here = line == "## Words that are not used";
    if (!here || !line.starts_with("| ") || line.starts_with("| instead of")) continue;
    std::istringstream cell(line.substr(2, line.find(" |", 2) - 2));
    for (std::string word; std::getline(cell, word, ',');)
      words.push_back(word.substr(word.find_first_not_of(' ')));
  }
  return words;
}

/// A text in small letters, one space between words, without code, which names keys and options.
std::string prose_of(const std::string& text) {
  static const std::regex code("```[\\s\\S]*?```|`[^`]*`|\\]\\([^)]*\\)|\\n    [^\\n]*");
  std::string prose;
  for (const char c : std::regex_replace(text, code, " ")) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank)
      prose += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!prose.ends_with(' '))
      prose += ' ';
  }
  return prose;
}

bool has_word(const std::string& prose, const std::string& word) {
  const auto part_of_word = [&](std::size_t at) {
    return at < prose.size() && (std::isalnum(static_cast<unsigned char>(prose[at])) != 0 ||
                                 prose[at] == '_' || prose[at] == '-');
  };
  for (std::size_t at = prose.find(word); at != std::string::npos; at = prose.find(word, at + 1))
    if (!part_of_word(at - 1) && !part_of_word(at + word.size())) return true;
  return false;
}

void expect_no_unused_words(const std::string& place, const std::string& prose) {
  for (const std::string& word : unused_words())
    EXPECT_FALSE(has_word(prose, word)) << place << ": " << word;
}

TEST(Glossary, FindsWords) {
  EXPECT_GE(unused_words().size(), 8U);
  EXPECT_TRUE(has_word(prose_of("One\n Trial, `candidate`."), "trial"));
  EXPECT_FALSE(has_word(prose_of("trials, a-trial, `trial`"), "trial"));
}

TEST(Glossary, HelpUsesItsWords) {
  const Folder folder;
  const Called help = call({"help", "--markdown"}, folder.path());
  ASSERT_EQ(help.exit, 0) << help.err;
  // The help of each verb is one block of code.
  std::string text = help.out;
  text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
  std::istringstream lines(text);
  std::string whole;
  for (std::string line; std::getline(lines, line);)
    whole += line.substr(std::min(line.find_first_not_of(' '), line.size())) + "\n";
  expect_no_unused_words("help", prose_of(whole));
}

TEST(Glossary, GuidesUseItsWords) {
  std::vector<fs::path> pages = {kDocs / "quickstart.md", kDocs / "index.md",
                                 source_file("README.md")};
  for (const auto& item : fs::directory_iterator(kDocs / "howto")) pages.push_back(item.path());
  for (const fs::path& page : pages)
    expect_no_unused_words(page.filename().string(), prose_of(read_file(page, "a page")));
}

}  // namespace
}  // namespace neutra::cli
