#include "training/data/csv.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace neutra::training {
namespace {

Part read(const std::string& text, const Json& arguments = Json::object()) {
  return parse_csv(text, csv_options(arguments), "t.csv");
}

std::string message(const std::string& text, const Json& arguments = Json::object()) {
  try {
    read(text, arguments);
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::kBadInput);
    return e.what();
  }
  return "accepted";
}

TEST(Csv, LastColumnIsTheTarget) {
  const Part part = read("1,2,3\n4,5,6\n");
  EXPECT_EQ(part.x.extents, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(part.x.values, (std::vector<double>{1, 2, 4, 5}));
  EXPECT_EQ(part.y.extents, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(part.y.values, (std::vector<double>{3, 6}));
}

TEST(Csv, HeaderIsFoundOrTold) {
  EXPECT_EQ(read("a,b\n1,2").x.values, (std::vector<double>{1}));
  EXPECT_EQ(read("1,2\n3,4", {{"header", true}}).x.values, (std::vector<double>{3}));
  EXPECT_NE(message("a,b\n1,2", {{"header", false}}).find("line 1, column 1: found \"a\""),
            std::string::npos);
}

TEST(Csv, ColumnsByNameAndIndex) {
  const Part part = read("id,a,label,b\n9,1,0,2\n8,3,1,4\n",
                         {{"target", Json::array({"label", -1})}, {"drop", "id"}});
  EXPECT_EQ(part.x.values, (std::vector<double>{1, 3}));
  EXPECT_EQ(part.y.extents, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(part.y.values, (std::vector<double>{0, 2, 1, 4}));
  EXPECT_NE(message("a,b\n1,2\n", {{"target", "c"}}).find("allowed: a, b"), std::string::npos);
  EXPECT_NE(message("1,2\n", {{"drop", 2}}).find("column 2"), std::string::npos);
}

TEST(Csv, QuotedNumbersCarriageReturnsAndEmptyLines) {
  const Part part = read("\xEF\xBB\xBF\"a, \"\"x\"\"\",b\r\n\"1.5\", +2e1 \r\n\r\n-3,.5\r4,5");
  EXPECT_EQ(part.x.values, (std::vector<double>{1.5, -3, 4}));
  EXPECT_EQ(part.y.values, (std::vector<double>{20, 0.5, 5}));
}

TEST(Csv, OptionsForDelimiterLabelsAndRows) {
  const Part part =
      read("1;s\n2;b\n3;s\n",
           {{"delimiter", ";"}, {"header", false}, {"labels", {{"s", 0}, {"b", 1}}}, {"rows", 2}});
  EXPECT_EQ(part.y.values, (std::vector<double>{0, 1}));
}

TEST(Csv, NaNOnlyWhereAllowed) {
  EXPECT_NE(message("1,2\nnan,3\n").find("line 2, column 1: found \"nan\""), std::string::npos);
  EXPECT_NE(message("1,2\n3,\n").find("line 2, column 2: found an empty field"), std::string::npos);
  EXPECT_NE(message("1,2\ninf,3\n").find("finite"), std::string::npos);
  EXPECT_TRUE(std::isnan(read("1,2\n,3\n", {{"allow_nan", true}}).x.values[1]));
}

TEST(Csv, HintsAtDelimiterAndDecimalComma) {
  const auto hint = [](const std::string& text, const Json& arguments = Json::object()) {
    const std::string all = message(text, arguments);
    const std::size_t at = all.find("\nIts rows look as if they need ");
    return at == std::string::npos ? "no hint" : all.substr(all.find("need ", at) + 5);
  };
  EXPECT_EQ(hint("1.5;2\n3;4\n"), "\"delimiter\": \";\" in data.arguments.");
  EXPECT_EQ(hint("a;b;label\n1;2;0\n", {{"target", "label"}}),
            "\"delimiter\": \";\" in data.arguments.");
  EXPECT_EQ(hint("a;b\n1,5;2,25\n3,0;4,5\n"),
            "\"delimiter\": \";\", \"decimal\": \",\" in data.arguments.");
  EXPECT_EQ(hint("1,5;2,25\n", {{"delimiter", ";"}}), "\"decimal\": \",\" in data.arguments.");
  EXPECT_EQ(hint("1\t2\n3\t4\n"), "\"delimiter\": \"\\t\" in data.arguments.");
  EXPECT_EQ(hint("1.5|2\n", {{"decimal", ","}, {"delimiter", "|"}}),
            "\"decimal\": \".\" in data.arguments.");
  EXPECT_EQ(hint("1,2\n3,four\n"), "no hint");
  EXPECT_EQ(hint("1\n2\n"), "no hint");

  const Part part = read("a;b\n1,5;-2,25e1\n+3;,5\n", {{"delimiter", ";"}, {"decimal", ","}});
  EXPECT_EQ(part.x.values, (std::vector<double>{1.5, 3}));
  EXPECT_EQ(part.y.values, (std::vector<double>{-22.5, 0.5}));
  EXPECT_NE(message("1.5;2\n", {{"header", false}, {"delimiter", ";"}, {"decimal", ","}})
                .find("line 1, column 1: found \"1.5\""),
            std::string::npos);
  EXPECT_NE(message("1,2\n", {{"decimal", ","}}).find("as the decimal sign"), std::string::npos);
  EXPECT_NE(message("1,2\n", {{"decimal", ";"}}).find("data.arguments.decimal"), std::string::npos);
}

TEST(Csv, HintsAtWideEncodings) {
  const std::string text = "1,2\n3,4\n";
  std::string little, big, little32, big32;
  for (const char c : text) {
    little += {c, '\0'};
    big += {'\0', c};
    little32 += {c, '\0', '\0', '\0'};
    big32 += {'\0', '\0', '\0', c};
  }
  const std::string mark("\xFF\xFE\0\0", 4), big_mark("\0\0\xFE\xFF", 4);
  for (const auto& [bytes, name] :
       std::vector<std::pair<std::string, std::string>>{{"\xFF\xFE" + little, "UTF-16 "},
                                                        {"\xFE\xFF" + big, "UTF-16 "},
                                                        {little, "UTF-16LE "},
                                                        {big, "UTF-16BE "},
                                                        {mark + little32, "UTF-32 "},
                                                        {big_mark + big32, "UTF-32 "},
                                                        {little32, "UTF-32LE "},
                                                        {big32, "UTF-32BE "}}) {
    EXPECT_NE(message(bytes).find("iconv -f " + name + "-t UTF-8 't.csv'"), std::string::npos)
        << message(bytes);
  }
}

TEST(Csv, NamesBytesZeroWhereTheyAreNoEncoding) {
  const std::string long_text(2000, '1');
  for (const auto& [bytes, place] : std::vector<std::pair<std::string, std::string>>{
           {std::string("1,2\n3,\0\n", 8), "line 2: found a byte 0, byte 7 "},
           {std::string("1,2\0", 4), "line 1: found a byte 0, byte 4 "},
           {"1," + long_text + "\n" + std::string(1, '\0'), "line 2: found a byte 0"}}) {
    EXPECT_NE(message(bytes).find(place), std::string::npos) << message(bytes);
    EXPECT_EQ(message(bytes).find("UTF-16"), std::string::npos);
  }
}

TEST(Csv, ReadsDecimalCommasInQuotes) {
  const Part part = read("a,b\n\"1,5\",2\n3,\"-4,25\"\n", {{"decimal", ","}});
  EXPECT_EQ(part.x.values, (std::vector<double>{1.5, 3}));
  EXPECT_EQ(part.y.values, (std::vector<double>{2, -4.25}));
  EXPECT_EQ(guess_csv_form("\"1,5\",\"2,5\"\n"), (Json{{"decimal", ","}}));
  // Without quotes these two numbers would be four.
  EXPECT_NE(message("1,5,2,5\n", {{"decimal", ","}}).find("as the decimal sign"),
            std::string::npos);
}

TEST(Csv, HintsAtSignsBetweenThousands) {
  const auto hint = [](const std::string& field, const char* decimal) {
    const std::string all =
        message("1;2\n3;" + field + "\n", {{"delimiter", ";"}, {"decimal", decimal}});
    const std::string beginning = "which isn't read: ";
    const std::size_t at = all.find(beginning);
    return at == std::string::npos ? "no hint" : all.substr(at + beginning.size());
  };
  EXPECT_EQ(hint("1.234,5", ","), "write 1234,5.");
  EXPECT_EQ(hint("-1.234.567", ","), "write -1234567.");
  EXPECT_EQ(hint("-1.234", ","), "no hint");
  EXPECT_EQ(hint("1.234,5", "."), "write 1234,5, with \"decimal\": \",\" in data.arguments.");
  EXPECT_EQ(hint("1,234.5", "."), "write 1234.5.");
  EXPECT_EQ(hint("1,234,567", "."), "write 1234567.");
  EXPECT_EQ(hint("12.34,5", ","), "no hint");
  EXPECT_EQ(hint("four", ","), "no hint");
}

TEST(Csv, RefusesColumnsNamedTwice) {
  const auto refused = [](const std::string& text, const Json& arguments, const char* with) {
    EXPECT_NE(message(text, arguments).find(with), std::string::npos) << message(text, arguments);
  };
  refused("a,b\n1,2\n", {{"target", Json::array({"b", "b"})}}, "target: found column \"b\" twice");
  refused("1,2\n", {{"target", Json::array({1, -1})}}, "target: found column 1 twice");
  refused("a,b\n1,2\n", {{"target", "b"}, {"drop", "b"}}, "which is in drop, too");
  refused("a,b,b\n1,2,3\n", {{"target", "b"}},
          "which the header names twice; allowed: an index: 1 or 2");
}

TEST(Csv, ErrorsNameLineAndColumn) {
  EXPECT_NE(message("1,2\n3\n").find("line 2: found 1 columns; allowed: 2"), std::string::npos);
  EXPECT_NE(message("1,2\n3,\"4\n5,6\n").find("line 2, column 2: found a quote"),
            std::string::npos);
  EXPECT_NE(message("1,2\n3,\"4\"x\n").find("line 2, column 2: found text behind"),
            std::string::npos);
  EXPECT_NE(message("1,2\n3,four\n").find("line 2, column 2: found \"four\""), std::string::npos);
  EXPECT_NE(message("1,2\n3,1e999\n").find("1e999"), std::string::npos);
  EXPECT_NE(message("").find("no rows"), std::string::npos);
  EXPECT_NE(message("a,b\n").find("a header and no rows"), std::string::npos);
  EXPECT_NE(message("1\n2\n").find("no feature columns"), std::string::npos);
}

TEST(Csv, LineNumbersCountLinesInsideQuotes) {
  EXPECT_NE(message("a,b\n\"1\n\",2\n").find("line 2, column 1"), std::string::npos);
  EXPECT_NE(message("\"a\nb\",c\n1,2\n3,x\n", {{"header", true}}).find("line 4, column 2"),
            std::string::npos);
}

TEST(Csv, RefusesWrongOptions) {
  EXPECT_THROW(csv_options({{"delimiter", "ab"}}), Error);
  EXPECT_THROW(csv_options({{"header", 3}}), Error);
  EXPECT_THROW(csv_options({{"delimeter", ";"}}), Error);
  EXPECT_THROW(csv_options({{"allow_nan", "yes"}}), Error);
  for (const Json& rows : {Json("x"), Json(-3), Json(1.5)}) {
    EXPECT_THROW(csv_options({{"rows", rows}}), Error);
  }
  EXPECT_THROW(csv_options({{"labels", {{"s", "x"}}}}), Error);
}

}  // namespace
}  // namespace neutra::training
