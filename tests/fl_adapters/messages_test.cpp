#include "fl_adapters/messages.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "fl_adapters/tools/umlaut.h"

namespace neutra::fl_adapters {
namespace {

Json table() {
  return Json::parse(R"({
    "format": "neutra-messages", "version": 1,
    "thresholds": {"high": {"value": 2.5, "source": "somewhere"}},
    "messages": [
      {"code": "b", "severity": "Error", "text": "Bad", "actionability": "location",
       "faults": ["LRM", "LAD"], "source": "somewhere"},
      {"code": "a", "severity": "Hint", "text": "Odd", "actionability": "none", "faults": [],
       "source": "somewhere"}]})");
}

TEST(Messages, ReadsTable) {
  const MessageTable read(table().dump(), "t.json");
  EXPECT_EQ(read.codes(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(read.threshold("high"), 2.5);
  const ToolMessage message = read.message("b", {1, 2}, "why");
  EXPECT_EQ(message.severity, "Error");
  EXPECT_EQ(message.text, "Bad");
  EXPECT_EQ(message.actionability, Actionability::kLocation);
  EXPECT_EQ(message.layers, (std::set<int>{1, 2}));
  EXPECT_EQ(message.detail, "why");
  EXPECT_EQ(message.faults, (std::vector<program::FaultEntry>{{"LRM", {1, 2}}, {"LAD", {1, 2}}}));
  EXPECT_TRUE(read.message("a").faults.empty());
}

/// The table with the value at `path` replaced, or taken out where there is none.
void expect_error(const std::string& path, const Json& value, const std::string& in_message) {
  Json changed = table();
  const Json::json_pointer pointer(path);
  if (value.is_discarded()) {
    changed[pointer.parent_pointer()].erase(pointer.back());
  } else {
    changed[pointer] = value;
  }
  try {
    MessageTable(changed.dump(), "t.json");
    FAIL() << path << " was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput);
    EXPECT_NE(std::string(error.what()).find("t.json: " + in_message), std::string::npos)
        << error.what();
  }
}

TEST(Messages, RefusesWhatTheFormatDoesNotAllow) {
  const Json absent(Json::value_t::discarded);
  expect_error("/format", "other", "/format");
  expect_error("/version", 2, "/version");
  expect_error("/thresholds", 3, "/thresholds");
  expect_error("/thresholds/high/value", "2", "/thresholds/high/value");
  expect_error("/thresholds/high/source", absent, "/thresholds/high/source");
  expect_error("/messages", Json::object(), "/messages");
  expect_error("/messages/0", 1, "/messages/0");
  expect_error("/messages/1/code", "b", "/messages/1/code");
  expect_error("/messages/0/text", "", "/messages/0/text");
  expect_error("/messages/0/actionability", "much", "/messages/0/actionability");
  expect_error("/messages/0/faults", "LRM", "/messages/0/faults");
  expect_error("/messages/0/faults/1", "XYZ", "/messages/0/faults");
}

TEST(Messages, UmlautHasTwelveOfThreeSeverities) {
  const MessageTable& umlaut = umlaut::message_table();
  EXPECT_EQ(umlaut.codes().size(), 12u);
  for (const std::string& code : umlaut.codes()) {
    const MessageKind& kind = umlaut.kind(code);
    EXPECT_TRUE(kind.severity == "Critical" || kind.severity == "Error" ||
                kind.severity == "Warning")
        << code;
    // What maps to a fault names at least a place.
    EXPECT_EQ(kind.faults.empty(), kind.actionability == Actionability::kNone) << code;
  }
}

}  // namespace
}  // namespace neutra::fl_adapters
