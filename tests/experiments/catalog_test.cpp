#include "experiments/catalog.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

/// Rows of a table of experiments/tables by their column `id`. A quoted cell may hold commas.
std::map<std::string, std::map<std::string, std::string>> table(const std::string& name) {
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    return cells;
  };
  std::ifstream in(resource_directory() / "tables" / name);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> header = split(line);
  std::map<std::string, std::map<std::string, std::string>> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split(line);
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = cells.at(i);
    rows[row.at("id")] = row;
  }
  return rows;
}

std::set<std::string> stems(const fs::path& folder) {
  std::set<std::string> result;
  for (const auto& entry : fs::directory_iterator(folder)) result.insert(entry.path().stem());
  return result;
}

TEST(Catalog, IndexListsEveryFile) {
  const std::vector<std::string> subjects = subject_ids(), faults = fault_ids();
  EXPECT_EQ(subjects.size(), 22u);
  EXPECT_EQ(faults.size(), 25u);
  EXPECT_EQ(faults.front(), "D1");
  EXPECT_EQ(faults.back(), "R7");
  EXPECT_EQ(std::set<std::string>(subjects.begin(), subjects.end()),
            stems(resource_directory() / "subjects"));
  EXPECT_EQ(std::set<std::string>(faults.begin(), faults.end()),
            stems(resource_directory() / "faults"));
}

TEST(Catalog, SubjectsLoad) {
  for (const std::string& id : subject_ids()) {
    const Subject subject = load_subject(id);
    EXPECT_EQ(subject.id, id);
    EXPECT_FALSE(subject.title.empty()) << id;
    EXPECT_FALSE(subject.space.keys().empty()) << id;
  }
}

TEST(Catalog, FaultsAgreeWithTable3) {
  const auto rows = table("table3.csv");
  ASSERT_EQ(rows.size(), 22u);
  for (const auto& [id, row] : rows) {
    const Fault fault = load_fault(id);
    EXPECT_EQ(fault.id, id);
    EXPECT_EQ(fault.origin, row.at("origin")) << id;
    EXPECT_EQ(fault.declared, program::parse_fault_set(row.at("declared"), "table3.csv")) << id;
    EXPECT_EQ(program::resolve(fault.buggy).task, row.at("task")) << id;
    if (fault.origin == "real") {
      EXPECT_TRUE(fault.source.ends_with(row.at("source"))) << id;
    }
    EXPECT_FALSE(fault.title.empty()) << id;
  }
}

TEST(Catalog, HyperparametersAsCountedInTable9) {
  for (const auto& [id, row] : table("table9.csv")) {
    if (id == "artificial" || id == "real") continue;  // averages
    EXPECT_EQ(std::to_string(load_fault(id).space.keys().size()), row.at("hyperparameters")) << id;
  }
}

TEST(Catalog, EveryFixIsKnownAndChangesTheProgram) {
  // One regulariser and one data recipe are not among the hyperparameters.
  const std::set<std::string> beyond_keys{"R1", "D9"};
  for (const std::string& id : fault_ids()) {
    const Fault fault = load_fault(id);
    ASSERT_TRUE(fault.fixed) << id;
    EXPECT_EQ(program::canonical(fault.buggy), program::canonical(fault.space.base())) << id;
    EXPECT_NE(program::canonical(fault.buggy), program::canonical(*fault.fixed)) << id;
    EXPECT_EQ(fault.fixed_parameters.has_value(), !beyond_keys.contains(id)) << id;
    if (fault.fixed_parameters) {
      EXPECT_EQ(program::canonical(fault.space.instantiate(*fault.fixed_parameters)),
                program::canonical(*fault.fixed))
          << id;
    }
  }
}

std::set<std::string> repair(const std::string& id) {
  const Fault fault = load_fault(id);
  std::set<std::string> changes;
  for (const auto& [key, value] : *fault.fixed_parameters) {
    if (fault.space.base_parameters().at(key) != value) changes.insert(key + "=" + value);
  }
  return changes;
}

TEST(Catalog, FixesInParameters) {
  using Changes = std::set<std::string>;
  EXPECT_EQ(repair("D1"), Changes{"act3=sigmoid"});
  EXPECT_EQ(repair("D2"), (Changes{"optimizer=adam", "batch_size=64", "epochs=100"}));
  EXPECT_EQ(repair("D4"),
            (Changes{"act1=sigmoid", "act2=softmax", "loss=categorical_crossentropy", "lr=0.1"}));
  EXPECT_EQ(repair("D7"), Changes{"lr=0.1"});
  EXPECT_EQ(repair("D8"), (Changes{"optimizer=adam", "lr=0.0001"}));
  EXPECT_EQ(repair("M1"), Changes{"ki1=glorot_uniform"});
  EXPECT_EQ(repair("M2"), Changes{"act4=softmax"});
  EXPECT_EQ(repair("M3"), Changes{"lr=1.0"});
  EXPECT_EQ(repair("C1"), Changes{"act2=relu"});
  EXPECT_EQ(repair("C2"), Changes{"epochs=50"});
  EXPECT_EQ(repair("C3"), Changes{"ki2=glorot_uniform"});
  EXPECT_EQ(repair("R3"), Changes{"lr=0.001"});
  EXPECT_EQ(repair("R4"), Changes{"loss=categorical_crossentropy"});
  EXPECT_EQ(repair("R5"), Changes{"optimizer=adam"});
}

TEST(Catalog, DifferenceOfTheProgramsIsWhatIsDeclared) {
  // Where it is not: docs/methods/subjects.md.
  const std::map<std::string, std::string> exceptions{{"D3", "ACH(1,2), HBS, HNE, LCH, OCH"},
                                                      {"D9", "ACH(0,2), CPP, HBS"}};
  for (const std::string& id : fault_ids()) {
    const Fault fault = load_fault(id);
    const auto exception = exceptions.find(id);
    const program::FaultSet expected =
        exception == exceptions.end() ? fault.declared
                                      : program::parse_fault_set(exception->second, "exceptions");
    EXPECT_EQ(to_string(fault.actual), to_string(expected)) << id;
    EXPECT_EQ(fault.actual == fault.declared, exception == exceptions.end()) << id;
  }
}

/// The study's tools ran on other programs than its recorded networks start from.
TEST(Catalog, ToolsProgramsBesideTheNetworksRoots) {
  const std::map<std::string, std::string> others{{"R5", "lr=0.01 for 0.001"},
                                                  {"C3", "ki2=ones for zeros"}};
  for (const std::string& id : fault_ids()) {
    const Fault fault = load_fault(id);
    const auto other = others.find(id);
    EXPECT_EQ(tools_difference(fault), other == others.end() ? "" : other->second) << id;
    EXPECT_EQ(program::canonical(tools_program(fault)) == program::canonical(fault.buggy),
              other == others.end())
        << id;
    EXPECT_EQ(fault.tools_reason.empty(), other == others.end()) << id;
  }
  // The network's root stays.
  EXPECT_EQ(load_fault("R5").space.base_parameters().at("lr"), "0.001");
  EXPECT_EQ(load_fault("C3").space.base_parameters().at("ki2"), "zeros");
}

TEST(Catalog, FashionTwinsDifferInTheirDataOnly) {
  for (const std::string number : {"1", "2", "3"}) {
    const Fault twin = load_fault("F" + number), original = load_fault("M" + number);
    EXPECT_EQ(twin.declared, original.declared);
    EXPECT_EQ(twin.space.base_parameters(), original.space.base_parameters());
    EXPECT_EQ(repair("F" + number), repair("M" + number));
    nlohmann::json a = program::canonical(twin.buggy), b = program::canonical(original.buggy);
    for (const auto& [name, file] : b.at("data").at("arguments").items()) {
      EXPECT_EQ(a.at("data").at("arguments").at(name), "fashion-" + file.get<std::string>());
    }
    a.at("data").erase("arguments");
    b.at("data").erase("arguments");
    EXPECT_EQ(a, b);
  }
}

TEST(Catalog, R1sFaultIsNoHyperparameter) {
  const Fault fault = load_fault("R1");
  EXPECT_EQ(program::to_string(fault.space.base_parameters()),
            program::to_string(load_subject("reuters_mlp").space.base_parameters()));
  const Json::json_pointer place("/model/config/layers/0/config/kernel_regularizer");
  EXPECT_TRUE(fault.buggy.document.contains(place));
  EXPECT_FALSE(fault.fixed->document.contains(place));
}

std::string message(const std::string& id_or_file) {
  try {
    load_fault(id_or_file);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput) << error.what();
    return error.what();
  }
  ADD_FAILURE() << id_or_file << " was accepted";
  return "";
}

TEST(Catalog, IdsInAnyCase) {
  EXPECT_EQ(load_fault("d7").id, "D7");
  EXPECT_EQ(load_subject("MNIST_CNN").id, "mnist_cnn");
}

TEST(Catalog, ASubjectIsAFaultWithoutAKnownFix) {
  const Fault fault = load_fault("Iris");
  const Subject subject = load_subject("iris");
  EXPECT_EQ(fault.id, "iris");
  EXPECT_EQ(fault.subject, "iris");
  EXPECT_FALSE(fault.fixed);
  EXPECT_EQ(program::program_hash(fault.buggy), program::program_hash(subject.space.base()));
  EXPECT_EQ(program::to_string(fault.space.base_parameters()),
            program::to_string(subject.space.base_parameters()));
  EXPECT_NE(message("iri").find("did you mean iris"), std::string::npos);
}

TEST(Catalog, UnknownIdsNameTheNearest) {
  EXPECT_NE(message("D77").find("D7"), std::string::npos);
  EXPECT_NE(message("nothing.json").find("nothing.json"), std::string::npos);
  EXPECT_NE(message(std::string(5000, 'x')).find("unknown fault"), std::string::npos);
  try {
    load_subject("mnist_cn");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean mnist_cnn"), std::string::npos)
        << error.what();
  }
}

/// A folder of its own for each test.
class OwnFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        (std::string("neutra_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    unsetenv("NEUTRA_RESOURCES");
    fs::remove_all(folder_);
  }

  std::string write(const std::string& name, const Json& json) const {
    std::ofstream(folder_ / name) << json.dump(2);
    return (folder_ / name).string();
  }

  static Json program() { return load_subject("d7").space.base().document; }
  static Json fault() { return {{"format", "neutra-fault"}, {"version", 1}, {"id", "mine"}}; }

  fs::path folder_;
};

TEST_F(OwnFile, PlainProgram) {
  const Fault fault = load_fault(write("line.json", program()));
  EXPECT_EQ(fault.id, "line");
  EXPECT_FALSE(fault.fixed);
  EXPECT_FALSE(fault.fixed_parameters);
  EXPECT_EQ(fault.space.base_parameters().at("lr"), "0.001");
  EXPECT_EQ(fault.file.parent_path(), folder_);
}

TEST_F(OwnFile, ProgramInlineWithFixAsParameters) {
  Json json = fault();
  json["program"] = program();
  json["fixed"] = {{"parameters", {{"lr", 0.1}, {"epochs", 100}}}};
  json["declared"] = "HLR, HNE";
  const Fault fault = load_fault(write("mine.json", json));
  EXPECT_EQ(fault.id, "mine");
  EXPECT_EQ(fault.fixed_parameters->at("lr"), "0.1");
  EXPECT_EQ(fault.fixed_parameters->at("epochs"), "100");
  EXPECT_EQ(fault.actual, fault.declared);
}

TEST_F(OwnFile, ProgramsInFilesOfTheirOwn) {
  Json fixed = program();
  fixed["fit"]["epochs"] = 7;
  write("buggy.json", program());
  write("fixed.json", fixed);
  Json json = fault();
  json["program"] = "buggy.json";
  json["fixed"] = {{"program", "fixed.json"}};
  const Fault fault = load_fault(write("mine.json", json));
  EXPECT_EQ(fault.fixed_parameters->at("epochs"), "7");
  EXPECT_EQ(to_string(fault.actual), "HNE");
}

TEST_F(OwnFile, ToolsProgram) {
  Json fault = {{"format", "neutra-fault"},
                {"version", 1},
                {"subject", "d7"},
                {"buggy", {{"parameters", {{"lr", 0.5}}}}},
                {"tools", {{"parameters", {{"epochs", 7}}}, {"reason", "shorter runs"}}}};
  const Fault read = load_fault(write("tools.json", fault));
  EXPECT_EQ(tools_difference(read), "epochs=7 for 200");
  EXPECT_EQ(read.tools_reason, "shorter runs");
  // They start from the buggy program.
  EXPECT_EQ(program::resolve(tools_program(read)).optimizer["config"]["learning_rate"], 0.5);
  fault["tools"].erase("reason");
  EXPECT_THROW(load_fault(write("tools.json", fault)), Error);
  fault["tools"] = {
      {"reason", "r"},
      {"patch", Json::parse(R"([{"op": "replace", "path": "/task", "value": "regression"}])")}};
  EXPECT_NO_THROW(load_fault(write("tools.json", fault)));
}

TEST_F(OwnFile, BundledSubjectWithPatch) {
  Json json = fault();
  json["subject"] = "mnist_cnn";
  json["buggy"] = {{"parameters", {{"lr", "10.0"}}},
                   {"patch", {{{"op", "replace"}, {"path", "/fit/batch_size"}, {"value", 8}}}}};
  json["fixed"] = Json::object();
  const Fault fault = load_fault(write("mine.json", json));
  EXPECT_EQ(fault.space.base_parameters().at("batch_size"), "8");
  EXPECT_EQ(fault.space.base_parameters().at("lr"), "10.0");
  EXPECT_EQ(fault.fixed_parameters->at("batch_size"), "128");
  EXPECT_EQ(to_string(fault.actual), "HBS, HLR");
}

TEST_F(OwnFile, MistakesNameTheirPlace) {
  const auto reject = [&](const Json& json, const std::vector<std::string>& words) {
    const std::string text = message(write("mine.json", json));
    EXPECT_NE(text.find("mine.json"), std::string::npos) << text;
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
  };
  reject(Json::array(), {"neutra-fault"});
  reject({{"format", "neutra-other"}}, {"/format", "neutra-other"});
  Json json = fault();
  json["version"] = 2;
  reject(json, {"/version", "2"});
  json = fault();
  reject(json, {"neither subject nor program"});
  json["subject"] = "d7";
  json["program"] = program();
  reject(json, {"a subject and a program"});
  json = fault();
  json["subject"] = "d7";
  json["fixd"] = Json::object();
  reject(json, {"fixd", "did you mean fixed?"});
  json.erase("fixd");
  json["fixed"] = 3;
  reject(json, {"/fixed", "an object"});
  json["fixed"] = {{"parameters", {{"lrr", "0.1"}}}};
  reject(json, {"lrr"});
  json["fixed"] = {{"parameters", {{"lr", true}}}};
  reject(json, {"/fixed/parameters/lr"});
  json["fixed"] = {{"patch", {{{"op", "replace"}, {"path", "/fit/nothing"}, {"value", 8}}}}};
  reject(json, {"/fixed/patch", "JSON Patch"});
  json["fixed"] = {{"patch", {{{"op", "replace"}, {"path", "/fit/epochs"}, {"value", -8}}}}};
  reject(json, {"/fit/epochs", "-8"});
  json["fixed"] = {{"program", program()}, {"parameters", {{"lr", "0.1"}}}};
  reject(json, {"/fixed", "either a program or"});
  json.erase("fixed");
  json["origin"] = "invented";
  reject(json, {"/origin", "real, artificial"});
  json.erase("origin");
  json["declared"] = "HLR, XYZ";
  reject(json, {"/declared"});
  json.erase("declared");
  json["keys"] = {{{"name", "lr"}, {"kind", "learning"}}};
  reject(json, {"/keys/0/kind", "learning"});
  json = fault();
  json["subject"] = "d1";
  json["buggy"] = {{"parameters", {{"layer2", "2"}}}};
  reject(json, {"/buggy/parameters/layer2"});
}

TEST_F(OwnFile, MissingProgramFileIsNamed) {
  Json json = fault();
  json["program"] = "absent.json";
  EXPECT_NE(message(write("mine.json", json)).find("absent.json"), std::string::npos);
}

TEST_F(OwnFile, ResourcesElsewhere) {
  setenv("NEUTRA_RESOURCES", folder_.c_str(), 1);
  EXPECT_NE(message("D1").find("NEUTRA_RESOURCES"), std::string::npos);
  write("index.json", {{"format", "neutra-index"},
                       {"version", 1},
                       {"subjects", Json::array()},
                       {"faults", {"X1"}}});
  EXPECT_EQ(resource_directory(), folder_);
  EXPECT_EQ(fault_ids(), std::vector<std::string>{"X1"});
}

TEST(Catalog, RefusesWrongPatchesAndIds) {
  const fs::path file = fs::path(testing::TempDir()) / "neutra_wrong_fault.json";
  const auto message = [&](const std::string& id, const std::string& patch) -> std::string {
    std::ofstream(file) << R"({"format": "neutra-fault", "version": 1, "id": ")" << id
                        << R"(", "title": "t", "subject": "d1", "buggy": {}, "fixed": {"patch": [)"
                        << patch << "]}}";
    try {
      load_fault(file.string());
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      return error.what();
    }
    return "accepted";
  };
  const std::string good = R"({"op": "add", "path": "/fit/epochs", "value": 7})";
  EXPECT_EQ(message("a.B_c-1", good), "accepted");
  for (const char* id : {"", "../evil", "/tmp/x", ".x", "a b", "a\\nb", "a\\u0000"}) {
    EXPECT_NE(message(id, good).find("/id: found"), std::string::npos) << id;
  }
  EXPECT_NE(message(std::string(101, 'a'), good).find("/id: found"), std::string::npos);
  for (const char* patch :
       {"5", R"({"path": "/fit"})", R"({"op": "zap", "path": "/fit"})", R"({"op": 5, "path": ""})",
        R"({"op": "add", "path": "/fit/epochs"})", R"({"op": "add", "path": "fit", "value": 1})",
        R"({"op": "remove", "path": "/model/config/layers/99"})",
        R"({"op": "add", "path": "/model/config/layers/01", "value": 1})",
        R"({"op": "add", "path": "/model/config/layers/99999999999999999999999", "value": 1})",
        R"({"op": "add", "path": "/a~5", "value": 1})",
        R"({"op": "test", "path": "/fit/epochs", "value": 99})",
        R"({"op": "move", "path": "/fit/epochs"})"}) {
    const std::string text = message("F", good + ", " + patch);
    EXPECT_NE(text.find(file.string() + ": /fixed/patch/1: found"), std::string::npos) << text;
    EXPECT_EQ(text.find("json.exception"), std::string::npos) << text;
  }
  fs::remove(file);
}

}  // namespace
}  // namespace neutra::experiments
