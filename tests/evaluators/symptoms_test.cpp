#include "evaluators/symptoms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "symptom_cases.h"

namespace neutra::evaluators::tests {
namespace {

using enum Property;
using enum Aggregate;
using Layers = std::set<std::size_t>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Symptoms by numbers.
template <typename Change>
Ids absolute(Change change) {
  return ids(find_symptoms(changed(change)));
}
/// Symptoms relative to a quiet training.
template <typename Change>
Ids relative(Change change) {
  const MonitoredRun clean = quiet_run();
  return ids(find_symptoms(changed(change), {&clean}));
}

TEST(Symptoms, QuietTrainingsHaveNone) {
  EXPECT_EQ(absolute([](MonitoredRun&) {}), Ids{});
  EXPECT_EQ(relative([](MonitoredRun&) {}), Ids{});
  EXPECT_EQ(absolute([](MonitoredRun& run) { run.epochs.clear(); }), Ids{});
  EXPECT_EQ(relative([](MonitoredRun& run) { run.epochs.clear(); }), Ids{});
}

TEST(Symptoms, InconsistentLearning) {
  const auto biases = [](double slow, double others) {
    return [=](MonitoredRun& run) {
      set(run, kBiases, kMeanAbs, others, {0, 1, 2, 3, 4});
      set(run, kBiases, kMeanAbs, slow, {5});
    };
  };
  const Ids expected{"inconsistent_learning"};
  EXPECT_EQ(absolute(biases(0.0099, 0.5)), expected);
  EXPECT_EQ(absolute(biases(0.01, 0.5)), Ids{});
  EXPECT_EQ(absolute(biases(0.0099, 0.49)), Ids{});
  // The clean ones are 0.2.
  EXPECT_EQ(relative(biases(0.0039, 0.11)), expected);
  EXPECT_EQ(relative(biases(0.0041, 0.11)), Ids{});
  EXPECT_EQ(relative(biases(0.0039, 0.09)), Ids{});
}

TEST(Symptoms, ReducedCapacity) {
  const auto weights = [](double value, const Layers& layers) {
    return [=](MonitoredRun& run) { set(run, kWeights, kMeanAbs, value, layers); };
  };
  const Ids expected{"reduced_capacity"};
  EXPECT_EQ(absolute(weights(0.049, {0, 1, 2})), expected);
  EXPECT_EQ(absolute(weights(0.05, {0, 1, 2})), Ids{});
  EXPECT_EQ(absolute(weights(0.049, {0, 1})), Ids{});  // a third, and 0.45 are needed
  EXPECT_EQ(relative(weights(0.099, {0, 1, 2})), expected);
  EXPECT_EQ(relative(weights(0.1, {0, 1, 2})), Ids{});
}

TEST(Symptoms, GradientInstability) {
  const auto ends = [](double smallest, double largest) {
    return [=](MonitoredRun& run) {
      set(run, kGradients, kMinAbs, smallest, {1});
      set(run, kGradients, kMax, largest, {1});
    };
  };
  const Ids expected{"gradient_instability"};
  EXPECT_EQ(absolute(ends(0.99e-6, 1)), expected);
  EXPECT_EQ(absolute(ends(1.01e-6, 1)), Ids{});
  EXPECT_EQ(absolute(ends(0.99e-9, 0.99)), Ids{});
  EXPECT_EQ(relative(ends(1.99e-6, 1)), expected);  // the clean span is 50
  EXPECT_EQ(relative(ends(2.01e-6, 1)), Ids{});
  EXPECT_EQ(relative(ends(1e-9, 0.99)), Ids{});
}

TEST(Symptoms, SlowConvergence) {
  const auto output = [](Property property, double value, std::vector<double> losses,
                         std::size_t layer = 5) {
    return [=](MonitoredRun& run) {
      set(run, property, kMeanAbs, value, {layer});
      set_log(run, "loss", losses);
    };
  };
  const Ids expected{"slow_convergence"};
  for (const Property property : {kWeights, kGradients}) {
    EXPECT_EQ(absolute(output(property, 0.9e-6, {1, 0.9, 0.51})), expected);
    EXPECT_EQ(absolute(output(property, 1e-6, {1, 0.9, 0.51})), Ids{});
    EXPECT_EQ(absolute(output(property, 0.9e-6, {1, 0.9, 0.49})), Ids{});  // it has converged
    // The mean loss of the clean training is 19/30.
    EXPECT_EQ(relative(output(property, 0.19e-3, {1.1, 1, 0.8})), expected);
    EXPECT_EQ(relative(output(property, 0.21e-3, {1.1, 1, 0.8})), Ids{});
    EXPECT_EQ(relative(output(property, 0.19e-3, {1.1, 1, 0.7})), Ids{});
  }
  // The output layer alone.
  EXPECT_EQ(absolute(output(kWeights, 0.9e-6, {1, 0.9, 0.51}, 4)), Ids{});
}

TEST(Symptoms, IncorrectLearning) {
  const auto biases = [](double small, double large, const Layers& small_layers) {
    return [=](MonitoredRun& run) {
      set(run, kBiases, kMeanAbs, large, {4, 5});
      set(run, kBiases, kMeanAbs, small, small_layers);
    };
  };
  // What is uneven to this degree is inconsistent, too.
  const Ids expected{"inconsistent_learning", "incorrect_learning"};
  EXPECT_EQ(absolute(biases(0.0099, 1, {0})), expected);  // half of the layers
  EXPECT_EQ(absolute(biases(0.0099, 0.99, {0})), Ids{"inconsistent_learning"});
  EXPECT_EQ(absolute(biases(0.01, 1, {0})), Ids{});
  EXPECT_EQ(relative(biases(0.0059, 0.29, {0})), Ids{"incorrect_learning"});
  EXPECT_EQ(relative(biases(0.0061, 0.29, {0})), Ids{});
  EXPECT_EQ(relative(biases(0.0059, 0.27, {0})), Ids{});
  const std::vector<Symptom> found = find_symptoms(changed(biases(0.0099, 1, {0})));
  ASSERT_EQ(found.back().layers.size(), 3U);
  EXPECT_EQ(found.back().layers[0].index, 0);
  EXPECT_EQ(found.back().layers[1].index, 4);
}

TEST(Symptoms, DistortedDistributions) {
  const auto shape = [](double skew, double kurt) {
    return [=](MonitoredRun& run) {
      set(run, kWeights, kSkew, skew, {0, 1, 2});
      set(run, kWeights, kKurt, kurt, {0, 1, 2});
    };
  };
  const Ids expected{"distorted_distributions"};
  for (const auto& in : {absolute<decltype(shape(0, 0))>, relative<decltype(shape(0, 0))>}) {
    EXPECT_EQ(in(shape(1, 6)), expected);  // an excess of 3
    EXPECT_EQ(in(shape(-1, 6)), expected);
    EXPECT_EQ(in(shape(0.99, 6)), Ids{});
    EXPECT_EQ(in(shape(1, 5.9)), Ids{});
  }
  // Relative: a clean training that is skewed, too.
  const MonitoredRun run = changed(shape(1.2, 7));
  MonitoredRun clean = changed(shape(0.47, 4.7));
  EXPECT_EQ(ids(find_symptoms(run, {&clean})), expected);
  clean = changed(shape(0.49, 4.7));
  EXPECT_EQ(ids(find_symptoms(run, {&clean})), Ids{});
  clean = changed(shape(0.47, 4.8));
  EXPECT_EQ(ids(find_symptoms(run, {&clean})), Ids{});
}

TEST(Symptoms, AbnormalWeights) {
  const auto variance = [](double value) {
    return [=](MonitoredRun& run) { set(run, kWeights, kVar, value, {3, 4, 5}); };
  };
  const Ids expected{"abnormal_weights"};
  EXPECT_EQ(absolute(variance(2)), expected);
  EXPECT_EQ(absolute(variance(1.99)), Ids{});
  EXPECT_EQ(relative(variance(0.271)), expected);
  EXPECT_EQ(relative(variance(0.269)), Ids{});
}

TEST(Symptoms, GradientSkewness) {
  const auto skew = [](double value) {
    return [=](MonitoredRun& run) { set(run, kGradients, kSkew, value, {1, 3, 5}); };
  };
  const Ids expected{"gradient_skewness"};
  for (const auto& in : {absolute<decltype(skew(0))>, relative<decltype(skew(0))>}) {
    EXPECT_EQ(in(skew(1)), expected);
    EXPECT_EQ(in(skew(-1)), expected);
    EXPECT_EQ(in(skew(0.99)), Ids{});
  }
  const MonitoredRun clean = changed(skew(0.5)), run = changed(skew(1.2));
  EXPECT_EQ(ids(find_symptoms(run, {&clean})), Ids{});
}

TEST(Symptoms, GradientsAreJudgedByTheMedianEpoch) {
  MonitoredRun run = changed([](MonitoredRun& r) { set(r, kGradients, kSkew, 5, kEachLayer); });
  EXPECT_EQ(ids(find_symptoms(run)), Ids{"gradient_skewness"});
  for (const std::size_t layer : kEachLayer) {
    run.epochs[0].layers[layer][static_cast<std::size_t>(kGradients)][kSkew] = 0.1;
    run.epochs[2].layers[layer][static_cast<std::size_t>(kGradients)][kSkew] = -0.1;
  }
  EXPECT_EQ(ids(find_symptoms(run)), Ids{});
}

TEST(Symptoms, Overfitting) {
  const auto biases = [](double median, double mean_abs) {
    return [=](MonitoredRun& run) {
      set(run, kBiases, kMedian, median, {0, 2});
      set(run, kBiases, kMeanAbs, mean_abs, {0, 2});
    };
  };
  const auto gap = [](double value) {
    return [=](MonitoredRun& run) { set_log(run, "val_loss", {1, 0.5, 0.4 + value}); };
  };
  const Ids expected{"overfitting"};
  EXPECT_EQ(absolute(biases(1, 0.2)), expected);
  EXPECT_EQ(absolute(biases(-1, 0.2)), expected);
  EXPECT_EQ(absolute(biases(0.99, 0.2)), Ids{});
  EXPECT_EQ(relative(biases(0.21, 0.41)), expected);
  EXPECT_EQ(relative(biases(0.19, 0.41)), Ids{});
  EXPECT_EQ(relative(biases(0.21, 0.39)), Ids{});
  EXPECT_EQ(absolute(gap(0.51)), expected);
  EXPECT_EQ(absolute(gap(0.49)), Ids{});
  EXPECT_EQ(relative(gap(0.61)), expected);  // the clean gap is 0.1
  EXPECT_EQ(relative(gap(0.59)), Ids{});
}

TEST(Symptoms, NumericalInstability) {
  const auto largest = [](Aggregate aggregate, double value) {
    return [=](MonitoredRun& run) { set(run, kWeights, aggregate, value, {0, 1, 2}); };
  };
  const Ids expected{"numerical_instability"};
  EXPECT_EQ(absolute(largest(kMax, 2)), expected);
  EXPECT_EQ(absolute(largest(kMin, -2)), expected);
  EXPECT_EQ(absolute(largest(kMax, 1.99)), Ids{});
  EXPECT_EQ(absolute(largest(kNonfinite, 0.01)), expected);
  EXPECT_EQ(relative(largest(kMin, -5)), expected);
  EXPECT_EQ(relative(largest(kMin, -4.9)), Ids{});
}

TEST(Symptoms, ACleanTrainingThatIsNotFiniteIsNoMeasure) {
  const MonitoredRun diverged = changed([](MonitoredRun& run) {
    set(run, kWeights, kNonfinite, 0.5, kEachLayer);
    set(run, kGradients, kNonfinite, 0.5, kEachLayer);
    set_log(run, "loss", {1, kInfinity, kInfinity});
  });
  EXPECT_EQ(ids(find_symptoms(diverged, {&diverged})), Ids{});
  const MonitoredRun quiet = quiet_run();
  EXPECT_TRUE(ids(find_symptoms(diverged, {&quiet})).contains("numerical_instability"));
}

TEST(Symptoms, SkewedBiases) {
  const auto shape = [](double skew, double kurt) {
    return [=](MonitoredRun& run) {
      set(run, kBiases, kSkew, skew, {0, 5});
      set(run, kBiases, kKurt, kurt, {0, 5});
    };
  };
  const Ids expected{"skewed_biases"};
  for (const auto& in : {absolute<decltype(shape(0, 0))>, relative<decltype(shape(0, 0))>}) {
    EXPECT_EQ(in(shape(-1, 6)), expected);
    EXPECT_EQ(in(shape(0.99, 6)), Ids{});
    EXPECT_EQ(in(shape(1, 5.9)), Ids{});
  }
  const MonitoredRun run = changed(shape(1.2, 7));
  MonitoredRun clean = changed(shape(0.41, 5.4));
  EXPECT_EQ(ids(find_symptoms(run, {&clean})), expected);
  clean = changed(shape(0.42, 5.4));
  EXPECT_EQ(ids(find_symptoms(run, {&clean})), Ids{});
  clean = changed(shape(0.41, 5.6));
  EXPECT_EQ(ids(find_symptoms(run, {&clean})), Ids{});
  // Seven biases have no shape to speak of.
  const MonitoredRun few = changed([&](MonitoredRun& r) {
    shape(2, 9)(r);
    for (MonitoredLayer& layer : r.layers) layer.counts[static_cast<std::size_t>(kBiases)] = 7;
  });
  EXPECT_EQ(ids(find_symptoms(few)), Ids{});
}

TEST(Symptoms, SparseUpdates) {
  const auto dead = [](double share) {
    return [=](MonitoredRun& run) {
      for (MonitoredEpoch& epoch : run.epochs) epoch.dead[1] = epoch.dead[2] = share;
    };
  };
  const Ids expected{"sparse_updates"};
  for (const auto& in : {absolute<decltype(dead(0))>, relative<decltype(dead(0))>}) {
    EXPECT_EQ(in(dead(0.5)), expected);
    EXPECT_EQ(in(dead(0.49)), Ids{});
  }
  const MonitoredRun clean = changed(dead(0.4)), run = changed(dead(0.6));
  EXPECT_EQ(ids(find_symptoms(run, {&clean})), Ids{});
}

TEST(Symptoms, VanishingGradients) {
  const auto first = [](double mean_abs) {
    return [=](MonitoredRun& run) { set(run, kGradients, kMeanAbs, mean_abs, {0}); };
  };
  const Ids expected{"vanishing_gradients"};
  EXPECT_EQ(absolute(first(1.9e-7)), expected);
  EXPECT_EQ(absolute(first(2.1e-7)), Ids{});
  EXPECT_EQ(relative(first(1.9e-5)), expected);
  EXPECT_EQ(relative(first(2.1e-5)), Ids{});
  EXPECT_EQ(absolute(first(0)), expected);
  // Without gradients anywhere nothing shrinks.
  EXPECT_FALSE(absolute([](MonitoredRun& run) {
                 set(run, kGradients, kMeanAbs, 0, kEachLayer);
               }).contains("vanishing_gradients"));
}

TEST(Symptoms, PoorOptimisation) {
  const auto losses = [](const std::vector<double>& values) {
    return [=](MonitoredRun& run) {
      set_log(run, "loss", values);
      set_log(run, "val_loss", values);
    };
  };
  const Ids expected{"poor_optimisation"};
  EXPECT_EQ(absolute(losses({1, 0.995, 0.991})), expected);
  EXPECT_EQ(absolute(losses({1, 0.98, 1.5})), Ids{});
  EXPECT_EQ(absolute(losses({1, kInfinity, std::nan("")})), expected);
  EXPECT_EQ(absolute(losses({std::nan(""), std::nan(""), std::nan("")})), expected);
  // The mean losses of the clean training are 19/30 and 22/30.
  EXPECT_EQ(relative(losses({1.3, 1.1, 1})), expected);
  EXPECT_EQ(relative(losses({1.3, 1.05, 0.94})), Ids{});
  EXPECT_EQ(relative(losses({1.5, 1, 0.85})), Ids{});           // high, but falling
  EXPECT_EQ(relative(losses({0.4, 0.3985, 0.397})), expected);  // low, but standing still
  EXPECT_EQ(relative(losses({0.4, 0.3985, 0.395})), Ids{});
  // Other losses can't be compared, standing still can.
  MonitoredRun other = changed(losses({9, 8, 7}));
  other.loss = "mean_squared_error";
  const MonitoredRun clean = quiet_run();
  EXPECT_EQ(ids(find_symptoms(other, {&clean})), Ids{});
}

TEST(Symptoms, ExplodingGradients) {
  const auto largest = [](double value, std::size_t epoch) {
    return [=](MonitoredRun& run) {
      for (const std::size_t layer : {3U, 4U, 5U}) {
        run.epochs[epoch].layers[layer][static_cast<std::size_t>(kGradients)][kMin] = -value;
      }
    };
  };
  const Ids expected{"exploding_gradients"};
  EXPECT_EQ(absolute(largest(1, 1)), expected);  // in one epoch
  EXPECT_EQ(absolute(largest(0.99, 1)), Ids{});
  EXPECT_EQ(relative(largest(2, 0)), expected);
  EXPECT_EQ(relative(largest(1.99, 0)), Ids{});
  // Four times as large as very small ones is still small.
  const MonitoredRun run =
      changed([](MonitoredRun& r) { set(r, kGradients, kMax, 0.9, kEachLayer); });
  const MonitoredRun clean = changed([](MonitoredRun& r) {
    set(r, kGradients, kMax, 0.1, kEachLayer);
    set(r, kGradients, kMin, -0.1, kEachLayer);
  });
  EXPECT_EQ(ids(find_symptoms(run, {&clean})), Ids{});
}

TEST(Symptoms, HighWeightVariance) {
  const auto variance = [](double value, const Layers& layers) {
    return [=](MonitoredRun& run) { set(run, kWeights, kVar, value, layers); };
  };
  const Ids expected{"high_weight_variance"};
  EXPECT_EQ(absolute(variance(2.26, {0, 1})), expected);
  EXPECT_EQ(absolute(variance(2.25, {0, 1})), Ids{});
  EXPECT_EQ(absolute(variance(2.26, {0})), Ids{});     // a third of the first half
  EXPECT_EQ(absolute(variance(2.26, {3, 4})), Ids{});  // not the first half
  EXPECT_EQ(relative(variance(0.181, {0, 1})), expected);
  EXPECT_EQ(relative(variance(0.179, {0, 1})), Ids{});
}

TEST(Symptoms, SayWhereAndWhy) {
  const auto noisy = [](MonitoredRun& run) { set(run, kWeights, kVar, 0.9, {3, 4, 5}); };
  const MonitoredRun clean = quiet_run();
  const std::vector<Symptom> found = find_symptoms(changed(noisy), {&clean});
  ASSERT_EQ(found.size(), 1U);
  const Symptom& symptom = found.front();
  EXPECT_EQ(symptom.looked_at, 6U);
  ASSERT_EQ(symptom.layers.size(), 3U);
  EXPECT_EQ(symptom.layers[0].index, 3);
  EXPECT_EQ(symptom.layers[0].class_name, "Dense");
  ASSERT_EQ(symptom.layers[0].values.size(), 1U);
  EXPECT_EQ(symptom.layers[0].values[0].value, 0.9);
  EXPECT_EQ(symptom.layers[0].values[0].clean, 0.09);
  EXPECT_TRUE(symptom.explanation().starts_with(
      "3 of 6 layers: layer 3 (Dense): weights.var 0.9, clean 0.09 (at least 3 times the largest "
      "clean one); layer 4"))
      << symptom.explanation();
  Symptom named = symptom;
  named.layers[0].name = "hidden";
  EXPECT_TRUE(named.explanation().starts_with("3 of 6 layers: layer 3, hidden: weights.var 0.9"));
}

TEST(Symptoms, EachCleanTrainingCounts) {
  const auto with = [](double variance) {
    return changed([=](MonitoredRun& run) { set(run, kWeights, kVar, variance, {3, 4, 5}); });
  };
  const std::vector<MonitoredRun> clean{with(0.1), with(0.305), with(0.1)};
  std::vector<std::vector<Symptom>> found =
      find_all_symptoms({with(0.31), with(0.31), with(0.92)}, clean);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(ids(found[0]), Ids{});
  EXPECT_EQ(ids(found[1]), Ids{"abnormal_weights"});  // against all but the second
  EXPECT_EQ(found[1][0].layers[0].values[0].clean, 0.1);
  EXPECT_EQ(ids(found[2]), Ids{"abnormal_weights"});
  EXPECT_EQ(found[2][0].layers[0].values[0].clean, 0.305);
  found = find_all_symptoms(clean, clean);
  EXPECT_EQ(ids(found[0]), Ids{});
  EXPECT_EQ(ids(found[1]), Ids{"abnormal_weights"});
  EXPECT_EQ(ids(find_all_symptoms({with(0.31)}, {with(0.1)})[0]), Ids{"abnormal_weights"});
  EXPECT_EQ(ids(find_all_symptoms({with(2)}, {})[0]), Ids{"abnormal_weights"});
  EXPECT_EQ(ids(find_all_symptoms({with(1.9)}, {})[0]), Ids{});
}

TEST(Symptoms, LayersArePairedFromBothEnds) {
  // A layer too many in the middle has no partner; those behind it keep theirs.
  MonitoredRun run = quiet_run();
  run.layers[2].class_name = "Conv2D";
  MonitoredRun clean = quiet_run();
  const auto drop = [](auto& list) { list.erase(list.begin() + 2); };
  drop(clean.layers);
  for (MonitoredEpoch& epoch : clean.epochs) {
    drop(epoch.layers);
    drop(epoch.dead);
  }
  set(clean, kWeights, kVar, 0.01, {4});
  set(run, kWeights, kVar, 0.03, {5});
  set(run, kWeights, kVar, 9, {2});
  SymptomRules rules = SymptomRules::bundled();
  std::vector<Symptom> found = find_symptoms(run, {&clean}, rules);
  EXPECT_EQ(ids(found), Ids{});  // one of five
  set(run, kWeights, kVar, 0.27, {4});
  found = find_symptoms(run, {&clean}, rules);
  ASSERT_EQ(ids(found), Ids{"abnormal_weights"});
  EXPECT_EQ(found.front().looked_at, 5U);
  EXPECT_EQ(found.front().layers[0].index, 4);
  EXPECT_EQ(found.front().layers[1].index, 5);
}

}  // namespace
}  // namespace neutra::evaluators::tests
