#pragma once

#include <functional>

namespace neutra {

/// What is still to be done where a process that was told to stop has to end although one of its
/// threads computes on and on: it keeps what is worth keeping, and removes what is half made. Acts
/// are done by another thread, the latest first, while nothing is taken apart. An act may take
/// locks, but only such that a long computation doesn't hold.
class LastAct {
 public:
  explicit LastAct(std::function<void()> act);
  LastAct(const LastAct&) = delete;
  LastAct& operator=(const LastAct&) = delete;
  /// Waits for the end of the process where acts are being done.
  ~LastAct();

 private:
  std::function<void()> act_;
};

/// Does the acts of all objects that live; afterwards the process has to end. What acts throw is
/// left out.
void do_last_acts();

/// Whoever calls this first says how the process ends: with the result of its work, or without.
/// Another thread that calls it waits for that end.
void begin_ending();

}  // namespace neutra
