#include "fl_adapters/tools/deepfd/classifiers.h"

#include <algorithm>
#include <opencv2/ml.hpp>

#include "fl_adapters/tools/deepfd/monitor.h"

namespace neutra::fl_adapters::deepfd {
namespace {

int whole(const char* name) { return static_cast<int>(message_table().threshold(name)); }

/// A label that no row or every row has: there is nothing to learn, and OpenCV wants two classes.
std::optional<bool> constant(const LabelledRows& rows, std::size_t label) {
  const bool first = rows.labels.front()[label];
  const bool same = std::all_of(rows.labels.begin(), rows.labels.end(),
                                [&](const Labels& labels) { return labels[label] == first; });
  return same ? std::optional(first) : std::nullopt;
}

/// As scikit-learn's: splits down to single rows, no pruning.
template <typename Tree>
cv::Ptr<Tree> tree(int depth) {
  auto model = Tree::create();
  model->setMaxDepth(depth);
  model->setMinSampleCount(1);
  model->setCVFolds(0);
  model->setUseSurrogates(false);
  return model;
}

}  // namespace

struct Classifiers::Models {
  struct ForLabel {
    std::optional<bool> always;
    std::array<cv::Ptr<cv::ml::StatModel>, kClassifiers> models;
  };
  std::array<ForLabel, kLabels> labels;
};

Classifiers::Classifiers(const LabelledRows& rows, std::uint64_t seed) {
  auto models = std::make_unique<Models>();
  const auto count = static_cast<int>(rows.rows());
  const cv::Mat samples =
      cv::Mat(count, static_cast<int>(rows.columns), CV_32F, const_cast<float*>(rows.values.data()))
          .clone();
  for (std::size_t label = 0; label < kLabels; ++label) {
    Models::ForLabel& own = models->labels[label];
    own.always = constant(rows, label);
    if (own.always) continue;
    cv::Mat responses(count, 1, CV_32S);
    for (int i = 0; i < count; ++i) {
      responses.at<int>(i) = rows.labels[static_cast<std::size_t>(i)][label];
    }
    const auto data = cv::ml::TrainData::create(samples, cv::ml::ROW_SAMPLE, responses);

    auto neighbours = cv::ml::KNearest::create();
    neighbours->setDefaultK(whole("neighbours"));
    neighbours->setIsClassifier(true);
    auto one_tree = tree<cv::ml::DTrees>(whole("tree_depth"));
    auto forest = tree<cv::ml::RTrees>(whole("forest_depth"));
    forest->setActiveVarCount(std::min(whole("forest_features"), samples.cols));
    forest->setTermCriteria({cv::TermCriteria::MAX_ITER, whole("forest_trees"), 0});
    own.models = {neighbours, one_tree, forest};
    for (const auto& model : own.models) {
      cv::setRNGSeed(static_cast<int>(seed));  // of this thread
      model->train(data);
    }
  }
  models_ = std::move(models);
}

Classifiers::~Classifiers() = default;

std::array<Labels, kClassifiers> Classifiers::predict(std::span<const float> row) const {
  const cv::Mat sample(1, static_cast<int>(row.size()), CV_32F, const_cast<float*>(row.data()));
  std::array<Labels, kClassifiers> said{};
  for (std::size_t label = 0; label < kLabels; ++label) {
    const Models::ForLabel& own = models_->labels[label];
    for (std::size_t i = 0; i < kClassifiers; ++i) {
      said[i][label] = own.always ? *own.always : own.models[i]->predict(sample) > 0.5f;
    }
  }
  return said;
}

}  // namespace neutra::fl_adapters::deepfd
