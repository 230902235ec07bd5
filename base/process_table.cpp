#include "base/process_table.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace neutra {
namespace {

/// Reads a number behind blanks; returns where it ends.
const char* number(const char* text, std::uint64_t& value) {
  while (*text == ' ') ++text;
  value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    value = 10 * value + static_cast<std::uint64_t>(*text - '0');
  }
  return text;
}

}  // namespace

void ProcessTable::read(pid_t root) {
  count_ = 0;
  const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return;
  alignas(8) static char entries[1 << 15];
  for (;;) {
    const long size = syscall(SYS_getdents64, proc, entries, sizeof entries);
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      // struct linux_dirent64: inode, offset (8 bytes each), length (2), type (1), name.
      unsigned short length = 0;
      std::memcpy(&length, entries + at + 16, sizeof length);
      const char* name = entries + at + 19;
      if (*name >= '1' && *name <= '9') add(proc, name);
      at += length;
    }
  }
  close(proc);
  mark(root);
}

void ProcessTable::add(int proc, const char* pid) {
  if (count_ == kMost) return;
  char name[32], text[1024];
  const std::size_t length = std::strlen(pid);
  if (length > 20) return;
  std::memcpy(name, pid, length);
  std::memcpy(name + length, "/stat", 6);
  const int file = openat(proc, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;  // gone meanwhile
  const ssize_t size = ::read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return;
  text[size] = '\0';
  // "pid (name) state ppid pgrp ...", where the name may hold anything; rss is the 24th field.
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return;
  const char state = at[2];
  at += 3;
  std::uint64_t id = 0, parent = 0, group = 0, pages = 0;
  number(pid, id);
  at = number(number(at, parent), group);
  for (int field = 6; field < 24; ++field) {
    at = std::strchr(at + 1, ' ');
    if (at == nullptr) return;
  }
  number(at, pages);
  rows_[count_++] = {static_cast<pid_t>(id), static_cast<pid_t>(parent), static_cast<pid_t>(group),
                     pages, state == 'Z' || state == 'X'};
}

/// Brings the descendants of `root` to the front.
void ProcessTable::mark(pid_t root) {
  ours_ = 0;
  pid_t parent = root;
  for (int done = -1; done < ours_; ++done) {
    if (done >= 0) parent = rows_[done].pid;
    for (int i = ours_; i < count_; ++i) {
      if (rows_[i].parent == parent) std::swap(rows_[i], rows_[ours_++]);
    }
  }
}

}  // namespace neutra
