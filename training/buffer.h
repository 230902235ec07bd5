#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace neutra::training {

constexpr std::size_t kLineFloats = 16;  ///< floats in a cache line

/// `n` rounded up to whole cache lines.
constexpr std::size_t whole_lines(std::size_t n) {
  return (n + kLineFloats - 1) / kLineFloats * kLineFloats;
}

/// Floats that begin at a cache line, zero at first. Large ones are pages of their own, which go
/// back to the system with the buffer: in the heap, the small things that outlive a training would
/// lie between the holes that its large ones leave, and memory would grow from training to
/// training.
class Buffer {
 public:
  Buffer() = default;
  /// Throws std::bad_alloc.
  explicit Buffer(std::size_t size);
  std::span<float> floats() const { return {data_.get(), size_}; }
  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    std::size_t bytes;
    void operator()(float* p) const;
  };
  std::unique_ptr<float[], Free> data_{nullptr, Free{0}};
  std::size_t size_ = 0;
};

}  // namespace neutra::training
