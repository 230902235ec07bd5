#include "experiments/script.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "experiments/catalog.h"
#include "experiments/search_task.h"
#include "search/store_content.h"
#include "tests/error_of.h"
#include "tests/has.h"
#include "tests/source_file.h"
#include "tests/test_folder.h"

namespace neutra::experiments::tests {
namespace {

using neutra::tests::error_of;
using neutra::tests::has;
using neutra::tests::TestFolder;

const std::string kFolder = source_file("tests/data/script");
const std::string kDigest(64, 'a');

/// A script of three lines: a layer, its units, and the call of fit.
Json section() {
  return {
      {"file", "train.py"},
      {"arguments", {"--lr", ""}},
      {"framework", "tf.keras 2.15.0"},
      {"files", {{{"file", "train.py"}, {"sha256", kDigest}}}},
      {"data", {{"file", "train.data.npz"}, {"sha256", kDigest}}},
      {"notes", {"train.py:3: said so"}},
      {"seeds", {"train.py:1"}},
      {"places",
       {{{"path", "/model/config/layers/0"},
         {"file", "train.py"},
         {"line", 2},
         {"column", 9},
         {"end_line", 2},
         {"end_column", 18},
         {"kind", "literal"},
         {"text", "Dense(N)"},
         {"site",
          {{"name", "Dense"},
           {"path", "/model/config/layers/0"},
           {"frames", {{"train.py", 2, "<module>", {2, 9, 2, 18}}, {"train.py", 3, "f", nullptr}}},
           {"arguments", {{"units", "/model/config/layers/0/config/units"}}},
           {"parameters", {"units"}},
           {"given", {"units"}}}}},
        {{"path", "/model/config/layers/0/config/units"},
         {"file", "train.py"},
         {"line", 1},
         {"column", 5},
         {"end_line", 1},
         {"end_column", 6},
         {"kind", "variable"},
         {"text", "8"}},
        {{"path", "/model/config/layers/0/config/units"},
         {"file", "train.py"},
         {"line", 2},
         {"column", 9},
         {"end_line", 2},
         {"end_column", 18},
         {"kind", "default"},
         {"text", "Dense(N)"}},
        {{"path", "/fit"}, {"file", "train.py"}, {"line", 3}, {"kind", "computed"}}}}};
}

Script script_of(const Json& json) { return Script(json, "f.json", "/script", "/a/b/"); }

std::vector<int> lines_at(const Script& script, std::string_view pointer) {
  std::vector<int> lines;
  for (const ScriptPlace* place : script.at(pointer)) lines.push_back(place->line);
  return lines;
}

TEST(Script, EveryFieldIsRead) {
  const Script script = script_of(section());
  EXPECT_EQ(script.file, "train.py");
  EXPECT_EQ(script.arguments, (std::vector<std::string>{"--lr", ""}));
  EXPECT_EQ(script.framework, "tf.keras 2.15.0");
  ASSERT_EQ(script.files.size(), 1U);
  EXPECT_EQ(script.files[0].sha256, kDigest);
  ASSERT_TRUE(script.data);
  EXPECT_EQ(script.data->file, "train.data.npz");
  EXPECT_FALSE(script.weights);
  EXPECT_EQ(script.notes.size(), 1U);
  EXPECT_EQ(script.seeds.size(), 1U);
  EXPECT_EQ(script.folder(), "/a/b");
  ASSERT_EQ(script.places.size(), 4U);
  const ScriptPlace& layer = script.places[0];
  EXPECT_EQ(line_text(layer), "train.py:2");
  ASSERT_TRUE(layer.extent);
  EXPECT_EQ(layer.extent->end_column, 18);
  EXPECT_EQ(layer.text, "Dense(N)");
  ASSERT_TRUE(layer.site);
  EXPECT_EQ(layer.site->name, "Dense");
  ASSERT_EQ(layer.site->frames.size(), 2U);
  EXPECT_EQ(layer.site->frames[0].call->column, 9);
  EXPECT_FALSE(layer.site->frames[1].call);
  EXPECT_EQ(layer.site->arguments[0].second, "/model/config/layers/0/config/units");
  EXPECT_EQ(script.places[1].kind, PlaceKind::kVariable);
  EXPECT_FALSE(script.places[3].extent);
}

TEST(Script, APlaceIsThatOfTheValueElseOfTheNearestPartAroundIt) {
  const Script script = script_of(section());
  EXPECT_EQ(lines_at(script, "/model/config/layers/0/config/units"), std::vector<int>{1});
  EXPECT_EQ(lines_at(script, "/model/config/layers/0/config/activation"), std::vector<int>{2});
  EXPECT_EQ(lines_at(script, "/model/config/layers/0"), std::vector<int>{2});
  EXPECT_EQ(lines_at(script, "/fit/epochs"), std::vector<int>{3});
  EXPECT_TRUE(lines_at(script, "/model/config/layers/01").empty());
  EXPECT_TRUE(lines_at(script, "/compile/loss").empty());
  EXPECT_TRUE(lines_at(script, "").empty());
  Json defaults = section();
  defaults["places"].erase(1);
  EXPECT_EQ(lines_at(script_of(defaults), "/model/config/layers/0/config/units"),
            std::vector<int>{2});
}

TEST(Script, KindsHaveTheirWords) {
  for (const char* word :
       {"literal", "variable", "argument", "loop", "default", "command_line", "computed"}) {
    ASSERT_TRUE(parse_place_kind(word)) << word;
    EXPECT_EQ(to_string(*parse_place_kind(word)), word);
  }
  EXPECT_FALSE(parse_place_kind("guessed"));
}

TEST(Script, MistakesNameTheirPlace) {
  const auto refused = [](const std::string& pointer, const Json& value) {
    Json json = section();
    json[Json::json_pointer(pointer)] = value;
    return error_of([&] { script_of(json); });
  };
  EXPECT_TRUE(has(refused("/flie", 1), {"f.json: /script", "flie", "did you mean file"}));
  EXPECT_TRUE(has(refused("/file", ""), {"f.json: /script/file", "a text"}));
  EXPECT_TRUE(has(refused("/arguments/0", 3), {"/script/arguments/0", "a text"}));
  EXPECT_TRUE(has(refused("/files/0", 3), {"/script/files/0", "an object"}));
  EXPECT_TRUE(has(refused("/files/0/sha256", "A"), {"/script/files/0/sha256", "64 hexadecimal"}));
  EXPECT_TRUE(has(refused("/data/size", 3), {"/script/data", "size"}));
  EXPECT_TRUE(has(refused("/places", nullptr), {"/script/places", "a list"}));
  EXPECT_TRUE(has(refused("/places/0/path", "model"), {"/script/places/0/path", "JSON pointer"}));
  EXPECT_TRUE(has(refused("/places/0/path", "/a~2"), {"/script/places/0/path", "JSON pointer"}));
  EXPECT_TRUE(has(refused("/places/1/line", 0), {"/script/places/1/line", "whole number from 1"}));
  EXPECT_TRUE(has(refused("/places/1/column", 1.5), {"/script/places/1/column", "whole number"}));
  EXPECT_TRUE(has(refused("/places/1/end_column", 4),
                  {"/script/places/1/end_column", "at or behind line 1, column 5"}));
  EXPECT_TRUE(has(refused("/places/1/kind", "guess"), {"/script/places/1/kind", "command_line"}));
  EXPECT_TRUE(has(refused("/places/1/colour", 1), {"/script/places/1", "colour"}));
  EXPECT_TRUE(has(refused("/places/3/column", 1), {"/script/places/3/end_line", "nothing"}));
  EXPECT_TRUE(has(refused("/places/0/site/frames/0", 1),
                  {"/script/places/0/site/frames/0", "[file, line, function"}));
  EXPECT_TRUE(has(refused("/places/0/site/frames/0/3/2", 1),
                  {"/script/places/0/site/frames/0", "at or behind"}));
  EXPECT_TRUE(has(refused("/places/0/site/arguments/units", "units"),
                  {"/script/places/0/site/arguments/units", "JSON pointer"}));
  EXPECT_TRUE(has(refused("/places/0/site/kind", 1), {"/script/places/0/site", "kind"}));
  for (const std::string field : {"file", "framework", "files", "places"}) {
    Json json = section();
    json.erase(field);
    EXPECT_TRUE(has(error_of([&] { script_of(json); }), {"/script/" + field, "nothing"})) << field;
  }
}

TEST(Script, AFaultKeepsTheScriptThatItWasCapturedFrom) {
  const Fault fault = load_fault(kFolder + "/fault.json");
  ASSERT_TRUE(fault.script);
  EXPECT_EQ(fault.script->folder(), kFolder);
  EXPECT_EQ(lines_at(*fault.script, "/model/config/layers/1/config/units"), std::vector<int>{7});
  EXPECT_EQ(lines_at(*fault.script, "/model/config/layers/3/config/activation"),
            std::vector<int>{21});
  EXPECT_EQ(lines_at(*fault.script, "/compile/optimizer/config/learning_rate"),
            std::vector<int>{10});
  EXPECT_EQ(lines_at(*fault.script, "/fit/epochs"), std::vector<int>{26});
  // It is no part of what the program is.
  Json json = read_json(kFolder + "/fault.json");
  json.erase("script");
  TestFolder folder;
  const Fault bare = load_fault(folder.write("bare.json", json.dump()).string());
  EXPECT_FALSE(bare.script);
  EXPECT_EQ(program::program_hash(bare.buggy), program::program_hash(fault.buggy));
}

TEST(Script, AFaultWithoutAProgramOfItsOwnHasNone) {
  TestFolder folder;
  const Json json = {
      {"format", "neutra-fault"}, {"version", 1}, {"subject", "d7"}, {"script", section()}};
  const std::string file = folder.write("f.json", json.dump()).string();
  EXPECT_TRUE(has(error_of([&] { load_fault(file); }), {file + ": /script", "with a program"}));
}

TEST(Script, AStoreHoldsTheSectionAndItsFolder) {
  const Fault fault = load_fault(kFolder + "/fault.json");
  const Json stored = search_task(fault).script;
  Json section = stored;
  section.erase("folder");
  EXPECT_EQ(section, read_json(kFolder + "/fault.json").at("script"));
  EXPECT_EQ(stored.at("folder"), kFolder);
  Json header = {{search::kStoredScript, stored}};
  const auto script = script_of_store(header, "s.h5");
  ASSERT_TRUE(script);
  EXPECT_EQ(script->folder(), kFolder);
  EXPECT_EQ(stored_script(*script), stored);
  EXPECT_FALSE(script_of_store(Json::object(), "s.h5"));
  EXPECT_TRUE(search_task(load_fault("D7")).script.is_null());
  header[search::kStoredScript]["folder"] = "here";
  EXPECT_TRUE(has(error_of([&] { script_of_store(header, "s.h5"); }),
                  {"s.h5: /header/script/folder", "absolute"}));
  header[search::kStoredScript] = 3;
  EXPECT_TRUE(has(error_of([&] { script_of_store(header, "s.h5"); }), {"s.h5: /header/script"}));
}

}  // namespace
}  // namespace neutra::experiments::tests
