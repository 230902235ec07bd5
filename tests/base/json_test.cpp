#include "base/json.h"
#include "base/files.h"
#include "base/numbers.h"

#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "tests/error_of.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

using tests::error_of;
using tests::TestFolder;

std::string parse_error(std::string_view text) {
  return error_of([&] { parse_json(text, "file.json"); });
}

TEST(Json, KeepsTheOrderOfKeysAndReadsBackItsOwnText) {
  const Json json = parse_json(R"({"b": [1, 2.5, "x", null, true], "a": {"c": -7}})", "f");
  EXPECT_EQ(json.begin().key(), "b");
  EXPECT_EQ(parse_json(to_text(json), "f"), json);
  EXPECT_EQ(to_text(json).back(), '\n');
}

TEST(Json, ErrorsNameFileLineAndColumn) {
  struct Case {
    std::string text, place, words;
  };
  const std::string deep(101, '[');
  for (const Case& c : std::vector<Case>{
           {"", "line 1, column 1", "unexpected end of input"},
           {"{\n  \"a\": 1,\n  \"a\": 2\n}", "line 3, column 5", "\"a\" a second time"},
           {"{\"a\":\n [1, 2", "line 2, column 6", "unexpected end of input"},
           {"[1,\n 1e999]", "line 2, column 7", "number overflow"},
           {deep, "line 1, column 101", "more than 100 levels"},
           {"[\"\xC3\x28\"]", "line 1, column 4", "ill-formed UTF-8"},
           {"[1] x", "line 1, column 5", "expected end of input"},
           {"{\"a\": 'b'}", "line 1, column 7", "invalid literal"},
           {"[NaN]", "line 1, column 2", "invalid literal"},
           {"[1,]", "line 1, column 4", "unexpected ']'"},
           {"// no comment\n1", "line 1, column 1", "invalid literal"}}) {
    const std::string message = parse_error(c.text);
    EXPECT_EQ(message.find("file.json: " + c.place), 0U) << message;
    EXPECT_NE(message.find(c.words), std::string::npos) << message;
  }
}

TEST(Json, MessagesArePrintableAndShortWhateverTheFileHolds) {
  const std::string message = parse_error('"' + std::string(100000, '\x01'));
  EXPECT_LT(message.size(), 300U);
  for (const char c : message) EXPECT_TRUE(c >= ' ' && c <= '~');
}

TEST(Json, HundredLevelsAreAllowed) {
  EXPECT_EQ(parse_error(std::string(100, '[') + std::string(100, ']')), "");
}

TEST(Json, LargeObjectsAreReadInLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i) text += "\"key" + std::to_string(i) + "\":0,";
  text.back() = '}';
  EXPECT_EQ(parse_json(text, "f").size(), 100000U);  // quadratic: minutes
}

TEST(Json, FilesThatCannotBeReadAreNamed) {
  const TestFolder folder;
  EXPECT_NE(error_of([&] { read_json(folder / "none.json"); }).find("none.json: there is no such"),
            std::string::npos);
  std::filesystem::create_directory(folder / "sub");
  EXPECT_NE(error_of([&] { read_json(folder / "sub"); }).find("a folder"), std::string::npos);
  std::ofstream(folder / "large.json") << std::string(65 << 20, ' ');
  EXPECT_NE(error_of([&] { read_json(folder / "large.json"); }).find("64 MiB"), std::string::npos);
}

TEST(WriteFile, ReplacesAtOnceAndLeavesNoTemporaryFile) {
  const TestFolder folder;
  const auto file = folder / "out.json";
  write_file_atomically(file, "old");
  write_file_atomically(file, "new");
  std::ifstream stream(file);
  std::string text;
  stream >> text;
  EXPECT_EQ(text, "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1);
}

TEST(WriteFile, WritesThroughSymbolicLinks) {
  const TestFolder folder;
  write_file_atomically(folder / "target", "old");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(std::filesystem::file_size(folder / "target"), 3U);
}

TEST(WriteFile, FailuresNameTheFile) {
  const TestFolder folder;
  const std::string message =
      error_of([&] { write_file_atomically(folder / "none" / "out", "text"); });
  EXPECT_NE(message.find("none/out: cannot be written: No such file"), std::string::npos)
      << message;
}

TEST(WriteFile, AFullDiskIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  EXPECT_NE(error_of([] { write_file_atomically("/dev/full", "text"); }).find("No space left"),
            std::string::npos);
}

TEST(PythonRepr, SpellsFloatsAsPythonDoes) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<double, std::string>> table = {
      {0.001, "0.001"},
      {3.0, "3.0"},
      {1e-05, "1e-05"},
      {1e16, "1e+16"},
      {0.1, "0.1"},
      {10.0, "10.0"},
      {0.0001, "0.0001"},
      {0.00001234, "1.234e-05"},
      {123456789012345.0, "123456789012345.0"},
      {1e15, "1000000000000000.0"},
      {1.5e300, "1.5e+300"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1e22, "1e+22"},
      {-0.0, "-0.0"},
      {0.0, "0.0"},
      {5e-324, "5e-324"},
      {-2.5, "-2.5"},
      {100.0, "100.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {inf, "inf"},
      {-inf, "-inf"},
      {std::nan(""), "nan"}};
  for (const auto& [value, text] : table) EXPECT_EQ(python_repr(value), text);
}

TEST(PythonRound, RoundsTheBinaryValueTiesToEven) {
  EXPECT_EQ(python_round(6.5, 0), 6);
  EXPECT_EQ(python_round(7.5, 0), 8);
  EXPECT_EQ(python_round(0.3125, 2), 0.31);
  EXPECT_EQ(python_round(2.345, 2), 2.35);  // the double lies above
  EXPECT_EQ(python_round(4.6850000000000005, 2), 4.69);
  EXPECT_EQ(python_round(0.5005, 3), 0.5);  // below
  EXPECT_EQ(python_round(0.00775, 4), 0.0077);
  EXPECT_EQ(python_round(-1.5, 0), -2);
  EXPECT_EQ(python_round(1e308, 2), 1e308);
  EXPECT_TRUE(std::isnan(python_round(std::nan(""), 2)));
}

TEST(Shortest, LeavesThePointOut) {
  EXPECT_EQ(shortest(3.0), "3");
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1e-05), "1e-05");
}

TEST(Describe, LeavesEmptyPartsOut) {
  EXPECT_EQ(describe("f.json", "/fit", "3", "an object"),
            "f.json: /fit: found 3; allowed: an object");
  EXPECT_EQ(describe("f.json", "", "3", ""), "f.json: found 3");
  EXPECT_EQ(describe("", "/fit", "", "an object"), "/fit: allowed: an object");
}

}  // namespace
}  // namespace neutra
