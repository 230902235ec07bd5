#include "report/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/error.h"
#include "report/tables.h"
#include "tests/count.h"
#include "tests/report/d7.h"
#include "tests/source_file.h"

namespace neutra::report::tests {
namespace {

TEST(Report, DocumentTellsTheDifferencesOfAKnownFault) {
  const Json document = report_document(d7());
  EXPECT_EQ(document["format"], "neutra-report");
  EXPECT_EQ(document["file"], "D7.h5");
  EXPECT_EQ(document["fault"]["id"], "D7");
  EXPECT_EQ(document["known"], "HLR");
  EXPECT_EQ(document["generated"], 5);
  EXPECT_EQ(document["significance"], true);
  EXPECT_EQ(document["fixed_node"], 4);
  EXPECT_EQ(document["fixed"], Json::parse(R"({"lr": "0.1"})"));
  EXPECT_EQ(document["keys"]["act1"]["kind"], "activation");
  EXPECT_EQ(document["keys"]["act1"]["where"], "layer 0, dense_1");
  EXPECT_EQ(document["keys"]["lr"]["where"], "");
  const Json& nodes = document["network"]["nodes"];
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[0]["difference"], "-");
  EXPECT_EQ(nodes[0]["changes"], Json::object());
  EXPECT_EQ(nodes[3]["difference"], "HLR, HNE");
  EXPECT_EQ(nodes[3]["fault_types"], Json::parse(R"(["HLR", "HNE"])"));
  EXPECT_EQ(nodes[3]["changes"], Json::parse(R"({"epochs": "400", "lr": "0.01"})"));
  EXPECT_EQ(document["fault_types"].size(), 2u);
  EXPECT_EQ(document["provenance"]["search"]["seed"], 5);
  EXPECT_EQ(document["scores"], nullptr);
}

/// Those of the report's warnings that have these words.
std::size_t warnings_with(const ReportInput& input, const std::string& words) {
  std::size_t found = 0;
  const Json warnings = report_document(input)["warnings"];
  for (const Json& text : warnings) {
    found += text.get_ref<const std::string&>().find(words) != std::string::npos;
  }
  return found;
}

TEST(Report, WarnsOfWhatTheNetworkDoesNotShow) {
  EXPECT_EQ(report_document(d7())["warnings"], Json::array());
  ReportInput input = d7();
  search::Network& network = input.network.network;
  network.ground_truth = 6;  // an error: the buggy program is no worse
  EXPECT_EQ(warnings_with(input, "The buggy program reaches the level itself"), 1U);
  network.improve = true;  // a repair is better than the buggy program
  EXPECT_EQ(warnings_with(input, "reaches the level"), 0U);
  network.improve = false;
  network.goal = program::Goal::kMaximize;
  network.ground_truth = 6.1;
  EXPECT_EQ(warnings_with(input, "reaches the level"), 0U);

  network.nodes[1].status = network.nodes[4].status = "timeout";
  network.nodes[3].status = "invalid";  // has its own count
  EXPECT_EQ(warnings_with(input, "2 programs have no result"), 1U);
  for (search::Node& node : network.nodes) node.alternative = false;
  EXPECT_EQ(warnings_with(input, "No repair was found."), 1U);
  input.network.finished = false;
  EXPECT_EQ(warnings_with(input, "No repair was found."), 0U);
}

TEST(Report, WarnsWhereTheKnownFixIsOutOfReach) {
  ReportInput input = d7();
  input.network.fault = experiments::load_fault("D8");
  input.network.header["config"] = to_json(search::SearchConfig{});
  EXPECT_EQ(warnings_with(input, "The known fix is out of reach: optimizer=adam is not among"), 1U);
  input.network.header["config"] = {{"preset", "one that is not known"}};
  EXPECT_EQ(warnings_with(input, "out of reach"), 0U);
}

TEST(Report, ScoresAreThoseOfTheFault) {
  ReportInput input = d7();
  evaluators::Answer answer;
  answer.fault = "D7";
  answer.tool = "tool";
  answer.faults = program::parse_fault_set("HNE", "");
  answer.seconds = 2;
  input.scores =
      experiments::score_answers({{*input.network.fault, input.network.network, ""}}, {answer}, {});
  input.answers = "answers.csv";
  const Json scores = report_document(input)["scores"];
  ASSERT_EQ(scores["tools"].size(), 1u);
  const Json& tool = scores["tools"][0];
  EXPECT_EQ(tool["before"]["recall"], 0);
  EXPECT_EQ(tool["after"]["recall"], 0.5);  // of HLR, HNE
  EXPECT_EQ(tool["truths"], 3);
  EXPECT_EQ(tool["attaining"], 1);
  EXPECT_EQ(tool["seconds"], 2);
  EXPECT_EQ(tool["stability"], nullptr);
}

TEST(Report, CurvesSayWhetherTheTrainingsWereTheSame) {
  EXPECT_EQ(report_document(d7())["curves"], nullptr);
  ReportInput input = d7();
  const double nan = std::nan("");
  const auto replica = [&](int number, double metric, std::optional<double> stored, int epochs) {
    ProgramCurves::Replica one{number, "ok", metric, stored, {}};
    for (int e = 0; e < epochs; ++e) {
      one.curves.series["loss"].push_back(e == 3 ? nan : 1.0 / (e + 3));
      one.curves.ends.push_back(e);
    }
    return one;
  };
  input.curves.emplace();
  input.curves->searched_with = "auto 3";
  input.curves->trained_with = "auto 4";
  input.curves->programs = {
      {0, false, {replica(0, 6, 6, 5), replica(1, nan, nan, 2), replica(2, 0.5, std::nullopt, 0)}},
      {std::nullopt,
       true,
       {replica(0, 0.2, 0.2, 1000), replica(1, 0.2, std::nextafter(0.2, 1), 1)}}};
  const Json curves = report_document(input)["curves"];
  EXPECT_EQ(curves["compared"], 4);
  EXPECT_EQ(curves["same"], 3);
  EXPECT_EQ(curves["searched_with"], "auto 3");
  EXPECT_EQ(curves["trained_with"], "auto 4");
  const Json& buggy = curves["programs"][0];
  EXPECT_EQ(buggy["node"], 0);
  EXPECT_EQ(buggy["fixed"], false);
  EXPECT_EQ(buggy["epochs"], Json::parse("[1, 2, 3, 4, 5]"));
  EXPECT_EQ(buggy["replicas"][0]["series"]["loss"],
            Json::parse("[0.333333, 0.25, 0.2, null, 0.142857]"));
  EXPECT_EQ(buggy["replicas"][1]["series"]["loss"], Json::parse("[0.333333, 0.25]"));
  EXPECT_EQ(buggy["replicas"][1]["metric"], nullptr);
  EXPECT_EQ(buggy["replicas"][1]["same"], true);
  EXPECT_EQ(buggy["replicas"][2]["series"], Json::object());
  EXPECT_EQ(buggy["replicas"][2]["same"], nullptr);
  const Json& fixed = curves["programs"][1];
  EXPECT_EQ(fixed["node"], nullptr);
  EXPECT_EQ(fixed["replicas"][1]["same"], false);  // one bit
  ASSERT_EQ(fixed["epochs"].size(), 200u);
  EXPECT_EQ(fixed["epochs"].front(), 1);
  EXPECT_EQ(fixed["epochs"].back(), 1000);
  EXPECT_EQ(fixed["replicas"][0]["series"]["loss"].size(), 200u);
  EXPECT_EQ(fixed["replicas"][0]["series"]["loss"][199], 0.000998004);
}

TEST(Report, TextsOfAnyKindStayInsideOfTheDocument) {
  ReportInput input;
  const std::string hostile = "</script><img src=x onerror=alert(1)><!--\x1b\xff &amp;";
  input.file = hostile;
  input.network.network.fault_id = hostile;
  input.network.network.nodes = {node(0, {{"lr", hostile}}, 1), node(1, {{hostile, "1"}}, 2)};
  input.network.network.edges = {{0, 1}};
  const Json document = report_document(input);
  EXPECT_EQ(document["fault"]["id"], "</script><img src=x onerror=alert(1)><!--\\x1b\\xff &amp;");
  EXPECT_EQ(document["network"]["nodes"][1]["changes"]["lr"], nullptr);
  EXPECT_EQ(document["known"], nullptr);
  EXPECT_EQ(document["generated"], nullptr);

  const std::string page = report_page(document);
  const std::string plain = report_page(Json::object());
  for (const char* mark : {"</script", "<!--", "<img", "&amp;"}) {
    EXPECT_EQ(count(page, mark), count(plain, mark)) << mark;
  }
  const std::string before = "id=\"report-data\">";
  const std::size_t begin = page.find(before) + before.size();
  EXPECT_EQ(parse_json(page.substr(begin, page.find("</script>", begin) - begin), "page"),
            document);
}

TEST(Report, PageAsksForNothingElse) {
  const std::string page = report_page(report_document(d7()));
  EXPECT_EQ(page.find("<!--neutra:"), std::string::npos);
  for (const char* word : {"src=", "@import", "url(", "fetch(", "<link", "import("}) {
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(Report, OfNoProgramAtAll) {
  ReportInput input;
  input.network.network.fault_id = "mine";
  input.network.finished = false;
  const Json document = report_document(input);
  EXPECT_EQ(document["network"]["nodes"].size(), 0u);
  EXPECT_EQ(document["fixed_node"], nullptr);
  EXPECT_EQ(document["finished"], false);
  EXPECT_NE(report_page(document).find("\"nodes\":[]"), std::string::npos);
}

TEST(Report, OfAThousandProgramsIsSmall) {
  ReportInput input = d7();
  search::Network& network = input.network.network;
  const program::ProgramSpace& space = input.network.fault->space;
  for (std::int64_t id = 10; id < 1006; ++id) {
    network.nodes.push_back(
        node(id, space.with_changes({{"lr", "0." + std::to_string(id)}}), 1.0 / 3));
    network.edges.push_back({id % 7 == 0 ? 7 : 3, id});
  }
  const Json document = report_document(input);
  EXPECT_EQ(document["network"]["nodes"].size(), 1000u);
  EXPECT_LT(report_page(document).size(), 3'000'000u);
}

TEST(Report, TheFixIsADifferenceOfScripts) {
  const Json scripts = report_document(d7())["scripts"];
  EXPECT_EQ(scripts["refusal"], nullptr);
  std::string removed, added;
  for (const Json& line : scripts["fix"]) {
    const std::string text = line.get<std::string>();
    if (text.starts_with("-") && !text.starts_with("---")) removed += text;
    if (text.starts_with("+") && !text.starts_with("+++")) added += text;
  }
  EXPECT_NE(removed.find("learning_rate=0.001"), std::string::npos) << scripts;
  EXPECT_NE(added.find("learning_rate=0.1"), std::string::npos) << scripts;
  EXPECT_EQ(scripts["repairs"].size(), 2u);
  EXPECT_TRUE(scripts["repairs"].contains("7"));
  ReportInput unknown = d7();
  unknown.network.fault.reset();
  EXPECT_EQ(report_document(unknown)["scripts"], nullptr);
}

TEST(Report, ScriptsThatCannotBeWrittenAreRefused) {
  // Only writing the script finds this out.
  const Json loop = {{"step", false}};
  ReportInput input = d7();
  input.network.fault->buggy.document["fit"]["loop"] = loop;
  Json scripts = report_document(input)["scripts"];
  ASSERT_TRUE(scripts["refusal"].is_string()) << scripts;
  EXPECT_NE(scripts["refusal"].get<std::string>().find("loop"), std::string::npos) << scripts;
  EXPECT_EQ(scripts["buggy"], nullptr);
  EXPECT_EQ(scripts["repairs"], Json::object());

  input = d7();
  input.network.fault->fixed->document["fit"]["loop"] = loop;
  scripts = report_document(input)["scripts"];
  ASSERT_TRUE(scripts["refusal"].is_string()) << scripts;
  EXPECT_TRUE(scripts["buggy"].is_array());
  EXPECT_EQ(scripts["fix"], nullptr);
  EXPECT_TRUE(scripts["repairs"]["7"].is_array()) << scripts;
}

TEST(Report, SearchesSideBySideHaveRepairsInCommonAndApart) {
  EXPECT_EQ(report_document(d7())["compared"], nullptr);
  ReportInput input = d7();
  ReportInput other = d7();
  search::Network& its = other.network.network;
  its.nodes[3].alternative = false;  // it was neutral there
  its.nodes[3].queued = true;
  const program::ProgramSpace& space = other.network.fault->space;
  its.nodes.push_back(node(9, space.with_changes({{"lr", "0.01"}}), 0.15));
  its.nodes.back().alternative = true;
  other.network.header["config"]["top_k"] = 3;
  input.compared.emplace_back(other.network, "elsewhere/other.h5");
  const Json compared = report_document(input)["compared"];
  ASSERT_EQ(compared["searches"].size(), 2u);
  EXPECT_EQ(compared["searches"][0]["file"], "D7.h5");
  EXPECT_EQ(compared["searches"][1]["file"], "other.h5");
  EXPECT_EQ(compared["common"], 1);
  EXPECT_EQ(compared["searches"][0]["only_here"], 1);
  EXPECT_EQ(compared["searches"][1]["only_here"], 1);
  EXPECT_EQ(compared["settings"], Json::parse(R"([{"name": "top_k", "values": [5, 3]}])"));
  ASSERT_EQ(compared["repairs"].size(), 3u);
  EXPECT_EQ(compared["repairs"][0]["found_in"], 2);
  EXPECT_EQ(compared["repairs"][0]["changes"], Json::parse(R"({"lr": "0.1"})"));
  for (const Json& row : compared["repairs"]) {
    if (row["changes"] == Json::parse(R"({"lr": "0.01"})")) {
      EXPECT_EQ(row["in"][0], nullptr);
      EXPECT_EQ(row["in"][1]["outcome"], "on_par");
    }
    if (row["changes"].size() == 2) {
      EXPECT_EQ(row["in"][1]["outcome"], "neutral");
    }
  }
}

TEST(Report, OnlySearchesOfOneProgramStandSideBySide) {
  const auto message = [](const auto& change) -> std::string {
    ReportInput input = d7(), other = d7();
    change(other.network.network);
    input.compared.emplace_back(other.network, "other.h5");
    try {
      report_document(input);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(
      message([](search::Network& network) { network.metric = "mse"; }).find("other.h5: metric"),
      std::string::npos);
  EXPECT_NE(message([](search::Network& network) {
              network.nodes[0].parameters["lr"] = "7";
            }).find("other.h5: root"),
            std::string::npos);
  EXPECT_NE(message([](search::Network& network) { network.nodes.clear(); }).find("other.h5"),
            std::string::npos);
}

TEST(Report, TablesAreCsv) {
  const Json document = report_document(d7_with_rejected());
  const std::string rejected = table_csv(document, "rejected");
  EXPECT_EQ(rejected.substr(0, rejected.find('\n')),
            "id,parent,key,before,after,reason,detail,status,mean,metrics,changes,depth");
  EXPECT_NE(rejected.find("3,0,batch_size,32,64,curtailed,,curtailed,,9 8,batch_size=64,1\n"),
            std::string::npos)
      << rejected;
  EXPECT_EQ(count(rejected, "\n"), 8);
  const Json numbers = {{"course",
                         {{{"evaluation", 3}, {"id", 2}, {"best", 400.0}, {"repairs", 0}},
                          {{"evaluation", 4}, {"id", 3}, {"best", 0.1}, {"repairs", 0}},
                          {{"evaluation", 5}, {"id", 4}, {"best", 1e-5}, {"repairs", 1}},
                          {{"evaluation", 6}, {"id", 5}, {"best", nullptr}, {"repairs", 1}}}}};
  const std::string course = table_csv(numbers, "course");
  for (const char* cell : {",400,", ",0.1,", ",1e-05,", ",,"}) {
    EXPECT_NE(course.find(cell), std::string::npos) << cell << " in\n" << course;
  }
  EXPECT_EQ(count(table_csv(document, "repairs"), "\n"), 3);
  EXPECT_EQ(count(table_csv(document, "programs"), "\n"), 5);
  for (const std::string& name : report_tables()) {
    if (document["tables"].contains(name)) {
      EXPECT_NE(table_csv(document, name), "") << name;
      continue;
    }
    try {
      table_csv(document, name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kUsage);
      EXPECT_NE(std::string(error.what()).find("allowed: "), std::string::npos);
    }
  }
  ReportInput two = d7();
  two.compared.emplace_back(d7().network, "other.h5");
  const std::string common = table_csv(report_document(two), "common");
  EXPECT_EQ(common.substr(0, common.find('\n')),
            "changes,found_in,id_1,outcome_1,mean_1,id_2,outcome_2,mean_2");
  EXPECT_NE(common.find("lr=0.1,2,4,on_par,0.2,4,on_par,0.2\n"), std::string::npos) << common;
}

TEST(StudyTimes, ReadsWhatAStudyLeaves) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "neutra_study_times";
  std::filesystem::create_directories(folder);
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "scores.json") << text;
    return read_study_times(folder);
  };
  const auto message = [&](const std::string& text) -> std::string {
    try {
      read(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      return error.what();
    }
    return "";
  };
  const StudyTimes times = read(R"({"format": "neutra-study-result", "version": 1, "study": "mine",
    "scores": [
      {"fault": "D6", "tool": "a", "before_f3": 0, "after_f3": 1, "seconds": 1},
      {"fault": "D7", "tool": "a", "before_f3": 0.5, "after_f3": 1, "seconds": null},
      {"fault": "D7", "tool": "b", "before_f3": 0, "after_f3": 0}]})");
  EXPECT_EQ(times.study, "mine");
  EXPECT_EQ(times.faults, 2);
  ASSERT_EQ(times.tools.size(), 1u);  // b's times are not known
  EXPECT_EQ(times.tools[0].seconds, 1);
  EXPECT_EQ(times.tools[0].before, 0.25);

  EXPECT_NE(message(R"({"format": "neutra-scores"})").find("/format: found 'neutra-scores'"),
            std::string::npos);
  EXPECT_NE(message(R"({"format": "neutra-study-result"})").find("/scores"), std::string::npos);
  const std::string row = R"({"format": "neutra-study-result", "scores": [{"fault": "D6",)";
  EXPECT_NE(message(row + R"("before_f3": 0}]})").find("/scores/0"), std::string::npos);
  EXPECT_NE(message(row + R"("tool": "a", "before_f3": 2}]})").find("/scores/0/before_f3: found 2"),
            std::string::npos);
  std::filesystem::remove_all(folder);
  EXPECT_NE(message("").find("scores.json"), std::string::npos);
}

/// A search of tests/data/script with one repair, act3=sigmoid.
ReportInput captured() {
  ReportInput input;
  input.file = "s.h5";
  experiments::NetworkFile& loaded = input.network;
  loaded.fault = experiments::load_fault(source_file("tests/data/script/fault.json"));
  loaded.script = loaded.fault->script;
  const program::ProgramSpace& space = loaded.fault->space;
  loaded.network.fault_id = "captured";
  loaded.network.nodes = {node(0, space.base_parameters(), 0.5),
                          node(1, space.with_changes({{"act3", "sigmoid"}}), 0.9)};
  loaded.network.nodes[1].alternative = true;
  loaded.network.edges = {{0, 1}};
  return input;
}

TEST(Report, LinesOfACapturedScript) {
  const Json document = report_document(captured());
  EXPECT_EQ(document["script"]["file"], "train.py");
  EXPECT_EQ(document["script"]["folder"], source_file("tests/data/script").string());
  EXPECT_EQ(document["script"]["framework"], "tf.keras 2.15.0");
  const Json& keys = document["keys"];
  EXPECT_EQ(keys["act3"]["places"].size(), 1U);
  EXPECT_EQ(keys["act3"]["places"][0]["line"], 21);
  EXPECT_EQ(keys["epochs"]["places"][0]["line"], 26);
  EXPECT_EQ(keys["ki1"]["places"][0]["kind"], "default");
  EXPECT_EQ(document["patches"], nullptr);  // none are wanted
  const Json other = report_document(d7());
  for (const char* field : {"script", "patches"}) EXPECT_FALSE(other.contains(field)) << field;
  EXPECT_FALSE(other["keys"]["act1"].contains("places"));
}

TEST(Report, PatchesKeepTheirTabsAndLineEnds) {
  ReportInput input = captured();
  input.patches = ReportPatches{{{"1",
                                  {"--- a/train.py", "+\tx = 1\r", "+\x1b[31m"},
                                  {"train.py:3: cannot be changed here"},
                                  {},
                                  std::vector<std::string>{"--lr", "0.1"}}},
                                ""};
  const Json patches = report_document(input)["patches"];
  EXPECT_EQ(patches["refusal"], nullptr);
  const Json& patch = patches["repairs"]["1"];
  EXPECT_EQ(patch["diff"], Json::array({"--- a/train.py", "+\tx = 1\r", "+\\x1b[31m"}));
  EXPECT_EQ(patch["refused"].size(), 1U);
  EXPECT_EQ(patch["notes"], Json::array());
  EXPECT_EQ(patch["arguments"], Json::array({"--lr", "0.1"}));
  input.patches = ReportPatches{{}, "no Python"};
  EXPECT_EQ(report_document(input)["patches"]["refusal"], "no Python");
  EXPECT_EQ(report_document(input)["patches"]["repairs"], Json::object());
}

}  // namespace
}  // namespace neutra::report::tests
