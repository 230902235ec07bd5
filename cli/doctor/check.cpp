#include "cli/doctor/check.h"

#include <link.h>
#include <sys/wait.h>

#include <cstring>
#include <exception>
#include <filesystem>

#include "base/child_process.h"
#include "base/descriptor.h"

namespace neutra::cli::doctor {
namespace {

namespace fs = std::filesystem;

/// How long a copy of this process may take, of the clock and of the processor.
constexpr std::uint64_t kPatienceSeconds = 60;

struct LibrarySearch {
  std::string_view beginning;
  std::string found;
};

int compare_library(dl_phdr_info* library, std::size_t, void* data) {
  auto& search = *static_cast<LibrarySearch*>(data);
  if (!fs::path(library->dlpi_name).filename().string().starts_with(search.beginning)) return 0;
  search.found = library->dlpi_name;
  return 1;
}

}  // namespace

std::string_view to_string(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kNote:
      return "note";
    case State::kMissing:
      return "missing";
    case State::kWrong:
      return "wrong";
    case State::kBroken:
      return "broken";
  }
  return "";
}

Trial tried(const std::function<std::string()>& work) {
  const auto answer_with = [&](int to) {
    std::string text;
    bool done = true;
    try {
      text = work();
    } catch (const std::exception& error) {
      text = error.what();
      done = false;
    }
    write_all(to, text);
    return done ? 0 : 1;
  };
  const auto [text, status, late] =
      run_copy(answer_with, {.seconds = kPatienceSeconds, .patience = kPatienceSeconds});
  if (late) return {{}, "no answer in " + std::to_string(kPatienceSeconds) + " seconds", true};
  if (WIFSIGNALED(status)) {
    return {
        {}, std::string("the process that tried it died: ") + ::strsignal(WTERMSIG(status)), true};
  }
  if (WEXITSTATUS(status) == 0) return {text, ""};
  return {{},
          text.empty() ? "the process that tried it ended with exit code " +
                             std::to_string(WEXITSTATUS(status))
                       : text};
}

std::string loaded_library(std::string_view beginning) {
  LibrarySearch search{beginning, ""};
  ::dl_iterate_phdr(compare_library, &search);
  return search.found;
}

}  // namespace neutra::cli::doctor
