#include "training/prepared_program.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/warn_once.h"
#include "program/document.h"
#include "program/layer.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/metrics.h"
#include "training/trained_mutations.h"

namespace neutra::training {
namespace {

/// An Embedding over the rows themselves must have an embedding for each of their values.
std::optional<program::Problem> problem_of_rows(const program::ResolvedLayer& embedding,
                                                const Dataset& data) {
  const std::int64_t count = embedding.weights[0].shape[0];
  for (const Array* x : {&data.x_train, &data.x_test, &data.x_validation}) {
    for (const float value : x->values) {
      if (value > -1 && value < static_cast<float>(count)) continue;  // not so NaN
      return program::Problem{"/data", "the value " + program::shown(value),
                              "indices from 0 to " + std::to_string(count - 1) + ", for the " +
                                  std::to_string(count) + " embeddings of layer " +
                                  std::to_string(embedding.index)};
    }
  }
  return std::nullopt;
}

std::optional<program::Problem> index_problem(const program::ResolvedProgram& program,
                                              const Dataset& data) {
  using program::LayerKind;
  // Reached from the rows by layers that keep their values.
  std::vector<bool> rows;
  std::optional<program::Problem> problem;
  for (const program::ResolvedLayer& layer : program.layers) {
    const LayerKind kind = program::kind_of(layer);
    const bool takes = layer.inputs.empty() || rows[layer.inputs.front()];
    rows.push_back(takes && (kind == LayerKind::kInput || kind == LayerKind::kReshape));
    if (!problem && takes && kind == LayerKind::kEmbedding) problem = problem_of_rows(layer, data);
  }
  return problem;
}

/// The hash that keys independent samples.
Hash independent_hash(const program::Program& program, bool mutated) {
  if (!mutated) return program::program_hash(program);
  program::Program trained = program;
  trained.document.erase("trained");
  Hash hash = program::program_hash(trained);
  hash.high = ~hash.high;  // other trainings than its own
  return hash;
}

Prepared prepare(const program::Program& program, std::shared_ptr<const LoadedData> resident,
                 const TargetScale& target_scale, WeightCache& weights, const Demands& demands) {
  Prepared made;
  const LoadedData& data = *resident;
  made.data = std::move(resident);
  made.refusal = refusal_by_keras(program, data);
  if (made.refusal) return made;
  try {
    made.program = program::resolve(program, &data.info);
    if (data.left_out && made.program.task == "classification") warn_once(*data.left_out);
  } catch (const Error& e) {
    if (e.exit() != Exit::kBadInput) throw;
    made.failure = e.what();
    return made;
  }
  const std::optional<std::string> loss = loss_of(demands.keras, made.program.loss);
  if (!loss) {
    made.refusal = "Keras 2.2.4 has no loss " + made.program.loss;
    return made;
  }
  const program::LossOptions& options = made.program.loss_options;
  if (demands.keras == KerasRelease::k224 &&
      (options.from_logits || options.label_smoothing != 0)) {
    made.refusal = "Keras 2.2.4 has no options of the loss " + made.program.loss;
    return made;
  }
  const std::vector<float>& weighted = data.data->weights_train.values;
  if (demands.keras == KerasRelease::k224 &&
      std::find(weighted.begin(), weighted.end(), 0.0f) != weighted.end()) {
    made.refusal = "Keras 2.2.4 divides by the share of weights that aren't 0, other Keras don't";
    return made;
  }
  made.program.loss = *loss;
  if (const Json* initial = initial_weights_of(program)) {
    made.given_weights = weights.get(*initial, made.program);
  }
  made.rows = training_rows(made.program, *data.data);
  if (demands.backend != Backend::kEager && !demands.output_gradients) {
    made.fused_refusal = fused_refusal(made.program, made.rows.training);
    made.fused = !made.fused_refusal;
    if (made.fused) made.rows = training_rows(made.program, *data.data, data.sparse());
  }
  made.rows.target_scale = target_scale;
  const auto bytes = [&](const Rows& rows) -> std::uint64_t {
    if (rows.count() == 0) return 0;
    return made.fused ? fused_bytes(made.program, rows) : eager_bytes(made.program, rows);
  };
  made.bytes = bytes(made.rows.training);
  if (!made.program.loop.eval_mode) {  // evaluated by another engine
    made.bytes += std::max(bytes(made.rows.holdout), bytes(made.rows.validation));
  }
  made.stream_hash = stream_hash(program);
  const bool mutated = !made.program.trained_mutations.empty();
  made.independent_hash = independent_hash(program, mutated);
  if (mutated) {
    made.structure = mutated_structure(program, made.program);
    auto evaluated = prepare(made.structure->program, made.data, target_scale, weights,
                             {demands.backend, demands.keras, false});
    made.refusal = evaluated.refusal;
    made.failure = evaluated.failure;
    made.bytes = std::max(made.bytes, evaluated.bytes);
    made.evaluated = std::make_shared<const Prepared>(std::move(evaluated));
  }
  return made;
}

}  // namespace

std::optional<std::string> refusal_by_keras(const program::Program& program,
                                            const LoadedData& data) {
  std::vector<program::Problem> problems = validate(program.document, &data.info);
  if (problems.empty()) {
    const program::ResolvedProgram resolved = program::resolve(program, &data.info);
    const auto problem = index_problem(resolved, *data.data);
    if (problem) problems.push_back(*problem);
    const Array& targets = data.data->y_holdout;
    const std::string undefined = undefined_metric(resolved, {targets.values, targets.extents});
    if (!undefined.empty()) {
      problems.push_back({"/metric/name", undefined, "hold-out rows of at least two classes"});
    }
  }
  if (problems.empty()) return std::nullopt;
  std::string text;
  for (const program::Problem& problem : problems) {
    text += (text.empty() ? "" : "; ") + to_string(problem);
  }
  return text;
}

std::shared_ptr<const Prepared> PreparedPrograms::get(const program::Program& program,
                                                      DataCache& data, const Demands& demands) {
  std::string text = program.document.dump();
  if (demands.keras == KerasRelease::k224) text += " Keras 2.2.4";
  if (demands.output_gradients) text += " output gradients";
  {
    const std::lock_guard lock(mutex_);
    if (const Pointer* known = entries_.find(text)) return *known;
  }
  const Json& recipe = program.document.at("data");
  const Json* metric = member(program.document, "metric");
  const Json* scale = metric != nullptr ? member(*metric, "scale") : nullptr;
  auto made = std::make_shared<const Prepared>(
      prepare(program, data.get(recipe),
              scale != nullptr && *scale == "original" ? data.target_scale(recipe) : TargetScale{},
              weights_, demands));
  const std::lock_guard lock(mutex_);
  if (entries_.find(text) != nullptr) return made;  // another thread was faster
  entries_.add(text, made);
  if (++users_[made->data.get()] == 1) bytes_ += made->data->bytes();
  while (entries_.size() > kKept || (bytes_ > kDataCacheBytes && entries_.size() > 1)) {
    const Pointer dropped = entries_.drop();
    const LoadedData* unused = dropped->data.get();
    if (--users_[unused] > 0) continue;
    bytes_ -= unused->bytes();
    users_.erase(unused);
  }
  return made;
}

}  // namespace neutra::training
