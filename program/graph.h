#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"

/// How the layers of a model are connected (docs/methods/graphs.md). They stand in a list whose
/// order is the one in which they are computed; the last one gives the output.
namespace neutra::program {

/// Positions over the layers.
struct Wiring {
  /// Of each layer: those whose outputs it takes, in order. Empty: the model's input.
  std::vector<std::vector<std::size_t>> inputs;
  /// Of each layer that is an earlier one called once more: that one.
  std::vector<std::optional<std::size_t>> weights_of;
  bool operator==(const Wiring&) const = default;
};

/// The name that a layer of a document has, config.name; nullptr where it has none.
const std::string* name_of(const Json& layer);

/// The layer that a reference of layer `index` means: a name, in normal form a position. nullopt:
/// none before it.
std::optional<std::size_t> layer_referred(const Json& layers, const Json& reference,
                                          std::size_t index);

/// Of the array of layers of a document, written or in normal form, which may have problems: a
/// reference that leads to no layer before is left out, and a layer that has none left takes the
/// one before it.
Wiring wiring_of(const Json& layers);
Wiring wiring_of(const std::vector<ResolvedLayer>& layers);
/// Where the layer at a position is called: there, then where others take its weights, ascending.
std::vector<std::size_t> calls_of(const Wiring& wiring, std::size_t position);
/// Does any layer name its inputs, or the layer whose weights it takes?
bool names_wiring(const Json& layers);
/// Wires the layers as `wanted` has it; names get layers that must be named and have none. What
/// says the same already stays as it is written. Precondition: as many layers, in an order in which
/// they can be computed.
void set_wiring(Json& layers, const Wiring& wanted);

/// What is wrong with the wiring of the layers at `path`, whose normal form is `normal`: a layer
/// that leads nowhere, a graph without an InputLayer.
void check_wiring(const Json& normal, const std::string& path, std::vector<Problem>& problems);

/// Is each layer's input the output of the one before it, and every layer called once?
bool is_chain(const std::vector<ResolvedLayer>& layers);
/// Throws input_error where it isn't so. `reason`: who needs it, "TOOL reads no other".
void require_chain(const ResolvedProgram& program, const std::string& reason);
/// For each layer, those that take its output, ascending; one that takes it twice is there twice.
std::vector<std::vector<std::size_t>> consumers_of(const std::vector<ResolvedLayer>& layers);
/// The layer that alone takes the output of the one at a position, and takes no other.
std::optional<std::size_t> only_consumer(const std::vector<ResolvedLayer>& layers,
                                         std::size_t position);

/// The layers of `before` that take other inputs than their partner in `after` (for each layer of
/// `before`, by position). A layer without a partner stands for its input; where it has several,
/// those that take its output are left out, as nobody can say what they took.
std::vector<std::size_t> rewired_layers(const Wiring& before, const Wiring& after,
                                        const std::vector<std::optional<std::size_t>>& partner);

}  // namespace neutra::program
