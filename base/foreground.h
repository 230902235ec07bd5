#pragma once

#include <string>
#include <vector>

namespace neutra {

/// Runs a program as a shell does, and waits for its end: it has this process's standard input,
/// output and error, its terminal and its environment, so that it reads and prints as if it had
/// been started instead of this process. Returns its status as waitpid(2) gives it. The first word
/// is a path. Throws failure() where it can't be started.
///
/// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 of this process are handed on to it, but
/// for those of a terminal, which it has got itself; those that are ignored stay ignored. Where
/// this process is killed, it gets SIGTERM. Not thread safe: one program at a time.
int run_in_foreground(const std::vector<std::string>& words);

}  // namespace neutra
