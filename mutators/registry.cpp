#include "mutators/registry.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "base/words.h"
#include "program/vocabulary.h"

namespace neutra::mutators {

// One line for each operator, sorted by id; its file defines the object of this name.
#define NEUTRA_MUTATION_OPERATORS(OPERATOR) \
  OPERATOR(activation_function_removal)     \
  OPERATOR(activation_removal)              \
  OPERATOR(add_activation_function)         \
  OPERATOR(add_bias)                        \
  OPERATOR(add_noise)                       \
  OPERATOR(add_weights_regularisation)      \
  OPERATOR(cast_features)                   \
  OPERATOR(change_activation_function)      \
  OPERATOR(change_batch_size)               \
  OPERATOR(change_bias_initialisation)      \
  OPERATOR(change_dropout_rate)             \
  OPERATOR(change_earlystopping_patience)   \
  OPERATOR(change_epochs)                   \
  OPERATOR(change_filter_size)              \
  OPERATOR(change_gradient_clip)            \
  OPERATOR(change_label)                    \
  OPERATOR(change_layout)                   \
  OPERATOR(change_learning_rate)            \
  OPERATOR(change_loss_function)            \
  OPERATOR(change_optimisation_function)    \
  OPERATOR(change_weights_initialisation)   \
  OPERATOR(change_weights_regularisation)   \
  OPERATOR(class_conditional_noise)         \
  OPERATOR(class_imbalance)                 \
  OPERATOR(clip_features)                   \
  OPERATOR(concept_drift)                   \
  OPERATOR(contradicting_duplicates)        \
  OPERATOR(covariate_drift)                 \
  OPERATOR(data_missing)                    \
  OPERATOR(data_repetition)                 \
  OPERATOR(data_shuffle)                    \
  OPERATOR(delete_training_data)            \
  OPERATOR(detached_layer)                  \
  OPERATOR(disable_batching)                \
  OPERATOR(disable_shuffle)                 \
  OPERATOR(duplicate_layer)                 \
  OPERATOR(freeze_layer)                    \
  OPERATOR(gaussian_fuzz)                   \
  OPERATOR(label_error)                     \
  OPERATOR(layer_addition)                  \
  OPERATOR(layer_copy)                      \
  OPERATOR(layer_deactivation)              \
  OPERATOR(layer_removal)                   \
  OPERATOR(make_output_classes_overlap)     \
  OPERATOR(misplaced_zero_grad)             \
  OPERATOR(missing_eval_mode)               \
  OPERATOR(missing_step)                    \
  OPERATOR(missing_values)                  \
  OPERATOR(missing_values_nan)              \
  OPERATOR(missing_values_sentinel)         \
  OPERATOR(missing_zero_grad)               \
  OPERATOR(neuron_activation_inverse)       \
  OPERATOR(neuron_effect_block)             \
  OPERATOR(neuron_switch)                   \
  OPERATOR(noise_perturbation)              \
  OPERATOR(out_of_distribution)             \
  OPERATOR(parameters_left_out)             \
  OPERATOR(remove_activation_function)      \
  OPERATOR(remove_bias)                     \
  OPERATOR(remove_layer)                    \
  OPERATOR(remove_preprocessing)            \
  OPERATOR(remove_validation_set)           \
  OPERATOR(remove_weights_regularisation)   \
  OPERATOR(scale_features)                  \
  OPERATOR(scheduler_per_batch)             \
  OPERATOR(sigmoid_on_regression_output)    \
  OPERATOR(skew_preprocessing)              \
  OPERATOR(softmax_before_cross_entropy)    \
  OPERATOR(sum_reduction)                   \
  OPERATOR(unbalance_train_data)            \
  OPERATOR(weight_shuffle)                  \
  OPERATOR(zero_sample_weights)

#define NEUTRA_NEUTRALITY_OPERATORS(OPERATOR) \
  OPERATOR(change_activation_function)        \
  OPERATOR(change_batch_size)                 \
  OPERATOR(change_bias_initialiser)           \
  OPERATOR(change_epochs)                     \
  OPERATOR(change_kernel_initialiser)         \
  OPERATOR(change_layer)                      \
  OPERATOR(change_learning_rate)              \
  OPERATOR(change_loss_function)              \
  OPERATOR(change_number_of_neurons)          \
  OPERATOR(change_optimiser)

#define NEUTRA_ADDRESS_MUTATION(id) &mutation::id,
#define NEUTRA_ADDRESS_NEUTRALITY(id) &neutrality::id,
#define NEUTRA_DECLARE_MUTATION(id) extern const MutationOperator id;
#define NEUTRA_DECLARE_NEUTRALITY(id) extern const NeutralityOperator id;

namespace mutation {
NEUTRA_MUTATION_OPERATORS(NEUTRA_DECLARE_MUTATION)
}  // namespace mutation

namespace neutrality {
NEUTRA_NEUTRALITY_OPERATORS(NEUTRA_DECLARE_NEUTRALITY)
}  // namespace neutrality

const std::vector<const NeutralityOperator*>& neutrality_operators() {
  static const std::vector<const NeutralityOperator*> operators{
      NEUTRA_NEUTRALITY_OPERATORS(NEUTRA_ADDRESS_NEUTRALITY)};
  return operators;
}

const NeutralityOperator* find_operator(program::KeyKind kind) {
  for (const NeutralityOperator* op : neutrality_operators()) {
    if (op->kind == kind) return op;
  }
  return nullptr;
}

const std::vector<const MutationOperator*>& mutation_operators() {
  static const std::vector<const MutationOperator*> operators{
      NEUTRA_MUTATION_OPERATORS(NEUTRA_ADDRESS_MUTATION)};
  return operators;
}

const MutationOperator* known_mutation_operator(std::string_view name) {
  const auto same = [&](std::string_view other) { return lower(other) == lower(name); };
  for (const MutationOperator* op : mutation_operators()) {
    if (same(op->id) || same(op->abbreviation)) return op;
  }
  return nullptr;
}

std::vector<std::string> mutation_operator_ids() {
  std::vector<std::string> ids;
  for (const MutationOperator* op : mutation_operators()) ids.emplace_back(op->id);
  return ids;
}

const MutationOperator& find_mutation_operator(std::string_view name) {
  if (const MutationOperator* op = known_mutation_operator(name)) return *op;
  throw input_error(
      describe("", "operator", "\"" + std::string(name) + "\"",
               allowed_words(name, mutation_operator_ids()) + ", listed by neutra mutate --list"));
}

}  // namespace neutra::mutators
