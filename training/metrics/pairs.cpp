#include "training/metrics/pairs.h"

#include <algorithm>

#include "base/error.h"

namespace neutra::training::metrics {

void refuse(const std::string& name, const Batch& output, const Batch& target,
            const std::string& allowed) {
  throw input_error("metric" + name + ": found outputs " + program::to_string(output.extents) +
                    " and targets " + program::to_string(target.extents) + "; allowed: " + allowed);
}

void squeeze(program::Shape& longer, const program::Shape& shorter) {
  if (longer.size() == shorter.size() + 1 && longer.back() == 1) longer.pop_back();
}

Broadcast::Broadcast(const Batch& output, const Batch& target) {
  program::Shape o = output.extents, t = target.extents;
  squeeze(o, t);
  squeeze(t, o);
  const std::size_t rank = std::max(o.size(), t.size());
  common = output_stride = target_stride = program::Shape(rank);
  const auto align = [&](const program::Shape& extents, program::Shape& stride) {
    std::int64_t step = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::size_t to = rank - 1 - i;
      const std::int64_t n = extents[extents.size() - 1 - i];
      stride[to] = n == 1 ? 0 : step;
      step *= n;
      if (n != 1 && common[to] > 1 && common[to] != n) {
        refuse("", output, target, "shapes that broadcast");
      }
      if (common[to] <= 1) common[to] = n;
    }
  };
  align(o, output_stride);
  align(t, target_stride);
}

Scores::Scores(const std::string& name, const Batch& o, const Batch& t, bool as_labels)
    : width(static_cast<std::size_t>(o.extents.back())),
      rows(o.values.size() / width),
      labels(as_labels),
      target_width(as_labels ? 1 : static_cast<std::size_t>(t.extents.back())),
      output(o.values),
      target(t.values) {
  if (target.size() != rows * target_width) {
    refuse(" " + name, o, t, "a row or a label for each row of scores");
  }
}

bool are_labels(const Batch& output, const Batch& target) {
  return target.extents.size() < output.extents.size() || target.extents.back() == 1;
}

}  // namespace neutra::training::metrics
