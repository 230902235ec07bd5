#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

/// tests/cli/data/bad_input.json: programs, files and command lines that are wrong, with the exit
/// code and what the one error must name: a file, an option, a key, a value.
const Json& suite() {
  static const Json json = read_json(source_file("tests/cli/data/bad_input.json"));
  return json;
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string program_text(const Json& test) {
  if (test.contains("program")) {
    const auto text = test["program"].get<std::string>();
    return text.starts_with("BYTES:") ? from_hex(text.substr(6)) : text;
  }
  return to_text(suite()["program"].patch(test["patch"]));
}

class BadInput : public testing::TestWithParam<std::size_t> {};

TEST_P(BadInput, GivesOneClearErrorAndLeavesTheFilesAlone) {
  const Json& test = suite()["cases"][GetParam()];
  const Folder folder;
  std::vector<std::string> before;
  if (test.contains("patch") || test.contains("program"))
    folder.write("p.json", program_text(test));
  if (test.contains("files"))
    for (const auto& [name, content] : test["files"].items())
      folder.write(name, content.get<std::string>());
  before = folder.names();

  const Called called = call(test["arguments"].get<std::vector<std::string>>(), folder.path());
  const int exit = test["exit"];
  if (test["arguments"].empty()) {
    EXPECT_EQ(called.exit, exit);
    EXPECT_EQ(called.out, "");
    EXPECT_TRUE(has(called.err, test["names"]));
  } else {
    EXPECT_TRUE(refused(called, exit, test["names"]));
    EXPECT_TRUE(called.err.starts_with("neutra: error: ")) << called.err;
  }
  EXPECT_EQ(folder.names(), before);
  if (test.contains("files")) {
    for (const auto& [name, content] : test["files"].items()) {
      EXPECT_EQ(folder.read(name), content.get<std::string>());
    }
  }
}

std::string case_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name;
  bool upper = true;
  for (char c : suite()["cases"][info.param]["name"].get<std::string>()) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = c == ' ';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Command, BadInput, testing::Range(std::size_t{0}, suite()["cases"].size()),
                         case_name);

TEST(BadInputSuite, TheProgramThatTheCasesSpoilIsGood) {
  const Folder folder;
  folder.write("p.json", to_text(suite()["program"]));
  const Called called = call({"train", "p.json", "-n", "2", "--json"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  EXPECT_EQ(parse_json(called.out, "out")["metric"], "mae");
}

}  // namespace
}  // namespace neutra::cli
