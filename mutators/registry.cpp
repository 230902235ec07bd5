#include "mutators/registry.h"

namespace neutra {

// One line for each operator, sorted by id; its file defines the object of this name.
#define NEUTRA_OPERATORS(OPERATOR)     \
  OPERATOR(change_activation_function) \
  OPERATOR(change_batch_size)          \
  OPERATOR(change_bias_initialiser)    \
  OPERATOR(change_epochs)              \
  OPERATOR(change_kernel_initialiser)  \
  OPERATOR(change_layer)               \
  OPERATOR(change_learning_rate)       \
  OPERATOR(change_loss_function)       \
  OPERATOR(change_number_of_neurons)   \
  OPERATOR(change_optimiser)

#define NEUTRA_DECLARE(id) extern const NeutralityOperator id;
#define NEUTRA_ADDRESS(id) &id,

NEUTRA_OPERATORS(NEUTRA_DECLARE)

const std::vector<const NeutralityOperator*>& neutrality_operators() {
  static const std::vector<const NeutralityOperator*> operators{NEUTRA_OPERATORS(NEUTRA_ADDRESS)};
  return operators;
}

const NeutralityOperator* find_operator(KeyKind kind) {
  for (const NeutralityOperator* op : neutrality_operators()) {
    if (op->kind == kind) return op;
  }
  return nullptr;
}

}  // namespace neutra
