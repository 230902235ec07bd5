// Facts about the bundled data files, as experiments/data/make_data.py made them.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/hdf5_file.h"
#include "experiments/catalog.h"

namespace neutra::experiments {
namespace {

Hdf5File data(const std::string& id) {
  return Hdf5File::open(resource_directory() / "data" / (id + ".h5"));
}

using Extents = std::vector<std::uint64_t>;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Data, D1IsConstantRowsLabelledByTheirValue) {
  const Hdf5File file = data("d1");
  EXPECT_EQ(file.extents("/x_train"), (Extents{20000, 128}));
  EXPECT_EQ(file.extents("/y_train"), (Extents{20000, 1}));
  EXPECT_EQ(file.extents("/x_test"), (Extents{200, 128}));
  EXPECT_EQ(file.extents("/y_test"), (Extents{200, 1}));
  for (const std::string part : {"train", "test"}) {
    const std::vector<double> x = file.read_doubles("/x_" + part);
    const std::vector<double> y = file.read_doubles("/y_" + part);
    for (std::size_t row = 0; row < y.size(); ++row) {
      ASSERT_EQ(y[row], row < y.size() / 2 ? 1 : 0);
      for (std::size_t i = 0; i < 128; ++i) ASSERT_EQ(x[128 * row + i], y[row]);
    }
  }
}

TEST(Data, D6IsTwoCloudsInTurn) {
  const Hdf5File file = data("d6");
  EXPECT_EQ(file.extents("/x"), (Extents{200, 2}));
  EXPECT_EQ(file.extents("/y"), (Extents{200, 2}));
  const std::vector<double> x = file.read_doubles("/x");
  const std::vector<double> y = file.read_doubles("/y");
  // NumPy's first draws of seed 42: .2 + .2 u with u = 0.3745401188, 0.9507143064
  EXPECT_NEAR(x[0], 0.2 + 0.2 * 0.3745401188473625, 1e-15);
  EXPECT_NEAR(x[1], 0.2 + 0.2 * 0.9507143064099162, 1e-15);
  EXPECT_NEAR(sum(x), 179.18524389961908, 1e-10);
  for (std::size_t row = 0; row < 200; ++row) {
    const bool second = row % 2 == 1;
    ASSERT_EQ(y[2 * row], second ? 0 : 1);
    ASSERT_EQ(y[2 * row + 1], second ? 1 : 0);
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_GE(x[2 * row + i], second ? 0.5 : 0.2);
      ASSERT_LE(x[2 * row + i], second ? 0.7 : 0.4);
    }
  }
}

TEST(Data, D7IsALine) {
  const Hdf5File file = data("d7");
  const std::vector<double> x = file.read_doubles("/x");
  const std::vector<double> y = file.read_doubles("/y");
  EXPECT_EQ(file.extents("/x"), (Extents{100, 1}));
  EXPECT_EQ(file.extents("/y"), (Extents{100, 1}));
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_NEAR(x[i], 1 + static_cast<double>(i) / 99, 1e-15);
    ASSERT_EQ(y[i], 5 * x[i]);
  }
}

TEST(Data, D8IsTheNumberModuloSeven) {
  const Hdf5File file = data("d8");
  EXPECT_EQ(file.extents("/x"), (Extents{10000, 20}));
  EXPECT_EQ(file.extents("/y"), (Extents{10000, 20}));
  const std::vector<std::int64_t> x = file.read_integers("/x");
  const std::vector<std::int64_t> y = file.read_integers("/y");
  EXPECT_EQ(std::accumulate(x.begin(), x.end(), std::int64_t{0}), 99924);
  EXPECT_EQ(std::accumulate(y.begin(), y.end(), std::int64_t{0}), 12916);
  const std::vector<std::int64_t> first{0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0};
  EXPECT_TRUE(std::equal(first.begin(), first.end(), x.begin()));
  for (std::size_t row = 0; row < 10000; ++row) {
    std::int64_t number = 0, rest = 0;
    for (std::size_t bit = 0; bit < 20; ++bit) {
      ASSERT_TRUE(x[20 * row + bit] == 0 || x[20 * row + bit] == 1);
      number += x[20 * row + bit] << bit;
      rest += y[20 * row + bit] << bit;
    }
    ASSERT_EQ(rest, number % 7);
  }
}

}  // namespace
}  // namespace neutra::experiments
