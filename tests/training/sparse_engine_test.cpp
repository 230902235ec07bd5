// Sparse inputs in the engines: the same steps as on dense ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "programs.h"
#include "tests/training/sparse.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/loop.h"
#include "training/sparse_rows.h"

namespace neutra::training::tests {
namespace {

/// A program on rows of words.
struct Subject {
  program::ResolvedProgram program;
  Array x, y;
  std::optional<SparseRows> rows;

  Subject(std::int64_t words, Json layers, const Json& how, std::int64_t count = 90,
          std::int64_t batch = 32) {
    Random random(3);
    const int outputs = layers.back()["config"]["units"];
    program::Program p = program_of("moons", static_cast<int>(words), std::move(layers),
                                    "mean_squared_error", "mae", how);
    p.document["fit"]["batch_size"] = batch;
    x = rows_of_words(count, words, random);
    y = {{count, outputs}, std::vector<float>(static_cast<std::size_t>(count * outputs))};
    for (float& v : y.values) v = number(random);
    program::DataInfo info;
    info.x = {words};
    info.y = {outputs};
    info.training_rows = count;
    program = program::resolve(p, &info);
    rows = sparse_rows(x);
    EXPECT_TRUE(rows);
  }
  Rows view(bool sparse) const { return {&x, &y, 0, x.rows(), sparse ? &*rows : nullptr}; }
  std::unique_ptr<Engine> fused(bool sparse) const {
    EXPECT_EQ(fused_refusal(program, view(sparse)), std::nullopt);
    return make_fused_engine(program, view(sparse), {5, 6});
  }
  std::unique_ptr<Engine> eager() const { return make_eager_engine(program, view(false), {5, 6}); }
  /// The rows of step t: whole batches but for the last of an epoch.
  std::vector<std::int64_t> batch(int t) const {
    const auto size = static_cast<std::size_t>(program.batch_size),
               count = static_cast<std::size_t>(x.rows());
    std::vector<std::int64_t> order(count);
    const std::size_t steps = (count + size - 1) / size,
                      epoch = static_cast<std::size_t>(t) / steps;
    fill_permutation({{5, 6}, Stream::kShuffle, 0, static_cast<std::uint32_t>(epoch)}, order);
    const std::size_t begin = static_cast<std::size_t>(t) % steps * size;
    return {order.begin() + static_cast<std::ptrdiff_t>(begin),
            order.begin() + static_cast<std::ptrdiff_t>(std::min(count, begin + size))};
  }
};

double evaluate(Engine& engine, const Rows& rows) { return engine.evaluate(rows, {}, 32); }

// Eight outputs: dense batches add in the order of rows and words, too.
TEST(SparseEngine, EqualsDenseBatchesBitForBit) {
  for (const char* name : kOptimizers) {
    for (const bool more : {false, true}) {
      SCOPED_TRACE(name + std::string(more ? ", clipped" : ""));
      Json how = optimizer(name, 0.01);
      if (more) how["config"].update(Json{{"clipnorm", 0.1}, {"decay", 0.01}});
      const Subject s(1100, Json::array({dense(8, "relu"), dense(3, "linear")}), how);
      const auto sparse = s.fused(true), whole = s.fused(false);
      for (int t = 0; t < 60; ++t) {
        const double a = sparse->step(s.batch(t), static_cast<std::uint32_t>(t), {true});
        const double b = whole->step(s.batch(t), static_cast<std::uint32_t>(t), {true});
        ASSERT_EQ(a, b) << t;
        if (t % 25 == 7) {
          const auto g = sparse->weights().gradients(), h = whole->weights().gradients();
          ASSERT_TRUE(std::equal(g.begin(), g.end(), h.begin())) << t;
          const auto w = sparse->weights().all(), v = whole->weights().all();
          ASSERT_TRUE(std::equal(w.begin(), w.end(), v.begin())) << t;
          ASSERT_EQ(evaluate(*sparse, s.view(true)), evaluate(*whole, s.view(false)));
        }
      }
      const auto w = sparse->weights().all(), v = whole->weights().all();
      EXPECT_TRUE(std::equal(w.begin(), w.end(), v.begin()));
    }
  }
}

double distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - b[i];
    sum += d * d;
    size += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(sum) / std::max(std::sqrt(size), 1e-30);
}

TEST(SparseEngine, GradientsAreTheEagerOnes) {
  struct Network {
    Json layers;
    std::int64_t rows, batch;
  };
  const std::vector<Network> networks{
      {Json::array({dense(70, "relu"), dense(5, "linear")}), 90, 32},
      {Json::array({dense(4, "tanh")}), 33, 16},
      {Json::array({dense(33, "sigmoid", {{"use_bias", false}}), layer("Dropout", {{"rate", 0.5}}),
                    dense(2, "linear")}),
       70, 70},
      {Json::array({dense(40, "relu", {{"trainable", false}}), dense(2, "linear")}), 60, 1},
      {Json::array(
           {dense(30, "relu",
                  {{"kernel_regularizer", {{"class_name", "L2"}, {"config", {{"l2", 0.01}}}}}}),
            dense(2, "linear")}),
       60, 32},
      {Json::array({layer("Flatten", Json::object()), layer("Dropout", {{"rate", 0.0}}),
                    dense(24, "elu"), layer("BatchNormalization", Json::object()),
                    dense(2, "linear")}),
       60, 32},
      // Not a product of the input itself.
      {Json::array({layer("Dropout", {{"rate", 0.5}}), dense(24, "relu"), dense(2, "linear")}), 60,
       32},
  };
  for (const Network& network : networks) {
    SCOPED_TRACE(network.layers.dump());
    const Subject s(1500, network.layers, optimizer("SGD", 0.1), network.rows, network.batch);
    const auto sparse = s.fused(true), reference = s.eager();
    for (int t = 0; t < 8; ++t) {
      const double a = sparse->gradients(s.batch(t), static_cast<std::uint32_t>(t), {true, true});
      const double b =
          reference->gradients(s.batch(t), static_cast<std::uint32_t>(t), {true, true});
      EXPECT_NEAR(a, b, 1e-5 * std::abs(b));
      EXPECT_LE(distance(sparse->weights().gradients(), reference->weights().gradients()), 1e-5);
      EXPECT_LE(distance(sparse->output().values, reference->output().values), 1e-5);
      const double value = evaluate(*sparse, s.view(true));
      EXPECT_NEAR(value, evaluate(*reference, s.view(false)), 1e-5 * std::abs(value));
      sparse->optimizer().step(sparse->weights().updated(), sparse->weights().gradients());
      const auto w = sparse->weights().all();
      std::copy(w.begin(), w.end(), reference->weights().all().begin());
    }
  }
}

TEST(SparseEngine, LayersAreThereForObservers) {
  const Subject s(
      1100, Json::array({layer("Flatten", Json::object()), dense(8, "relu"), dense(3, "linear")}),
      optimizer("Adam", 0.01));
  const auto sparse = s.fused(true), whole = s.fused(false);
  for (int t = 0; t < 5; ++t) {
    sparse->step(s.batch(t), 0, {true, true, true});
    whole->step(s.batch(t), 0, {true, true, true});
    const auto a = sparse->activations(), b = whole->activations();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(std::equal(a[i].begin(), a[i].end(), b[i].begin(), b[i].end())) << i;
    }
  }
}

// Whatever the loop does, rows without words have the updates that they would have.
TEST(SparseEngine, EqualsDenseBatchesInEveryLoop) {
  std::vector<program::LoopStyle> loops(7);
  loops[0].zero_grad = program::LoopStyle::ZeroGrad::kNever;
  loops[1].zero_grad = program::LoopStyle::ZeroGrad::kEachEpoch;
  loops[2].zero_grad = program::LoopStyle::ZeroGrad::kBeforeStep;
  loops[3].step = false;
  loops[4].sum = true;
  loops[5].left_out = {0};
  loops[6].detached = 0;
  for (const char* name : {"SGD", "Adam", "Ftrl"}) {
    Subject s(1100, Json::array({dense(8, "relu"), dense(3, "linear")}), optimizer(name, 0.001));
    s.program.schedule = {0.97, true};
    for (std::size_t i = 0; i < loops.size(); ++i) {
      SCOPED_TRACE(name + std::string(", loop ") + std::to_string(i));
      s.program.loop = loops[i];
      const auto sparse = s.fused(true), whole = s.fused(false);
      for (int t = 0; t < 40; ++t) {
        for (Engine* engine : {sparse.get(), whole.get()}) {
          if (t % 3 == 0) engine->begin_epoch(t / 3);
          engine->step(s.batch(t), static_cast<std::uint32_t>(t), {});
        }
        if (t % 13 != 7) continue;
        EXPECT_EQ(bits(sparse->weights().gradients()), bits(whole->weights().gradients())) << t;
        EXPECT_EQ(bits(sparse->weights().all()), bits(whole->weights().all())) << t;
      }
      EXPECT_EQ(bits(sparse->weights().all()), bits(whole->weights().all()));
    }
  }
}

TEST(SparseEngine, GoesOnFromAState) {
  for (const char* name : kOptimizers) {
    SCOPED_TRACE(name);
    const Subject s(1100, Json::array({dense(30, "relu"), dense(3, "linear")}),
                    optimizer(name, 0.01));
    const auto whole = s.fused(true), first = s.fused(true), second = s.fused(true);
    for (std::uint32_t t = 0; t < 40; ++t) {
      whole->step(s.batch(static_cast<int>(t)), t, {});
      (t < 20 ? first : second)->step(s.batch(static_cast<int>(t)), t, {});
      if (t == 19) {
        const std::span<float> w = first->weights().all();
        std::copy(w.begin(), w.end(), second->weights().all().begin());
        second->optimizer().restore(first->optimizer().state());
      }
    }
    EXPECT_EQ(bits(second->weights().all()), bits(whole->weights().all()));
  }
}

std::vector<bool> not_finite(std::span<const float> values) {
  std::vector<bool> which;
  for (const float v : values) which.push_back(!std::isfinite(v));
  return which;
}

// In a dense product a word that doesn't occur still multiplies its weights by zero.
TEST(SparseEngine, ZeroTimesInfinityIsNaN) {
  const Subject s(1100, Json::array({dense(6, "linear"), dense(3, "linear")}),
                  optimizer("SGD", 0.01));
  const std::vector<std::int64_t> batch{3, 5, 10};  // 3 has no words
  ASSERT_EQ(s.rows->offsets[3], s.rows->offsets[4]);
  for (const float value : {kInfinity, -kInfinity, kNaN}) {
    for (const bool later : {false, true}) {
      const auto sparse = s.fused(true), reference = s.eager();
      for (Engine* engine : {sparse.get(), reference.get()}) {
        if (later) engine->step(batch, 0, {});
        engine->weights().all()[1090 * 6 + 2] = value;  // a word of row 0 alone
        engine->gradients(batch, 0, {true, true});
      }
      const auto g = sparse->weights().gradients(), h = reference->weights().gradients();
      EXPECT_EQ(not_finite(g), not_finite(h));
      EXPECT_TRUE(std::isnan(g[2])) << "word 0, unit 2";
      EXPECT_EQ(not_finite(sparse->output().values), not_finite(reference->output().values));
      for (Engine* engine : {sparse.get(), reference.get()}) {
        engine->optimizer().step(engine->weights().updated(), engine->weights().gradients());
      }
      EXPECT_EQ(not_finite(sparse->weights().all()), not_finite(reference->weights().all()));
      EXPECT_TRUE(std::isnan(evaluate(*sparse, s.view(true))));
    }
  }
}

// A gradient that overflows behind the first layer meets the zeros of the inputs.
TEST(SparseEngine, ZeroTimesAnInfiniteGradientIsNaN) {
  for (const char* name : kOptimizers) {
    SCOPED_TRACE(name);
    Subject s(1100, Json::array({dense(6, "linear"), dense(3, "linear")}), optimizer(name, 0.01));
    const std::vector<std::int64_t> batch{3, 5, 10}, next{8, 9, 1};
    s.y.values[3 * 3] = kInfinity;  // of the row without words
    const auto sparse = s.fused(true), reference = s.eager();
    for (Engine* engine : {sparse.get(), reference.get()}) {
      engine->step(next, 0, {});
      engine->step(batch, 1, {});
      engine->step(next, 2, {});
    }
    EXPECT_EQ(not_finite(sparse->weights().gradients()),
              not_finite(reference->weights().gradients()));
    EXPECT_EQ(not_finite(sparse->weights().all()), not_finite(reference->weights().all()));
  }
}

}  // namespace
}  // namespace neutra::training::tests
