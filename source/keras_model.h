#pragma once

#include "source/analysis.h"

namespace neutra::source {

/// The call that makes the last layer of the Keras model whose method (`compile`, `fit`) is called:
/// the last that `add` gets before, the last of the list of a Sequential, or what makes the output
/// of a functional model; kNoNode: it can't be told.
NodeId last_keras_layer(const Analysis& analysis, NodeId call);

}  // namespace neutra::source
