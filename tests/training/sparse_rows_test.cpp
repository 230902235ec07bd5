#include "training/sparse_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/training/sparse.h"
#include "training/fused/kernels.h"
#include "training/fused/sparse_batch.h"

namespace neutra::training::tests {
namespace {

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

TEST(SparseBatch, ByRowAndByColumn) {
  Random random(1);
  const Array x = rows_of_words(60, 1500, random);
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

}  // namespace
}  // namespace neutra::training::tests
