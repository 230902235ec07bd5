#include "fl_adapters/tools/deepmufl.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "mutators/model_mutants.h"
#include "program/graph.h"

namespace neutra::fl_adapters::deepmufl {

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("deepmufl");
  return table;
}

double sbi(std::int64_t failing, std::int64_t passing) {
  return failing == 0 ? 0 : static_cast<double>(failing) / static_cast<double>(failing + passing);
}

double ochiai(std::int64_t failing, std::int64_t passing, std::int64_t all_failing) {
  return failing == 0
             ? 0
             : static_cast<double>(failing) / std::sqrt(static_cast<double>(failing + passing) *
                                                        static_cast<double>(all_failing));
}

namespace {

double share(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

/// The mutants that a formula looks at: the published tool counts those that are none, too.
std::vector<MutantResult> counted(const LayerResults& layer, ToolVariant variant) {
  std::vector<MutantResult> mutants = layer.mutants;
  if (variant == ToolVariant::kRepaired) {
    std::erase_if(mutants, [](const MutantResult& mutant) { return !mutant.viable; });
  }
  return mutants;
}

double metallaxis(const Results& results, const LayerResults& layer, const Formula& formula,
                  ToolVariant variant) {
  const std::vector<MutantResult> mutants = counted(layer, variant);
  double sum = 0, largest = 0;
  for (const MutantResult& mutant : mutants) {
    const std::int64_t failing =
        formula.kind == Formula::Kind::kMetallaxis1 ? mutant.fail_to_pass : mutant.fail_changed;
    const double value = formula.ochiai ? ochiai(failing, mutant.pass_to_fail, results.failing)
                                        : sbi(failing, mutant.pass_to_fail);
    sum += value;
    largest = std::max(largest, value);
  }
  if (mutants.empty()) return 0;
  return formula.maximum ? largest : sum / static_cast<double>(mutants.size());
}

/// The weight of tests that break: MUSE's ratio over all mutants of the program (Moon et al., Ask
/// the Mutants, ICST 2014, section III); the published tool multiplies, over the layer's inputs.
double muse_alpha(const Results& results, const LayerResults& layer, ToolVariant variant) {
  if (variant == ToolVariant::kAsPublished) {
    return share(layer.inputs_fail_to_pass, results.failing) *
           share(layer.inputs_pass_to_fail, results.passing);
  }
  std::int64_t fixed = 0, broken = 0;
  for (const LayerResults& each : results.layers) {
    for (const MutantResult& mutant : each.mutants) {
      fixed += mutant.fail_to_pass;
      broken += mutant.pass_to_fail;
    }
  }
  const double broken_share = share(broken, results.passing);
  return broken_share == 0 ? 0 : share(fixed, results.failing) / broken_share;
}

double muse(const Results& results, const LayerResults& layer, ToolVariant variant) {
  const std::vector<MutantResult> mutants = counted(layer, variant);
  const double alpha = muse_alpha(results, layer, variant);
  double sum = 0;
  for (const MutantResult& mutant : mutants) {
    const double difference = share(mutant.fail_to_pass, results.failing) -
                              alpha * share(mutant.pass_to_fail, results.passing);
    sum += variant == ToolVariant::kAsPublished ? std::abs(difference) : difference;
  }
  return mutants.empty() ? 0 : sum / static_cast<double>(mutants.size());
}

}  // namespace

std::vector<evaluators::Suspect> ranking(const Results& results, const Formula& formula,
                                         ToolVariant variant) {
  std::vector<evaluators::Suspect> list;
  for (const LayerResults& layer : results.layers) {
    list.push_back({layer.layer, -1, "",
                    formula.kind == Formula::Kind::kMuse
                        ? muse(results, layer, variant)
                        : metallaxis(results, layer, formula, variant)});
  }
  sort_ranking(list);
  return list;
}

bool same(const RowValue& expected, const RowValue& actual, bool regression, ToolVariant variant) {
  if (regression) return same_values(expected, actual, message_table().threshold("delta"));
  if (variant == ToolVariant::kAsPublished && !expected.plain) {
    // Two arrays: the argmax, which is 0 for one value, whatever it is.
    if (expected.values.size() != actual.values.size()) return false;
    if (expected.values.size() == 1) return true;
  }
  return same_class(expected, actual);
}

namespace {

/// A test's number, the same one for equal inputs.
std::vector<std::size_t> input_numbers(const training::DataRows& rows) {
  std::unordered_map<std::string_view, std::size_t> known;
  std::vector<std::size_t> numbers;
  const std::size_t width = rows.features.size() / static_cast<std::size_t>(rows.count);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.count); ++row) {
    const std::span<const float> features = rows.features.subspan(row * width, width);
    const std::string_view bytes(reinterpret_cast<const char*>(features.data()),
                                 features.size_bytes());
    numbers.push_back(known.emplace(bytes, known.size()).first->second);
  }
  return numbers;
}

/// Runs the mutants of one model.
class MutantRun {
 public:
  MutantRun(const FaultyProgram& faulty, const LocaliseContext& context,
            const program::ModelWeights& weights, std::chrono::steady_clock::time_point started)
      : program_(faulty.program),
        context_(context),
        trainer_(*context.trainer),
        weights_(weights),
        started_(started),
        resolved_(trainer_.resolved(program_)),
        rows_(trainer_.rows(program_, training::DataPart::kTest)),
        model_(trainer_.predictor(program_, training::DataPart::kTest, {})),
        inputs_(input_numbers(rows_)) {
    model_->weights().assign(weights_);
    original_.resize(static_cast<std::size_t>(rows_.count));
    passed_.resize(original_.size());
    for_rows(*model_, 0, rows_.count, [&](std::size_t row, std::span<const float> output) {
      original_[row].assign(output.begin(), output.end());
      passed_[row] = same(target(row), {output, false});
      ++(passed_[row] ? results_.passing : results_.failing);
    });
  }

  Results run() {
    const std::vector<mutators::ModelMutant> mutants = mutators::deepmufl_mutants(
        program_, resolved_, context_.variant == ToolVariant::kAsPublished);
    for (auto begin = mutants.begin(); begin != mutants.end();) {
      const auto end = std::find_if(begin, mutants.end(), [&](const mutators::ModelMutant& mutant) {
        return mutant.layer != begin->layer;
      });
      run_layer({begin, end});
      begin = end;
    }
    return std::move(results_);
  }

  /// Thrown past the time limit.
  struct OutOfTime {};

 private:
  /// Inputs of a layer that are kept at once: 64 MiB.
  static constexpr std::int64_t kKeptFloats = 16 << 20;

  bool same(const RowValue& expected, const RowValue& actual) const {
    return deepmufl::same(expected, actual, resolved_.task == "regression", context_.variant);
  }
  RowValue target(std::size_t row) const {
    const std::size_t width = rows_.targets.size() / static_cast<std::size_t>(rows_.count);
    return {rows_.targets.subspan(row * width, width), rows_.target.empty()};
  }

  /// Calls use(row, output) for `count` rows of the predictor's; the first is test `first`.
  template <typename Use>
  void for_rows(training::Predictor& predictor, std::int64_t first, std::int64_t count, Use use) {
    for (std::int64_t begin = 0; begin < count; begin += predictor.max_rows()) {
      const std::int64_t rows = std::min(predictor.max_rows(), count - begin);
      const std::span<const float> outputs = predictor.outputs(begin, rows);
      const std::size_t width = outputs.size() / static_cast<std::size_t>(rows);
      for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
        use(static_cast<std::size_t>(first + begin) + i, outputs.subspan(i * width, width));
      }
    }
  }

  /// What all mutants of a layer add to.
  struct Tally {
    std::vector<MutantResult> mutants;
    std::vector<bool> fixed, broken;  ///< by input number
  };

  void test(training::Predictor& predictor, std::int64_t first, std::int64_t count,
            MutantResult& result, Tally& tally) {
    check_stop(context_);
    if (context_.time_limit > 0 &&
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count() >
            context_.time_limit) {
      throw OutOfTime();
    }
    for_rows(predictor, first, count, [&](std::size_t row, std::span<const float> output) {
      const bool passes = same(target(row), {output, false});
      if (passed_[row]) {
        if (passes) return;
        ++result.pass_to_fail;
        tally.broken[inputs_[row]] = true;
      } else {
        result.fail_changed += !same({original_[row], false}, {output, false});
        if (!passes) return;
        ++result.fail_to_pass;
        tally.fixed[inputs_[row]] = true;
      }
    });
  }

  /// Do the weights fit a mutated structure, and would Keras take it?
  bool fits(const mutators::ModelMutant& mutant) const {
    if (!mutant.structure || trainer_.refusal(mutant.structure->program)) return false;
    program::ResolvedProgram changed;
    try {
      changed = trainer_.resolved(mutant.structure->program);
    } catch (const Error& error) {
      if (error.exit() != Exit::kBadInput) throw;
      return false;
    }
    const std::vector<std::size_t>& origin = mutant.structure->origin;
    if (changed.layers.size() != origin.size()) return false;
    for (std::size_t i = 0; i < origin.size(); ++i) {
      const std::vector<program::Weight>& now = changed.layers[i].weights;
      const std::vector<program::Weight>& before = resolved_.layers[origin[i]].weights;
      if (!std::equal(now.begin(), now.end(), before.begin(), before.end(),
                      [](const program::Weight& a, const program::Weight& b) {
                        return a.shape == b.shape;
                      })) {
        return false;
      }
    }
    return true;
  }

  /// Does the mutant have layers from this one on, and those before it from the model?
  static bool runs_from(const mutators::ModelMutant& mutant, std::size_t layer) {
    return mutant.first == layer && layer < mutant.structure->origin.size();
  }

  void run_layer(std::span<const mutators::ModelMutant> mutants) {
    // Where layers are no chain, what is before a layer isn't all that those behind it take.
    const std::size_t layer = chain_ ? mutants.front().layer : 0;
    Tally tally{std::vector<MutantResult>(mutants.size()), std::vector<bool>(inputs_.size()),
                std::vector<bool>(inputs_.size())};
    for (std::size_t i = 0; i < mutants.size(); ++i) {
      if (mutants[i].kind != mutators::ModelMutant::Kind::kStructure) continue;
      tally.mutants[i].viable = fits(mutants[i]);
      if (!tally.mutants[i].viable || runs_from(mutants[i], layer)) continue;
      const mutators::ModelStructure& structure = *mutants[i].structure;
      const auto whole = trainer_.predictor(structure.program, training::DataPart::kTest, {});
      whole->weights().assign(weights_, 0, structure.origin);
      test(*whole, 0, rows_.count, tally.mutants[i], tally);
    }

    // The layers before this one are the same in all other mutants: they run from here.
    training::Array inputs;
    std::int64_t width = 1;
    for (const std::int64_t extent : resolved_.layers[layer].input_shape) width *= extent;
    const std::int64_t kept =
        layer == 0 ? rows_.count : std::clamp<std::int64_t>(kKeptFloats / width, 1, rows_.count);
    for (std::int64_t first = 0; first < rows_.count; first += kept) {
      const std::int64_t count = std::min(kept, rows_.count - first);
      if (layer > 0) fill(inputs, layer, first, count, width);
      const auto rest = [&](const program::Program& program) {
        return layer == 0 ? trainer_.predictor(program, training::DataPart::kTest, {})
                          : trainer_.predictor(program, layer, inputs);
      };
      const auto unchanged = rest(program_);
      unchanged->weights().assign(weights_, layer);
      for (std::size_t i = 0; i < mutants.size(); ++i) {
        if (mutants[i].kind == mutators::ModelMutant::Kind::kWeights) {
          change(*unchanged, mutants[i]);
          test(*unchanged, first, count, tally.mutants[i], tally);
          restore(*unchanged, mutants[i]);
        } else if (mutants[i].kind == mutators::ModelMutant::Kind::kStructure &&
                   tally.mutants[i].viable && runs_from(mutants[i], layer)) {
          const mutators::ModelStructure& structure = *mutants[i].structure;
          const auto changed = rest(structure.program);
          changed->weights().assign(weights_, layer, structure.origin);
          test(*changed, first, count, tally.mutants[i], tally);
        }
      }
    }
    results_.layers.push_back({resolved_.layers[mutants.front().layer].index,
                               std::move(tally.mutants),
                               std::count(tally.fixed.begin(), tally.fixed.end(), true),
                               std::count(tally.broken.begin(), tally.broken.end(), true)});
  }

  /// The layer's inputs for some tests.
  void fill(training::Array& inputs, std::size_t layer, std::int64_t first, std::int64_t count,
            std::int64_t width) {
    inputs.extents = resolved_.layers[layer].input_shape;
    inputs.extents.insert(inputs.extents.begin(), count);
    inputs.values.resize(static_cast<std::size_t>(count * width));
    float* to = inputs.values.data();
    for (std::int64_t begin = first; begin < first + count; begin += model_->max_rows()) {
      model_->outputs(begin, std::min(model_->max_rows(), first + count - begin));
      const std::span<const float> values = model_->activations()[layer - 1];
      to = std::copy(values.begin(), values.end(), to);
    }
  }

  /// Of the mutant's layer, with which the predictor begins where the layers are a chain.
  std::span<float> variable(training::Predictor& predictor,
                            const mutators::ModelMutant& mutant) const {
    training::Weights& weights = predictor.weights();
    return weights.of_layer(chain_ ? 0 : mutant.layer)[mutant.change.variable].extent.of(
        weights.all());
  }
  void change(training::Predictor& predictor, const mutators::ModelMutant& mutant) const {
    mutators::apply(mutant.change,
                    resolved_.layers[mutant.layer].weights[mutant.change.variable].shape,
                    variable(predictor, mutant));
  }
  void restore(training::Predictor& predictor, const mutators::ModelMutant& mutant) const {
    const std::vector<float>& values = weights_[mutant.layer][mutant.change.variable];
    std::copy(values.begin(), values.end(), variable(predictor, mutant).begin());
  }

  const program::Program& program_;
  const LocaliseContext& context_;
  training::LocalTrainer& trainer_;
  const program::ModelWeights& weights_;
  const std::chrono::steady_clock::time_point started_;
  const program::ResolvedProgram resolved_;
  const bool chain_ = program::is_chain(resolved_.layers);
  const training::DataRows rows_;
  const std::unique_ptr<training::Predictor> model_;
  const std::vector<std::size_t> inputs_;
  std::vector<std::vector<float>> original_;  ///< the model's output for each test
  std::vector<bool> passed_;
  Results results_;
};

}  // namespace

Results run_mutants(const FaultyProgram& faulty, const LocaliseContext& context,
                    const program::ModelWeights& weights,
                    std::chrono::steady_clock::time_point started, Trouble& trouble) {
  try {
    return MutantRun(faulty, context, weights, started).run();
  } catch (const MutantRun::OutOfTime&) {
    trouble = {LocalisationStatus::kTimeout, "ran past its time limit while it tested mutants"};
    return {};
  }
}

namespace {

/// What all formulas work on.
struct Run {
  Trouble trouble;
  Results results;
  std::int64_t last_epoch = 0;  ///< of the training
  double seconds = 0;
};

Run train_and_mutate(const FaultyProgram& faulty, const LocaliseContext& context) {
  const auto started = std::chrono::steady_clock::now();
  Run run;
  const training::TrainedModel model =
      context.trainer->train_model(training_job(faulty.program, context));
  run.trouble = trouble_of(model.training);
  run.last_epoch = model.epochs - 1;
  if (run.trouble.status == LocalisationStatus::kOk) {
    run.results =
        run_mutants({faulty.id, model.program}, context, model.weights, started, run.trouble);
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return run;
}

std::string counts_text(const Results& results) {
  std::size_t mutants = 0, viable = 0;
  for (const LayerResults& layer : results.layers) {
    mutants += layer.mutants.size();
    viable += static_cast<std::size_t>(
        std::count_if(layer.mutants.begin(), layer.mutants.end(),
                      [](const MutantResult& mutant) { return mutant.viable; }));
  }
  return std::to_string(mutants) + " mutants, " + std::to_string(mutants - viable) +
         " not viable; " + std::to_string(results.failing) + " of " +
         std::to_string(results.failing + results.passing) + " tests fail";
}

Localisation localise(const Formula& formula, const FaultyProgram& faulty,
                      const LocaliseContext& context) {
  assert(context.trainer != nullptr);
  Localisation result;
  const auto without = [&](const Trouble& trouble) { return with_trouble(result, trouble); };
  if (const Trouble trouble = program_trouble(faulty, context);
      trouble.status != LocalisationStatus::kOk) {
    return without(trouble);
  }
  if (context.trainer->rows(faulty.program, training::DataPart::kTest).count == 0) {
    return without({LocalisationStatus::kNotApplicable, "the program has no test rows"});
  }

  static SharedWork<Run> work;
  const auto run = work.get(work_key(faulty, context), [&] {
    Run made = train_and_mutate(faulty, context);
    const bool keep = made.trouble.status == LocalisationStatus::kOk;
    return std::pair(std::move(made), keep);
  });
  result.seconds = run->seconds;
  if (run->trouble.status != LocalisationStatus::kOk) return without(run->trouble);
  result.ranking = ranking(run->results, formula, context.variant);
  answer_with(result,
              message_table().message("suspicious_layers", first_layers(result.ranking),
                                      counts_text(run->results)),
              run->last_epoch);
  return result;
}

Tool tool(const std::string& name, const Formula& formula) {
  std::string words = "MUSE";
  if (formula.kind != Formula::Kind::kMuse) {
    words = std::string("Metallaxis, impact type ") +
            (formula.kind == Formula::Kind::kMetallaxis1 ? "1" : "2") + ", " +
            (formula.maximum ? "largest " : "mean ") + (formula.ochiai ? "Ochiai" : "SBI");
  }
  return {"deepmufl-" + name,
          "2024-01",
          ToolKind::kNative,
          {ToolNeed::kTraining},
          "ranks layers by what mutants of the trained model do to test results: " + words,
          "Ghanbari, Thomas, Arshad and Rajan, Mutation-based Fault Localization of Deep Neural "
          "Networks, ASE 2023; https://github.com/ali-ghanbari/deepmufl-ase-2023",
          [formula](const FaultyProgram& faulty, const LocaliseContext& context) {
            return localise(formula, faulty, context);
          },
          message_table};
}

}  // namespace

std::vector<Tool> tools() {
  using enum Formula::Kind;
  return {tool("metallaxis1-ochiai-avg", {kMetallaxis1, true, false}),
          tool("metallaxis1-ochiai-max", {kMetallaxis1, true, true}),
          tool("metallaxis1-sbi-avg", {kMetallaxis1, false, false}),
          tool("metallaxis1-sbi-max", {kMetallaxis1, false, true}),
          tool("metallaxis2-ochiai-avg", {kMetallaxis2, true, false}),
          tool("metallaxis2-ochiai-max", {kMetallaxis2, true, true}),
          tool("metallaxis2-sbi-avg", {kMetallaxis2, false, false}),
          tool("metallaxis2-sbi-max", {kMetallaxis2, false, true}),
          tool("muse", {kMuse, false, false})};
}

}  // namespace neutra::fl_adapters::deepmufl
