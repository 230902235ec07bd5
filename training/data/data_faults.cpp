#include "training/data/data_faults.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "training/data/columns.h"

namespace neutra::training {
namespace {

/// Class means are compared in pairs.
constexpr std::size_t kMostClasses = 1000;

/// For each group the other one whose mean features are nearest, the first of several: by the mean
/// squared difference over the columns in which both have finite numbers.
std::vector<std::size_t> nearest_groups(const Table& x, const Groups& groups) {
  std::vector<std::vector<double>> means;
  for (const RowNumbers& rows : groups.rows) means.push_back(describe_columns(x.select(rows)).mean);
  std::vector<std::size_t> nearest;
  for (std::size_t a = 0; a < means.size(); ++a) {
    double least = INFINITY;
    std::size_t best = a == 0 ? 1 : 0;
    for (std::size_t b = 0; b < means.size(); ++b) {
      if (b == a) continue;
      double sum = 0, count = 0;
      for (std::size_t c = 0; c < means[a].size(); ++c) {
        const double d = means[a][c] - means[b][c];
        if (!std::isfinite(d)) continue;
        sum += d * d;
        ++count;
      }
      if (sum / count < least) {  // not where there is nothing to compare
        least = sum / count;
        best = b;
      }
    }
    nearest.push_back(best);
  }
  return nearest;
}

/// The number of type float16 that is nearest, of two the even one; infinity beyond 65504.
double to_float16(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  // 11 bits of precision; no finer than the smallest subnormal number, 2^-24.
  const double unit = std::ldexp(1, std::max(std::ilogb(value) - 10, -24));
  const double rounded = std::nearbyint(value / unit) * unit;
  return std::abs(rounded) > 65504 ? std::copysign(INFINITY, value) : rounded;
}

/// The fraction is cut off; what the type can't hold wraps around.
double to_integer(double value, double least, double count) {
  const double offset = std::fmod(std::trunc(value) - least, count);
  return least + (offset < 0 ? offset + count : offset);
}

/// The step's share of each class gets the label of the class whose mean features are nearest.
void class_conditional_noise(Part& part, MutationStep& step) {
  const Groups groups = require_two_classes(step, part);
  if (groups.rows.size() > kMostClasses) {
    step.refuse(std::to_string(groups.rows.size()) + " classes",
                "at most " + std::to_string(kMostClasses));
  }
  const std::vector<std::size_t> nearest = nearest_groups(part.x, groups);
  for (std::size_t group = 0; group < nearest.size(); ++group) {
    for (const std::int64_t row : step.choose(groups.rows[group])) {
      set_target(part, row, groups.targets[nearest[group]]);
    }
  }
}

/// Copies of the step's share of the rows with slightly other features and a random other target.
void contradicting_duplicates(Part& part, MutationStep& step) {
  const Groups groups = require_two_classes(step, part);
  const std::vector<std::size_t> own = groups.of_rows(part.x.rows());
  const std::int64_t before = part.x.rows();
  const RowNumbers rows = step.choose(all_rows(part));
  const std::vector<std::size_t> others = step.draw(rows.size(), groups.rows.size() - 1);
  const double stddev = step.number("stddev", 0.01);
  append_rows(step, part, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t copy = before + static_cast<std::int64_t>(i);
    const std::size_t from = own[static_cast<std::size_t>(rows[i])];
    set_target(part, copy, groups.targets[others[i] + (others[i] >= from ? 1 : 0)]);
    const std::span<double> features = row_of(part.x, copy);
    const std::vector<float> noise = step.normal(features.size(), stddev);
    // Zeros stay zeros, so that sparse rows stay sparse.
    for (std::size_t c = 0; c < features.size(); ++c) {
      features[c] *= 1 + static_cast<double>(noise[c]);
    }
  }
}

/// Thins out classes (or buckets): the larger, the less. `ratio`: of the largest to the smallest;
/// `profile`: long_tailed, step.
void class_imbalance(Part& part, MutationStep& step) {
  const bool long_tailed = step.word("profile", {"long_tailed", "step"}) == "long_tailed";
  std::vector<RowNumbers> groups =
      step.classes ? classes_of(step, part).rows : buckets_of(step, part);
  std::erase_if(groups, [](const RowNumbers& rows) { return rows.empty(); });
  if (groups.size() < 2) {
    step.refuse(std::string("training rows of one ") + (step.classes ? "class" : "bucket"),
                "at least two");
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const RowNumbers& a, const RowNumbers& b) { return a.size() > b.size(); });
  const double ratio = step.number("ratio", 1), count = static_cast<double>(groups.size());
  RowNumbers gone;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double rank = static_cast<double>(i);
    const double exponent = long_tailed ? rank / (count - 1) : rank < count / 2 ? 0 : 1;
    const auto most = static_cast<std::size_t>(
        std::max(1.0, static_cast<double>(groups[0].size()) / std::pow(ratio, exponent)));
    // All classes draw, so that each draws the same whatever the ratio.
    const RowNumbers chosen =
        step.choose(groups[i], groups[i].size() - std::min(most, groups[i].size()));
    gone.insert(gone.end(), chosen.begin(), chosen.end());
  }
  remove_rows(part, std::move(gone));
}

/// The features of the first rows, the step's share, lie off by `shift` deviations of their
/// columns, all alike (`form` sudden) or ever less (incremental).
void covariate_drift(Part& part, MutationStep& step) {
  const bool sudden = step.word("form", {"incremental", "sudden"}) == "sudden";
  const double shift = step.number("shift", 1);
  const std::vector<double> stddev = describe_columns(part.x).stddev;
  const std::size_t old = step.share(static_cast<std::size_t>(part.x.rows()));
  for (std::size_t row = 0; row < old; ++row) {
    const double rest = 1 - static_cast<double>(row) / static_cast<double>(old);
    const std::span<double> features = row_of(part.x, static_cast<std::int64_t>(row));
    for (std::size_t c = 0; c < features.size(); ++c) {
      features[c] += shift * (sudden ? 1 : rest) * stddev[c];
    }
  }
}

/// The targets of the first rows, the step's share, follow another rule: each class has the label
/// of the next; values are greater by one deviation.
void concept_drift(Part& part, MutationStep& step) {
  const std::size_t old = step.share(static_cast<std::size_t>(part.x.rows()));
  if (!step.classes) {
    require_numbers(step, part.y, "targets");
    const std::vector<double> stddev = describe_columns(part.y).stddev;
    for (std::size_t i = 0; i < old * stddev.size(); ++i) {
      part.y.values[i] += stddev[i % stddev.size()];
    }
    return;
  }
  const Groups groups = require_two_classes(step, part);
  const std::vector<std::size_t> own = groups.of_rows(part.x.rows());
  for (std::size_t row = 0; row < old; ++row) {
    set_target(part, static_cast<std::int64_t>(row),
               groups.targets[(own[row] + 1) % groups.targets.size()]);
  }
}

/// The features of the step's share of the rows are drawn uniformly from the columns' ranges.
void out_of_distribution(Part& part, MutationStep& step) {
  const Columns columns = describe_columns(part.x);
  for (const std::int64_t row : step.choose(all_rows(part))) {
    const std::span<double> features = row_of(part.x, row);
    const std::vector<double> drawn = step.uniform(features.size());
    for (std::size_t c = 0; c < features.size(); ++c) {
      const double least = columns.min[c], most = columns.max[c];
      if (least <= most) features[c] = least + drawn[c] * (most - least);
    }
  }
}

/// Each feature of each row is missing with the step's chance and is `fill` instead: a number,
/// "mean", "nan".
void missing_values(Part& part, MutationStep& step) {
  const auto width = static_cast<std::size_t>(part.x.row_size());
  const Json fill = step.field("fill", 0);
  std::vector<double> filled;
  if (fill.is_number()) {
    filled.assign(width, fill.get<double>());
  } else if (fill == "nan") {
    filled.assign(width, NAN);
  } else if (fill == "mean") {
    filled = describe_columns(part.x).mean;
  } else {
    step.refuse("fill " + fill.dump(), "a number, \"mean\", \"nan\"");
  }
  for (const std::int64_t row : all_rows(part)) {
    const std::span<double> features = row_of(part.x, row);
    const std::vector<double> drawn = step.uniform(width);
    for (std::size_t c = 0; c < width; ++c) {
      if (drawn[c] < step.percentage / 100) features[c] = filled[c];
    }
  }
}

/// All targets are NaN, and so the loss of each batch, as with weights of zero.
void zero_sample_weights(Part& part, MutationStep&) {
  std::fill(part.y.values.begin(), part.y.values.end(), NAN);
}

/// The features of the step's share of the rows go through `type`: float16, int32, int8, uint8.
void cast_features(Part& part, MutationStep& step) {
  const std::string type = step.word("type", {"float16", "int32", "int8", "uint8"});
  if (type != "float16") require_numbers(step, part.x, "features");
  for (const std::int64_t row : step.choose(all_rows(part))) {
    for (double& value : row_of(part.x, row)) {
      value = type == "float16" ? to_float16(value)
              : type == "uint8" ? to_integer(value, 0, 0x1p8)
              : type == "int8"  ? to_integer(value, -0x1p7, 0x1p8)
                                : to_integer(value, -0x1p31, 0x1p32);
    }
  }
}

/// Features beyond the middle of their column's range are at its ends; the step's share of the
/// range is cut off.
void clip_features(Part& part, MutationStep& step) {
  const Columns columns = describe_columns(part.x);
  const std::size_t width = columns.min.size();
  std::vector<double> low(width), high(width);
  for (std::size_t c = 0; c < width; ++c) {
    const double cut = (columns.max[c] - columns.min[c]) * step.percentage / 200;
    low[c] = columns.min[c] + cut;
    high[c] = std::max(low[c], columns.max[c] - cut);
  }
  for (std::size_t i = 0; i < part.x.values.size(); ++i) {
    double& value = part.x.values[i];
    if (std::isfinite(value)) value = std::clamp(value, low[i % width], high[i % width]);
  }
}

/// The features of the step's share of the rows are multiplied by `factor`.
void scale_features(Part& part, MutationStep& step) {
  const double factor = step.number("factor", 255);
  for (const std::int64_t row : step.choose(all_rows(part))) {
    for (double& value : row_of(part.x, row)) value *= factor;
  }
}

/// The images of the step's share of the rows are stored in another order, `layout`:
/// reversed_channels, channels_first, transposed.
void change_layout(Part& part, MutationStep& step) {
  const std::string layout =
      step.word("layout", {"reversed_channels", "channels_first", "transposed"});
  const std::vector<std::int64_t>& extents = part.x.extents;
  const bool images = extents.size() == 4;
  const std::string found = "features of the shape " +
                            program::to_string(program::Shape(extents.begin() + 1, extents.end()));
  if (layout == "transposed" && !(images && extents[1] == extents[2])) {
    step.refuse(found, "square images");
  }
  if (layout != "transposed" && !(images && extents[3] > 1)) {
    step.refuse(found, "images of at least two channels");
  }
  const auto height = static_cast<std::size_t>(extents[1]),
             width = static_cast<std::size_t>(extents[2]),
             channels = static_cast<std::size_t>(extents[3]);
  for (const std::int64_t row : step.choose(all_rows(part))) {
    const std::span<double> pixels = row_of(part.x, row);
    const std::vector<double> before(pixels.begin(), pixels.end());
    for (std::size_t h = 0; h < height; ++h) {
      for (std::size_t w = 0; w < width; ++w) {
        for (std::size_t c = 0; c < channels; ++c) {
          const std::size_t to = layout == "reversed_channels"
                                     ? (h * width + w) * channels + channels - 1 - c
                                 : layout == "channels_first" ? (c * height + h) * width + w
                                                              : (w * height + h) * channels + c;
          pixels[to] = before[(h * width + w) * channels + c];
        }
      }
    }
  }
}

}  // namespace

const std::map<std::string, DataOperation>& data_fault_operations() {
  static const std::map<std::string, DataOperation> kOperations = {
      {"cast_features", {cast_features, {"percentage", "seed", "type"}}},
      {"change_layout", {change_layout, {"layout", "percentage", "seed"}}},
      {"class_conditional_noise", {class_conditional_noise, {"percentage", "seed"}}},
      {"class_imbalance", {class_imbalance, {"profile", "ratio", "seed", "targets"}}},
      {"clip_features", {clip_features, {"percentage"}}},
      {"concept_drift", {concept_drift, {"percentage", "targets"}}},
      {"contradicting_duplicates", {contradicting_duplicates, {"percentage", "seed", "stddev"}}},
      {"covariate_drift", {covariate_drift, {"form", "percentage", "shift"}}},
      {"missing_values", {missing_values, {"fill", "percentage", "seed"}}},
      {"out_of_distribution", {out_of_distribution, {"percentage", "seed"}}},
      {"scale_features", {scale_features, {"factor", "percentage", "seed"}}},
      {"zero_sample_weights", {zero_sample_weights, {}}}};
  return kOperations;
}

}  // namespace neutra::training
