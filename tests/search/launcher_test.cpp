#include "search/launcher.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace neutra::search::tests {
namespace {

class LauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kNames) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : kNames) {
      ::unsetenv(name);
      if (before_.count(name)) ::setenv(name, before_[name].c_str(), 1);
    }
  }
  static constexpr const char* kNames[] = {"OMPI_COMM_WORLD_RANK",
                                           "OMPI_COMM_WORLD_SIZE",
                                           "MV2_COMM_WORLD_RANK",
                                           "MV2_COMM_WORLD_SIZE",
                                           "PMI_RANK",
                                           "PMI_SIZE",
                                           "PMIX_RANK",
                                           "SLURM_PROCID",
                                           "SLURM_STEP_NUM_TASKS"};

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(LauncherTest, AloneWithoutALauncher) {
  EXPECT_FALSE(launch());
  ::setenv("SLURM_PROCID", "0", 1);  // a job script
  EXPECT_FALSE(launch());
  ::setenv("OMPI_COMM_WORLD_RANK", "one", 1);
  EXPECT_FALSE(launch());
}

TEST_F(LauncherTest, OpenMpi) {
  ::setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  ::setenv("PMIX_RANK", "3", 1);
  const auto found = launch();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 3);
  EXPECT_EQ(found->size, 4);
  EXPECT_TRUE(found->mpi);
  EXPECT_EQ(found->families, std::vector{MpiFamily::kOpenMpi});
}

TEST_F(LauncherTest, MpichAndItsRelatives) {
  ::setenv("PMI_RANK", "2", 1);
  ::setenv("PMI_SIZE", "5", 1);
  auto found = launch();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 2);
  EXPECT_EQ(found->size, 5);
  EXPECT_TRUE(found->mpi);
  EXPECT_EQ(found->families, (std::vector{MpiFamily::kMpich, MpiFamily::kOpenMpi}));
  ::setenv("MV2_COMM_WORLD_RANK", "1", 1);
  ::setenv("MV2_COMM_WORLD_SIZE", "3", 1);
  found = launch();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->size, 3);
  EXPECT_EQ(found->families, std::vector{MpiFamily::kMpich});
}

TEST_F(LauncherTest, SlurmWithPmixAndWithout) {
  ::setenv("SLURM_PROCID", "1", 1);
  ::setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  ASSERT_TRUE(launch());
  EXPECT_FALSE(launch()->mpi);
  ::setenv("PMIX_RANK", "1", 1);
  ASSERT_TRUE(launch());
  EXPECT_TRUE(launch()->mpi);
  EXPECT_EQ(launch()->rank, 1);
  EXPECT_EQ(launch()->size, 2);
  EXPECT_EQ(launch()->families, (std::vector{MpiFamily::kOpenMpi, MpiFamily::kMpich}));
}

}  // namespace
}  // namespace neutra::search::tests
