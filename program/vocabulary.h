#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace neutra::program {

/// What a field of a document may hold. The normal form of a value is what resolve() delivers.
enum class FieldType {
  kInteger,  ///< whole number; 3.0 is 3
  kNumber,   ///< finite number
  kBoolean,
  kText,         ///< one of `words`, any text where there are none
  kLabel,        ///< any text but ""
  kObject,       ///< any object
  kList,         ///< any array
  kFixed,        ///< only the default: other values are known to Keras but not supported here
  kIgnored,      ///< anything: without influence on results
  kDtype,        ///< "float32" or a policy of that name; left out of the normal form
  kBatchShape,   ///< [null, extents...]; left out of the normal form
  kSingle,       ///< n or [n] -> [n]
  kPair,         ///< n or [n, n] -> [n, n]
  kPadding,      ///< n, [n, n] or [[n, n], [n, n]] -> [[n, n], [n, n]]
  kExtents,      ///< array of whole numbers
  kAxis,         ///< n or [n] -> n
  kAxes,         ///< n or [n, ...] -> [n, ...], ascending
  kNumbers,      ///< a number, or an array of numbers; nested ones become one
  kActivation,   ///< null or a word -> canonical word
  kInitializer,  ///< a word or {class_name, config} -> {class_name, config}
  kRegularizer,  ///< null, a word or {class_name, config} -> null or L1L2 {class_name, config}
  kConstraint,   ///< null, a word or {class_name, config} -> null or {class_name, config}
  kOptimizer,    ///< a word or {class_name, config} -> {class_name, config}
  kLoss,         ///< a word or {class_name, config} -> canonical word, with options the latter
  kMetrics,      ///< array of words or {class_name, config} -> array of canonical words
  kMeasure,      ///< a metric that can be measured on the hold-out rows -> canonical word
  kCallbacks,    ///< array of {class_name, config}
  kModel,        ///< {class_name, config}
  kModelConfig,  ///< {layers} or, in old Keras versions, the array of layers itself
  kLayers,       ///< array of {class_name, config}
  kLayer,        ///< one of them: what a wrapper runs
  kCompile,
  kFit,
  kClassWeight,  ///< {"0": number, "1": number, ...}, a number for each class
  kSchedule,
  kLoop,
  kLayerList,  ///< array of positions in config.layers -> sorted, each once
  kTrained,
  kTrainedMutations,  ///< array of {op, ...}, each op with fields of its own
  kData,
  kSplit,       ///< {test_size, seed}
  kValidation,  ///< a split, or "test"
  kMetric
};

/// One field of a layer's, optimiser's, ... configuration or of a section of the document.
struct Field {
  std::string name;                             ///< as documents of today have it
  FieldType type = FieldType::kIgnored;         ///< what it may hold
  std::optional<Json> fallback = std::nullopt;  ///< Keras's default; nullopt: must be given
  double low = -std::numeric_limits<double>::infinity();  ///< least number
  double high = std::numeric_limits<double>::infinity();  ///< greatest number
  bool open_low = false;                                  ///< the range leaves `low` itself out
  bool open_high = false;                                 ///< the range leaves `high` itself out
  bool null_is_default = false;                           ///< null stands for the default
  std::vector<std::string> words = {};                    ///< allowed texts
  std::vector<std::string> aliases = {};                  ///< names of older Keras versions
};

/// What a normal form says of fields that have their default value.
enum class Defaults {
  kFill,  ///< every field present
  kDrop   ///< fields equal to their default left out
};

/// Families of names in program/keras_names.json.
enum class Vocabulary {
  kActivation,
  kInitializer,
  kRegularizer,
  kLoss,
  kOptimizer,
  kMetric,
  kCallback,
  kTrainedMutation,  ///< ops of trained.mutations
  kConstraint
};

/// A name that Keras knows.
struct Entry {
  std::string name;  ///< canonical: "relu", "GlorotUniform", "mean_squared_error", "Adam"
  std::string
      word;  ///< as spelled in records: "glorot_uniform", "adam"; the name itself if not given
  std::vector<std::string> aliases;  ///< other spellings
  std::vector<Field> fields;         ///< of its config
  Json facts;  ///< the entry in the file, for what only one family has (means, rank, goal)
};

/// The names of a family, in the order of the file.
const std::vector<Entry>& entries(Vocabulary vocabulary);
/// By name, word or alias; nullptr for an unknown word.
const Entry* find(Vocabulary vocabulary, std::string_view word);
/// The records' words of a family, sorted as in the file.
std::vector<std::string> words(Vocabulary vocabulary);
/// Fields of a section of the document: "compile", "fit", "layer_config", ...
const std::vector<Field>& section_fields(std::string_view section);
/// By name or alias; nullptr where there is none.
const Field* find_field(const std::vector<Field>& fields, std::string_view name);

}  // namespace neutra::program
