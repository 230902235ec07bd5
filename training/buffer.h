#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace neutra {

constexpr std::size_t kLineFloats = 16;  ///< floats in a cache line

/// `n` rounded up to whole cache lines.
constexpr std::size_t whole_lines(std::size_t n) {
  return (n + kLineFloats - 1) / kLineFloats * kLineFloats;
}

/// Asks the system for large pages for memory that nobody has touched: one translation then serves
/// many rows of a wide kernel. No more than a wish.
void prefer_large_pages(void* memory, std::size_t bytes);

/// Floats that begin at a cache line, zero at first.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : size_(size) {
    const std::size_t bytes = whole_lines(size) * sizeof(float);
    if (bytes == 0) return;
    data_.reset(static_cast<float*>(std::aligned_alloc(kLineFloats * sizeof(float), bytes)));
    if (!data_) throw std::bad_alloc();
    prefer_large_pages(data_.get(), bytes);
    for (std::size_t i = 0; i < size_; ++i) data_[i] = 0;
  }
  std::span<float> floats() const { return {data_.get(), size_}; }
  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace neutra
