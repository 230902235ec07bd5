#pragma once

#include <string>
#include <vector>

#include "program/formats/keras_layers.h"
#include "program/vocabulary.h"

namespace neutra::program {

/// What an import had to fill in, change or leave out, and why.
struct Assumption {
  std::string field;   ///< of the program: "compile.loss"
  std::string value;   ///< as a message shows it
  std::string reason;  ///< one sentence
};

/// What an import of a model has to say: what it assumed and what it can't represent.
struct ImportNotes {
  const KerasModel& model;                   ///< which is imported
  std::vector<Assumption> assumptions = {};  ///< in the order in which they were made
  std::vector<std::string> problems = {};    ///< a line each

  /// Notes a problem with a place of the model's file.
  void refuse(const std::string& place, const std::string& found, const std::string& allowed);
  /// Notes an assumption.
  void assume(const std::string& field, const std::string& value, const std::string& reason);
  /// A word or {class_name, config} of a vocabulary under today's names, without what says nothing
  /// about it. `family`, `kind`: its place in keras_history.json; `place`: in the model.
  Json named(Vocabulary vocabulary, const std::string& family, const std::string& kind,
             const Json& value, const std::string& place);
};

}  // namespace neutra::program
