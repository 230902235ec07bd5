#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "program/program.h"

namespace neutra::mutators {

/// What a mutation operator changes: the families of DeepCrime's catalogue, and those of further
/// operators (layers, preprocessing, the training loop, the trained model).
enum class OperatorGroup {
  kTrainingData,     ///< rows: steps of data.mutations
  kHyperparameters,  ///< batch size, learning rate, epochs, batching
  kActivation,       ///< activation functions of layers
  kRegularisation,   ///< regularisers, dropout, early stopping
  kWeights,          ///< initialisers and biases
  kLoss,
  kOptimisation,   ///< the optimiser and its clipping
  kValidation,     ///< the validation rows
  kLayers,         ///< which layers there are
  kPreprocessing,  ///< steps of data.preprocess
  kTrainingLoop,   ///< fit.loop and the like
  kTrainedModel    ///< steps of trained.mutations
};
std::string_view to_string(OperatorGroup group);  ///< "training_data", "hyperparameters", ...

/// How the values of an operator are tried to find those that a test set kills (DeepCrime's
/// search_type).
enum class ValueSearch {
  kNone,       ///< there is one mutant
  kBinary,     ///< bisection between two ends of a range
  kExhaustive  ///< all values of a list
};
std::string_view to_string(ValueSearch search);  ///< "none", "binary", "exhaustive"

/// What the values of an operator are.
enum class ValueType { kNone, kInteger, kNumber, kWord };
std::string_view to_string(ValueType type);  ///< "none", "integer", "number", "word"

/// The values of a binary search.
struct ValueRange {
  double from = 0;       ///< least severe: nothing changed
  double to = 0;         ///< most severe; may be below `from`
  double precision = 0;  ///< the search ends at an interval no longer than this
  int decimals = 0;      ///< values are rounded to so many
  bool operator==(const ValueRange&) const = default;
};

/// The parameter of an operator. Without one, `type` is kNone and the value null.
struct OperatorParameter {
  std::string_view name;                    ///< "percentage", "activation", ...; "": none
  ValueType type = ValueType::kNone;        ///< of its values
  ValueSearch search = ValueSearch::kNone;  ///< how they are tried
  std::string_view values;                  ///< one sentence: which are tried
  double least = 0, most = 0;  ///< what a number may be; both 0: what the program may hold
  bool closed = false;         ///< exhaustive: no values but those to try
};

/// A program as operators look at it.
struct Target {
  program::Program program;               ///< valid
  program::ResolvedProgram resolved;      ///< its typed form; shapes as far as they are known
  nlohmann::json identity;                ///< canonical(program)
  std::optional<program::DataInfo> data;  ///< what is known of its rows before any mutation
  std::string subject;  ///< DeepCrime's subject whose bounds hold; "": those of the rules
  /// Known: no class of the training rows (of a regression: no bucket) is smaller than the mean.
  bool even_classes = false;
};
/// Throws input_error for a program that is not valid and for an unknown subject.
Target make_target(program::Program program, const program::DataInfo* data = nullptr,
                   const std::string& subject = "");
/// DeepCrime's subjects with bounds of their own: audio, lenet, mnist, movie_recomm, udacity.
std::vector<std::string> operator_subjects();

/// Where an operator applies: a layer's index over config.layers, or kWholeProgram.
using Site = int;
inline constexpr Site kWholeProgram = -1;  ///< of operators that change no single layer

/// A mutation operator: plain data and pure functions, one file each in mutators/mutation, whose
/// name is the operator's id. It edits programs and never trains one. Use it through the functions
/// below, which check what all have in common.
struct MutationOperator {
  std::string_view id;               ///< DeepCrime's key: "change_label"
  std::string_view abbreviation;     ///< "TCL"
  OperatorGroup group{};             ///< its family
  bool by_layer = false;             ///< sites are layers; else the whole program
  std::string_view fault_type;       ///< what diff() calls it; "LRM|ACH": one of these
  std::string_view description;      ///< one sentence
  std::string_view source;           ///< where the rule is from
  OperatorParameter parameter = {};  ///< none by default
  bool random = false;               ///< draws random numbers: the mutant depends on the seed
  std::string_view field = {};       ///< of a layer's config, where the edit sets one

  /// Why it does not apply at a site, as the end of "found ..."; "" where it does. nullptr: it
  /// always does. The site exists.
  std::string (*refusal)(const Target& target, Site site) = nullptr;
  /// Exhaustive: the values to try, in order; the program's own may be among them. With
  /// ValueSearch::kNone: the one value.
  std::vector<Json> (*values)(const Target& target, Site site) = nullptr;
  /// Binary: the range to search where the subject has none of its own.
  ValueRange (*range)(const Target& target) = nullptr;
  /// Makes the mutant of the program's document. The operator, `op`, applies, the value has its
  /// type.
  void (*edit)(const MutationOperator& op, Json& document, const Target& target, Site site,
               const Json& value, std::uint64_t seed) = nullptr;
};

/// Where an operator applies, or why it does nowhere.
struct Sites {
  std::vector<Site> sites;  ///< ascending
  std::string reason;       ///< "" where there are sites
};
/// All sites of an operator. Not whether a value makes a mutant there: candidates() says that.
Sites find_sites(const MutationOperator& op, const Target& target);

/// Why there is no mutant.
struct Inapplicable {
  std::string found, allowed;  ///< as in a message: what is there, what may be there instead
  bool unchanged = false;      ///< the mutant would be the program itself
};
std::string to_string(const Inapplicable& reason);  ///< "found ...; allowed: ..."
/// Why there is no mutant at a site, which need not exist, whatever the value; nullopt: there may
/// be one.
std::optional<Inapplicable> site_refusal(const MutationOperator& op, const Target& target,
                                         Site site);

/// The mutant that `op` makes at `site` with `value` (null for operators without a parameter), or
/// why there is none: no such site, a value of a wrong type or out of range, nothing changed, a
/// program that Keras refuses. `seed` counts for operators that draw random numbers only: mutants
/// of other seeds are other draws of the same mutation.
std::variant<program::Program, Inapplicable> apply(const MutationOperator& op, const Target& target,
                                                   Site site, const Json& value,
                                                   std::uint64_t seed = 0);

/// A value of an operator at a site.
struct Candidate {
  Json value;                           ///< null where the operator has no parameter
  std::optional<Inapplicable> refusal;  ///< why it gives no mutant
};
/// The values to try in order: all of a list, the most severe end of a range, the one value of an
/// operator without a search. Those that change nothing are left out. Empty where the operator does
/// not apply.
std::vector<Candidate> candidates(const MutationOperator& op, const Target& target, Site site);

/// The range to search. Precondition: a binary operator that applies.
ValueRange search_range(const MutationOperator& op, const Target& target);
/// `range` with other ends. Throws input_error unless they are different, allowed for the operator
/// and in order: the less severe first, in the direction of `range`.
ValueRange with_ends(const MutationOperator& op, ValueRange range, double from, double to);

// What several operators share.

/// Sources of operators: MutationOperator::source.
inline constexpr std::string_view kDeepCrime =
    "Humbatova, Jahangirova and Tonella, DeepCrime: Mutation Testing of Deep Learning Systems "
    "Based on Real Faults, ISSTA 2021; github.com/dlfaults/deepcrime";
inline constexpr std::string_view kDeepMutation =
    "Ma et al., DeepMutation: Mutation Testing of Deep Learning Systems, ISSRE 2018";
inline constexpr std::string_view kFaultStudy =
    "Humbatova et al., An Empirical Study of Fault Localisation Techniques for Deep Learning, "
    "2025, Table 1";
inline constexpr std::string_view kRealFaults =
    "Humbatova et al., Taxonomy of Real Faults in Deep Learning Systems, ICSE 2020";
inline constexpr std::string_view kDataBugs =
    "Shah, Understanding the Challenges of Reproducing Deep Learning Bugs, thesis, Dalhousie "
    "University, 2024, chapter 3";
inline constexpr std::string_view kTensorBugs =
    "Shah, Understanding the Challenges of Reproducing Deep Learning Bugs, thesis, Dalhousie "
    "University, 2024, section 2.1.3";

inline constexpr std::string_view kSilentBugs =
    "Hong, Sun, Gao and Tan, Investigating and Detecting Silent Bugs in PyTorch Programs, SANER "
    "2024";

/// A list of mutators/values/operators.json: "activation", "loss", ...
const std::vector<Json>& operator_values(std::string_view set);
/// Ranges of binary searches: 0 to 100 percent, with DeepCrime's precision of 5 and two decimals.
ValueRange percentages(const Target& target);
/// The same up to 99, for rows that are removed.
ValueRange percentages_of_removed(const Target& target);
/// A share in percent.
inline constexpr OperatorParameter kPercentage{
    "percentage", ValueType::kNumber, ValueSearch::kBinary, "0 to 100 %", 0, 100};
/// A word for a regulariser.
inline constexpr OperatorParameter kRegularizer{"regularizer", ValueType::kWord,
                                                ValueSearch::kExhaustive,
                                                "l1, l2, l1_l2, each with Keras's 0.01"};
/// A share of rows that are removed: 100 % would leave none.
inline constexpr OperatorParameter kPercentageOfRemoved{
    "percentage", ValueType::kNumber, ValueSearch::kBinary, "0 to 99 %", 0, 99};
/// Appends a step, an object, to data.mutations.
void add_data_step(Json& document, Json step);
/// An edit: appends a step of data.mutations named like the operator, with the value as percentage,
/// and a seed where the operator is random.
void add_percentage_step(const MutationOperator& op, Json& document, const Target& target,
                         Site site, const Json& value, std::uint64_t seed);
/// The same with what the targets are: classes or values.
void add_percentage_step_on_targets(const MutationOperator& op, Json& document,
                                    const Target& target, Site site, const Json& value,
                                    std::uint64_t seed);
/// An edit: appends a step of trained.mutations named like the operator, with percentage and seed.
void add_trained_percentage_step(const MutationOperator& op, Json& document, const Target& target,
                                 Site site, const Json& value, std::uint64_t seed);
/// The same with the layer at the site.
void add_trained_layer_step(const MutationOperator& op, Json& document, const Target& target,
                            Site site, const Json& value, std::uint64_t seed);
/// An edit: the operator's `field` of the layer becomes the value; null without a parameter.
void set_field(const MutationOperator& op, Json& document, const Target& target, Site site,
               const Json& value, std::uint64_t seed);
/// The same with true.
void set_field_true(const MutationOperator& op, Json& document, const Target& target, Site site,
                    const Json& value, std::uint64_t seed);
/// The same with false.
void set_field_false(const MutationOperator& op, Json& document, const Target& target, Site site,
                     const Json& value, std::uint64_t seed);
/// The same with the activation linear.
void make_linear(const MutationOperator& op, Json& document, const Target& target, Site site,
                 const Json& value, std::uint64_t seed);
/// Refusal for steps of trained.mutations: there is no Dense or Conv2D layer.
std::string refuse_no_kernel(const Target& target, Site site);
/// The same, or none with a kernel that `fits`, where its shape is known.
std::string refuse_without_kernel(const Target& target, bool (*fits)(const program::Shape& kernel));
/// Refusal for steps of trained.mutations: the step `op` can't change the layer at the site.
std::string refuse_trained_step(const Target& target, Site site, std::string_view op);
/// Refusal: all targets are known to be one class.
std::string refuse_one_class(const Target& target, Site site);
/// Refusal: targets are no classes, or all known to be one.
std::string refuse_no_classes(const Target& target, Site site);
/// Refusal: the layer has no activation.
std::string refuse_no_activation(const Target& target, Site site);
/// Refusal: it has none, or a linear one.
std::string refuse_linear(const Target& target, Site site);
/// Refusal: it has none, or one that isn't linear.
std::string refuse_not_linear(const Target& target, Site site);
/// Refusal: the layer's kernel has no regulariser.
std::string refuse_no_regularizer(const Target& target, Site site);
/// Refusal: the program trains no layer.
std::string refuse_untrained(const Target& target, Site site);
/// Refusal: the layer isn't trained, or is the only one that is.
std::string refuse_untrained_layer(const Target& target, Site site);
/// Has the layer variables that updates change?
bool is_trained(const Target& target, Site site);
/// Steps of an epoch; nullopt where the training rows aren't known.
std::optional<std::int64_t> steps_per_epoch(const Target& target);
/// {"targets": "values"} for regression, for steps that look at targets; {} for classification.
Json targets_of(const Target& target);
/// Positions in data.preprocess of the steps that only change numbers (scale, add, standardize,
/// normalize): without them the program still trains.
std::vector<Json> scaling_steps(const Target& target);
/// The layer at a site.
const program::ResolvedLayer& layer_at(const Target& target, Site site);
/// Its setting `field`; null where it has none.
Json setting_at(const Target& target, Site site, std::string_view field);
/// Has it such a field at all?
bool has_setting(const Target& target, Site site, std::string_view field);
/// "layer 4 (Flatten), which has no activation" for ("which has no activation").
std::string layer_text(const Target& target, Site site, std::string_view what);

}  // namespace neutra::mutators
