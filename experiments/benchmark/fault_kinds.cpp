#include "experiments/benchmark/fault_kinds.h"

#include "experiments/catalog.h"
#include "mutators/registry.h"

namespace neutra::experiments {
namespace {

constexpr double kMostly = 0.5;  ///< share of runs from which on a symptom decides the category

const Json& fault_kinds() {
  static const Json kinds = read_json(resource_directory() / "fault_kinds.json");
  return kinds;
}

/// What a list of fault_kinds.json says of a name takes the place of what is known.
void take_kind(const char* list, std::string_view name, FaultKind& kind) {
  const Json* all = member(fault_kinds(), list);
  const Json* own = all != nullptr ? member(*all, name) : nullptr;
  if (own == nullptr) return;
  kind.category = own->value("category", kind.category);
  kind.bug_type = own->value("bug_type", kind.bug_type);
}

}  // namespace

FaultKind fault_kind(const mutators::MutationOperator& op) {
  FaultKind kind;
  take_kind("groups", to_string(op.group), kind);
  take_kind("operators", op.id, kind);
  return kind;
}

FaultKind fault_kind(const BenchmarkEntry& entry) {
  FaultKind kind = fault_kind(mutators::find_mutation_operator(entry.applications.front().op));
  for (const EntrySymptom& symptom : entry.symptoms) {
    if (symptom.value >= kMostly) take_kind("symptoms", symptom.name, kind);
  }
  return kind;
}

std::string kind_text(const FaultKind& kind) {
  const auto words = [](const char* list, const std::string& word) {
    const Json* all = member(fault_kinds(), list);
    return all != nullptr ? all->value(word, word) : word;
  };
  if (kind.category.empty()) return "";
  return words("categories", kind.category) +
         (kind.bug_type.empty() ? "" : " (" + words("bug_types", kind.bug_type) + ")");
}

}  // namespace neutra::experiments
