#include "base/warn_once.h"

#include <iostream>
#include <mutex>
#include <set>

namespace neutra {

void warn_once(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  if (told.insert(text).second) std::cerr << "warning: " << text << "\n";
}

}  // namespace neutra
