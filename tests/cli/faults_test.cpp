// `neutra faults`: the list, the data that faults lack, the check.

#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

TEST(Faults, ListsTheDataThatFaultsLack) {
  const Folder folder;
  const auto list = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "faults", "D1", "D2", "R1", "R2", "C1", "--data", "--data-dir", folder.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return call(words, folder.path());
  };
  const Called text = list({});
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_TRUE(has(text.out, {"cifar-10-batches-bin: 6 files", "R1, R2", "higgs.csv",
                             "kaggle.com/c/higgs-boson"}));
  EXPECT_TRUE(has(text.err, {"1 of 5"}));

  std::ofstream(folder.path() / "reuters.npz") << "here";
  const Called called = list({"--json"});
  ASSERT_EQ(called.exit, 0) << called.err;
  const Json json = parse_json(called.out, "out");
  EXPECT_EQ(json["faults"][0], Json::parse(R"({"id": "D1", "missing": []})"));
  EXPECT_EQ(json["faults"][1], Json::parse(R"({"id": "D2", "missing": ["higgs.csv"]})"));
  EXPECT_EQ(json["faults"][2], Json::parse(R"({"id": "R1", "missing": []})"));
  for (const Json& file : json["files"]) {
    if (file["file"] == "reuters.npz") {
      EXPECT_EQ(file["faults"], Json::parse(R"(["R1", "R2"])"));
      EXPECT_EQ(file["found"], (folder.path() / "reuters.npz").string());
      EXPECT_TRUE(file["put"].is_null());
    }
    if (file["file"] == "higgs.csv") {
      EXPECT_TRUE(file["found"].is_null());
      EXPECT_TRUE(file["put"].get<std::string>().ends_with("/higgs.csv"));
    }
  }
  EXPECT_EQ(list({"--check"}).exit, 2);
}

TEST(Faults, CheckFindsThatTheFaultOfD7Shows) {
  const Folder folder;
  const Called called = call({"faults", "D7", "--check", "--json"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.out << called.err;
  EXPECT_TRUE(parse_json(called.out, "out")[0]["shows"].get<bool>());
}

}  // namespace
}  // namespace neutra::cli
