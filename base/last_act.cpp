#include "base/last_act.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace neutra {
namespace {

struct Acts {
  std::mutex mutex;
  std::vector<const std::function<void()>*> list;
};
/// Never taken apart: acts may be done while the process ends.
Acts& acts() {
  static auto* const instance = new Acts;
  return *instance;
}

}  // namespace

LastAct::LastAct(std::function<void()> act) : act_(std::move(act)) {
  const std::lock_guard lock(acts().mutex);
  acts().list.push_back(&act_);
}

LastAct::~LastAct() {
  const std::lock_guard lock(acts().mutex);
  std::erase(acts().list, &act_);
}

void do_last_acts() {
  acts().mutex.lock();  // for good
  for (auto act = acts().list.rbegin(); act != acts().list.rend(); ++act) {
    try {
      (**act)();
    } catch (const std::exception&) {
    }
  }
}

void begin_ending() {
  static std::mutex mutex;
  static std::thread::id first;
  {
    const std::lock_guard lock(mutex);
    if (first == std::thread::id()) first = std::this_thread::get_id();
    if (first == std::this_thread::get_id()) return;
  }
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace neutra
