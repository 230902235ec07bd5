#pragma once

#include <string>
#include <vector>

#include "mutators/mutation_operator.h"
#include "program/faults.h"

namespace neutra::mutators {

/// One application of an operator.
struct Application {
  std::string op;             ///< operator id
  Site site = kWholeProgram;  ///< counts in the program as the applications before it left it
  Json value;                 ///< null for operators without a parameter
  std::uint64_t seed = 0;     ///< of operators that draw random numbers
  bool operator==(const Application&) const = default;
};
/// {operator, layer, value, seed}, without what the operator does not have.
Json to_json(const Application& application);
/// Throws input_error (place: `where`) for what to_json never makes. An operator that this version
/// doesn't know is read all the same: applying it throws.
Application application_from_json(const Json& json, const std::string& where);
/// A value as people write it: "relu", "0.25"; "" for null.
std::string value_text(const Json& value);
/// "change_activation_function@3=relu", "change_label=25", "disable_batching".
std::string to_string(const Application& application);
/// Inverse of to_string(); abbreviations and any case are understood. Throws input_error.
Application parse_application(std::string_view text, std::uint64_t seed);

/// The greatest number of operators in one mutant, that of DeepFD's seeded faults.
inline constexpr int kMaxOrder = 5;

/// A mutant and how it was made.
struct Mutant {
  std::vector<Application> applications;  ///< in their order; their number is the mutant's order
  program::Program program;               ///< the result
  program::FaultSet faults;               ///< diff(mutant, original)
  /// A file's name without extension and a fault's id, different for different applications:
  /// "ACH-3-relu--TCL-25-s7".
  std::string name() const;
};

/// Applies all in order. Throws input_error that names the application and why it gives no mutant,
/// and where the last one leaves the original.
Mutant apply_all(const Target& original, const std::vector<Application>& applications);
/// The same for a program of which no more than `data` is known.
Mutant apply_all(const program::Program& original, const std::vector<Application>& applications,
                 const program::DataInfo* data = nullptr);

/// Where an operator applies and has values to try.
struct OperatorPlace {
  const MutationOperator* op = nullptr;  ///< of the registry
  Site site = kWholeProgram;             ///< where
  std::vector<Candidate> values;         ///< candidates(), not empty
};
/// All places of some operators, in this order: operators, sites; and why there is none.
struct OperatorPlaces {
  std::vector<OperatorPlace> places;
  /// An operator that has no place, or none at a layer.
  struct LeftOut {
    const MutationOperator* op = nullptr;  ///< of the registry
    Site site = kWholeProgram;  ///< also of an operator on layers, where it has no place at all
    std::string reason;         ///< a clause
  };
  std::vector<LeftOut> left_out;
};
/// The places of `operators`. `layers`: only at these, without operators on the whole program;
/// empty: at all. Throws input_error for a layer that the program doesn't have.
OperatorPlaces find_places(const Target& target,
                           const std::vector<const MutationOperator*>& operators,
                           const std::vector<Site>& layers = {});

/// First-order mutants, and what gave none.
struct MutantList {
  std::vector<Mutant> mutants;
  /// What gave no mutant.
  struct Skipped {
    std::string what;    ///< an operator's id, or an application as text
    std::string reason;  ///< a clause
  };
  std::vector<Skipped> skipped;
};
/// All values at all places, in their order.
MutantList first_order_mutants(const Target& target,
                               const std::vector<const MutationOperator*>& operators,
                               std::uint64_t seed = 0, const std::vector<Site>& layers = {});

/// `count` different mutants of `order` operators each, at random sites with random values. The
/// operators of a mutant have different fault types, and the mutant has at least one fault for each
/// of them. A pure function of its arguments. Throws input_error for an order outside
/// 1 .. kMaxOrder, and where there are fewer mutants than `count`.
std::vector<Mutant> random_mutants(const Target& target,
                                   const std::vector<const MutationOperator*>& operators, int order,
                                   int count, std::uint64_t seed);

}  // namespace neutra::mutators
