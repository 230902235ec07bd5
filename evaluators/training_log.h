#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace neutra::evaluators {

/// What a training did, epoch by epoch.
struct TrainingCurves {
  /// Keras's logs by name: "loss", the metric, "val_loss", "val_" and the metric; one value for
  /// each finished epoch, not always finite.
  std::map<std::string, std::vector<double>> series;
  double begin = 0;          ///< seconds since 1970
  std::vector<double> ends;  ///< of the epochs, seconds since 1970
};

/// A form in which a training is logged.
enum class LogFormat {
  kCsv,          ///< a table of the epochs
  kTensorBoard,  ///< an event file
  kMlflow        ///< a run in a folder mlruns
};
std::string_view to_string(LogFormat format);  ///< "csv", "tensorboard", "mlflow"
/// nullopt for an unknown word.
std::optional<LogFormat> parse_log_format(std::string_view word);

/// One training, as its log tells it.
struct LoggedTraining {
  std::string program;     ///< id or name, any text
  std::string variant;     ///< "buggy", "fixed"
  std::string hash;        ///< of the program
  std::string stream;      ///< "prefix", "independent"
  std::uint64_t seed = 0;  ///< of the study
  int replica = 0;
  std::map<std::string, std::string> parameters;  ///< the program's hyperparameters
  std::string backend;                            ///< "eager", "fused"
  std::string status = "ok";                      ///< RunStatus
  std::string message;                            ///< reason where the status isn't "ok"
  std::string metric;                             ///< "accuracy"
  double value = 0;  ///< of the metric on the hold-out rows, may be NaN
  TrainingCurves curves;
  Json provenance = {};  ///< versions, machine
};

/// The folder of a training's replicas, for files of all formats but MLflow's: a name made of
/// letters, digits, '.', '_' and '-', different for each program, seed and stream.
std::string log_folder(const LoggedTraining& training);

/// A file of a log.
struct LogFile {
  std::filesystem::path path;  ///< within the folder of all logs
  std::string content;
};

/// The files of one training's log (docs/formats/training_log.md), in the order in which they are
/// to be written. The same training has the same names. `folder`: that of all logs.
std::vector<LogFile> log_files(LogFormat format, const LoggedTraining& training,
                               const std::filesystem::path& folder);

}  // namespace neutra::evaluators
