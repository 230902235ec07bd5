#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/has.h"
#include "tests/test_folder.h"

namespace neutra::cli {

/// What a call of the built command gave.
struct Called {
  int exit = -1;  ///< exit code; 128 + signal when it died of one
  std::string out, err;
};

using Folder = tests::TestFolder;
using tests::has;

/// A program that a test has started in `folder`; killed with it.
class Running {
 public:
  Running(std::vector<std::string> words, const std::filesystem::path& folder);
  Running(const Running&) = delete;
  ~Running();
  int pid() const { return pid_; }
  /// Waits until the condition holds, or the process ends.
  void wait_until(const std::function<bool()>& holds) const;
  /// Waits for its end, or kills it after `seconds` (exit 124).
  Called wait(int seconds);

 private:
  Folder outputs_;
  int pid_ = -1;
};

/// The file of the built `neutra`.
std::string built_command();

/// Runs the built `neutra` with `arguments` in `folder`; ends it after `seconds` (exit 124).
Called call(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
            int seconds = 120);

/// Did a call end with `exit` and print nothing but an error that names each of `parts`: a file, an
/// option or a key, what was found there, what is allowed? What comes before the error, such as
/// warnings, and the line on the usage behind it count for nothing.
testing::AssertionResult refused(const Called& called, int exit,
                                 const std::vector<std::string>& parts);

}  // namespace neutra::cli
