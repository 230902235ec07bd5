#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/error.h"

namespace neutra::search::tests {

inline void put_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

/// The message of the Error that `action` throws, which has to have this exit code.
inline std::string message_of(const std::function<void()>& action, Exit exit) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), exit) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace neutra::search::tests
