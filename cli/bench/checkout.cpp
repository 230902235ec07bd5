#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "cli/bench/actions.h"
#include "cli/trainers.h"
#include "experiments/benchmark/checkout.h"
#include "experiments/benchmark/store.h"

namespace neutra::cli {
namespace {

struct CheckedOut {
  std::string word;  ///< "3b"
  std::string folder;
  int entry = 0;
  bool buggy = false;
  bool arrays = false;  ///< the data are there, too
};

Json json_of(const CheckedOut& out) {
  return {{"folder", out.folder},
          {"entry", out.entry},
          {"program_version", out.buggy ? "buggy" : "fixed"},
          {"arrays", out.arrays}};
}

std::string text_of(const CheckedOut& out) {
  return "checked out " + out.word + " into " + out.folder + ": see README.md there\n";
}

}  // namespace

Result bench_checkout(const BenchmarkPointer& benchmark, const Arguments& arguments) {
  const experiments::EntryAddress address = one_entry(*benchmark, arguments);
  const std::string& word = arguments.positional[2];
  const std::string id = std::to_string(address.entry->id);
  if (!address.version)
    throw usage_error("found entry '" + word + "'; allowed: one version of it, " + id +
                      "b (buggy) or " + id + "f (fixed)");
  if (!arguments.has("work")) throw usage_error("found no --work; allowed: -w FOLDER");
  const std::filesystem::path folder = experiments::benchmark_path(arguments.text("work"));
  const std::string warning =
      experiments::check_out(*benchmark, *address.entry, *address.version, folder,
                             data_path(arguments, folder / "program.json"));
  if (!warning.empty()) std::cerr << "neutra: " << warning << '\n';
  return result_of(CheckedOut{word, folder.string(), address.entry->id,
                              *address.version == experiments::EntryVersion::kBuggy,
                              warning.empty()});
}

}  // namespace neutra::cli
