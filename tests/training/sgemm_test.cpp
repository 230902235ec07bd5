#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "training/libraries.h"
#include "training/on_torch.h"

extern "C" void sgemm_(const char* transa, const char* transb, const int* m, const int* n,
                       const int* k, const float* alpha, const float* a, const int* lda,
                       const float* b, const int* ldb, const float* beta, float* c, const int* ldc);

namespace neutra::training {
namespace {

float entry(int i, int salt) { return static_cast<float>((i * 7 + salt * 3) % 11 - 5); }

// Every combination of transposition, alpha and beta, with leading dimensions larger than needed,
// against plain loops.
TEST(Sgemm, AllForms) {
  const int m = 5, n = 4, k = 3;
  for (const char ta : {'N', 'T', 'n', 't', 'C'}) {
    for (const char tb : {'N', 'T'}) {
      for (const float alpha : {0.0f, 1.0f, -2.0f}) {
        for (const float beta : {0.0f, 1.0f, 0.5f}) {
          const bool a_straight = ta == 'N' || ta == 'n', b_straight = tb == 'N';
          const int lda = (a_straight ? m : k) + 2, ldb = (b_straight ? k : n) + 1, ldc = m + 3;
          std::vector<float> a(static_cast<std::size_t>(lda * (a_straight ? k : m)));
          std::vector<float> b(static_cast<std::size_t>(ldb * (b_straight ? n : k)));
          std::vector<float> c(static_cast<std::size_t>(ldc * n));
          for (std::size_t i = 0; i < a.size(); ++i) a[i] = entry(static_cast<int>(i), 1);
          for (std::size_t i = 0; i < b.size(); ++i) b[i] = entry(static_cast<int>(i), 2);
          for (std::size_t i = 0; i < c.size(); ++i) c[i] = entry(static_cast<int>(i), 3);
          std::vector<float> expected = c;
          for (int i = 0; i < m; ++i) {
            for (int j = 0; j < n; ++j) {
              float sum = 0;
              for (int l = 0; l < k; ++l) {
                sum += a[static_cast<std::size_t>(a_straight ? i + l * lda : l + i * lda)] *
                       b[static_cast<std::size_t>(b_straight ? l + j * ldb : j + l * ldb)];
              }
              float& e = expected[static_cast<std::size_t>(i + j * ldc)];
              e = alpha * sum + beta * e;
            }
          }
          sgemm_(&ta, &tb, &m, &n, &k, &alpha, a.data(), &lda, b.data(), &ldb, &beta, c.data(),
                 &ldc);
          for (std::size_t i = 0; i < c.size(); ++i) {
            EXPECT_NEAR(c[i], expected[i], 1e-4)
                << ta << tb << " alpha " << alpha << " beta " << beta << " at " << i;
          }
        }
      }
    }
  }
}

TEST(Sgemm, BetaZeroOverwritesNaN) {
  const int one = 1, none = 0;
  const float unit = 1, zero = 0, a = 2, b = 3;
  float c = std::numeric_limits<float>::quiet_NaN();
  sgemm_("N", "N", &one, &one, &one, &unit, &a, &one, &b, &one, &zero, &c, &one);
  EXPECT_EQ(c, 6);
  c = std::numeric_limits<float>::quiet_NaN();
  sgemm_("N", "N", &one, &one, &none, &unit, &a, &one, &b, &one, &zero, &c, &one);
  EXPECT_EQ(c, 0);
}

TEST(Sgemm, LibTorchUsesIt) {
  EXPECT_TRUE(warn_of_slow_products(torch_functions()));
  const LibraryVersions versions = library_versions(true);
  EXPECT_EQ(versions.blas_route, "oneDNN");
  EXPECT_GT(versions.gflops, 0);
  EXPECT_NE(versions.torch, "");
  EXPECT_NE(versions.onednn, "");
  EXPECT_NE(versions.hdf5, "");
}

}  // namespace
}  // namespace neutra::training
