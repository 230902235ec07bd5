#include "base/hash.h"
#include "program/metric_logs.h"
#include "program/normal.h"
#include "program/program.h"

/// The canonical form and its hashes: program/program.h.
namespace neutra::program {
namespace {

Hash hash_text(const nlohmann::json& document) {
  return hash_of(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// The digest says which weights they are, wherever they lie.
void drop_place_of_weights(Json& normal) {
  const auto fit = normal.find("fit");
  if (fit == normal.end() || !fit->is_object()) return;
  const auto weights = fit->find("initial_weights");
  if (weights != fit->end() && weights->is_object() && weights->contains("sha256")) {
    weights->erase("file");
  }
}

}  // namespace

nlohmann::json canonical(const Program& program) {
  std::vector<Problem> problems;  // a wrong document has an identity too
  Json normal = normal_form(program.document, Defaults::kDrop, problems);
  if (normal.is_object()) {
    for (const char* metadata : {"format", "version", "name", "task"}) normal.erase(metadata);
    // A model is what its layers are, whatever class Keras builds it with.
    if (normal.contains("model") && normal["model"].is_object() &&
        normal["model"].value("class_name", Json()) == "Functional") {
      normal["model"].erase("class_name");
    }
    // Metrics are measured, not trained; the one that counts stands in `metric`.
    if (const auto compile = normal.find("compile");
        compile != normal.end() && compile->is_object()) {
      compile->erase("metrics");
    }
    keep_effective_callbacks(normal, program.document);
    if (normal.contains("fit") && normal["fit"].is_object() &&
        normal["fit"].value("callbacks", Json()) == Json::array()) {
      normal["fit"].erase("callbacks");
    }
    drop_place_of_weights(normal);
  }
  return nlohmann::json(normal);
}

Hash program_hash(const Program& program) { return hash_text(canonical(program)); }

Hash stream_hash(const Program& program) {
  nlohmann::json document = canonical(program);
  if (const auto fit = document.find("fit"); fit != document.end() && fit->is_object()) {
    fit->erase("epochs");
    if (fit->empty()) document.erase(fit);
  }
  if (document.is_object()) document.erase("trained");  // comes after the training
  return hash_text(document);
}

}  // namespace neutra::program
