#pragma once

#include <string>

#include "base/error.h"

namespace neutra::tests {

/// The message of the Error that `action` throws; "" if it throws none.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace neutra::tests
