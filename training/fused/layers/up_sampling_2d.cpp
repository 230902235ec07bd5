#include <algorithm>
#include <cmath>

#include "training/fused/images.h"
#include "training/fused/layers/registry.h"

/// Rules and sources: training/layers/shape_layers.cpp.
namespace neutra::training::fused {
namespace {

/// What a cell of the output takes along one axis: two cells of the input, by shares.
struct Source {
  std::size_t first, second;
  float share;  ///< of the second
};

std::vector<Source> sources(std::int64_t extent, std::int64_t size, bool bilinear) {
  std::vector<Source> all;
  for (std::int64_t i = 0; i < extent * size; ++i) {
    if (!bilinear) {
      const auto cell = static_cast<std::size_t>(i / size);
      all.push_back({cell, cell, 0});
      continue;
    }
    const double centre =
        std::max(0.0, (static_cast<double>(i) + 0.5) / static_cast<double>(size) - 0.5);
    const auto cell = static_cast<std::int64_t>(centre);
    all.push_back({static_cast<std::size_t>(cell),
                   static_cast<std::size_t>(std::min(cell + 1, extent - 1)),
                   static_cast<float>(centre - static_cast<double>(cell))});
  }
  return all;
}

class UpSampling final : public Step {
 public:
  UpSampling(const Tensor& x, const Tensor& y, const program::Shape& size, bool bilinear)
      : x_(x),
        y_(y),
        bilinear_(bilinear),
        width_(static_cast<std::size_t>(x.shape[1])),
        channels_(static_cast<std::size_t>(x.shape[2])),
        rows_(sources(x.shape[0], size[0], bilinear)),
        columns_(sources(x.shape[1], size[1], bilinear)) {}

  void forward(const Pass& pass) override {
    for_cells(pass, [this](const Corners& c, std::size_t to) {
      const float* x = x_.values;
      float* y = y_.values + to;
      for (std::size_t k = 0; k < channels_; ++k) {
        if (!bilinear_) {
          y[k] = x[c.at[0] + k];
          continue;
        }
        const float top = x[c.at[0] + k] + (x[c.at[1] + k] - x[c.at[0] + k]) * c.right;
        const float bottom = x[c.at[2] + k] + (x[c.at[3] + k] - x[c.at[2] + k]) * c.right;
        y[k] = top + (bottom - top) * c.below;
      }
    });
  }

  void backward(const Pass& pass) override {
    if (!x_.needs_gradient) return;
    std::fill_n(x_.gradient, pass.lanes.rows * x_.features, 0.0F);
    for_cells(pass, [this](const Corners& c, std::size_t to) {
      float* dx = x_.gradient;
      const float* dy = y_.gradient + to;
      for (std::size_t k = 0; k < channels_; ++k) {
        if (!bilinear_) {
          dx[c.at[0] + k] += dy[k];
          continue;
        }
        const float top = dy[k] * (1 - c.below), bottom = dy[k] * c.below;
        dx[c.at[0] + k] += top * (1 - c.right);
        dx[c.at[1] + k] += top * c.right;
        dx[c.at[2] + k] += bottom * (1 - c.right);
        dx[c.at[3] + k] += bottom * c.right;
      }
    });
  }

 private:
  /// The four cells of the input around one of the output: upper left, upper right, lower left,
  /// lower right.
  struct Corners {
    std::size_t at[4];
    float below, right;
  };

  template <typename Visit>
  void for_cells(const Pass& pass, Visit visit) const {
    std::size_t to = 0;
    for (std::size_t image = 0; image < pass.lanes.rows; ++image) {
      const std::size_t begin = image * x_.features;
      const auto cell = [&](std::size_t row, std::size_t column) {
        return begin + (row * width_ + column) * channels_;
      };
      for (const Source& row : rows_) {
        for (const Source& column : columns_) {
          visit(Corners{{cell(row.first, column.first), cell(row.first, column.second),
                         cell(row.second, column.first), cell(row.second, column.second)},
                        row.share,
                        column.share},
                to);
          to += channels_;
        }
      }
    }
  }

  Tensor x_, y_;
  bool bilinear_;
  std::size_t width_, channels_;
  std::vector<Source> rows_, columns_;
};

}  // namespace

void layers::up_sampling_2d(Builder& builder, const program::ResolvedLayer& layer) {
  const Tensor x = to_images(builder);
  const Tensor y = builder.tensor(layer.output_shape, Layout::kRows, x.needs_gradient);
  builder.add(std::make_unique<UpSampling>(x, y, layer.config.at("size").get<program::Shape>(),
                                           layer.config.at("interpolation") == "bilinear"));
  builder.set_current(y);
}

}  // namespace neutra::training::fused
