#include "base/file_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/test_folder.h"

namespace neutra::tests {
namespace {

TEST(FileLock, APipeInTheLocksPlaceHasNoOwner) {
  const TestFolder folder;
  ASSERT_EQ(mkfifo((folder / "s.h5.lock").c_str(), 0600), 0);
  EXPECT_EQ(lock_owner(folder / "s.h5.lock"), std::nullopt);
}

TEST(FileLock, ALockDiesWithItsProcess) {
  const TestFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    new neutra::FileLock(folder / "l", "child", "in use");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "l"));
  const neutra::FileLock lock(folder / "l", "parent", "in use");
  EXPECT_NE(folder.read("l").find("parent"), std::string::npos);
}

}  // namespace
}  // namespace neutra::tests
