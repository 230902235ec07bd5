#include "mutators/registry.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "base/words.h"
#include "operator_lists.h"
#include "program/vocabulary.h"

namespace neutra::mutators {

// operator_lists.h, which CMake writes, names the files in mutators/mutation and
// mutators/neutrality: each defines the object of its name.
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
