#include "evaluators/result_table.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/count.h"

namespace neutra::evaluators {
namespace {

Report report() {
  ResultTable table{"scores",
                    "Scores & more",
                    {{"fault", "Id", "", -1},
                     {"dfd_recall", "RC", "DFD", 2},
                     {"dfd_f", "F3", "DFD", 2},
                     {"answer", "Answer", "", -1}},
                    {{{std::string("D1"), 1.0, 0.5 / 0.95, std::string("ACH(7), HLR")}, false},
                     {{std::string("real"), 1. / 3, {}, {}}, true}}};
  Report report;
  report.about = {{"format", "neutra-scores"}, {"version", 1}};
  report.tables = {table};
  return report;
}

TEST(Reporters, Text) {
  EXPECT_EQ(write_text(report()),
            "Scores & more\n\n"
            "      DFD\n"
            "Id      RC    F3  Answer\n"
            "-----------------------------\n"
            "D1    1.00  0.53  ACH(7), HLR\n"
            "-----------------------------\n"
            "real  0.33     -  -\n");
}

TEST(Reporters, Csv) {
  EXPECT_EQ(write_csv(report()),
            "fault,dfd_recall,dfd_f,answer\n"
            "D1,1,0.5263157894736842,\"ACH(7), HLR\"\n"
            "real,0.3333333333333333,,\n");
}

TEST(Reporters, Json) {
  Report odd = report();
  odd.tables[0].rows[1].cells[2] = std::numeric_limits<double>::quiet_NaN();
  const Json json = parse_json(write_json(odd), "out");
  EXPECT_EQ(json.begin().key(), "format");
  EXPECT_EQ(json["scores"][0], (Json{{"fault", "D1"},
                                     {"dfd_recall", 1},
                                     {"dfd_f", 0.5263157894736842},
                                     {"answer", "ACH(7), HLR"}}));
  EXPECT_TRUE(json["scores"][0]["dfd_recall"].is_number_integer());
  EXPECT_TRUE(json["scores"][1]["dfd_f"].is_null());
  EXPECT_TRUE(json["scores"][1]["answer"].is_null());
}

TEST(Reporters, Latex) {
  EXPECT_EQ(write_latex(report()),
            "% needs \\usepackage{array,booktabs,graphicx,xcolor}\n\n"
            "\\begin{table}\n\\centering\n\\caption{Scores \\& more}\n\\label{tab:scores}\n"
            "\\smallskip\n\\sbox0{%\n\\begin{tabular}{lrrl}\n\\toprule\n"
            " & \\multicolumn{2}{c}{DFD} &  \\\\\n\\cmidrule(lr){2-3}\n"
            "Id & RC & F3 & Answer \\\\\n\\midrule\n"
            "D1 & 1.00 & 0.53 & ACH(7), HLR \\\\\n\\midrule\n"
            "real & 0.33 & - & - \\\\\n"
            "\\bottomrule\n\\end{tabular}}%\n"
            "\\ifdim\\wd0>\\linewidth\\resizebox{\\linewidth}{!}{\\usebox0}\\else\\usebox0\\fi\n"
            "\\end{table}\n");
  Report marked = report();
  marked.tables[0].rows[0].emphasis = {
      {0, Emphasis::kUnderline}, {1, Emphasis::kBold}, {3, Emphasis::kGrey}};
  EXPECT_NE(write_latex(marked).find("\\underline{D1} & \\textbf{1.00} & 0.53 & "
                                     "\\textcolor{gray}{ACH(7), HLR} \\\\\n"),
            std::string::npos);
  ResultTable odd{"t", "50% of {a_b} ~ \\", {{"x", "LRM|LAD", "", -1}}, {}};
  const std::string text = write_latex({Json::object(), {odd}});
  EXPECT_NE(text.find("50\\% of \\{a\\_b\\} \\textasciitilde{} \\textbackslash{}"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("LRM\\textbar{}LAD"), std::string::npos);
}

std::string latex(ResultTable table) { return write_latex({Json::object(), {std::move(table)}}); }

TEST(Reporters, LatexHasNoTrapInNames) {
  const std::string text = latex({"t_a%b#c",
                                  "a--b",
                                  {{"x", "X", "50%_&#", -1}},
                                  {{{std::string("--x ~^")}, true}, {{-2.5}, false}}});
  EXPECT_NE(text.find("\\label{tab:t_a_b_c}"), std::string::npos) << text;
  EXPECT_NE(text.find("\\caption{a-{}-b}"), std::string::npos) << text;
  EXPECT_NE(text.find("{50\\%\\_\\&\\#}"), std::string::npos) << text;
  EXPECT_NE(text.find("\\midrule\n-{}-x \\textasciitilde{}\\textasciicircum{} \\\\\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("$-$2.5 \\\\"), std::string::npos) << text;
}

TEST(Reporters, LatexSetsLongTextsAsParagraphs) {
  const std::string text = latex({"t",
                                  "T",
                                  {{"x", "X", "", -1}, {"y", "Y", "", -1}},
                                  {{{std::string("D1"), std::string(40, 'a') + ",b, c"}, false}}});
  EXPECT_NE(text.find("{l>{\\raggedright\\arraybackslash}p{0.45\\linewidth}}"), std::string::npos)
      << text;
  EXPECT_NE(text.find("a,\\allowbreak{}b, c"), std::string::npos) << text;
}

TEST(Reporters, LatexCutsWideTables) {
  ResultTable table{"t", "T", {{"fault", "Id", "", -1}}, {{{std::string("D1")}, false}}};
  for (int tool = 0; tool < 8; ++tool) {
    for (const char* score : {"RC", "PR"}) {
      table.columns.push_back({"c", score, "a long name of a tool " + std::to_string(tool), 2});
      table.rows[0].cells.emplace_back(tool + 0.25);
    }
  }
  table.rows[0].emphasis = {{15, Emphasis::kBold}};
  const std::string text = latex(table);
  EXPECT_EQ(count(text, "\\begin{table}"), 3U) << text;
  EXPECT_EQ(count(text, "D1 & "), 3U);
  EXPECT_EQ(count(text, "\\multicolumn{2}{c}"), 8U);  // no group is torn
  EXPECT_NE(text.find("T (part 3 of 3)}\n\\label{tab:t-3}"), std::string::npos) << text;
  EXPECT_NE(text.find("\\textbf{7.25}"), std::string::npos) << text;
}

TEST(Reporters, LatexCutsLongTables) {
  ResultTable table{"t", "T", {{"fault", "Id", "", -1}}, {}};
  for (int i = 0; i < 100; ++i) table.rows.push_back({{"D" + std::to_string(i)}, true});
  const std::string text = latex(table);
  EXPECT_EQ(count(text, "\\begin{table}"), 3U) << text;
  EXPECT_EQ(count(text, "D42 "), 1U);
  EXPECT_EQ(count(text, "\\midrule"), 100U);  // one below each heading, one between rows
}

TEST(Reporters, AreFoundByName) {
  for (const char* name : {"text", "csv", "json", "latex"}) {
    ASSERT_NE(find_reporter(name), nullptr) << name;
    EXPECT_EQ(find_reporter(name)->write({}).empty(),
              std::string(name) == "text" || std::string(name) == "csv");
  }
  EXPECT_EQ(find_reporter("xml"), nullptr);
}

}  // namespace
}  // namespace neutra::evaluators
