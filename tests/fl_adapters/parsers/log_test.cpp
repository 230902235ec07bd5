#include "fl_adapters/parsers/log.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/fl_adapters/parsers/cases.h"

namespace neutra::fl_adapters::parsers::tests {
namespace {

std::vector<std::string> texts(const std::string& bytes) {
  std::vector<std::string> list;
  for (const LogLine& line : log_lines(bytes)) {
    list.push_back(std::to_string(line.number) + ":" + line.text + (line.garbled ? "!" : ""));
  }
  return list;
}

TEST(Log, LinesEndInAnyWay) {
  EXPECT_EQ(texts("a\r\nb\n\rc\n\nd"), (Lines{"1:a", "2:b", "3:c", "4:", "5:d"}));
  EXPECT_EQ(texts(""), Lines{});
}

TEST(Log, ProgressBarsAreWrittenOverThemselves) {
  EXPECT_EQ(texts(" 1/2 [=>.]\r 2/2 [==]\n"), (Lines{"1: 1/2 [=>.]", "1: 2/2 [==]"}));
  EXPECT_EQ(texts("1/2 [=>.]\b\b\b\b\b2/2 [==]\n"), (Lines{"1:1/2 [=>.]", "1:2/2 [==]"}));
}

TEST(Log, ColoursAreDropped) {
  EXPECT_EQ(texts("\x1b[31m[<a>]\x1b[0m"), Lines{"1:[<a>]"});
  EXPECT_EQ(texts("\x1b[1;31m[<a>]\x1b[m"), Lines{"1:[<a>]"});
  EXPECT_EQ(texts("[31m[<a>][0m"), Lines{"1:[<a>]"});
  EXPECT_EQ(texts("<a>]\x1b [<b>]\x1b"), Lines{"1:<a>] [<b>]"});
  EXPECT_EQ(texts("\x1b[<Critical>]"), Lines{"1:[<Critical>]"});
  EXPECT_EQ(texts("\x1b]0;title\x07text"), Lines{"1:text"});
}

TEST(Log, OtherEncodings) {
  EXPECT_EQ(texts("\xef\xbb\xbf"
                  "a"),
            Lines{"1:a"});
  EXPECT_EQ(texts(std::string("\xff\xfe"
                              "a\0\n\0b\0",
                              8)),
            (Lines{"1:a", "2:b"}));
  EXPECT_EQ(texts(std::string("\xfe\xff"
                              "\0a",
                              4)),
            Lines{"1:a"});
  EXPECT_EQ(texts("gr\xc3\xbc\xc3\x9f"), Lines{"1:gr\xc3\xbc\xc3\x9f"});
  EXPECT_EQ(texts("a\xff"
                  "b\x01"),
            Lines{"1:a?b!"});
}

TEST(Log, NamesOfPrograms) {
  EXPECT_EQ(program_name("C:\\work\\1.py"), "1");
  EXPECT_EQ(program_name("/Blob/normal/model_7/"), "model_7");
  EXPECT_EQ(command_of("C:\\python.exe C:\\work\\41600519.py"), "41600519");
  EXPECT_EQ(command_of("$ python3 -u bug.py"), "bug");
  EXPECT_EQ(command_of("C:\\work\\1.py:44: FutureWarning: python.py"), std::nullopt);
  EXPECT_EQ(issue_of("Issue 1.py \r")->name, "1");
  EXPECT_FALSE(issue_of("Issue a start")->ends);
  EXPECT_TRUE(issue_of("\"Issue a end\"")->ends);
  EXPECT_EQ(issue_of("Issue a end 4.5\"")->seconds, 4.5);
  EXPECT_EQ(issue_of("Issue a 4.5")->seconds, 4.5);
  EXPECT_FALSE(issue_of("Issues with this"));
  EXPECT_FALSE(issue_of("Issue with a start of its own"));
}

TEST(Log, NoiseHasNames) {
  const std::vector<std::pair<const char*, const char*>> lines{
      {"  ", "blank"},
      {"  32/2000 [....] - ETA: 0s", "progress bar"},
      {"40/40 [=====] - 0s 50us/step - loss: 1 - accuracy: 0.5", "progress bar"},
      {"Epoch 1/30", "epoch header"},
      {" - 11s - loss: nan - accuracy: 0.0987", "metrics"},
      {"[205.8022892036438, 0.14350000023841858]", "numbers"},
      {"[0. 1. 0. ... 0. 0. 0.]", "numbers"},
      {"2023-03-19 16:54:35.600327: I tensorflow/x.cc:44] Opened", "library"},
      {"Total params: 23,860", "model summary"},
      {"C:\\work\\5.py:44: FutureWarning: arrays", "Python warning"},
      {"the an brazil vs reuter", ""},
  };
  for (const auto& [line, kind] : lines) EXPECT_EQ(noise_kind(line), kind) << line;
}

}  // namespace
}  // namespace neutra::fl_adapters::parsers::tests
