#pragma once

#include <string>

#include "program/program.h"

namespace neutra::program {

/// Refuses a program whose training begins with given weights: what is exported draws its own.
void require_drawn_weights(const Json& document);

/// Which Keras a script is written for.
enum class KerasDialect {
  kTfKeras,  ///< tf.keras 2.4 to 2.15, with the semantics of 2.4
  kKeras3,   ///< Keras 3: formulas of some optimisers, and clipping in losses, are its own
  kKeras23,  ///< standalone Keras 2.3 and before: accuracy's rule and some defaults are its own
  kKeras224  ///< what 2.3 has that 2.2.4 doesn't is refused; accuracy is logged as "acc"
};

/// One of the two versions of standalone Keras?
bool is_old(KerasDialect dialect);

/// Throws input_error for what a dialect can't do. `path`: JSON pointer into the program.
[[noreturn]] void refuse_in_script(const std::string& path, const std::string& found,
                                   const std::string& allowed);

/// Throws input_error for a layer that a dialect doesn't know or can't build. `config` is in normal
/// form, without defaults.
void require_layer(KerasDialect dialect, const std::string& class_name, const Json& config,
                   const std::string& path);
/// Turns the settings of a layer into those that Keras 3 has.
void translate_layer(Json& config, const std::string& class_name);
/// What the dialect calls a loss. Throws input_error for one that it doesn't know.
std::string dialect_loss(KerasDialect dialect, const std::string& loss);
/// The settings of an optimiser as standalone Keras has them. Throws input_error for what it
/// doesn't know.
Json old_optimizer(const Json& config, const std::string& name);
/// Takes what older and newer optimisers of Keras don't share out of an optimiser's config. True:
/// those of Keras since 2.11 are meant. Refuses what Keras, or the dialect, doesn't have.
bool take_optimizer_rules(KerasDialect dialect, Json& config);
/// Does Keras 2.2.4 lack the metric, a canonical name?
bool is_new_metric(const std::string& name);

}  // namespace neutra::program
