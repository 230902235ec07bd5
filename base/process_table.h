#pragma once

#include <sys/types.h>

#include <cstdint>

namespace neutra {

/// A process, as /proc shows it.
struct ProcessRow {
  pid_t pid, parent, group;
  std::uint64_t pages;  ///< resident
  bool zombie;
};

/// The processes below one, read from /proc (proc(5)). Calls only what is async-signal-safe and
/// allocates nothing, so that it can be used in a process that was forked from one with threads. Of
/// its objects only one is used at a time: they share memory.
class ProcessTable {
 public:
  /// Finds the descendants of `root`.
  void read(pid_t root);

  /// Calls `visit` with each of them that is no zombie.
  template <class Visit>
  void each(Visit&& visit) const {
    for (int i = 0; i < ours_; ++i) {
      if (!rows_[i].zombie) visit(rows_[i]);
    }
  }

 private:
  static constexpr int kMost = 1 << 16;

  void add(int proc, const char* pid);
  void mark(pid_t root);

  inline static ProcessRow rows_[kMost];  // too large for a stack; untouched pages cost nothing
  int count_ = 0, ours_ = 0;
};

}  // namespace neutra
