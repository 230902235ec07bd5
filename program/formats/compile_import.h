#pragma once

#include <string>

#include "program/formats/import_notes.h"

namespace neutra::program {

/// How a Keras model was trained, as sections of a program: the model's own settings and options
/// beside it, which win.
class CompileImport {
 public:
  /// `training`: the options, null for none; `document`: gets the sections. All outlive it.
  CompileImport(ImportNotes& notes, const Json& training, Json& document)
      : notes_(notes), training_(training), document_(document) {}

  /// What the model was compiled with.
  void compile();
  /// AutoTrainer's training options, or sections of a program. `file`: of the options. Throws
  /// input_error for unknown ones.
  void training_options(const std::string& file);
  /// What helps where the file's training can't be represented, as the end of a message.
  std::string or_given() const;

 private:
  bool is_given(const std::string& field) const;
  void drop_clipping(Json& config);
  void add_optimizer(const Json& value);
  static void add_rules(const Json& stored, Json& config);
  void add_schedule(const Json& schedule, Json& config);
  void add_loss(const Json& stored);
  void add_metrics(const Json& stored);

  ImportNotes& notes_;
  const Json& training_;
  Json& document_;
};

}  // namespace neutra::program
