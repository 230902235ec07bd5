// Programs whose layers are no chain: docs/methods/graphs.md.

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "image_comparison.h"
#include "program/formats/keras_file.h"
#include "program/formats/keras_h5.h"
#include "program/formats/keras_import.h"
#include "program/formats/keras_model.h"
#include "program/graph.h"
#include "random_graphs.h"
#include "tests/source_file.h"
#include "tests/test_folder.h"
#include "training/eager.h"
#include "training/flush_denormals.h"
#include "training/fused/engine.h"
#include "training/predictor.h"
#include "training/torch_script.h"

namespace neutra::training {
namespace {

using namespace tests;

constexpr unsigned kGraphs = 200;

program::ResolvedProgram resolved_graph(const RandomGraph& graph) {
  return resolved(graph.layers, graph.input, optimizer("SGD", 0.01), "categorical_crossentropy",
                  {3}, 13, 8);
}

TEST(Graphs, AreNoChains) {
  unsigned graphs = 0, shared = 0;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    const program::ResolvedProgram program = resolved_graph(random_graph(seed));
    graphs += program::is_chain(program.layers) ? 0 : 1;
    shared += std::any_of(program.layers.begin(), program.layers.end(),
                          [](const auto& layer) { return layer.weights_of.has_value(); });
  }
  EXPECT_GT(graphs, kGraphs * 9 / 10);
  EXPECT_GT(shared, kGraphs / 10);
}

TEST(Graphs, BackEndsAgree) {
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph graph = random_graph(seed);
    expect_agreement({graph.layers, graph.input, 8, 13});
    if (HasFailure()) return;
  }
}

/// Rows and one-hot targets.
struct SomeRows {
  Array x, y;
  SomeRows(const program::Shape& input, std::int64_t count, unsigned seed) {
    Random random(seed);
    x.extents = with_rows(count, input);
    x.values = numbers(random, static_cast<std::size_t>(count * program::element_count(input)));
    y = {{count, 3}, std::vector<float>(static_cast<std::size_t>(count * 3))};
    for (std::int64_t i = 0; i < count; ++i) {
      y.values[static_cast<std::size_t>(3 * i + below(random, 3))] = 1;
    }
  }
  Rows all() const { return {&x, &y, 0, x.extents[0]}; }
};

/// Along the gradient, the loss grows by its length.
TEST(Graphs, GradientsAreSlopes) {
  const std::vector<std::int64_t> rows{0, 1, 2, 3, 4, 5, 6, 7};
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    const RandomGraph graph = random_graph(seed, true);
    const program::ResolvedProgram program = resolved_graph(graph);
    const SomeRows some(graph.input, 8, seed);
    for (const bool fused : {false, true}) {
      const auto engine = fused ? make_fused_engine(program, some.all(), {seed, 5})
                                : make_eager_engine(program, some.all(), {seed, 5});
      engine->gradients(rows, 0, {});
      const std::span<float> gradient = engine->weights().gradients();
      const std::vector<float> slope(gradient.begin(), gradient.end());
      const double length =
          std::sqrt(std::inner_product(slope.begin(), slope.end(), slope.begin(), 0.0));
      const std::span<float> weights = engine->weights().all();
      const std::vector<float> before(weights.begin(), weights.end());
      const auto loss_at = [&](double distance) {
        for (std::size_t i = 0; i < slope.size(); ++i) {
          weights[i] = static_cast<float>(before[i] + distance * slope[i] / length);
        }
        return engine->gradients(rows, 0, {.loss = true});
      };
      constexpr double kStep = 4e-3;
      const double measured = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      EXPECT_NEAR(measured, length, 2e-3 * length + 2e-4) << seed << graph.layers;
    }
  }
}

/// Trainings at the same time give the bits that they give alone.
TEST(Graphs, TrainAlikeInParallel) {
  constexpr unsigned kSome = 40;
  std::vector<std::vector<float>> alone(kSome), together(kSome);
  const auto train = [](unsigned seed) {
    const FlushDenormals guard;  // these two as each training has them, on any thread
    omp_set_num_threads(1);
    const RandomGraph graph = random_graph(seed);
    const program::ResolvedProgram program = resolved_graph(graph);
    const SomeRows some(graph.input, 13, seed);
    const auto engine = make_fused_engine(program, some.all(), {seed, 5});
    const std::vector<std::int64_t> rows{3, 1, 4, 12, 5, 9, 2, 6};
    for (std::uint32_t step = 0; step < 5; ++step) engine->step(rows, step, {});
    const std::span<float> weights = engine->weights().all();
    return std::vector<float>(weights.begin(), weights.end());
  };
  for (unsigned i = 0; i < kSome; ++i) alone[i] = train(i);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = t; i < kSome; i += 4) together[i] = train(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (unsigned i = 0; i < kSome; ++i) EXPECT_TRUE(same_bits(alone[i], together[i])) << i;
}

/// A detached layer keeps its gradient back on its own way alone.
TEST(Graphs, DetachedLayersLeaveOtherWays) {
  Json layers = {layer("InputLayer", {{"name", "in"}}), dense(4, "tanh", {{"name", "a"}}),
                 dense(4, "tanh", {{"name", "b"}}), layer("Add", {{"name", "sum"}}),
                 dense(3, "softmax")};
  layers[3]["inputs"] = {"a", "b"};
  program::Program p =
      program_of("moons", 4, layers, "categorical_crossentropy", "mae", optimizer("SGD", 0.1));
  p.document["fit"]["loop"] = {{"detached", 2}};
  program::DataInfo info{{4}, {3}, 8};
  info.y_max = 1;
  const program::ResolvedProgram program = program::resolve(p, &info);
  const SomeRows some({4}, 8, 1);
  const std::vector<std::int64_t> rows{0, 1, 2, 3, 4, 5, 6, 7};
  for (const bool fused : {false, true}) {
    const auto engine = fused ? make_fused_engine(program, some.all(), {1, 5})
                              : make_eager_engine(program, some.all(), {1, 5});
    engine->gradients(rows, 0, {});
    const auto gradient_of = [&](std::size_t i) {
      const Weights::Variable& kernel = engine->weights().of_layer(i)[0];
      EXPECT_EQ(kernel.trainable, i != 2);
      double sum = 0;
      if (!kernel.trainable) return sum;
      for (const float g : kernel.extent.of(engine->weights().gradients())) sum += std::abs(g);
      return sum;
    };
    EXPECT_GT(gradient_of(1), 0.01);
    EXPECT_GT(gradient_of(4), 0.01);
    EXPECT_EQ(gradient_of(2), 0);
  }
}

/// The weights, or what Keras gave for their gradients, of a case's layers.
void set_weights(Engine& engine, const Json& document, const Json& layers) {
  const Json& own = document["model"]["config"]["layers"];
  for (const Json& layer : layers) {
    const auto at = std::find_if(own.begin(), own.end(), [&](const Json& each) {
      return *program::name_of(each) == layer["name"].get<std::string>();
    });
    ASSERT_NE(at, own.end()) << layer["name"];
    const auto position = static_cast<std::size_t>(at - own.begin());
    for (std::size_t k = 0; k < layer["variables"].size(); ++k) {
      const auto values = layer["variables"][k][0].get<std::vector<float>>();
      const std::span<float> to = variable(engine, position, k);
      ASSERT_EQ(values.size(), to.size());
      std::copy(values.begin(), values.end(), to.begin());
    }
  }
}

double apart(std::span<const float> ours, const Json& theirs) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto wanted = theirs[i].get<double>();
    difference += std::pow(double{ours[i]} - wanted, 2);
    size += wanted * wanted;
  }
  return ours.size() == theirs.size() ? std::sqrt(difference / std::max(size, 1e-6)) : INFINITY;
}

/// Outputs, loss and gradients of a step are those of tf.keras (scripts/keras_graphs.py).
/// NEUTRA_GRAPH_CASES names a file with more cases.
TEST(Graphs, TrainAsKerasDoes) {
  const char* more = std::getenv("NEUTRA_GRAPH_CASES");
  const std::filesystem::path path =
      more != nullptr ? more : source_file("tests/training/data/graphs.json");
  const Json cases = read_json(path);
  std::size_t number = 0;
  for (const Json& one : cases) {
    SCOPED_TRACE(number++);
    const program::KerasModel model{"graphs.json", "2.15.0", "tensorflow", one["model"], Json()};
    program::ImportSources sources;
    sources.name = "graph";
    const Json document = program::import_keras(model, sources).document;
    program::DataInfo info;
    info.x = one["shape"].get<program::Shape>();
    const std::int64_t count = info.x.front();
    info.x.erase(info.x.begin());
    info.y = {3};
    info.y_max = 1;
    info.training_rows = count;
    const program::ResolvedProgram program = program::resolve({document}, &info);
    const Array x{with_rows(count, info.x), one["x"].get<std::vector<float>>()};
    const Array y{{count, 3}, one["targets"].get<std::vector<float>>()};
    const Rows all{&x, &y, 0, count};
    std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    ASSERT_EQ(fused_refusal(program, all), std::nullopt);
    for (const bool fused : {false, true}) {
      const auto engine =
          fused ? make_fused_engine(program, all, {1, 5}) : make_eager_engine(program, all, {1, 5});
      set_weights(*engine, document, one["layers"]);
      const double loss = engine->gradients(rows, 0, {.loss = true, .output = true});
      EXPECT_NEAR(loss, one["loss"].get<double>(), 1e-5 * std::max(1.0, std::abs(loss)));
      EXPECT_LE(apart(engine->output().values, one["outputs"]), 1e-5);
      std::vector<float> ours;
      Json theirs = Json::array();
      const Json& own = document["model"]["config"]["layers"];
      for (const Json& layer : one["layers"]) {
        for (std::size_t i = 0; i < own.size(); ++i) {
          if (*program::name_of(own[i]) != layer["name"].get<std::string>()) continue;
          for (std::size_t k = 0; k < layer["variables"].size(); ++k) {
            const Json& gradient = layer["variables"][k][1];
            const Weights::Variable& mine = engine->weights().of_layer(i)[k];
            ASSERT_EQ(mine.trainable, !gradient.is_null()) << layer["name"];
            if (!mine.trainable) continue;
            const std::span<float> values = mine.extent.of(engine->weights().gradients());
            ours.insert(ours.end(), values.begin(), values.end());
            theirs.insert(theirs.end(), gradient.begin(), gradient.end());
          }
        }
      }
      EXPECT_LE(apart(ours, theirs), 1e-5) << (fused ? "fused" : "eager");
    }
  }
}

/// A model file of Keras and the program that is imported from it predict alike; that one's file is
/// the program again.
TEST(Graphs, GoThroughModelFiles) {
  const neutra::tests::TestFolder folder;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph graph = random_graph(seed);
    const bool h5 = seed % 2 == 0;
    program::ResolvedProgram program = resolved_graph(graph);
    const SomeRows some(graph.input, 13, seed);
    program::Program document;
    document.document = program_of("moons", 2, graph.layers, "categorical_crossentropy", "mae",
                                   optimizer("SGD", 0.01))
                            .document;
    Json& shape = document.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"];
    shape = Json::array({nullptr});
    for (const std::int64_t extent : graph.input) shape.push_back(extent);
    program::ModelWeights weights =
        make_fused_engine(program, some.all(), {seed, 5})->weights().by_layer();
    const Array before = predict(program, weights, some.x, Backend::kFused);
    Hash hash;
    for (int round = 0; round < 2; ++round) {
      const auto path = folder.path() / (h5 ? "model.h5" : "model.keras");
      std::ofstream(path, std::ios::binary)
          << (h5 ? program::keras_h5 : program::keras_file)(document, program, weights);
      const program::KerasModelFile file(path);
      program::ImportSources sources;
      sources.name = "model";
      document.document = program::import_keras(file.model(), sources).document;
      program = program::resolve(document);
      weights = file.weights(program);
      const Array after = predict(program, weights, some.x, Backend::kFused);
      ASSERT_EQ(after.values.size(), before.values.size());
      for (std::size_t i = 0; i < before.values.size(); ++i) {
        ASSERT_NEAR(after.values[i], before.values[i], 1e-6) << graph.layers;
      }
      if (round == 1) {
        EXPECT_EQ(program::program_hash(document), hash) << document.document;
      }
      hash = program::program_hash(document);
    }
  }
}

/// What exports for PyTorch compute is what the model says.
TEST(Graphs, TorchScriptsSayTheSame) {
  const neutra::tests::TestFolder folder;
  const auto file = folder.path() / "model.pt";
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph graph = random_graph(seed);
    const program::ResolvedProgram program = resolved_graph(graph);
    const SomeRows some(graph.input, 9, seed);
    const program::ModelWeights weights =
        make_fused_engine(program, some.all(), {seed, 5})->weights().by_layer();
    std::ofstream(file, std::ios::binary) << torchscript(program, weights);
    const Array said = run_torch_script(file, some.x);
    const Array predicted = predict(program, weights, some.x, Backend::kFused);
    ASSERT_EQ(said.extents, predicted.extents);
    for (std::size_t i = 0; i < said.values.size(); ++i) {
      ASSERT_NEAR(said.values[i], predicted.values[i], 1e-5) << graph.layers;
    }
  }
}

}  // namespace
}  // namespace neutra::training
