// Optimisers that update rows of a table lazily: no bit changes.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>

#include "base/json.h"
#include "tests/training/sparse.h"
#include "training/optimizers/registry.h"

namespace neutra::training::tests {
namespace {

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

}  // namespace
}  // namespace neutra::training::tests
