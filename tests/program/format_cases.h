#pragma once

#include <string>

#include "program/formats/keras_script.h"
#include "support.h"

/// Programs that exports are tried on.
namespace neutra::program::tests {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Rows of 4 steps of 3 words, with every wrapper.
inline Program wrapped_program() {
  Program program = sample("sequence");
  const auto layer = [](const char* name, Json config) {
    return Json{{"class_name", name}, {"config", std::move(config)}};
  };
  const Json gru = layer("GRU", {{"units", 2}, {"return_sequences", true}, {"go_backwards", true}});
  const Json lstm = layer("LSTM", {{"units", 3}, {"return_sequences", true}});
  tests::at(program, "/model/config/layers") = Json::array(
      {layer("Embedding", {{"input_dim", 9},
                           {"output_dim", 2},
                           {"mask_zero", true},
                           {"batch_input_shape", {nullptr, 4}}}),
       layer("Bidirectional", {{"layer", lstm}, {"backward_layer", gru}}),
       layer("TimeDistributed", {{"layer", layer("BatchNormalization", Json::object())}}),
       layer("TimeDistributed",
             {{"layer", layer("Bidirectional", {{"layer", layer("SimpleRNN", {{"units", 2}})}})}}),
       layer("TimeDistributed", {{"layer", layer("Dense", {{"units", 3}})}})});
  Json& layers = tests::at(program, "/model/config/layers");
  layers.insert(layers.begin() + 3, layer("Reshape", {{"target_shape", {4, 5, 1}}}));
  tests::at(program, "/compile/loss") = "mse";
  tests::at(program, "/compile/metrics") = Json::array();
  return program;
}

/// The program "mlp" with what isn't Keras's default of losses, weights and classes.
inline Program with_options() {
  Program program = sample("mlp");
  tests::at(program, "/compile/loss") = {
      {"class_name", "CategoricalCrossentropy"},
      {"config", {{"from_logits", true}, {"label_smoothing", 0.1}}}};
  tests::at(program, "/fit")["class_weight"] = {{"0", 1}, {"1", 2.5}};
  Json& layers = tests::at(program, "/model/config/layers");
  layers[0]["config"]["kernel_constraint"] = {{"class_name", "MaxNorm"},
                                              {"config", {{"max_value", 3}}}};
  layers[2]["config"]["bias_constraint"] = "non_neg";
  layers[2]["config"]["activation"] = "linear";
  return program;
}

/// The program "mlp" with weights of rows.
inline Program with_sample_weights() {
  Program program = sample("mlp");
  tests::at(program, "/data") = {{"source", "npz"},
                                 {"arguments", {{"file", "a.npz"}, {"sample_weight", true}}},
                                 {"split", {{"test_size", 0.2}, {"seed", 1}}}};
  return program;
}

inline std::string script(const Program& program, KerasDialect dialect, bool standalone = false) {
  KerasScriptOptions options;
  options.standalone = standalone;
  options.dialect = dialect;
  return keras_script(program, options);
}

}  // namespace neutra::program::tests
