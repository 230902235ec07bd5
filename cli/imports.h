#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "program/formats/keras_import.h"

namespace neutra::cli {

/// A model file as a program, with what was filled in.
struct ImportedModel {
  program::KerasImport import;  ///< the program, and what was assumed for it
  program::KerasModel model;    ///< as the file has it
};

/// The file beside a model with what the model's can't hold: MODEL.neutra.json.
std::filesystem::path sidecar_file(const std::filesystem::path& model);

/// Reads a Keras model, the rows of --data and the options of --training. `program_file`: where the
/// program is, or would be; its data are looked up from there. Throws input_error.
ImportedModel import_model(const Arguments& arguments, const std::filesystem::path& file,
                           const std::filesystem::path& program_file);

/// The data section for the file of --data, and what was assumed for it.
Json data_section(const std::filesystem::path& file, const std::filesystem::path& program_file,
                  std::vector<program::Assumption>& assumptions);

/// Runs `read` in a process of its own, with bounds on memory and time. HDF5's library can be
/// brought down by damaged files; this process lives on and throws input_error, also what `read`
/// throws there. Precondition: no other thread runs.
void read_in_child(const std::filesystem::path& file, const std::function<void()>& read);

/// A list of {field, value, reason}.
Json to_json(const std::vector<program::Assumption>& assumptions);
/// A table; "" for none.
std::string to_text(const std::vector<program::Assumption>& assumptions);

}  // namespace neutra::cli
