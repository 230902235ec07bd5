#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fl_adapters/messages.h"

/// TheDeepChecker (Ben Braiek and Khomh, TOSEM 2023), after its public behaviour:
/// docs/methods/thedeepchecker.md has every check, what can't be checked here and why, and what
/// `repaired` fixes. Each check is a function or a class of its own over plain numbers; the checks
/// of one kind share a file. This one has what all of them need: thresholds, places, messages.
namespace neutra::fl_adapters::thedeepchecker {

/// Messages and thresholds: tools/thedeepchecker.json.
const MessageTable& message_table();
/// A threshold of the table; precondition: it has one of this name.
double limit(const char* name);
/// One that counts something.
std::size_t count_limit(const char* name);

using Messages = std::vector<ToolMessage>;

/// What a message is about.
struct Place {
  int layer = -1;      ///< over config.layers
  std::string name;    ///< the tool's: "dense_1/kernel:0", "dense_1/relu"
  bool image = false;  ///< weights of more than two extents, outputs of more than one: "Conv."
  /// Layers that hold the activation function and the weights, where they are others; -1: `layer`.
  int activation_layer = -1, weight_layer = -1;
};

/// No layer: what messages about the data, the loss or the whole model are about.
inline const std::set<int> kNowhere;

/// A message about `layers`. `values` take the places of "{}" in its text.
ToolMessage make_message(const std::string& code, std::set<int> layers = {},
                         const std::vector<std::string>& values = {},
                         const std::string& detail = "");
/// A message about one place.
ToolMessage make_message(const std::string& code, const Place& place,
                         const std::vector<std::string>& values = {});
/// The code for a convolution or for a fully connected layer: "conv_w_dead", "fc_w_dead".
std::string kind(const Place& place, const char* code);
/// Appends a message that was said in one iteration (or epoch), from 0.
void add(Messages& out, ToolMessage message, std::int64_t iteration);

/// record() for each of them.
void record_all(Messages& into, Messages messages);

/// Does the tool look at activations, weights and gradients in this iteration, from 0?
bool is_due(std::int64_t iteration);

/// Do two numbers differ by at most the threshold "almost"?
bool almost_equal(double a, double b);

/// A number as the tool prints it: rounded to three digits.
std::string rounded(double value);
/// A threshold as its file has it.
std::string plain(double value);

}  // namespace neutra::fl_adapters::thedeepchecker
