#include "training/curves.h"

#include <chrono>

namespace neutra::training {
namespace {

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void CurveRecorder::begin(const DataView&, Probe&) { curves_.begin = seconds_since_1970(); }

void CurveRecorder::epoch_end(const EpochEvent& event) {
  for (const auto& [name, value] : event.logs) curves_.series[name].push_back(value);
  curves_.ends.push_back(seconds_since_1970());
}

}  // namespace neutra::training
