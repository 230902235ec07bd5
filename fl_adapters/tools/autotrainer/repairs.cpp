#include "fl_adapters/tools/autotrainer/repairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/numbers.h"
#include "fl_adapters/tools/autotrainer/problems.h"
#include "program/graph.h"

namespace neutra::fl_adapters::autotrainer {
namespace {

/// A repair that the tool tries for a problem, up to `tries` times.
struct Repair {
  std::string name;
  int tries = 1;
};

/// "lr_3" -> lr, 3 tries.
Repair repair_of(const std::string& word) {
  const std::size_t bar = word.rfind('_');
  return {word.substr(0, bar), std::stoi(word.substr(bar + 1))};
}

/// By problem, in the tool's order.
const std::map<std::string, std::vector<Repair>>& repairs() {
  static const auto table = [] {
    std::map<std::string, std::vector<Repair>> read;
    for (const auto& [problem, words] : message_table().repairs()) {
      for (const std::string& word : words) read[problem].push_back(repair_of(word));
    }
    return read;
  }();
  return table;
}

/// Layers that the tool's repairs change.
struct Places {
  std::set<int> activations;   ///< replaced by selu, relu, tanh, leaky
  std::set<int> initializers;  ///< of kernels
  std::set<int> output;        ///< whose activation a wrong output activation is
};

Places places_in(const program::ResolvedProgram& program) {
  const auto has = [&](std::size_t i, const char* field) {
    return member(program.layers[i].config, field) != nullptr;
  };
  const auto activates = [&](std::size_t i) {
    static const std::set<std::string> kLayers{"Activation", "ELU", "LeakyReLU", "ReLU", "Softmax"};
    return i < program.layers.size() && kLayers.contains(program.layers[i].class_name);
  };
  Places places;
  std::size_t last = program.layers.size();
  while (last > 0 && (!has(last - 1, "activation") || activates(last - 1))) --last;
  for (std::size_t i = 0; i + 1 < last; ++i) {
    const int index = program.layers[i].index;
    if (program.layers[i].weights_of) continue;
    const auto next = program::only_consumer(program.layers, i);
    if (has(i, "activation") && !activates(i) && !(next && activates(*next))) {
      places.activations.insert(index);
    }
    if (has(i, "kernel_initializer")) places.initializers.insert(index);
  }
  std::size_t output = program.layers.size();
  while (output > last && !activates(output - 1)) --output;
  if (output > 0) places.output = {program.layers[output - 1].index};
  return places;
}

/// "a, b or c"
std::string any_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

/// The numbers of a repair's tries: first, first * base^step, first * base^(2 step), ..., without
/// the one that is there.
std::vector<std::string> tried(double first, double base, int step, int tries, double present) {
  std::vector<std::string> values;
  for (int i = 0; i < tries; ++i) {
    const double value = first * std::pow(base, step * i);
    if (std::abs(value - present) > 1e-9 * value) values.push_back(shortest(value));
  }
  return values;
}

/// The first that the task allows and that isn't there; "" for none.
template <typename Allows>
std::string first_other(const std::vector<std::string>& words, const std::string& present,
                        Allows allows) {
  const auto it = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return word != present && allows(word);
  });
  return it == words.end() ? "" : *it;
}

/// Keras's loss that the tool would take instead; "" for none.
std::string other_loss(const Model& model, const Care* care) {
  const std::string wanted = model.outputs > 2 ? "categorical_crossentropy" : "binary_crossentropy";
  if (care != nullptr) {
    return first_other(
        {wanted, "sparse_categorical_crossentropy", "mean_squared_error", "mean_absolute_error"},
        model.loss, [&](const std::string& loss) { return care->rules.allows_loss(loss); });
  }
  return model.loss != wanted ? wanted : any_of({"mean_squared_error", "mean_absolute_error"});
}

std::string output_activation(const Model& model, const Care* care) {
  if (care != nullptr) {
    return first_other(
        care->rules.regression() ? std::vector<std::string>{"linear"}
                                 : std::vector<std::string>{"softmax", "sigmoid", "linear"},
        model.activation,
        [&](const std::string& activation) { return care->rules.allows_activation(activation); });
  }
  if (model.outputs != 1) return "softmax";
  return model.loss.find("entropy") != std::string::npos ? "sigmoid" : "linear";
}

/// The numbers that a repair tries one after the other; empty where it tries none.
std::vector<std::string> numbers_of(const Repair& repair, const std::string& problem,
                                    const program::ResolvedProgram& program, const Care* care) {
  constexpr double kNone = -1;
  if (repair.name == "lr") {
    const bool sgd = program.optimizer.at("class_name") == "SGD";
    const double rate = program.optimizer.at("config").at("learning_rate");
    return tried(sgd ? 0.01 : 0.001, 10, problem == "not_converge" ? 1 : -1, repair.tries,
                 care != nullptr ? rate : kNone);
  }
  if (repair.name == "batch") {
    return tried(32, 2, 1, repair.tries,
                 care != nullptr ? static_cast<double>(program.batch_size) : kNone);
  }
  return {};
}

/// What fills the braces of a repair's text.
std::vector<std::string> values_of(const Repair& repair, const std::string& problem,
                                   const program::ResolvedProgram& program, const Care* care) {
  const std::string optimizer = program.optimizer.at("class_name");
  if (const auto numbers = numbers_of(repair, problem, program, care); !numbers.empty()) {
    return {any_of(numbers)};
  }
  if (repair.name == "gradient") return {"9 to 10"};
  if (repair.name == "momentum") return {"0.01 to 0.9"};
  if (repair.name == "loss") return {other_loss(model_of(program), care)};
  if (repair.name == "activation") return {output_activation(model_of(program), care)};
  if (repair.name == "initial") {
    const std::string any = any_of({"he_uniform", "lecun_uniform", "glorot_normal",
                                    "glorot_uniform", "he_normal", "lecun_normal"});
    return {any, any};
  }
  if (repair.name == "optimizer") {
    std::vector<std::string> others{"SGD", "Adam", "Nadam", "Adamax", "RMSprop"};
    std::erase(others, optimizer);
    return {any_of(others)};
  }
  return {};
}

/// Is it there, or is there nothing that it may change? What the repaired tool asks besides.
bool is_pointless(const Repair& repair, const program::ResolvedProgram& program, const Care& care) {
  const auto has_layer = [&](const char* name) {
    return std::any_of(
        program.layers.begin(), program.layers.end(),
        [&](const program::ResolvedLayer& layer) { return layer.class_name == name; });
  };
  if (repair.name == "loss") return other_loss(model_of(program), &care).empty();
  if (repair.name == "activation") return output_activation(model_of(program), &care).empty();
  if (repair.name == "data") return care.features_scaled;
  if (repair.name == "bn") return has_layer("BatchNormalization");
  if (repair.name == "GN") return has_layer("GaussianNoise");
  if (repair.name == "momentum") {
    const Json* momentum = member(program.optimizer.at("config"), "momentum");
    return program.optimizer.at("class_name") == "SGD" && momentum != nullptr &&
           momentum->get<double>() > 0;
  }
  if (repair.name == "ReduceLR") {
    return std::any_of(
        program.callbacks.begin(), program.callbacks.end(),
        [](const Json& callback) { return callback.at("class_name") == "ReduceLROnPlateau"; });
  }
  if (repair.name == "selu" || repair.name == "relu" || repair.name == "tanh") {
    const std::set<int> places = places_in(program).activations;
    return !places.empty() && std::all_of(places.begin(), places.end(), [&](int layer) {
      return program.layers[static_cast<std::size_t>(layer)].config.at("activation") == repair.name;
    });
  }
  return false;
}

/// Does the program have it already? Then the tool doesn't try it.
bool is_there(const Repair& repair, const program::ResolvedProgram& program) {
  const Json& optimizer = program.optimizer;
  if (repair.name == "adam") return optimizer.at("class_name") == "Adam";
  if (repair.name == "batch") return program.batch_size == 32;
  if (repair.name == "gradient") {
    for (const char* field : {"clipvalue", "clipnorm"}) {
      const Json* value = member(optimizer.at("config"), field);
      if (value != nullptr && !value->is_null()) return true;
    }
  }
  return false;
}

ToolMessage message_of(const Repair& repair, const std::string& problem,
                       const program::ResolvedProgram& program, const Care* care) {
  const Places places = places_in(program);
  ToolMessage message = message_table().message("repair:" + repair.name);
  message.text = with_values(message.text, values_of(repair, problem, program, care));
  const std::size_t numbers = numbers_of(repair, problem, program, care).size();
  const std::size_t tries = numbers > 0 ? numbers : static_cast<std::size_t>(repair.tries);
  message.detail =
      "tried " + std::to_string(tries) + (tries == 1 ? " time" : " times") + " for " + problem;
  for (program::FaultEntry& fault : message.faults) {
    if (repair.name == "activation") {
      fault.layers = places.output;
    } else if (fault.type == "ACH") {
      fault.layers = places.activations;
    } else if (fault.type == "WCI") {
      fault.layers = places.initializers;
    }
    message.layers = fault.layers;
  }
  // Where there is nothing to change, the repair isn't one.
  std::erase_if(message.faults, [](const program::FaultEntry& fault) {
    return (fault.type == "ACH" || fault.type == "WCI") && fault.layers.empty();
  });
  return message;
}

}  // namespace

std::vector<ToolMessage> messages_for(const std::string& problem,
                                      const program::ResolvedProgram& program, std::int64_t epoch,
                                      const Care* care) {
  std::vector<ToolMessage> messages{message_table().message(problem)};
  messages.front().epochs = {epoch};
  for (const Repair& repair : repairs().at(problem)) {
    if (is_there(repair, program)) continue;
    if (care != nullptr && is_pointless(repair, program, *care)) continue;
    ToolMessage message = message_of(repair, problem, program, care);
    message.epochs = {epoch};
    for (const program::FaultEntry& fault : message.faults) {
      std::vector<program::FaultEntry>& choice = messages.front().faults;
      if (std::find(choice.begin(), choice.end(), fault) == choice.end()) choice.push_back(fault);
    }
    const program::FaultSet own{true, {message.faults}};
    message.ignored = message.faults.empty() ? "changes nothing here"
                                             : to_string(own) + " is in the choice of " + problem;
    message.faults.clear();
    messages.push_back(std::move(message));
  }
  if (care != nullptr && messages.front().faults.empty()) {
    messages.front().ignored = "the program has all that the tool would try";
  }
  return messages;
}

std::vector<evaluators::Suspect> ranking_of(const std::vector<ToolMessage>& messages) {
  std::vector<evaluators::Suspect> ranking;
  for (const ToolMessage& message : messages) {
    for (const program::FaultEntry& fault : message.faults) {
      evaluators::Suspect suspect;
      suspect.type = fault.type;
      if (fault.layers.size() == 1) suspect.layer = *fault.layers.begin();
      suspect.suspiciousness = 1 / static_cast<double>(ranking.size() + 1);
      ranking.push_back(std::move(suspect));
    }
  }
  return ranking;
}

}  // namespace neutra::fl_adapters::autotrainer
