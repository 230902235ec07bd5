#include "base/temporary_folder.h"

#include <gtest/gtest.h>

#include <iterator>

#include "base/error.h"
#include "base/files.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

using tests::TestFolder;

TEST(TemporaryFolder, ErrorsNameFilesByWhereTheyWereToBe) {
  const TestFolder parent;
  const auto folder = parent.path() / "out";
  {
    TemporaryFolder fresh(parent.path(), ".export");
    try {
      fresh.become(folder, [&] { write_file_atomically(fresh.path() / "no" / "train.py", "x"); });
      ADD_FAILURE() << "written";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find(".export"), std::string::npos) << message;
      EXPECT_TRUE(message.starts_with((folder / "no" / "train.py").string() + ": ")) << message;
    }
    EXPECT_FALSE(std::filesystem::exists(folder));
    fresh.become(folder, [&] { write_file_atomically(fresh.path() / "train.py", "x"); });
  }
  EXPECT_EQ(parent.read("out/train.py"), "x");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(parent.path()), {}), 1);
}

}  // namespace
}  // namespace neutra
