#include "base/module.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/error_of.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

TEST(Module, LiesBesideTheProgramOrInItsInstallation) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(module_file(program.filename().string()), program);
  const std::filesystem::path missing = module_file("neutra_nothing.so");
  EXPECT_EQ(missing.filename(), "neutra_nothing.so");
  EXPECT_EQ(missing.parent_path().filename(), "neutra");
}

TEST(Module, WhatCannotBeUsedIsSaid) {
  const auto message = [](const std::string& file) {
    return tests::error_of(
        [&] { open_module(file, "LibX", "neutra_x_functions", "0.1.0 of today"); });
  };
  EXPECT_EQ(message("/nothing/neutra_x.so").rfind("LibX can't be loaded: /nothing/neutra_x.so", 0),
            0);
  EXPECT_EQ(message("libm.so.6"), "libm.so.6: found no module of neutra; install neutra again");
  std::string problem;
  EXPECT_EQ(library_file(open_library("libm.so.6", RTLD_LAZY, problem)).filename(), "libm.so.6");
}

TEST(Module, ALibraryThatWasCutIsNotOpened) {
  const tests::TestFolder folder;
  const std::filesystem::path whole = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path cut = folder.path() / "libcut.so";
  std::filesystem::copy_file(whole, cut);
  EXPECT_EQ(damage_of(cut), "");
  std::filesystem::resize_file(cut, std::filesystem::file_size(whole) / 2);
  std::string problem;
  EXPECT_EQ(open_library(cut, RTLD_LAZY, problem), nullptr);
  EXPECT_TRUE(problem.starts_with(cut.string() + ": found ")) << problem;
}

}  // namespace
}  // namespace neutra
