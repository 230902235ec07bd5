#include "training/keras_release.h"

#include <set>

namespace neutra::training {
namespace {

const std::string kPrefix = "keras-2.2.4/";

}  // namespace

std::optional<std::string> loss_of(KerasRelease release, const std::string& loss) {
  static const std::set<std::string> kOther{"binary_crossentropy", "categorical_crossentropy",
                                            "hinge", "sparse_categorical_crossentropy",
                                            "squared_hinge"};
  if (release == KerasRelease::kTf24) return loss;
  if (loss == "huber") return std::nullopt;
  return kOther.contains(loss) ? kPrefix + loss : loss;
}

std::string metric_of(KerasRelease release, const std::string& metric, const std::string& loss) {
  if (release == KerasRelease::kTf24 || metric != "accuracy") return metric;
  // Model.compile, handle_metrics (keras/engine/training.py).
  return kPrefix + (loss.ends_with("binary_crossentropy") ? "binary_accuracy"
                    : takes_class_indices(loss)           ? "sparse_categorical_accuracy"
                                                          : "categorical_accuracy");
}

bool takes_class_indices(const std::string& loss) {
  return loss.ends_with("sparse_categorical_crossentropy");
}

}  // namespace neutra::training
