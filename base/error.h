#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace neutra {

/// Process exit codes of every verb (docs/reference/exit_codes.md).
enum class Exit : int {
  kDone = 0,
  kFailed = 1,       ///< something failed, or a threshold was not met
  kUsage = 2,        ///< the command line is wrong
  kBadInput = 3,     ///< a file or value given by the user is wrong
  kInterrupted = 75  ///< stopped by a signal; the same command resumes
};

/// The one exception type: a mistake of the user or a failure of the machine (full disk, missing
/// file), never a bug. The message says file, place in it, what was found and what is allowed.
class Error : public std::runtime_error {
 public:
  Error(Exit exit, const std::string& message) : std::runtime_error(message), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

/// Data that are not on this machine: nothing is wrong with what asks for them.
class MissingData : public Error {
 public:
  explicit MissingData(const std::string& message) : Error(Exit::kBadInput, message) {}
};

inline Error usage_error(const std::string& message) { return {Exit::kUsage, message}; }
inline Error input_error(const std::string& message) { return {Exit::kBadInput, message}; }
inline Error failure(const std::string& message) { return {Exit::kFailed, message}; }

/// The text of a message: "FILE: PLACE: found FOUND; allowed: ALLOWED". Empty parts are left out;
/// control characters in parts other than the file are spelt "\x1b".
std::string describe(std::string_view file, std::string_view place, std::string_view found,
                     std::string_view allowed);

}  // namespace neutra
