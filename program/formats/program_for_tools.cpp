#include "program/formats/program_for_tools.h"

#include "program/graph.h"
#include "program/layer.h"
#include "program/normal.h"

namespace neutra::program {

namespace {

/// Drops the fields that can have one value only: older versions of Keras don't know all of them.
void drop_fixed(Json& config, const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    if (field.type == FieldType::kFixed) config.erase(field.name);
  }
}

/// Drops what tf.keras 2.4 has no word for where it is off.
void drop_unset(Json& optimizer) {
  const std::pair<const char*, Json> off[] = {{"rules", "keras"},
                                              {"weight_decay", 0},
                                              {"undecayed", Json::array()},
                                              {"dampening", 0},
                                              {"decoupled_weight_decay", false},
                                              {"global_clipnorm", nullptr}};
  for (const auto& [field, value] : off) {
    if (optimizer.contains(field) && optimizer[field] == value) optimizer.erase(field);
  }
}

/// The same of fit; a schedule with nothing but decay_rate is as it always was.
void drop_unset_fit(Json& fit) {
  if (fit.value("initial_weights", Json()).is_null()) fit.erase("initial_weights");
  Json& schedule = fit["schedule"];
  if (!schedule.is_object() || schedule.value("kind", "exponential") != "exponential") return;
  schedule.erase("kind");
  if (schedule["steps"] == 1) schedule.erase("steps");
  if (schedule["staircase"] == false) schedule.erase("staircase");
}

/// The same in a layer, and in what it wraps; also what is new in Keras and off.
void simplify(Json& layer) {
  Json& config = layer["config"];
  const std::vector<Field>& fields = find_layer(layer.at("class_name").get<std::string>())->fields;
  drop_fixed(config, fields);
  for (const char* field :
       {"backward_layer", "mask_zero", "sample_variance", "two_biases", "zero_output_for_mask"}) {
    if (const Json* value = member(config, field); value != nullptr && !value->is_object()) {
      if (*value != true) config.erase(field);
    }
  }
  for (const char* field : {"layer", "backward_layer"}) {
    if (config.contains(field)) simplify(config[field]);
  }
}

}  // namespace

Json program_for_tools(const Program& program, const DataInfo* data) {
  require_chain(resolve(program), "programs of tools have no other");
  std::vector<Problem> problems;
  Json document = normal_form(program.document, Defaults::kFill, problems);
  for (Json& layer : document["model"]["config"]["layers"]) {
    simplify(layer);
    if (find_layer(layer["class_name"].get<std::string>())->kind == LayerKind::kInput) {
      layer["config"].erase("trainable");  // Keras has none there
    }
  }
  Json& optimizer = document["compile"]["optimizer"];
  drop_fixed(optimizer["config"],
             find(Vocabulary::kOptimizer, optimizer.at("class_name").get<std::string>())->fields);
  drop_unset(optimizer["config"]);
  drop_unset_fit(document["fit"]);
  document["model"]["class_name"] = "Sequential";  // as chains are, however they are written
  // tf.keras 2.4 takes a config without a name for the list of layers of old versions.
  document["model"]["config"]["name"] = "sequential";
  Shape input = data != nullptr ? data->x : resolve(program).input_shape;
  if (!input.empty()) {
    Json shape = Json::array({nullptr});
    for (const std::int64_t extent : input) shape.push_back(extent);
    document["model"]["config"]["layers"][0]["config"]["batch_input_shape"] = std::move(shape);
  }
  return document;
}

}  // namespace neutra::program
