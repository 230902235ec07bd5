#include "cli/imports.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <new>

#include "base/child_process.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "base/strings.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "program/formats/keras_model.h"
#include "training/data/csv.h"
#include "training/data/dataset.h"
#include "training/data/npy.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMemory = std::uint64_t{2} << 30;  ///< bytes of a reading process, ...
constexpr std::uint64_t kMemoryPerByte = 16;               ///< ... and for each byte of its file
constexpr std::uint64_t kSeconds = 60, kBytesPerSecond = 10'000'000;
constexpr int kFailedInChild = 9;

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

/// Of this process.
std::uint64_t virtual_memory() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string extension_of(const fs::path& file) { return lower(file.extension().string()); }

/// The file with the training options of a model: that of --training, else its sidecar, else
/// none.
fs::path training_file(const Arguments& arguments, const fs::path& model) {
  if (arguments.has("training")) return arguments.text("training");
  const fs::path beside = sidecar_file(model);
  std::error_code ignored;
  return fs::is_regular_file(beside, ignored) ? beside : fs::path();
}

Json read_training_options(const fs::path& file) {
  if (start_of_file(file, 1) == "\x80") {
    throw input_error(describe(file.string(), "", "a pickle, which is Python code",
                               "JSON: json.dump(training_config, file) in Python"));
  }
  return read_json(file);
}

}  // namespace

fs::path sidecar_file(const fs::path& model) {
  return fs::path(model).replace_extension(".neutra.json");
}

void read_in_child(const fs::path& file, const std::function<void()>& read) {
  std::cout.flush();
  const auto read_and_tell = [&](int answer) {
    std::string message;
    try {
      read();
      return 0;
    } catch (const std::bad_alloc&) {
      message = describe(file.string(), "", "more than this file may need of memory", "");
    } catch (const std::exception& error) {
      message = error.what();
    }
    write_all(answer, message);
    return kFailedInChild;
  };
  const auto [message, status, late] =
      run_copy(read_and_tell, {kSeconds + size_of(file) / kBytesPerSecond,
                               virtual_memory() + kMemory + kMemoryPerByte * size_of(file)});
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kFailedInChild) throw input_error(message);
  const bool slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  throw input_error(describe(file.string(), "",
                             slow ? "a file that takes too long to read"
                                  : "a damaged file, which ends the process that reads it",
                             "a file as Keras writes it"));
}

Json data_section(const fs::path& file, const fs::path& program_file,
                  std::vector<program::Assumption>& assumptions) {
  const std::string extension = extension_of(file);
  if (extension == ".json") {
    const Json json = read_json(file);
    const Json* section = member(json, "data");
    return section != nullptr ? *section : json;
  }
  require_no_pipe(file, "a data file");
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) {
    throw input_error(describe("--data", "", file.string() + ", which is no file",
                               "a file .h5, .hdf5, .npz, .csv or .json"));
  }
  std::string source;
  bool parted = false;
  if (extension == ".h5" || extension == ".hdf5") {
    source = "hdf5";
    parted = Hdf5File::open(file).has("/x_train");
  } else if (extension == ".npz") {
    source = "npz";
    parted = training::NpzFile(file).has("x_train");
  } else if (extension == ".csv") {
    source = "csv";
  } else {
    throw input_error(describe("--data", "", file.string(),
                               "a file .h5, .hdf5, .npz, .csv, or .json with a data section"));
  }
  // A program finds its data from its own folder.
  fs::path folder = program_file.parent_path();
  if (folder.empty()) folder = ".";
  const fs::path name =
      file.is_absolute() ? file : fs::proximate(fs::absolute(file), fs::absolute(folder));
  Json section = {{"source", source}, {"arguments", {{"file", name.string()}}}};
  if (source == "csv") {
    const Json form = training::guess_csv_form(read_regular_file(file, "a CSV file"));
    section["arguments"].update(form);
    for (const auto& [argument, value] : form.items())
      assumptions.push_back({"data.arguments." + argument, value.dump(),
                             "with it more fields of the first rows are numbers"});
  }
  if (!parted) {
    section["split"] = {{"test_size", 0.2}, {"seed", 42}};
    assumptions.push_back({"data.split", section["split"].dump(),
                           "the file has no test rows of its own: a fifth of its rows"});
  }
  return section;
}

ImportedModel import_model(const Arguments& arguments, const fs::path& file,
                           const fs::path& program_file) {
  program::ImportSources sources;
  sources.name = file.stem().string();
  const fs::path training = training_file(arguments, file);
  if (!training.empty()) {
    sources.training = read_training_options(training);
    sources.training_file = training.string();
  }
  std::vector<program::Assumption> of_data;
  std::shared_ptr<const training::Dataset> data;
  program::DataInfo info;
  if (arguments.has("data")) {
    sources.data = data_section(arguments.text("data"), program_file, of_data);
  } else if (const Json* section = member(sources.training, "data")) {
    sources.data = *section;
  }
  if (!sources.data.is_null()) {
    data = training::load_dataset(sources.data, data_path(arguments, program_file));
    info = data->info();
    sources.info = &info;
  }
  const auto read = [&] {
    const program::KerasModelFile model(file);
    return ImportedModel{program::import_keras(model.model(), sources), model.model()};
  };
  read_in_child(file, [&] { read(); });
  ImportedModel imported = read();
  auto& assumptions = imported.import.assumptions;
  assumptions.insert(assumptions.end(), of_data.begin(), of_data.end());
  return imported;
}

Json to_json(const std::vector<program::Assumption>& assumptions) {
  Json list = Json::array();
  for (const program::Assumption& each : assumptions) {
    list.push_back({{"field", each.field}, {"value", each.value}, {"reason", each.reason}});
  }
  return list;
}

std::string to_text(const std::vector<program::Assumption>& assumptions) {
  if (assumptions.empty()) return "";
  TextTable table({"assumed", "value", "reason"});
  for (const program::Assumption& each : assumptions)
    table.add({each.field, each.value, each.reason});
  return table.text();
}

}  // namespace neutra::cli
