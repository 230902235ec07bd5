#include "search/store_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "tests/search/fakes.h"
#include "tests/search/store_files.h"

namespace neutra::search::tests {
namespace {

TEST(StoreLockTest, ASecondWriterLearnsWhoIsFirst) {
  TemporaryFolder folder;
  const Case c = plain_case(6);
  FakeTrainer trainer(c.landscape);
  const auto lock = std::make_unique<StoreLock>(folder / "s.h5.lock", "the first command");
  const auto message = message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kFailed);
  EXPECT_NE(message.find("pid " + std::to_string(getpid())), std::string::npos) << message;
  EXPECT_NE(message.find("the first command"), std::string::npos) << message;
  EXPECT_EQ(trainer.trainings, 0);
}

TEST(StoreLockTest, APipeInTheLocksPlaceHasNoOwner) {
  TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "s.h5.lock").c_str(), 0600), 0);
  EXPECT_EQ(store_owner(folder / "s.h5"), std::nullopt);
}

TEST(StoreLockTest, ALockDiesWithItsProcess) {
  TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    new StoreLock(folder / "l", "child");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "l"));
  const StoreLock lock(folder / "l", "parent");
  EXPECT_NE(bytes_of(folder / "l").find("parent"), std::string::npos);
}

}  // namespace
}  // namespace neutra::search::tests
