#include "fl_adapters/tools/deepfault.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "fl_adapters/trained_model.h"

namespace neutra::fl_adapters::deepfault {
namespace {

double ratio(double numerator, double denominator) {
  if (denominator != 0) return numerator / denominator;
  return numerator == 0 ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("deepfault");
  return table;
}

double suspiciousness(Measure measure, const Spectrum& spectrum) {
  const auto active_failed = static_cast<double>(spectrum.active_failed);
  const auto active_passed = static_cast<double>(spectrum.active_passed);
  const auto failed = active_failed + static_cast<double>(spectrum.idle_failed);
  const auto passed = active_passed + static_cast<double>(spectrum.idle_passed);
  switch (measure) {
    case Measure::kTarantula: {
      // NumPy's 0 / 0 is NaN, which makes the whole NaN, which the tool takes for 0.
      if (failed == 0 || passed == 0) return 0;
      const double in_failed = active_failed / failed;
      return ratio(in_failed, in_failed + active_passed / passed);
    }
    case Measure::kOchiai:
      return ratio(active_failed, std::sqrt(failed * (active_failed + active_passed)));
    case Measure::kDStar:
      return ratio(std::pow(active_failed, message_table().threshold("star")),
                   active_passed + static_cast<double>(spectrum.idle_failed));
  }
  return 0;
}

void LayerSpectrum::add(std::span<const float> outputs, const std::vector<bool>& passed) {
  const std::size_t rows = passed.size();
  assert(rows > 0 && outputs.size() % (rows * neurons.size()) == 0);
  const std::size_t positions = outputs.size() / rows / neurons.size();
  const double threshold = message_table().threshold("activation");
  std::vector<double> sums(neurons.size());
  for (std::size_t row = 0; row < rows; ++row) {
    std::fill(sums.begin(), sums.end(), 0.0);
    const float* value = outputs.data() + row * positions * neurons.size();
    for (std::size_t position = 0; position < positions; ++position) {
      for (double& sum : sums) sum += *value++;
    }
    for (std::size_t neuron = 0; neuron < neurons.size(); ++neuron) {
      Spectrum& spectrum = neurons[neuron];
      const bool active = sums[neuron] / static_cast<double>(positions) > threshold;
      ++(passed[row] ? (active ? spectrum.active_passed : spectrum.idle_passed)
                     : (active ? spectrum.active_failed : spectrum.idle_failed));
    }
  }
}

std::vector<evaluators::Suspect> ranking(const std::vector<LayerSpectrum>& layers,
                                         Measure measure) {
  std::vector<evaluators::Suspect> list;
  for (const LayerSpectrum& layer : layers) {
    evaluators::Suspect whole{layer.layer, -1, "", 0};
    for (std::size_t neuron = 0; neuron < layer.neurons.size(); ++neuron) {
      const double value = suspiciousness(measure, layer.neurons[neuron]);
      whole.suspiciousness = std::max(whole.suspiciousness, value);
      list.push_back({layer.layer, static_cast<std::int64_t>(neuron), "", value});
    }
    list.push_back(whole);
  }
  sort_ranking(list);
  return list;
}

namespace {

/// Layers with weights. The published tool leaves the output out.
std::vector<std::size_t> spectrum_layers(const program::ResolvedProgram& program,
                                         ToolVariant variant) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const program::ResolvedLayer& layer = program.layers[i];
    if (!layer.weights.empty() && !layer.weights_of) positions.push_back(i);
  }
  if (variant == ToolVariant::kAsPublished && !positions.empty()) positions.pop_back();
  return positions;
}

bool passes(const RowValue& expected, const RowValue& actual, bool regression,
            ToolVariant variant) {
  if (variant == ToolVariant::kAsPublished) {
    // argmax of one value is 0.
    return actual.values.size() == 1 || same_class(expected, actual);
  }
  return regression ? same_values(expected, actual, message_table().threshold("delta"))
                    : same_class(expected, actual);
}

}  // namespace

std::vector<LayerSpectrum> spectra(const FaultyProgram& faulty, const LocaliseContext& context,
                                   const program::ModelWeights& weights) {
  const program::ResolvedProgram program = context.trainer->resolved(faulty.program);
  const training::DataRows rows = context.trainer->rows(faulty.program, training::DataPart::kTest);
  const std::unique_ptr<training::Predictor> predictor =
      context.trainer->predictor(faulty.program, training::DataPart::kTest, {});
  predictor->weights().assign(weights);
  const std::vector<std::size_t> positions = spectrum_layers(program, context.variant);
  std::vector<LayerSpectrum> layers;
  for (const std::size_t i : positions) {
    const auto neurons = static_cast<std::size_t>(program.layers[i].output_shape.back());
    layers.push_back({program.layers[i].index, std::vector<Spectrum>(neurons)});
  }
  const std::size_t width = rows.targets.size() / static_cast<std::size_t>(rows.count);
  for (std::int64_t begin = 0; begin < rows.count; begin += predictor->max_rows()) {
    check_stop(context);
    const std::int64_t count = std::min(predictor->max_rows(), rows.count - begin);
    const std::span<const float> outputs = predictor->outputs(begin, count);
    const std::size_t units = outputs.size() / static_cast<std::size_t>(count);
    std::vector<bool> passed;
    for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row) {
      const std::size_t target = (static_cast<std::size_t>(begin) + row) * width;
      passed.push_back(passes({rows.targets.subspan(target, width), rows.target.empty()},
                              {outputs.subspan(row * units, units), false},
                              program.task == "regression", context.variant));
    }
    const std::vector<std::span<const float>> activations = predictor->activations();
    for (std::size_t k = 0; k < positions.size(); ++k) {
      layers[k].add(activations[positions[k]], passed);
    }
  }
  return layers;
}

namespace {

/// What all measures work on.
struct Run {
  Trouble trouble;
  std::vector<LayerSpectrum> layers;
  std::int64_t last_epoch = 0;  ///< of the training
  double seconds = 0;
};

/// "(0, 5), (2, 1)": layer and neuron.
std::string neurons_text(const std::vector<evaluators::Suspect>& ranking) {
  auto left = static_cast<int>(message_table().threshold("suspicious_neurons"));
  std::string text;
  for (const evaluators::Suspect& suspect : ranking) {
    if (suspect.neuron < 0 || left-- <= 0) continue;
    text += (text.empty() ? "(" : ", (") + std::to_string(suspect.layer) + ", " +
            std::to_string(suspect.neuron) + ")";
  }
  return text;
}

Localisation localise(Measure measure, const FaultyProgram& faulty,
                      const LocaliseContext& context) {
  assert(context.trainer != nullptr);
  Localisation result;
  const auto without = [&](const Trouble& trouble) { return with_trouble(result, trouble); };
  if (measure == Measure::kOchiai && context.variant == ToolVariant::kAsPublished) {
    return without({LocalisationStatus::kNotApplicable,
                    "the published Ochiai returns nothing and ends in an error; --defects repaired "
                    "mends it"});
  }
  if (const Trouble trouble = program_trouble(faulty, context);
      trouble.status != LocalisationStatus::kOk) {
    return without(trouble);
  }
  const program::ResolvedProgram program = context.trainer->resolved(faulty.program);
  if (spectrum_layers(program, context.variant).empty()) {
    return without({LocalisationStatus::kNotApplicable, "no hidden layer has weights"});
  }
  if (context.trainer->rows(faulty.program, training::DataPart::kTest).count == 0) {
    return without({LocalisationStatus::kNotApplicable, "the program has no test rows"});
  }

  static SharedWork<Run> work;
  const auto run = work.get(work_key(faulty, context), [&] {
    const auto start = std::chrono::steady_clock::now();
    const training::TrainedModel model =
        context.trainer->train_model(training_job(faulty.program, context));
    Run made;
    made.trouble = trouble_of(model.training);
    made.last_epoch = model.epochs - 1;
    const bool whole = made.trouble.status == LocalisationStatus::kOk;
    if (whole) made.layers = spectra({faulty.id, model.program}, context, model.weights);
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::pair(std::move(made), whole);
  });
  result.seconds = run->seconds;
  if (run->trouble.status != LocalisationStatus::kOk) return without(run->trouble);
  result.ranking = ranking(run->layers, measure);
  answer_with(result,
              message_table().message("suspicious_neurons", first_layers(result.ranking),
                                      neurons_text(result.ranking)),
              run->last_epoch);
  return result;
}

Tool tool(Measure measure, const std::string& name, const std::string& formula) {
  return {"deepfault-" + name,
          "2021-04",
          ToolKind::kNative,
          {ToolNeed::kTraining},
          "ranks layers and neurons by " + formula + " over active neurons in right and wrong rows",
          "Eniser, Gerasimou and Sen, DeepFault: Fault Localization for Deep Neural Networks, FASE "
          "2019; https://github.com/hfeniser/DeepFault",
          [measure](const FaultyProgram& faulty, const LocaliseContext& context) {
            return localise(measure, faulty, context);
          },
          message_table};
}

}  // namespace

std::vector<Tool> tools() {
  return {tool(Measure::kDStar, "dstar", "D*"), tool(Measure::kOchiai, "ochiai", "Ochiai"),
          tool(Measure::kTarantula, "tarantula", "Tarantula")};
}

}  // namespace neutra::fl_adapters::deepfault
