#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace neutra::tests {

/// Does a text have each of `parts` in it? A failure says which one it lacks.
inline testing::AssertionResult has(const std::string& text,
                                    const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (text.find(part) != std::string::npos) continue;
    return testing::AssertionFailure() << "no '" << part << "' in:\n" << text;
  }
  return testing::AssertionSuccess() << text;
}

}  // namespace neutra::tests
