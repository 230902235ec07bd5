#include "experiments/scores/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "experiments/scores/tables.h"
#include "tests/count.h"

namespace neutra::experiments {
namespace {

search::Node node(std::int64_t id, bool alternative = false, bool significant = false) {
  search::Node made;
  made.id = id;
  made.parameters = {{"lr", std::to_string(id) + "&"}};
  made.alternative = alternative;
  made.significant = significant;
  made.mean = 0.5;
  return made;
}

TEST(NetworkFigure, DrawsTheRowsWithTheirRoles) {
  search::Network network;
  network.fault_id = "D4";
  network.nodes = {node(0), node(1), node(2, true), node(3, true, true), node(4)};
  network.edges = {{0, 1}, {1, 2}, {1, 3}};  // node 4 led nowhere
  const std::string picture = network_figure(network);
  constexpr std::size_t kLegend = 3;
  EXPECT_EQ(count(picture, "<line"), 3U);
  EXPECT_EQ(count(picture, "<circle"), 3U + kLegend);
  EXPECT_EQ(count(picture, "fill=\"#0072b2\""), 1U + 1);
  EXPECT_EQ(count(picture, "fill=\"#80d0a0\""), 1U + 1);
  EXPECT_NE(picture.find("node 3, mean 0.5\nlr=3&amp;"), std::string::npos) << picture;
  EXPECT_NE(picture.find("D4, buggy"), std::string::npos);
  EXPECT_EQ(network_figure(network), picture);
}

TEST(NetworkFigure, DepthIsTheColumn) {
  search::Network network;
  network.nodes = {node(0), node(1), node(2)};
  network.edges = {{0, 1}, {1, 2}, {0, 2}};
  const std::string picture = network_figure(network);
  EXPECT_NE(picture.find("<rect x=\"32\""), std::string::npos) << picture;  // centre 40
  EXPECT_EQ(count(picture, "<circle cx=\"190\""), 2U + 0);  // both one edge away; legend elsewhere
}

TEST(NetworkFigure, MarksTheKnownFix) {
  search::Network network;
  network.nodes = {node(0), node(1, true), node(2, true)};
  network.edges = {{0, 1}, {0, 2}};
  const std::string before = network_figure(network);
  EXPECT_EQ(before.find("known fix"), std::string::npos);
  network.fixed_parameters = program::Parameters{{"lr", "7"}};
  EXPECT_EQ(network_figure(network), before);  // it isn't there
  network.fixed_parameters = network.nodes[2].parameters;
  const std::string picture = network_figure(network);
  EXPECT_EQ(count(picture, "stroke-dasharray"), 1U + 1) << picture;  // one in the legend
  EXPECT_NE(picture.find("node 2, the known fix, mean 0.5"), std::string::npos);
  EXPECT_NE(picture.find(">the known fix</text>"), std::string::npos);
}

TEST(NetworkFigure, OfTheBuggyProgramAlone) {
  search::Network network;
  network.nodes = {node(0)};
  EXPECT_EQ(count(network_figure(network), "<line"), 0U);
}

TEST(TimeFigure, PlacesToolsByMeanTimeAndF3) {
  ScoreSheet sheet;
  sheet.tools = {"slow", "quick", "untimed"};
  sheet.faults = {"D6", "D7"};
  const auto add = [&](const std::string& fault, const std::string& tool,
                       std::optional<double> seconds, double before, double after) {
    ScoreRow row;
    row.fault = fault;
    row.tool = tool;
    row.seconds = seconds;
    row.before.f = before;
    row.after.score.f = after;
    sheet.rows.push_back(row);
  };
  add("D6", "slow", 50, 0, 1);
  add("D7", "slow", 150, 0.5, 1);
  add("D6", "quick", 1, 0.25, 0.5);
  add("D7", "quick", std::nullopt, 0.25, 0.5);
  add("D6", "untimed", std::nullopt, 1, 1);
  const std::string picture = time_figure(sheet);
  EXPECT_NE(picture.find("slow: 100 s, F3 before 0.25"), std::string::npos) << picture;
  EXPECT_NE(picture.find("slow: 100 s, F3 after 1<"), std::string::npos);
  EXPECT_NE(picture.find("quick: 1 s, F3 after 0.5<"), std::string::npos);
  EXPECT_EQ(picture.find("untimed"), std::string::npos);
  // The axis runs from 1 to 100 seconds, 60 to 490 pixels.
  EXPECT_NE(picture.find("<circle cx=\"60\" cy=\"185\""), std::string::npos) << picture;
  EXPECT_NE(picture.find("<circle cx=\"490\" cy=\"20\""), std::string::npos);
  EXPECT_EQ(count(time_figure({}), "<circle"), 2U);  // the legend
}

TEST(NetworkFigure, OfASmallNetworkByteForByte) {
  search::Network network;
  network.fault_id = "D4";
  network.nodes = {node(0), node(2, true)};
  network.edges = {{0, 2}};
  EXPECT_EQ(
      network_figure(network),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"520\" height=\"270\" "
      "viewBox=\"0 0 520 270\" font-family=\"sans-serif\">\n"
      "  <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "  <line x1=\"40\" y1=\"120\" x2=\"190\" y2=\"120\" stroke=\"#999\" stroke-width=\"0.8\"/>\n"
      "  <rect x=\"32\" y=\"112\" width=\"16\" height=\"16\" fill=\"black\" stroke=\"black\">"
      "<title>node 0, mean 0.5\nlr=0&amp;</title></rect>\n"
      "  <circle cx=\"190\" cy=\"120\" r=\"8\" fill=\"#80d0a0\" stroke=\"black\">"
      "<title>node 2, mean 0.5\nlr=2&amp;</title></circle>\n"
      "  <rect x=\"34\" y=\"230\" width=\"12\" height=\"12\" fill=\"black\" stroke=\"black\"/>\n"
      "  <text x=\"52\" y=\"240\" text-anchor=\"start\" font-size=\"12\">D4, buggy</text>\n"
      "  <circle cx=\"170\" cy=\"236\" r=\"6\" fill=\"#0072b2\" stroke=\"black\"/>\n"
      "  <text x=\"182\" y=\"240\" text-anchor=\"start\" font-size=\"12\">better than the fix"
      "</text>\n"
      "  <circle cx=\"320\" cy=\"236\" r=\"6\" fill=\"#80d0a0\" stroke=\"black\"/>\n"
      "  <text x=\"332\" y=\"240\" text-anchor=\"start\" font-size=\"12\">on par</text>\n"
      "  <circle cx=\"410\" cy=\"236\" r=\"6\" fill=\"white\" stroke=\"black\"/>\n"
      "  <text x=\"422\" y=\"240\" text-anchor=\"start\" font-size=\"12\">neutral</text>\n"
      "</svg>\n");
}

/// A sheet of four tools: recalls by tool and fault, the same before and after.
ScoreSheet sheet_of(const std::vector<std::vector<double>>& recalls) {
  ScoreSheet sheet;
  sheet.tools = {"best", "a&b", "third", "last"};
  sheet.order = {evaluators::friedman(recalls), evaluators::friedman(recalls)};
  for (std::size_t i = 0; i < sheet.tools.size(); ++i) {
    for (std::size_t j = i + 1; j < sheet.tools.size(); ++j) {
      ToolComparison pair;
      pair.first = sheet.tools[i];
      pair.second = sheet.tools[j];
      pair.after_holm = j - i > 1 ? 0.01 : 0.2;
      sheet.comparisons.push_back(pair);
    }
  }
  return sheet;
}

TEST(FriedmanTable, HasNoCriticalDifferenceOfTooFewFaults) {
  const auto row_of = [](std::size_t faults, std::string& title) {
    const std::vector<double> best(faults, 1), second(faults, 0.8), third(faults, 0.5),
        last(faults, 0);
    const evaluators::ResultTable table = friedman_table(sheet_of({best, second, third, last}));
    title = table.title;
    return table.rows.front().cells;
  };
  std::string title;
  EXPECT_TRUE(std::holds_alternative<double>(row_of(8, title)[7]));
  EXPECT_EQ(title.find("too few"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(row_of(3, title)[7]));
  EXPECT_NE(title.find("too few faults to tell 4 tools apart have no CD .05: it takes 8"),
            std::string::npos)
      << title;
}

TEST(CriticalDifferenceFigure, JoinsWhatIsNotApart) {
  const std::vector<double> best(10, 1), second(10, 0.8), third(10, 0.5), last(10, 0);
  const std::string picture = critical_difference_figure(sheet_of({best, second, third, last}));
  constexpr std::size_t kLegend = 1;
  // CD is 1.48: neighbours are joined, three bars in each panel.
  EXPECT_EQ(count(picture, "CD = 1.48"), 2U) << picture;
  EXPECT_EQ(count(picture, "stroke=\"black\" stroke-width=\"4\""), 2 * 3U + kLegend);
  // By Holm's p all four before, neighbours after.
  EXPECT_EQ(count(picture, "stroke=\"#0072b2\" stroke-width=\"4\""), 1 + 3U + kLegend);
  EXPECT_EQ(count(picture, ">best 1.00<"), 2U);
  EXPECT_EQ(count(picture, ">a&amp;b 2.00<"), 2U);
  EXPECT_EQ(count(picture, ">4.00 last<"), 2U);
  EXPECT_EQ(count(picture, "10 faults, Friedman's test p &lt; 0.0001"), 2U);
  // The axis runs from 190 to 530 pixels: rank 2 is at a third.
  EXPECT_NE(picture.find("<line x1=\"303.33\""), std::string::npos) << picture;
}

TEST(CriticalDifferenceFigure, SaysThatFaultsAreTooFew) {
  const auto picture_of = [](std::size_t faults) {
    return critical_difference_figure(
        sheet_of({std::vector<double>(faults, 1), std::vector<double>(faults, 0.8),
                  std::vector<double>(faults, 0.5), std::vector<double>(faults, 0)}));
  };
  const std::string three = picture_of(3);
  EXPECT_EQ(count(three, "too few faults to tell tools apart: 3; at least 8 for 4 tools"), 2U)
      << three;
  for (const char* words : {"CD =", "stroke-width=\"4\"", "Friedman", "no difference"}) {
    EXPECT_EQ(count(three, words), 0U) << words;
  }
  EXPECT_EQ(count(three, ">best 1.00<"), 2U);  // the ranks are there
  EXPECT_EQ(count(picture_of(7), "too few"), 2U);
  EXPECT_EQ(count(picture_of(8), "too few"), 0U);
}

TEST(CriticalDifferenceFigure, NothingToTellApart) {
  const std::vector<double> same(8, 0.5);
  const std::string picture = critical_difference_figure(sheet_of({same, same, same, same}));
  EXPECT_EQ(count(picture, "p = 1.0000, Iman"), 2U) << picture;
  EXPECT_EQ(count(picture, "stroke=\"black\" stroke-width=\"4\""), 2 * 1U + 1);
  EXPECT_EQ(picture.find("nan"), std::string::npos);
}

TEST(EfficiencyFigure, ALineForEachSeries) {
  const std::string picture = efficiency_figure(
      {{1, 1, "on"}, {1000, 0.95, "on"}, {32, 0.975, "on"}, {1, 1, "off"}, {32, 0.5, "off"}});
  constexpr std::size_t kLegend = 2;
  EXPECT_EQ(count(picture, "<circle"), 5U + kLegend);
  // The second line, "on", is dashed: what lies under it can be seen.
  EXPECT_EQ(count(picture, "stroke=\"#d55e00\" stroke-width=\"1.5\" stroke-dasharray"), 2U + 1);
  EXPECT_EQ(count(picture, "stroke=\"#0072b2\" stroke-width=\"1.5\"/"), 1U + 1) << picture;
  EXPECT_NE(picture.find("1000 workers, on: 0.95"), std::string::npos) << picture;
  EXPECT_NE(picture.find(">1024<"), std::string::npos);  // the axis ends at a power of two
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_NE(picture.find("90 %"), std::string::npos);  // the dashed line
  EXPECT_EQ(efficiency_figure({}).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace neutra::experiments
