#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/last_act.h"
#include "base/utf8.h"
#include "base/words.h"
#include "cli/build_info.h"
#include "cli/printable_text.h"
#include "cli/progress_line.h"
#include "cli/provenance.h"
#include "cli/ranks.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "experiments/benchmark/fault_catalogue.h"
#include "program/file_formats.h"
#include "program/vocabulary.h"
#include "training/libraries.h"
#include "training/on_torch.h"

namespace neutra::cli {
namespace {

/// Versions, machine and build, with the speed of the BLAS route.
struct Versions {
  Json provenance;
  training::LibraryVersions libraries;
  std::optional<training::TorchProblem> problem;
  std::optional<std::string> mpi;
};

Json json_of(const Versions& versions) {
  Json json = versions.provenance;
  if (versions.problem) json["libraries"]["torch"] = nullptr;
  json["blas_route"] = versions.libraries.blas_route;
  json["gflops"] = versions.libraries.gflops;
  json["mpi"] = json_or_null(versions.mpi);
  return json;
}

std::string text_of(const Versions& versions) {
  std::string text =
      std::string("neutra ") + version() + " (" + git_commit() + ")\nLibTorch " +
      (versions.problem ? "none: " + versions.problem->text() : versions.libraries.torch) +
      "\noneDNN " + versions.libraries.onednn + "\nHDF5 " + versions.libraries.hdf5 +
      "\nMPI: " + versions.mpi.value_or("none, searches run on one machine") +
      "\nBLAS route: " + versions.libraries.blas_route;
  if (versions.problem) return text + "\n";
  char speed[48];
  std::snprintf(speed, sizeof speed, ", %.0f GFLOP/s (one core)\n", versions.libraries.gflops);
  return text + speed;
}

int print_version(bool as_json) {
  Versions versions{provenance(), {}, training::torch_problem(), rank_library()};
  versions.libraries = training::library_versions(!versions.problem);
  if (versions.problem) versions.libraries.blas_route = "none without LibTorch";
  std::cout << (as_json ? to_text(json_of(versions)) : text_of(versions));
  if (versions.problem && !versions.problem->left_out()) throw failure(versions.problem->text());
  return 0;
}

const Verb& known_verb(const std::string& name) {
  if (const Verb* verb = find_verb(name)) return *verb;
  std::vector<std::string> names;
  for (const auto& entry : verbs())
    if (!entry.hidden) names.push_back(entry.name);
  throw usage_error("unknown verb '" + name + "'; allowed: " + allowed_words(name, names) +
                    ", listed by neutra --help");
}

/// Has whoever read standard output ended (`| head`)?
bool reader_left() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

int run(const std::vector<std::string>& words) {
  // Names of files end up in stores and in JSON.
  for (std::size_t i = 0; i < words.size(); ++i)
    if (find_no_utf8(words[i]) != std::string::npos)
      throw usage_error("argument " + std::to_string(i + 1) +
                        ": found bytes that are not UTF-8; allowed: text in UTF-8");
  if (words.empty()) {
    std::cerr << general_help();
    return static_cast<int>(Exit::kUsage);
  }
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") {
    if (words.size() > 2)
      throw usage_error(first + ": found '" + words[2] + "'; allowed: one verb");
    if (words.size() == 1)
      std::cout << general_help();
    else if (words[1] == "--markdown")
      std::cout << markdown_help();
    else if (words[1] == "--catalogue")
      std::cout << experiments::catalogue_page(
          experiments::load_fault_catalogue(experiments::bundled_fault_catalogue()));
    else
      std::cout << verb_help(known_verb(words[1]));
    return 0;
  }
  if (first == "--version") {
    if (words.size() > 2 || (words.size() == 2 && words[1] != "--json"))
      throw usage_error("--version: found '" + words.back() + "'; allowed: --json");
    return print_version(words.size() == 2);
  }
  const Verb* verb = &known_verb(first);
  try {
    const Arguments arguments = parse_arguments(verb->options, {words.begin() + 1, words.end()});
    if (arguments.flag("help")) {
      std::cout << verb_help(*verb);
      return 0;
    }
    if (arguments.has("output")) write_to_file();
    std::optional<PrintableText> for_people;
    if (chosen_format(arguments) == "text") for_people.emplace(std::cout);
    const Result result = verb->run(arguments);
    write_result(result, arguments);
    return static_cast<int>(result.exit);
  } catch (const Error& error) {
    if (error.exit() != Exit::kUsage) throw;
    throw usage_error(verb->name + ": " + error.what() + "\nusage: neutra " + verb->synopsis +
                      "   (neutra " + verb->name + " --help lists the options)");
  }
}

}  // namespace
}  // namespace neutra::cli

namespace {

/// Ends the process. LibTorch takes a fifth of a second to take itself down, after all is written.
int leave(int code) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these report at the end
  std::cout.flush();
  std::cerr.flush();
  std::_Exit(code);
#endif
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  neutra::cli::end_on_signals();
  neutra::own_program();  // before an update can move it away
  neutra::program::name_file_formats();
  // Closed standard descriptors would be given to the next files opened, and messages end up in a
  // store.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) == -1)
      // Results must not seem to arrive: what is opened for reading can't be written.
      open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
  using neutra::Exit;
  // A file larger than the limit of the shell is a full disk to us: an error message, not a death
  // by signal.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::cerr << std::nounitbuf;  // whole lines, which no line of progress comes in between
  const neutra::cli::PrintableText messages(std::cerr, neutra::cli::erase_progress);
  int code = static_cast<int>(Exit::kFailed);
  try {
    const std::string_view verb = argc > 1 ? argv[1] : "";
    const bool ranks = verb == "search" || verb == "study";
    code = ranks && !neutra::cli::join_ranks() ? 0 : neutra::cli::run({argv + 1, argv + argc});
    std::cout.flush();
    if (!std::cout && neutra::cli::reader_left()) {
      if (code == 0) code = static_cast<int>(neutra::kReaderLeft);
    } else if (!std::cout) {
      std::cerr << "neutra: error: standard output cannot be written\n";
      code = static_cast<int>(Exit::kFailed);
    }
  } catch (const neutra::Error& error) {
    neutra::begin_ending();
    std::cout.flush();
    if (error.exit() != neutra::kReaderLeft) {
      std::cerr << (error.exit() == Exit::kInterrupted ? "neutra: " : "neutra: error: ")
                << error.what() << '\n';
    }
    code = static_cast<int>(error.exit());
  } catch (const std::filesystem::filesystem_error& error) {
    std::cerr << "neutra: error: " << error.path1().string() << ": " << error.code().message()
              << '\n';
    code = static_cast<int>(neutra::Exit::kBadInput);
  } catch (const std::bad_alloc&) {
    std::fputs("neutra: error: out of memory\n", stderr);  // as it takes none
  } catch (const std::exception& error) {
    std::cerr << "neutra: error: " << error.what() << '\n';
  }
  neutra::begin_ending();
  neutra::cli::leave_ranks(code);
  return leave(code);
}
