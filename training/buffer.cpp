#include "training/buffer.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdlib>
#include <cstring>
#include <new>

namespace neutra::training {
namespace {

/// Below this, faulting pages in for each training would cost more than it saves.
constexpr std::size_t kLargeBytes = std::size_t{256} << 10;

bool has_pages([[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  return bytes >= kLargeBytes;
#else
  return false;
#endif
}

float* allocate(std::size_t bytes) {
#if defined(__linux__)
  if (has_pages(bytes)) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    // Large pages: one translation then serves many rows of a wide kernel. No more than a wish.
    madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<float*>(memory);
  }
#endif
  void* memory = std::aligned_alloc(kLineFloats * sizeof(float), bytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  return static_cast<float*>(memory);
}

}  // namespace

Buffer::Buffer(std::size_t size) : size_(size) {
  const std::size_t bytes = whole_lines(size) * sizeof(float);
  if (bytes > 0) data_ = {allocate(bytes), Free{bytes}};
}

void Buffer::Free::operator()(float* p) const {
#if defined(__linux__)
  if (has_pages(bytes)) {
    munmap(p, bytes);
    return;
  }
#endif
  std::free(p);
}

}  // namespace neutra::training
