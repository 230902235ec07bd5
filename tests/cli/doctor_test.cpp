// `neutra doctor` of the built command; of an installation: tests/foundation/doctor_test.py.

#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/schema.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

Json checked(const Called& called) {
  EXPECT_EQ(called.exit, 0) << called.out << called.err;
  const Json document = parse_json(called.out, "out");
  EXPECT_EQ(Schema(source_file("docs/schemas/doctor.schema.json")).problem(document), "");
  return document.at("checks");
}

TEST(Doctor, HasALineForEachPart) {
  const Folder folder;
  const Json checks = checked(call({"doctor", "--json"}, folder.path()));
  const Called text = call({"doctor"}, folder.path());
  EXPECT_EQ(text.exit, 0) << text.err;
  EXPECT_EQ(folder.names(), std::vector<std::string>{}) << "left behind";
  std::set<std::string> names;
  for (const Json& check : checks) {
    const std::string name = check.at("name");
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_NE(text.out.find("  " + name + "  "), std::string::npos) << name << '\n' << text.out;
    EXPECT_NE(check.at("state"), "broken") << check;
  }
  for (const char* name : {"command",    "processor",     "cores",    "memory", "clock",
                           "onednn",     "hdf5",          "modules",  "torch",  "blas",
                           "mpi",        "bundled files", "subjects", "faults", "data folder",
                           "data mnist", "bundled data",  "dot",      "python", "temporary folder",
                           "store"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Doctor, OtherChecksGoOnWhereASettingIsWrong) {
  const Folder folder;
  const Json checks = checked(Running({"env", "NEUTRA_ISA=sse9", "TMPDIR=/nowhere", built_command(),
                                       "doctor", "--json", "--data-dir", "absent"},
                                      folder.path())
                                  .wait(120));
  std::set<std::string> wrong;
  for (const Json& check : checks) {
    if (check.at("state") != "wrong") continue;
    EXPECT_NE(check.at("hint"), "") << check;
    wrong.insert(check.at("name").get<std::string>());
  }
  EXPECT_EQ(wrong.count("processor") + wrong.count("temporary folder") + wrong.count("data folder"),
            3u)
      << checks;
}

}  // namespace
}  // namespace neutra::cli
