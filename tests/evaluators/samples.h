#pragma once

#include <limits>
#include <vector>

/// Samples that several tests use.
namespace neutra::evaluators::tests {

using Values = std::vector<double>;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Student's sleep data (1908): hours gained with two drugs. R's exact permutation test gives
// 0.08145.
inline const Values kDrug1{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
inline const Values kDrug2{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
// Efron and Tibshirani's mouse data (1993): survival in days, treated and control.
inline const Values kTreated{94, 197, 16, 38, 99, 141, 23};
inline const Values kControl{52, 104, 146, 10, 51, 30, 40, 27, 46};
// Accuracies of two programs of the study.
inline const Values kParent{0.62, 0.62, 0.61, 0.63, 0.6, 0.6, 0.62, 0.61, 0.66, 0.61};
inline const Values kChild{0.66, 0.65, 0.66, 0.67, 0.65, 0.68, 0.67, 0.68, 0.65, 0.66};

}  // namespace neutra::evaluators::tests
