#include "fl_adapters/tool_description.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "fl_adapters/parsers/parser.h"
#include "tests/test_folder.h"

namespace neutra::fl_adapters {
namespace {

using tests::TestFolder;

Json good() {
  return Json::parse(
      R"({"format": "neutra-tool", "version": 1, "name": "mine", "tool_version": "2.1",
    "description": "d", "source": "s", "command": ["python3", "{here}/a.py", "x{here}y{here}", "{folder}"]})");
}

ToolDescription read(const Json& json, const TestFolder& folder = {}) {
  return read_tool_description(folder.write("tool.json", to_text(json)));
}

TEST(ToolDescription, Defaults) {
  const TestFolder folder;
  const ToolDescription tool = read(good(), folder);
  const std::string here = folder.path().string();
  EXPECT_EQ(tool.name, "mine");
  EXPECT_EQ(tool.version, "2.1");
  EXPECT_EQ(tool.command, (std::vector<std::string>{"python3", here + "/a.py",
                                                    "x" + here + "y" + here, "{folder}"}));
  EXPECT_EQ(tool.inputs, (std::set{ToolInput::kScript, ToolInput::kData}));
  EXPECT_EQ(tool.time_limit, 3600);
  EXPECT_EQ(tool.memory_limit, 0u);
  EXPECT_EQ(tool.output_limit, 1u << 24);
  EXPECT_FALSE(tool.parser);
}

TEST(ToolDescription, AllFields) {
  Json json = good();
  json.update(Json::parse(R"({"needs": ["program", "script"], "time_limit": 1.5, "memory_limit": 7,
                              "output_limit": 8, "answer": "json"})"));
  const ToolDescription tool = read(json);
  EXPECT_EQ(tool.inputs, std::set{ToolInput::kScript});
  EXPECT_EQ(tool.time_limit, 1.5);
  EXPECT_EQ(tool.memory_limit, 7u);
  EXPECT_EQ(tool.output_limit, 8u);
  EXPECT_FALSE(tool.parser);
}

TEST(ToolDescription, DigestChangesWithTheToolAlone) {
  const TestFolder folder, other;
  folder.write("a.py", "1");
  other.write("a.py", "1");
  const std::string digest = read(good(), folder).digest;
  EXPECT_EQ(digest.size(), 32u);
  EXPECT_EQ(read(good(), folder).digest, digest);
  EXPECT_EQ(read(good(), other).digest, digest);  // the same tool elsewhere
  Json json = good();
  json["description"] = "another";
  EXPECT_NE(read(json, folder).digest, digest);
  folder.write("a.py", "2");
  EXPECT_NE(read(good(), folder).digest, digest);
}

TEST(ToolDescription, KnowsAllParsers) {
  for (const parsers::LogParser* parser : parsers::log_parsers()) {
    Json json = good();
    json["answer"] = parser->name;
    const OutputParser read_output = read(json).parser;
    ASSERT_TRUE(read_output) << parser->name;
    const Localisation nothing = read_output("something else\n", {"X", {}});
    EXPECT_EQ(nothing.status, LocalisationStatus::kFailed) << parser->name;
  }
  // Lines are of the script that the tool was given, not of the user's.
  Json json = good();
  json["answer"] = "deepfd";
  const Localisation said = read(json).parser(
      "working on subject: X\nFault 1: [loss], Lines: [27]\ncase end\n", {"X", {}});
  EXPECT_EQ(to_string(said.faults), "LCH");
  EXPECT_EQ(said.messages.at(0).detail, "line 27");
  EXPECT_TRUE(lines_named(said).empty());
}

TEST(ToolDescription, EachMistakeIsNamed) {
  for (const auto& [patch, part] : {
           std::pair<const char*, const char*>{R"({"format": "neutra"})",
                                               "/format: found \"neutra\""},
           {R"({"version": 2})", "/version: found 2; allowed: 1"},
           {R"({"name": ""})", "/name"},
           {R"({"name": "a/b"})", "/name: found \"a/b\""},
           {R"({"name": "-a"})", "/name"},
           {R"({"tool_version": 2})", "/tool_version: found 2; allowed: a text"},
           {R"({"source": null})", "/source: found nothing"},
           {R"({"command": null})", "/command: found nothing"},
           {R"({"command": "python3 a.py"})", "/command: found \"python3 a.py\"; allowed: a list"},
           {R"({"command": []})", "/command"},
           {R"({"command": [""]})", "/command"},
           {R"({"command": ["a", 1]})", "/command/1: found 1; allowed: a text"},
           {R"({"command": ["a\u0000b"]})", "/command"},
           {R"({"needs": ["gpu"]})", "/needs: found \"gpu\"; allowed: program, script, data"},
           {R"({"time_limit": 0})", "/time_limit: found 0"},
           {R"({"time_limit": "1h"})", "/time_limit"},
           {R"({"memory_limit": 0.5})", "/memory_limit"},
           {R"({"output_limit": 1e12})", "/output_limit"},
           {R"({"answer": "no-such-parser"})", "/answer: found \"no-such-parser\"; allowed: json"},
           {R"({"timelimit": 1})", "/timelimit: found an unknown field"},
       }) {
    Json json = good();
    json.merge_patch(Json::parse(patch));
    try {
      read(json);
      ADD_FAILURE() << patch;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("tool.json"), std::string::npos);
    }
  }
  EXPECT_THROW(read_tool_description("/nowhere/tool.json"), Error);
}

}  // namespace
}  // namespace neutra::fl_adapters
