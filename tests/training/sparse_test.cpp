#include "training/sparse_rows.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "base/hdf5_file.h"
#include "programs.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/fused/sparse_batch.h"
#include "training/local_trainer.h"
#include "training/loop.h"
#include "training/optimizers/registry.h"

/// Sparse inputs: the same trainings as on dense ones.
namespace neutra::training {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Random = std::mt19937;
std::size_t below(Random& random, std::size_t count) { return random() % count; }
float number(Random& random) { return static_cast<float>(random() >> 8) * 0x1p-23f - 1; }

std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> all(values.size());
  std::memcpy(all.data(), values.data(), values.size_bytes());
  return all;
}

// Rows and batches.

TEST(SparseRows, HoldWhatIsNotZero) {
  Array array{{3, 1024}, std::vector<float>(3 * 1024)};
  array.values[5] = 2;
  array.values[9] = -0.0f;
  array.values[1023] = kNaN;
  array.values[2 * 1024] = -kInfinity;
  const auto rows = sparse_rows(array);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->offsets, (std::vector<std::size_t>{0, 2, 2, 3}));
  EXPECT_EQ(rows->columns, (std::vector<std::uint32_t>{5, 1023, 0}));
  EXPECT_EQ(rows->values[0], 2);
  EXPECT_TRUE(std::isnan(rows->values[1]));
  EXPECT_EQ(rows->values[2], -kInfinity);
}

TEST(SparseRows, OnlyWhereTheyAreWorthIt) {
  EXPECT_FALSE(sparse_rows({{3, 1023}, std::vector<float>(3 * 1023)}));  // narrow
  EXPECT_FALSE(sparse_rows({{}, {}}));
  EXPECT_FALSE(sparse_rows({{0, 2000}, {}}));
  Array array{{1, 2000}, std::vector<float>(2000)};
  std::fill_n(array.values.begin(), 100, 1.0f);
  EXPECT_TRUE(sparse_rows(array));
  array.values[100] = 1;
  EXPECT_FALSE(sparse_rows(array));
}

/// Rows of words: the first holds every word, some none, some one, the others a few.
Array text(std::int64_t rows, std::int64_t words, Random& random, bool binary = false) {
  Array x{{rows, words}, std::vector<float>(static_cast<std::size_t>(rows * words))};
  for (std::int64_t i = 0; i < rows; ++i) {
    float* row = x.values.data() + i * words;
    if (i == 0) {
      for (std::int64_t k = 0; k < words; ++k) row[k] = binary ? 1 : number(random);
      continue;
    }
    const std::size_t count = i % 7 == 3 ? 0 : i % 7 == 5 ? 1 : below(random, 20);
    for (std::size_t k = 0; k < count; ++k) {
      // Small numbers of words are frequent.
      const std::size_t bound = below(random, static_cast<std::size_t>(words)) + 1;
      row[below(random, bound)] = binary ? 1 : number(random);
    }
  }
  return x;
}

TEST(SparseBatch, ByRowAndByColumn) {
  Random random(1);
  const Array x = text(60, 1500, random);
  const auto rows = sparse_rows(x);
  ASSERT_TRUE(rows);
  fused::SparseBatch batch(1500);
  for (const std::vector<std::int64_t>& wanted :
       {std::vector<std::int64_t>{0, 3, 17, 59, 5}, {3}, {17, 3, 17}, {59, 58, 4, 8}}) {
    batch.take(*rows, 0, wanted);
    batch.sort();
    std::vector<std::uint32_t> columns;
    ASSERT_EQ(batch.row_sums().size(), wanted.size());
    std::size_t next = 0;
    for (std::size_t k = 0; k < 1500; ++k) {
      std::vector<std::pair<std::uint32_t, float>> column, found;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const float value = x.values[static_cast<std::size_t>(wanted[i]) * 1500 + k];
        if (value != 0) column.emplace_back(i, value);
      }
      if (column.empty()) continue;
      ASSERT_LT(next, batch.columns().size());
      EXPECT_EQ(batch.columns()[next], k);
      const fused::RowSum sum = batch.column_sums()[next++];
      EXPECT_EQ(sum.row, k);
      for (std::size_t e = sum.begin; e < sum.end; ++e) {
        found.emplace_back(batch.column_rows()[e], batch.column_values()[e]);
      }
      EXPECT_EQ(found, column);
    }
    EXPECT_EQ(next, batch.columns().size());
  }
}

TEST(SparseKernel, SumsOfRows) {
  Random random(2);
  for (const fused::NamedKernels& named : fused::available_kernels()) {
    for (std::size_t features = 1; features < 150; features += features < 70 ? 1 : 13) {
      constexpr std::size_t kFrom = 9, kTo = 6;
      // Exactly as long as needed: a sanitizer sees whoever reads or writes behind.
      std::vector<float> from(kFrom * features), start(features), to(kTo * features, 7);
      for (float& v : from) v = number(random);
      for (float& v : start) v = number(random);
      const std::vector<std::uint32_t> indices{8, 0, 3, 3, 5, 1};
      const std::vector<float> values{0.5f, 2, -1, 3, 1, 0.25f};
      const std::vector<fused::RowSum> sums{{0, 3, 4}, {3, 3, 0}, {3, 4, 5}, {1, 6, 2}};
      for (const float* bias : std::initializer_list<const float*>{nullptr, start.data()}) {
        named.table->sum_rows(sums.size(), sums.data(), indices.data(), values.data(), bias,
                              features, from.data(), to.data());
        for (const fused::RowSum& s : sums) {
          for (std::size_t o = 0; o < features; ++o) {
            double expected = bias ? bias[o] : 0;
            for (std::size_t e = s.begin; e < s.end; ++e) {
              expected += static_cast<double>(values[e]) * from[indices[e] * features + o];
            }
            ASSERT_NEAR(to[s.row * features + o], expected, 1e-5) << named.name << features;
          }
        }
        for (const std::size_t other : {1u, 3u}) {
          for (std::size_t o = 0; o < features; ++o) ASSERT_EQ(to[other * features + o], 7);
        }
      }
    }
  }
}

// Steps that rows miss and make up for.

struct Settings {
  const char* name;
  const char* optimizer;
};
std::ostream& operator<<(std::ostream& out, const Settings& s) { return out << s.name; }

/// Two optimisers with the same gradients, of which one updates lazily; a table between two
/// variables.
class Pair {
 public:
  static constexpr std::size_t kRows = 40, kRow = 19;
  static constexpr Extent kTable{16, kRows* kRow};
  static constexpr std::size_t kSize = 16 + 768 + 16;

  explicit Pair(const Json& json) : json_(json), random_(7) {
    whole_ = make();
    lazy_ = make();
    lazy_->begin_lazy(kTable, kRow);
    for (std::size_t i = 0; i < kSize; ++i) {
      if (gap(i)) continue;
      w_[i] = below(random_, 9) == 0 ? (below(random_, 2) == 0 ? 0.0f : -0.0f) : number(random_);
    }
    dw_ = w_;
  }

  /// `special`: of the first value of some row with a gradient.
  void step(std::optional<float> special = std::nullopt) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      // Row 0 always, row 39 never, the others ever less.
      if (row + 1 < kRows && below(random_, row + 1) == 0) rows.push_back(row);
    }
    std::vector<float> g(kSize), dg(kSize, 123.0f);  // what lies in other rows doesn't matter
    for (std::size_t i = 0; i < kSize; ++i) {
      if (i >= kTable.begin && i < kTable.begin + kTable.size) continue;
      dg[i] = g[i] = gap(i) ? 0 : number(random_);
    }
    for (const std::uint32_t row : rows) {
      for (std::size_t o = 0; o < kRow; ++o) {
        const std::size_t i = kTable.begin + row * kRow + o;
        dg[i] = g[i] = below(random_, 5) == 0 ? 0 : 3 * number(random_);
        if (special && row == rows.back() && o == 0) dg[i] = g[i] = *special;
      }
    }
    lazy_->catch_up(dw_, rows);
    for (const std::uint32_t row : rows) {
      const Extent extent{kTable.begin + row * kRow, kRow};
      EXPECT_EQ(bits(extent.of(std::span(dw_))), bits(extent.of(std::span(w_)))) << "row " << row;
    }
    whole_->step(w_, g);
    lazy_->step(dw_, dg);
  }
  /// Both go on in new optimisers.
  void restart() {
    lazy_->catch_up_all(dw_);
    auto whole = make(), lazy = make();
    whole->restore(whole_->state());
    lazy->begin_lazy(kTable, kRow);
    lazy->restore(lazy_->state());
    whole_ = std::move(whole);
    lazy_ = std::move(lazy);
  }
  void expect_equal() {
    lazy_->catch_up_all(dw_);
    for (std::size_t i = 0; i < kSize; ++i) {
      ASSERT_TRUE(std::bit_cast<std::uint32_t>(w_[i]) == std::bit_cast<std::uint32_t>(dw_[i]) ||
                  (std::isnan(w_[i]) && std::isnan(dw_[i])))
          << i << ": " << w_[i] << " and " << dw_[i];
    }
    const Optimizer::State a = whole_->state(), b = lazy_->state();
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.product, b.product);
    ASSERT_EQ(a.accumulators.size(), b.accumulators.size());
    for (std::size_t k = 0; k < a.accumulators.size(); ++k) {
      ASSERT_EQ(a.accumulators[k].size(), b.accumulators[k].size());
      for (std::size_t i = 0; i < a.accumulators[k].size(); ++i) {
        const float x = a.accumulators[k][i], y = b.accumulators[k][i];
        ASSERT_TRUE(std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) ||
                    (std::isnan(x) && std::isnan(y)))
            << "accumulator " << k << " at " << i << ": " << x << " and " << y;
      }
    }
  }
  void catch_up_all() { lazy_->catch_up_all(dw_); }
  bool stays_bounded() const { return lazy_->stays_bounded(); }
  std::span<const float> table() const { return kTable.of(std::span<const float>(w_)); }

 private:
  std::unique_ptr<Optimizer> make() const {
    return make_optimizer(json_, {{0, 11}, kTable, {kTable.begin + 768, 5}});
  }
  static bool gap(std::size_t i) {
    return (i >= 11 && i < 16) || (i >= kTable.begin + kTable.size && i < kTable.begin + 768) ||
           i >= kTable.begin + 768 + 5;
  }

  Json json_;
  Random random_;
  std::unique_ptr<Optimizer> whole_, lazy_;
  std::vector<float> w_ = std::vector<float>(kSize), dw_;
};

class Deferral : public testing::TestWithParam<Settings> {};

TEST_P(Deferral, ChangesNoBit) {
  const Json settings = Json::parse(GetParam().optimizer);
  for (const char* clipping :
       {"{}", R"({"clipvalue":0.5})", R"({"clipnorm":1})", R"({"global_clipnorm":1})",
        R"({"decay":0.02})", R"({"clipvalue":1,"clipnorm":2,"global_clipnorm":1,"decay":0.1})"}) {
    SCOPED_TRACE(clipping);
    Json json = settings;
    json["config"].update(Json::parse(clipping));
    Pair pair(json);
    for (int t = 0; t < 200; ++t) {
      pair.step();
      if (t == 3 || t == 90) pair.catch_up_all();
      if (t == 0 || t == 140) pair.expect_equal();
      if (t == 60 || t == 150) pair.restart();
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
    pair.expect_equal();
    EXPECT_EQ(pair.stays_bounded(), Optimizer::bounded(pair.table()));
  }
}

TEST_P(Deferral, SpreadsWhatIsNotFinite) {
  for (const float special : {kNaN, kInfinity, 3e38f}) {
    for (const char* clipping :
         {"{}", R"({"clipvalue":0.5})", R"({"clipnorm":1})", R"({"global_clipnorm":1})"}) {
      SCOPED_TRACE(std::to_string(special) + clipping);
      Json json = Json::parse(GetParam().optimizer);
      json["config"].update(Json::parse(clipping));
      Pair pair(json);
      for (int t = 0; t < 20; ++t) pair.step(t == 9 ? std::optional(special) : std::nullopt);
      pair.expect_equal();
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Deferral, RatesThatAreNotFinite) {
  for (const double rate : {1e39, -0.5, 0.0}) {
    Json json = Json::parse(GetParam().optimizer);
    json["config"]["learning_rate"] = rate;
    Pair pair(json);
    for (int t = 0; t < 5; ++t) pair.step();
    pair.expect_equal();
    if (HasFatalFailure()) return;
    EXPECT_TRUE(Optimizer::bounded(pair.table()) || !pair.stays_bounded());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Deferral,
    testing::Values(
        Settings{"SGD", R"({"class_name":"SGD","config":{"learning_rate":0.1}})"},
        Settings{"Momentum",
                 R"({"class_name":"SGD","config":{"learning_rate":0.1,"momentum":0.9}})"},
        Settings{
            "Nesterov",
            R"({"class_name":"SGD","config":{"learning_rate":0.1,"momentum":0.9,"nesterov":true}})"},
        Settings{"RMSprop", R"({"class_name":"RMSprop","config":{"learning_rate":0.1}})"},
        Settings{"CenteredRMSprop",
                 R"({"class_name":"RMSprop","config":{"learning_rate":0.1,"centered":true}})"},
        Settings{"MomentumRMSprop",
                 R"({"class_name":"RMSprop","config":{"learning_rate":0.1,"momentum":0.8}})"},
        Settings{"CenteredMomentumRMSprop", R"({"class_name":"RMSprop","config":
                     {"learning_rate":0.1,"momentum":0.8,"centered":true}})"},
        Settings{"Adagrad", R"({"class_name":"Adagrad","config":{"learning_rate":0.1}})"},
        Settings{"AdagradFromZero", R"({"class_name":"Adagrad","config":
                     {"learning_rate":0.1,"initial_accumulator_value":0,"epsilon":0}})"},
        Settings{"Adadelta", R"({"class_name":"Adadelta","config":{"learning_rate":0.1}})"},
        Settings{"Adam", R"({"class_name":"Adam","config":{"learning_rate":0.1}})"},
        Settings{"AdamWithoutEpsilon",
                 R"({"class_name":"Adam","config":{"learning_rate":0.1,"epsilon":0}})"},
        Settings{"AMSGrad",
                 R"({"class_name":"Adam","config":{"learning_rate":0.1,"amsgrad":true}})"},
        Settings{"Adamax", R"({"class_name":"Adamax","config":{"learning_rate":0.1}})"},
        Settings{"Nadam", R"({"class_name":"Nadam","config":{"learning_rate":0.1}})"},
        Settings{"Ftrl", R"({"class_name":"Ftrl","config":{"learning_rate":0.1}})"},
        Settings{"RegularisedFtrl", R"({"class_name":"Ftrl","config":{"learning_rate":0.1,
                     "l1_regularization_strength":0.01,"l2_regularization_strength":0.02,
                     "l2_shrinkage_regularization_strength":0.03,"beta":0.04}})"}),
    [](const auto& info) { return info.param.name; });

TEST(DeferralMemory, MissedStepsAreMadeUpForInTheEnd) {
  Pair pair(Json::parse(R"({"class_name":"Adam","config":{"learning_rate":0.01}})"));
  for (int t = 0; t < 2500; ++t) pair.step();
  pair.expect_equal();
}

// Engines.

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
    x = text(count, words, random);
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

const char* const kOptimizers[] = {"SGD",  "RMSprop", "Adagrad", "Adadelta",
                                   "Adam", "Adamax",  "Nadam",   "Ftrl"};

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

// Trainings.

/// A data set in a file, and programs on it.
class SparseTraining : public testing::Test {
 protected:
  SparseTraining()
      : folder_(std::filesystem::temp_directory_path() /
                ("neutra_sparse_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    Random random(4);
    constexpr std::uint64_t kRows = 230, kTest = 75, kWords = 1300, kClasses = 4;
    Hdf5File file = Hdf5File::create(folder_ / "data.h5");
    for (const auto& [part, count] : {std::pair{"train", kRows}, {"test", kTest}}) {
      const Array x = text(static_cast<std::int64_t>(count), kWords, random, true);
      std::vector<float> y(count * kClasses);
      for (std::uint64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (std::uint64_t k = 0; k < kWords; ++k) {
          sum += static_cast<double>(x.values[i * kWords + k]) * static_cast<double>(k % kClasses);
        }
        y[i * kClasses + static_cast<std::uint64_t>(sum) % kClasses] = 1;
      }
      file.write(std::string("/x_") + part, x.values, {count, kWords});
      file.write(std::string("/y_") + part, y, {count, kClasses});
    }
    file.close();
  }
  ~SparseTraining() override { std::filesystem::remove_all(folder_); }

  program::Program words(int epochs, const Json& how = optimizer("Adam", 0.01)) const {
    program::Program p = program_of(
        "moons", 1300,
        Json::array({dense(32, "relu"), layer("Dropout", {{"rate", 0.5}}), dense(4, "softmax")}),
        "categorical_crossentropy", "accuracy", how, epochs);
    p.document["data"] = {{"source", "hdf5"}, {"arguments", {{"file", "data.h5"}}}};
    return p;
  }
  std::unique_ptr<LocalTrainer> trainer(Backend backend, bool reuse = false) const {
    TrainerOptions options;
    options.data_path = {folder_};
    options.backend = backend;
    options.reuse_epochs = reuse;
    return make_local_trainer(std::move(options));
  }
  /// The weights at the end.
  static std::vector<float> train(LocalTrainer& trainer, const program::Program& p, int replica) {
    struct Last final : Observer {
      void epoch_end(const EpochEvent& event) override {
        weights.clear();
        for (const LayerView& view : event.layers) {
          for (const auto& w : view.weights) weights.insert(weights.end(), w.begin(), w.end());
        }
      }
      std::vector<float> weights;
    } last;
    TrainingJob job;
    job.program = &p;
    job.replica = replica;
    const ReplicaResult result = trainer.train(job, &last);
    EXPECT_EQ(result.status, RunStatus::kOk) << result.message;
    return last.weights;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(SparseTraining, LearnsLikeTheEagerBackEnd) {
  const program::Program p = words(20);
  const ReplicaResult a = trainer(Backend::kFused)->train({&p}),
                      b = trainer(Backend::kEager)->train({&p});
  EXPECT_EQ(a.backend, "fused");
  EXPECT_EQ(a.status, RunStatus::kOk);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_NEAR(a.metric, b.metric, 0.1);
}

TEST_F(SparseTraining, ThreadsShareTheRows) {
  const program::Program p = words(4);
  const auto one = trainer(Backend::kFused), shared = trainer(Backend::kFused);
  std::vector<std::vector<float>> alone, together(4);
  for (int t = 0; t < 4; ++t) alone.push_back(train(*one, p, t));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] { together[static_cast<std::size_t>(t)] = train(*shared, p, t); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
  EXPECT_NE(alone[0], alone[1]);
}

TEST_F(SparseTraining, ReusedEpochsChangeNothing) {
  const program::Program four = words(4), eight = words(8), six = words(6);
  const auto reusing = trainer(Backend::kFused, true), fresh = trainer(Backend::kFused);
  for (const program::Program* p : {&four, &eight, &six}) {
    const ReplicaResult a = reusing->train({p}), b = fresh->train({p});
    EXPECT_EQ(a.correct, b.correct);
    EXPECT_EQ(a.total, b.total);
    EXPECT_EQ(a.epochs_reused, p == &eight ? 4 : p == &six ? 4 : 0);
  }
}

// Dead and diverging programs end alike.
TEST_F(SparseTraining, DivergesLikeTheEagerBackEnd) {
  const auto fused = trainer(Backend::kFused), eager = trainer(Backend::kEager);
  for (const char* name : kOptimizers) {
    for (const double rate : {1e8, 1e30, 1e39}) {
      SCOPED_TRACE(name + std::to_string(rate));
      program::Program p = words(3, optimizer(name, rate));
      p.document["compile"]["loss"] = "mean_squared_error";
      p.document["model"]["config"]["layers"][2]["config"]["activation"] = "linear";
      const ReplicaResult a = fused->train({&p}), b = eager->train({&p});
      EXPECT_EQ(a.status, b.status);
      EXPECT_EQ(a.epochs_saved, b.epochs_saved);
      if (b.status == RunStatus::kDiverged) {
        EXPECT_EQ(a.correct, b.correct);
      }
    }
  }
}

}  // namespace
}  // namespace neutra::training
