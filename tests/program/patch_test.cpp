#include "program/patch.h"

#include "support.h"

namespace neutra::program {
namespace {

using tests::error_of;

Json layers(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back({{"class_name", name}});
  return {{"layers", list}};
}

void expect_patch(const Json& from, const Json& to, const std::string& patch) {
  const Json found = json_patch(from, to);
  EXPECT_EQ(found.dump(), patch);
  EXPECT_EQ(nlohmann::json(with_patch(from, found, "test")), nlohmann::json(to));
}

TEST(Patch, OneStepForALayer) {
  expect_patch(layers({"a", "b", "c", "d"}), layers({"a", "c", "d"}),
               R"([{"op":"remove","path":"/layers/1"}])");
  expect_patch(layers({"a", "b", "c"}), layers({"a", "b", "x", "c"}),
               R"([{"op":"add","path":"/layers/2","value":{"class_name":"x"}}])");
  expect_patch(layers({"a", "b", "c", "d"}), layers({"a", "d"}),
               R"([{"op":"remove","path":"/layers/1"},{"op":"remove","path":"/layers/1"}])");
  expect_patch(layers({"a"}), layers({"a", "a", "a"}),
               R"([{"op":"add","path":"/layers/1","value":{"class_name":"a"}},)"
               R"({"op":"add","path":"/layers/2","value":{"class_name":"a"}}])");
  // One changed, one gone.
  expect_patch(layers({"a", "b", "c", "d"}), layers({"a", "x", "d"}),
               R"([{"op":"replace","path":"/layers/1/class_name","value":"x"},)"
               R"({"op":"remove","path":"/layers/2"}])");
}

TEST(Patch, FieldsAndTheirOrder) {
  const Json from = Json::parse(R"({"a": 1, "b": {"c/d": 2, "e": [1, 2]}, "f": null})");
  expect_patch(from, Json::parse(R"({"b": {"e": [1, 3], "c/d": 2}, "f": 0, "g": []})"),
               R"([{"op":"remove","path":"/a"},{"op":"replace","path":"/b/e/1","value":3},)"
               R"({"op":"replace","path":"/f","value":0},{"op":"add","path":"/g","value":[]}])");
  expect_patch(from, Json::parse(R"({"f": null, "b": {"e": [1, 2], "c/d": 2}, "a": 1})"), "[]");
  expect_patch(1, Json::parse("[2]"), R"([{"op":"replace","path":"","value":[2]}])");
}

TEST(Patch, RefusesWhatDoesNotFit) {
  for (const char* patch :
       {R"([{"op":"remove","path":"/layers/7"}])", R"([{"op":"jump","path":"/layers"}])", "3"}) {
    EXPECT_NE(error_of([&] {
                with_patch(layers({"a"}), Json::parse(patch), "here");
              }).find("here: found "),
              std::string::npos)
        << patch;
  }
}

TEST(Patch, LimitsHoldAfterEachStep) {
  // Each step doubles the document: 40 of them would take 2^40 times its memory.
  Json doubling = Json::array(), nesting = Json::array();
  std::string path;
  for (int i = 0; i < 40; ++i) {
    doubling.push_back({{"op", "copy"}, {"from", "/a"}, {"path", "/a/-"}});
    nesting.push_back({{"op", "copy"}, {"from", ""}, {"path", path + "/a"}});
    path += "/a";
  }
  EXPECT_NE(error_of([&] {
              with_patch({{"a", {1, 2}}}, doubling, "here: /patch");
            }).find("more than 64 MiB of copies"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              with_patch({{"b", 1}}, nesting, "here: /patch");
            }).find("here: /patch/"),
            std::string::npos);
  // A deep value at a deep place.
  Json deep = 1;
  for (int i = 0; i < 60; ++i) deep = Json::object({{"a", deep}});
  std::string below;
  for (int i = 0; i < 50; ++i) below += "/a";
  for (const char* op : {"copy", "add", "replace"}) {
    Json step{{"op", op}, {"path", below}};
    if (std::string(op) == "copy") {
      step["from"] = "";
    } else {
      step["value"] = deep;
    }
    EXPECT_NE(error_of([&] {
                with_patch(deep, Json::array({step}), "here");
              }).find("here/0: found more than 100 levels of brackets"),
              std::string::npos)
        << op;
  }
  const Json once = Json::array({{{"op", "copy"}, {"from", "/a"}, {"path", "/b"}}});
  EXPECT_EQ(with_patch({{"a", {1, 2}}}, once, "here").dump(), R"({"a":[1,2],"b":[1,2]})");
}

TEST(Patch, TextSaysWhatWasThere) {
  const Json from = layers({"a", "b", "c"});
  EXPECT_EQ(patch_text(from, json_patch(from, layers({"a"}))),
            "remove /layers/1: {\"class_name\":\"b\"}\n"
            "remove /layers/1: {\"class_name\":\"c\"}\n");
  EXPECT_EQ(patch_text({{"epochs", 12}}, json_patch({{"epochs", 12}}, {{"epochs", 1}, {"x", 2}})),
            "replace /epochs: 12 -> 1\nadd /x: 2\n");
}

}  // namespace
}  // namespace neutra::program
