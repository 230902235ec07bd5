#pragma once

#include <functional>

namespace neutra {

/// Something to do where the process ends early: to keep results, or to remove what is half made.
///
/// A process that is told to stop ends by itself after a while, and destructors do such work. Where
/// one of its threads computes on and on, another thread calls do_last_acts() and ends the process
/// while all objects are still there. An act may take locks, but none that is held during a long
/// computation.
class LastAct {
 public:
  /// `act` may be done as long as the object lives.
  explicit LastAct(std::function<void()> act);
  LastAct(const LastAct&) = delete;
  LastAct& operator=(const LastAct&) = delete;
  /// Waits for the end of the process where acts are already being done.
  ~LastAct();

 private:
  std::function<void()> act_;
};

/// Does the acts of all LastAct objects, the youngest first; exceptions of theirs are ignored. The
/// process has to end afterwards.
void do_last_acts();

/// To be called by each thread that is about to end the process, with the result of its work or
/// without: the first one goes on, all others wait for the end.
void begin_ending();

}  // namespace neutra
