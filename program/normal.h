#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "program/vocabulary.h"

namespace neutra::program {

enum class Defaults {
  kFill,  ///< every field present
  kDrop   ///< fields equal to their default left out
};

/// The document in normal form: canonical names, one spelling of everything, numbers normalised.
/// Appends every problem that shows without shapes; a value with a problem stays as it is written,
/// so that different wrong documents have different normal forms. Never throws.
Json normal_form(const Json& document, Defaults defaults, std::vector<Problem>& problems);

/// The same for one value of a field; `path` is its place in the document.
Json normal_value(const Field& field, const Json& value, Defaults defaults, const std::string& path,
                  std::vector<Problem>& problems);

/// The first option of a metric given as a class that would make another number of it than neutra
/// computes (tf.keras 2.4, metrics.py); its path is the option. nullopt: none, or no known metric.
std::optional<Problem> unusual_metric_option(const std::string& name, const Json& config);

/// model.config.layers, which old Keras versions store as model.config itself; nullptr if the
/// document has no such array. The path of a layer is layers_path + "/N".
const Json* find_layers(const Json& document);
std::string layers_path(const Json& document);

/// The layer itself, or what a wrapper (TimeDistributed, Bidirectional) runs in the end.
const Json& innermost_layer(const Json& layer);

/// A JSON pointer's token for `key`: '~' and '/' escaped.
std::string pointer_token(std::string_view key);
/// A value as a message shows it: JSON, shortened.
std::string shown(const Json& value);
/// The canonical word of a loss in normal form, and its options.
std::string loss_word(const Json& loss);
LossOptions loss_options(const Json& loss);
/// Whole numbers as integers, however they are written; others unchanged.
Json normal_number(const Json& value);

}  // namespace neutra::program
