#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// Key -> value as spelled in the published records, sorted by key.
using Parameters = std::map<std::string, std::string>;

/// "act1=relu,batch_size=32,...": sorted, as in the published TSV files.
std::string to_string(const Parameters& parameters);
/// Throws input_error (place: `where`) on an empty item, a missing '=' or a key given twice.
Parameters parse_parameters(std::string_view text, const std::string& where);

/// What a key stands for: a field of a layer, of the compile or of the fit section.
enum class KeyKind {
  kActivation,         ///< of a layer, or of an Activation layer behind it
  kKernelInitializer,  ///< of a kernel
  kBiasInitializer,    ///< of a bias
  kRepeat,             ///< how often a layer stands there: 0, 1 or 2 times
  kUnits,              ///< of a Dense or recurrent layer
  kDropout,            ///< a rate, in [0, 1)
  kLoss,
  kLearningRate,
  kOptimizer,  ///< another one keeps the learning rate, and has its other settings from Keras
  kBatchSize,
  kEpochs
};
/// The word of subject files: "activation", "kernel_initializer", ...
std::string_view to_string(KeyKind kind);
/// nullopt for an unknown word.
std::optional<KeyKind> parse_key_kind(std::string_view word);

/// A hyperparameter that may change.
struct Key {
  std::string name;  ///< "act1", "ki1", "bi1", "unit1", "layer1", "dropout1", "loss", "lr", ...
  KeyKind kind{};    ///< what it stands for
  std::vector<std::string>
      paths;  ///< JSON pointers into the base document; for kRepeat: of the layer itself
  /// Spellings that mean something else than Keras's word here, e.g. D4's "RandomNormal" has
  /// stddev 1.
  std::vector<std::pair<std::string, Json>> values;
};

/// All programs that differ from a base program in the values of its keys.
///
/// A kRepeat key counts copies of a layer: 0 removes it, 2 puts a second copy behind it; the
/// layer's other keys then mean both copies. Keys are kept in the order in which neighbours are
/// enumerated.
class ProgramSpace {
 public:
  /// Throws input_error when a path is not in the document, a key occurs twice or a spelling is
  /// unknown.
  ProgramSpace(Program base, std::vector<Key> keys, const std::string& file);
  /// Keys by the default rule: order ki, bi, act, layer, unit, dropout, loss, batch_size,
  /// optimizer, lr, epochs; N counts parametric layers (act: the activation of the layer or of a
  /// following Activation layer), unit/layer for hidden Dense layers only.
  static ProgramSpace with_default_keys(Program base);

  const Program& base() const { return base_; }           ///< the program that others differ from
  const std::vector<Key>& keys() const { return keys_; }  ///< in the order of enumeration
  /// The key of a name; nullptr where there is none.
  const Key* find(std::string_view name) const;

  /// The values that the base has.
  const Parameters& base_parameters() const { return base_parameters_; }
  /// Throws input_error for an unknown or missing key or an impossible value.
  Program instantiate(const Parameters& parameters, const std::string& where = "") const;
  /// The base parameters with `changes` applied ("act3=sigmoid,lr=0.1" already parsed).
  Parameters with_changes(const Parameters& changes, const std::string& where = "") const;
  /// Inverse of instantiate: the parameters of a program of this space (compared by canonical
  /// form), nullopt for any other.
  std::optional<Parameters> parameters_of(const Program& program) const;

 private:
  Program base_;
  std::vector<Key> keys_;
  Parameters base_parameters_;
};

}  // namespace neutra::program
