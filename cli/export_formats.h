#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/model_weights.h"
#include "program/parameters.h"
#include "program/program.h"
#include "training/data/dataset.h"

/// A program as files that other programs run or read (docs/formats/exports.md).
namespace neutra::cli {

/// What an export is made of.
struct ExportRequest {
  std::string id;                                 ///< of the fault or the subject
  const program::Program& program;                ///< lives longer
  program::ResolvedProgram resolved;              ///< with the shapes of its data
  const program::ProgramSpace* space = nullptr;   ///< its keys; null: none that fit it
  std::shared_ptr<const training::Dataset> data;  ///< null where the data are not here
  program::ModelWeights weights;                  ///< of formats with weights
  std::uint32_t seed = 0;                         ///< of scripts, unless they are given another one
};

/// A file: name and content.
using ExportFile = std::pair<std::string, std::string>;

/// A format that a program can be written in.
struct ExportFormat {
  std::string name;     ///< "keras", "h5", ...
  std::string summary;  ///< one line
  std::string main;     ///< the file that matters: "train.py", "model.h5"
  bool model = false;   ///< holds weights, not rows
  bool text = false;    ///< `main` can be printed
  /// All files but arrays, `main` first. Throws input_error for what the format can't hold, and
  /// names it.
  std::vector<ExportFile> (*make)(const ExportRequest& request) = nullptr;
  bool rows = false;  ///< of the data, as .npy files beside them
};

/// In the order of the documentation.
const std::vector<ExportFormat>& export_formats();
/// The format of that name; nullptr: there is none.
const ExportFormat* find_export_format(std::string_view name);
/// Is it what a fault-localisation tool reads?
bool is_for_tool(const ExportFormat& format);

/// What a Keras model file can't hold: the program's other sections and its keys.
Json sidecar(const ExportRequest& request);

/// Writes all files, and the arrays where the format has some, into a folder that is empty or not
/// there yet: all or nothing. Returns their names. Throws input_error, and Error(kInterrupted)
/// once a stop was requested.
std::vector<std::string> export_folder(const ExportFormat& format, const ExportRequest& request,
                                       const std::filesystem::path& folder);

/// The initial weights of replica `replica` of a training with that seed; `independent`: in the
/// random streams of kill tests and benchmarks (--stream).
program::ModelWeights initial_weights(const program::Program& program,
                                      const program::ResolvedProgram& resolved, std::uint64_t seed,
                                      int replica, bool independent);

}  // namespace neutra::cli
