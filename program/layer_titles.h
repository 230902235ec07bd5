#pragma once

#include <set>
#include <string>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// How texts for people name layers, the same everywhere: by their number over model.config.layers,
/// from 0, as `neutra show` prints it, and by their name: "3, dense_2".
class LayerTitles {
 public:
  LayerTitles() = default;  ///< of a model that isn't known: numbers
  /// Of a document that need not be valid. A layer without a name of its own gets Keras's: "dense",
  /// "dense_1", ...
  explicit LayerTitles(const Json& document);

  /// The name of each layer, its own or Keras's.
  const std::vector<std::string>& names() const { return names_; }
  /// "3, dense_2"; the number alone where there is no such layer.
  std::string operator()(int layer) const;
  /// "0, dense; 3, dense_2"
  std::string operator()(const std::set<int>& layers) const;

 private:
  std::vector<std::string> names_;
};

}  // namespace neutra::program
