#pragma once

#include <string_view>
#include <utility>

namespace neutra {

/// A file descriptor that closes with the object; -1 for none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Leaves errno as it is.
  void close();

 private:
  int number_;
};

/// The two ends of a pipe (pipe2(2)); a process that is started later doesn't get them.
struct Pipe {
  Descriptor read, write;
};
/// Throws failure() with the reason of the system.
Pipe make_pipe();

/// write(2) until all bytes are written; false with errno set where they can't be.
bool write_all(int descriptor, std::string_view bytes);

}  // namespace neutra
