#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace neutra {

// Processes that do one thing and answer. run_process() (base/process.h) is for programs that are
// not ours.

/// What a process answered, and how it ended.
struct ChildAnswer {
  std::string text;
  int status = 0;     ///< as waitpid(2) gives it
  bool late = false;  ///< a copy that was killed since CopyLimits::patience was over
};

/// Called some twenty times a second while a process is waited for, with its number: it may be
/// killed.
using WhileWaiting = std::function<void(pid_t child)>;

/// What a copy of this process may use.
struct CopyLimits {
  std::uint64_t seconds = 0;  ///< of processor time, from 1
  std::uint64_t memory = 0;   ///< bytes of address space; 0: no limit
  /// Seconds of the clock until it is killed, should it hang without working; 0: no limit.
  std::uint64_t patience = 0;
};

/// Calls `work` in a copy of this process (fork(2)), so that this one survives whatever it does.
/// The copy ends with the exit code that `work` returns; it answers with what `work` writes to the
/// descriptor that it is given. What it says on standard error is lost, it leaves no core file,
/// Ctrl-C is not for it, and it ends with this process. Throws failure() where none can be started.
///
/// The copy has one thread, and everything else as it is at the call. So `work` must take no lock
/// that another thread may hold then: it would wait for ever. And no other thread should be inside
/// run_copy() or run_program(): the copy would keep its pipes open, and that call would return, or
/// its program find the end of its input, only when the copy has ended, too.
ChildAnswer run_copy(const std::function<int(int answer)>& work, const CopyLimits& limits);

/// Runs the program `file` with `words` (the first is its name). Its standard input is `input`, its
/// standard output the answer. It is in a process group of its own, so that Ctrl-C is not for it.
/// Throws failure() where it can't be started.
ChildAnswer run_program(const char* file, std::vector<std::string> words, std::string_view input,
                        const WhileWaiting& waiting = {});

}  // namespace neutra
