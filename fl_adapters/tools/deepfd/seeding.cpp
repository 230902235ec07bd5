#include "fl_adapters/tools/deepfd/seeding.h"

#include <algorithm>
#include <map>

#include "base/counter_random.h"
#include "base/error.h"
#include "base/json.h"
#include "base/numbers.h"
#include "evaluators/statistics.h"
#include "fl_adapters/embedded.h"
#include "training/metrics.h"

namespace neutra::fl_adapters::deepfd {
namespace {

constexpr std::size_t kOptLabel = 0, kLrLabel = 1, kActLabel = 2, kLossLabel = 3;  // and epoch

const Json& pools() {
  static const Json json =
      parse_json(embedded::deepfd_faults, "fl_adapters/tools/deepfd/faults.json");
  return json;
}

/// `values` in an order that depends on the keys alone.
template <typename Value>
std::vector<Value> shuffled(std::vector<Value> values, std::uint64_t key) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[mixed(key + i) % i]);
  }
  return values;
}

/// Up to `count` values, in the pool's order; of learning rates as many high as low ones.
std::vector<std::string> chosen(const std::vector<std::string>& values, std::size_t label,
                                std::size_t count, std::uint64_t key) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  order = shuffled(order, key);
  if (label == kLrLabel) {
    const auto high = [&](std::size_t i) { return std::stod(values[i]) >= 1; };
    std::vector<std::size_t> sides[2], mixed_sides;
    for (const std::size_t i : order) sides[high(i)].push_back(i);
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const auto& side : sides) {
        if (i < side.size()) mixed_sides.push_back(side[i]);
      }
    }
    order = mixed_sides;
  }
  order.resize(std::min(count, order.size()));
  std::sort(order.begin(), order.end());
  std::vector<std::string> result;
  for (const std::size_t i : order) result.push_back(values[i]);
  return result;
}

}  // namespace

Seeder::Seeder(const program::Program& base)
    : space_(program::ProgramSpace::with_default_keys(base)) {}

std::string Seeder::key(std::size_t label) const {
  static constexpr program::KeyKind kKinds[kLabels] = {
      program::KeyKind::kOptimizer, program::KeyKind::kLearningRate, program::KeyKind::kActivation,
      program::KeyKind::kLoss, program::KeyKind::kEpochs};
  std::string name;  // of the last layer, where there are several
  for (const program::Key& known : space_.keys()) {
    if (known.kind == kKinds[label]) name = known.name;
  }
  return name;
}

std::vector<std::string> Seeder::values(std::size_t label) const {
  const std::string name = key(label);
  if (name.empty()) return {};
  const std::string& now = space_.base_parameters().at(name);
  std::vector<std::string> list;
  const auto add = [&](const Json& words) {
    for (const Json& word : words) {
      list.push_back(word.is_string() ? word.get<std::string>() : python_repr(word));
    }
  };
  const Json& losses = pools().at("losses");
  switch (label) {
    case kOptLabel:
      add(pools().at("optimizers"));
      break;
    case kLrLabel:
      add(pools().at("learning_rates").at("high"));
      add(pools().at("learning_rates").at("low"));
      break;
    case kActLabel:
      add(pools().at("activations"));
      break;
    case kLossLabel: {  // of the other kind; of both where the program's is of neither
      const auto has = [&](const char* kind) {
        const Json& words = losses.at(kind);
        return std::find(words.begin(), words.end(), Json(now)) != words.end();
      };
      if (!has("probabilities")) add(losses.at("probabilities"));
      if (!has("regression")) add(losses.at("regression"));
      break;
    }
    default: {
      const std::int64_t epochs = std::stoll(now);
      for (const Json& divisor : pools().at("epoch_divisors")) {
        std::int64_t fewer = std::max<std::int64_t>(1, epochs / divisor.get<std::int64_t>());
        if (fewer == epochs) {
          fewer = std::max<std::int64_t>(1, std::min<std::int64_t>(10, fewer) - 1);
        }
        list.push_back(std::to_string(fewer));
      }
    }
  }
  std::vector<std::string> useful;
  for (const std::string& value : list) {
    if (value == now || std::find(useful.begin(), useful.end(), value) != useful.end()) continue;
    std::array<std::string, kLabels> values;
    values[label] = value;
    if (program::validate(seed(values).program.document).empty()) useful.push_back(value);
  }
  return useful;
}

Seeded Seeder::seed(const std::array<std::string, kLabels>& values) const {
  Seeded result;
  program::Parameters changes;
  for (std::size_t label = 0; label < kLabels; ++label) {
    if (values[label].empty()) continue;
    changes[key(label)] = values[label];
    result.labels[label] = true;
    result.name +=
        (result.name.empty() ? "" : "__") + std::string(label_name(label)) + "_" + values[label];
  }
  if (result.name.empty()) result.name = "origin";
  result.program = space_.instantiate(space_.with_changes(changes));
  return result;
}

program::Program watched(const program::Program& program) {
  program::Program result = program;
  Json& document = result.document;
  document["compile"]["metrics"] = Json::array({"accuracy"});
  document["metric"] = {{"name", "accuracy"}, {"goal", "maximize"}};
  Json& fit = document["fit"];
  const Json* split = member(fit, "validation_split");
  const Json* validation = member(document["data"], "validation");
  if ((validation == nullptr || validation->is_null()) && (split == nullptr || *split == 0)) {
    document["data"]["validation"] = "test";
  }
  fit["callbacks"].push_back(
      {{"class_name", "EarlyStopping"},
       {"config",
        {{"monitor", "val_loss"},
         {"patience", static_cast<int>(message_table().threshold("early_stopping_patience"))}}}});
  return result;
}

Observation observe(training::LocalTrainer& trainer, training::TrainingJob job,
                    const std::vector<ToolVariant>& variants) {
  const program::Program program = watched(*job.program);
  job.program = &program;
  job.stream = training::StreamKey::kIndependent;
  Watcher watcher(variants);
  Observation observation;
  observation.result = trainer.train(job, &watcher);
  observation.val_accuracy = watcher.finals()[1];
  for (std::size_t i = 0; i < watcher.monitors().size(); ++i) {
    observation.features[static_cast<std::size_t>(variants[i])] =
        features(watcher.monitors()[i].rows(), watcher.finals(), variants[i]);
  }
  return observation;
}

namespace {

/// A program that is trained many times.
struct Subject {
  std::size_t base;
  std::array<std::string, kLabels> values;
  Seeded seeded;
  std::vector<Observation> observations;

  std::vector<double> accuracies() const {
    std::vector<double> list;
    for (const Observation& observation : observations) list.push_back(observation.val_accuracy);
    return list;
  }
  bool trained() const {
    return std::all_of(observations.begin(), observations.end(),
                       [](const Observation& o) { return training::has_metric(o.result.status); });
  }
};

/// Trains all of them, each as often as the tool does.
void train(std::vector<Subject>& subjects, training::LocalTrainer& trainer,
           const SeedingOptions& options) {
  const auto trainings = static_cast<std::size_t>(message_table().threshold("trainings"));
  for (Subject& subject : subjects) subject.observations.resize(trainings);
  const std::size_t all = subjects.size() * trainings;
  const std::vector<ToolVariant> variants(std::begin(kVariants), std::end(kVariants));
  run_all(
      all, options.workers, options.stop,
      [&](std::size_t i) {
        Subject& subject = subjects[i / trainings];
        training::TrainingJob job;
        job.program = &subject.seeded.program;
        job.seed = options.seed;
        job.replica = static_cast<int>(i % trainings);
        job.stop = options.stop;
        subject.observations[i % trainings] = observe(trainer, job, variants);
      },
      [&](std::size_t done) {
        if (options.progress) options.progress({done, all});
      });
}

bool killed(const Subject& mutant, const Subject& origin) {
  const std::vector<double> before = origin.accuracies(), after = mutant.accuracies();
  return mutant.trained() &&
         evaluators::glm_p(before, after) < message_table().threshold("kill_p") &&
         evaluators::cohens_d(before, after) >= message_table().threshold("kill_d");
}

Example example_of(Subject subject, const std::string& base) {
  Example example{base,
                  subject.seeded.name,
                  program::program_hash(subject.seeded.program),
                  subject.seeded.labels,
                  evaluators::mean(subject.accuracies()),
                  {}};
  for (Observation& observation : subject.observations) {
    for (std::size_t v = 0; v < example.features.size(); ++v) {
      example.features[v].push_back(std::move(observation.features[v]));
    }
  }
  return example;
}

/// All sets of `count` labels.
std::vector<Labels> label_sets(std::size_t count) {
  std::vector<Labels> sets;
  for (unsigned bits = 0; bits < 1u << kLabels; ++bits) {
    Labels labels;
    for (std::size_t l = 0; l < kLabels; ++l) labels[l] = (bits >> l) & 1;
    if (static_cast<std::size_t>(std::count(labels.begin(), labels.end(), true)) == count) {
      sets.push_back(labels);
    }
  }
  return sets;
}

}  // namespace

void require_seedable(const std::vector<FaultyProgram>& programs, training::LocalTrainer& trainer) {
  for (const FaultyProgram& program : programs) {
    program::require_valid(program.program.document, program.id);
    if (const program::ResolvedProgram resolved = program::resolve(program.program);
        !training::is_accuracy(resolved.metric)) {
      throw input_error(
          describe(program.id, "metric", resolved.metric, "an accuracy: mutants are killed by it"));
    }
    if (const auto reason = trainer.refusal(program.program)) {
      throw input_error(describe(program.id, "", *reason, ""));
    }
  }
}

namespace {

/// A random number for one use in one program.
std::uint64_t key_of(const program::Program& program, const SeedingOptions& options,
                     std::uint64_t use) {
  return mixed(options.seed ^ mixed(program::program_hash(program).low ^ (use << 32)));
}

/// Values of each label that made a mutant of one program which was killed.
using KilledValues = std::array<std::vector<std::string>, kLabels>;

/// The program without faults, and its mutants with one.
void add_singles(std::size_t base, const program::Program& program, const Seeder& seeder,
                 const SeedingOptions& options, std::vector<Subject>& subjects) {
  subjects.push_back({base, {}, seeder.seed({}), {}});
  for (std::size_t label = 0; label < kLabels; ++label) {
    for (const std::string& value :
         chosen(seeder.values(label), label, static_cast<std::size_t>(options.singles),
                key_of(program, options, label))) {
      std::array<std::string, kLabels> values;
      values[label] = value;
      subjects.push_back({base, values, seeder.seed(values), {}});
    }
  }
}

/// Mutants with `count` of the faults that were killed alone.
void add_several(std::size_t base, const program::Program& program, const Seeder& seeder,
                 const KilledValues& pools, std::size_t count, const SeedingOptions& options,
                 std::vector<Subject>& subjects) {
  std::vector<Labels> sets = label_sets(count);
  std::erase_if(sets, [&](const Labels& labels) {
    for (std::size_t l = 0; l < kLabels; ++l) {
      if (labels[l] && pools[l].empty()) return true;
    }
    return false;
  });
  if (sets.empty()) return;
  sets = shuffled(sets, key_of(program, options, 100 + count));
  std::vector<std::string> names;
  for (int i = 0; i < options.several[count - 2]; ++i) {
    const Labels& labels = sets[static_cast<std::size_t>(i) % sets.size()];
    std::array<std::string, kLabels> values;
    for (std::size_t l = 0; l < kLabels; ++l) {
      if (!labels[l]) continue;
      const std::uint64_t key = key_of(program, options, 1000 + 100 * count + 10 * l);
      values[l] = pools[l][mixed(key + static_cast<std::uint64_t>(i)) % pools[l].size()];
    }
    Seeded seeded = seeder.seed(values);
    if (std::find(names.begin(), names.end(), seeded.name) != names.end()) continue;
    // A pair that Keras refuses.
    if (!program::validate(seeded.program.document).empty()) continue;
    names.push_back(seeded.name);
    subjects.push_back({base, values, std::move(seeded), {}});
  }
}

}  // namespace

Table make_table(const std::vector<FaultyProgram>& programs, training::LocalTrainer& trainer,
                 const SeedingOptions& options) {
  require_seedable(programs, trainer);
  Table table;
  table.seed = options.seed;
  std::vector<Seeder> seeders;
  std::vector<Subject> singles, several;
  for (std::size_t base = 0; base < programs.size(); ++base) {
    const program::Program& program = programs[base].program;
    table.programs.push_back(programs[base].id);
    add_singles(base, program, seeders.emplace_back(program), options, singles);
  }
  train(singles, trainer, options);

  std::map<std::size_t, const Subject*> origins;
  std::vector<KilledValues> found(programs.size());
  std::vector<const Subject*> kept;
  for (const Subject& subject : singles) {
    if (subject.seeded.labels == Labels{}) {
      if (!subject.trained()) {
        throw input_error(describe(programs[subject.base].id, "",
                                   subject.observations.front().result.message,
                                   "a program that trains"));
      }
      origins[subject.base] = &subject;
      kept.push_back(&subject);
    } else if (killed(subject, *origins[subject.base])) {
      kept.push_back(&subject);
      for (std::size_t l = 0; l < kLabels; ++l) {
        if (subject.seeded.labels[l]) found[subject.base][l].push_back(subject.values[l]);
      }
    }
  }
  for (std::size_t base = 0; base < programs.size(); ++base) {
    for (std::size_t count = 2; count <= kLabels; ++count) {
      add_several(base, programs[base].program, seeders[base], found[base], count, options,
                  several);
    }
  }
  train(several, trainer, options);
  for (const Subject& subject : several) {
    if (killed(subject, *origins[subject.base])) kept.push_back(&subject);
  }

  table.mutants = singles.size() - programs.size() + several.size();
  for (const Subject* subject : kept) {
    table.examples.push_back(example_of(*subject, programs[subject->base].id));
  }
  std::stable_sort(table.examples.begin(), table.examples.end(),
                   [&](const Example& a, const Example& b) {
                     const auto at = [&](const Example& e) {
                       return std::find(table.programs.begin(), table.programs.end(), e.program);
                     };
                     return at(a) < at(b);
                   });
  return table;
}

}  // namespace neutra::fl_adapters::deepfd
