// Convolutions by Winograd's algorithm.

#include <algorithm>
#include <utility>

#include "training/fused/images.h"
#include "training/fused/layers/convolution.h"
#include "training/fused/winograd.h"

namespace neutra::training::fused {
namespace {

/// y = x * kernel + bias by Winograd's algorithm, for kernels of 3 x 3 that move cell by cell. A
/// range of tiles at a time goes through all of it, so that it stays in the caches. So does a max
/// pooling behind it, some images at a time: what lies between the two never leaves them.
class WinogradConvolution final : public Step {
 public:
  WinogradConvolution(const ConvolutionGeometry& geometry, const ConvolutionParts& parts,
                      Builder& builder)
      : tiling_(geometry.windows),
        channels_(static_cast<std::size_t>(geometry.channels)),
        filters_(static_cast<std::size_t>(geometry.filters)),
        x_(parts.x),
        y_(parts.y),
        kernel_(parts.kernel),
        bias_(parts.bias),
        trainable_(parts.trainable) {
    constexpr std::size_t kFloats = std::size_t{1} << 19;  // of transformed tiles: the cache's size
    constexpr std::size_t kLeast = 24;
    range_ = std::max(kLeast, kFloats / winograd::kPoints / (channels_ + filters_));
    range_ = std::min(range_, tiling_.tiles() * builder.capacity());
    const std::size_t kernels = winograd::kPoints * size();
    scratch_ =
        builder.scratch(3 * kernels + size() + 2 * whole_lines(filters_) + 2 * whole_lines(range_) +
                        winograd::kPoints * range_ * (channels_ + filters_));
  }

  bool take_over(const MaxPooling& pooling) override {
    pooling_ = std::make_unique<MaxPooling>(pooling);
    return true;
  }

  void forward(const Pass& pass) override {
    const Memory m = memory();
    winograd::kernels(size(), kernel_.values, m.kernel);
    for_images(pass, [&](std::size_t first, std::size_t count) {
      const float* x = x_.values + first * x_.features;
      const std::size_t at = pass.keeps_values || !pooling_ ? first : 0;
      float* y = y_.values + at * y_.features;
      for_ranges(count, [&](winograd::Range range) {
        winograd::inputs(tiling_, range, channels_, x, m.inputs, m.occupied);
        for (std::size_t p = 0; p < winograd::kPoints; ++p) {
          table_.product(range.count, channels_, m.inputs + p * range.count * channels_, channels_,
                         1, nullptr, m.kernel + p * size(), m.outputs + p * range.count * filters_,
                         {filters_, filters_});
        }
        winograd::outputs(tiling_, range, filters_, m.outputs, bias_.values, m.occupied, y);
      });
      if (pooling_) pooling_->forward(first, at, count, pass.training);
    });
  }

  void backward(const Pass& pass) override {
    if (!trainable_ && !x_.needs_gradient) return;
    const Memory m = memory();
    std::fill_n(m.sums, filters_, 0.0);
    if (trainable_) std::fill_n(m.gradient, winograd::kPoints * size(), 0.0f);
    if (x_.needs_gradient) {
      winograd::kernels(size(), kernel_.values, m.gathered);
      transpose(m.gathered, m.kernel);
      std::fill_n(x_.gradient, pass.lanes.rows * x_.features, 0.0f);
    }
    for_images(pass, [&](std::size_t first, std::size_t count) {
      if (pooling_) pooling_->backward(first, 0, count);
      const float* dy = y_.gradient + (pooling_ ? 0 : first * y_.features);
      for_ranges(count, [&](winograd::Range range) {
        winograd::output_gradients(tiling_, range, filters_, dy, m.outputs, m.sums);
        if (trainable_) add_kernel_gradient(range, x_.values + first * x_.features, m);
        if (x_.needs_gradient) {
          for (std::size_t p = 0; p < winograd::kPoints; ++p) {
            table_.product(range.count, filters_, m.outputs + p * range.count * filters_, filters_,
                           1, nullptr, m.kernel + p * size(),
                           m.inputs + p * range.count * channels_, {channels_, channels_});
          }
          winograd::input_gradients(tiling_, range, channels_, m.inputs,
                                    x_.gradient + first * x_.features);
        }
      });
    });
    if (!trainable_) return;
    winograd::kernel_gradients(size(), m.gradient, kernel_.gradient);
    for (std::size_t f = 0; bias_.gradient && f < filters_; ++f) {
      bias_.gradient[f] = static_cast<float>(m.sums[f]);
    }
  }

 private:
  /// Parts of the shared memory.
  struct Memory {
    float *kernel, *gathered, *gradient, *product, *inputs, *outputs;
    double* sums;
    std::uint64_t* occupied;
  };
  Memory memory() const {
    const std::size_t kernels = winograd::kPoints * size();
    Memory m;
    m.sums = reinterpret_cast<double*>(scratch_->data);
    m.occupied = reinterpret_cast<std::uint64_t*>(m.sums + whole_lines(filters_));
    m.kernel = scratch_->data + 2 * whole_lines(filters_) + 2 * whole_lines(range_);
    m.gathered = m.kernel + kernels;
    m.gradient = m.gathered + kernels;
    m.product = m.gradient + kernels;
    m.inputs = m.product + size();
    m.outputs = m.inputs + winograd::kPoints * range_ * channels_;
    return m;
  }
  std::size_t size() const { return channels_ * filters_; }

  /// Calls visit(first, count) for the images that go through all of it together: with a pooling
  /// those of a range, else all.
  template <typename Visit>
  void for_images(const Pass& pass, Visit visit) const {
    const std::size_t rows = pass.lanes.rows;
    const std::size_t most = pooling_ ? std::max<std::size_t>(1, range_ / tiling_.tiles())
                                      : std::max<std::size_t>(1, rows);
    for (std::size_t first = 0; first < rows; first += most) {
      visit(first, std::min(most, rows - first));
    }
  }
  /// Calls visit(range) for the tiles of so many images.
  template <typename Visit>
  void for_ranges(std::size_t images, Visit visit) const {
    const std::size_t tiles = tiling_.tiles() * images;
    for (std::size_t first = 0; first < tiles; first += range_) {
      visit(winograd::Range{first, std::min(range_, tiles - first)});
    }
  }

  /// (points, channels, filters) to (points, filters, channels).
  void transpose(const float* from, float* to) const {
    for (std::size_t p = 0; p < winograd::kPoints; ++p, from += size(), to += size()) {
      for (std::size_t c = 0; c < channels_; ++c) {
        for (std::size_t f = 0; f < filters_; ++f) to[f * channels_ + c] = from[c * filters_ + f];
      }
    }
  }

  void add_kernel_gradient(winograd::Range range, const float* x, const Memory& m) const {
    winograd::inputs(tiling_, range, channels_, x, m.inputs, nullptr);
    for (std::size_t p = 0; p < winograd::kPoints; ++p) {
      table_.product(channels_, range.count, m.inputs + p * range.count * channels_, 1, channels_,
                     nullptr, m.outputs + p * range.count * filters_, m.product,
                     {filters_, filters_});
      float* to = m.gradient + p * size();
      for (std::size_t i = 0; i < size(); ++i) to[i] += m.product[i];
    }
  }

  winograd::Tiling tiling_;
  std::size_t channels_, filters_, range_ = 0;
  Tensor x_, y_;
  Parameter kernel_, bias_;
  bool trainable_;
  std::shared_ptr<const Scratch> scratch_;
  std::unique_ptr<const MaxPooling> pooling_;
  const KernelTable<float>& table_ = fused::kernels();
};

}  // namespace

bool suits_winograd(const ConvolutionGeometry& g, bool for_data) {
  const WindowAxis &h = g.windows.height, &w = g.windows.width;
  const auto plain = [](const WindowAxis& axis) {
    return axis.window == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  // Vectors go over channels.
  const auto lanes = static_cast<std::int64_t>(std::max<std::size_t>(8, kernels().width));
  if (!plain(h) || !plain(w) || g.groups != 1 || g.channels % 8 != 0 || g.filters % lanes != 0 ||
      (for_data && g.channels % lanes != 0)) {
    return false;
  }
  const auto tiles = static_cast<std::int64_t>(winograd::Tiling(g.windows).tiles());
  return 2 * static_cast<std::int64_t>(winograd::kPoints) * tiles <= 9 * h.output * w.output;
}

std::unique_ptr<Step> winograd_convolution(Builder& builder, const ConvolutionGeometry& geometry,
                                           const ConvolutionParts& parts) {
  return std::make_unique<WinogradConvolution>(geometry, parts, builder);
}

}  // namespace neutra::training::fused
