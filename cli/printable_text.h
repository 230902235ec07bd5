#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace neutra::cli {

/// While it lives, a stream prints text for people: what files and external tools say in it can't
/// steer a terminal (printable(), line ends and tabs kept). `before` is called before each piece.
class PrintableText final : private std::streambuf {
 public:
  /// The stream must live longer.
  explicit PrintableText(std::ostream& stream, void (*before)() = nullptr);
  PrintableText(const PrintableText&) = delete;
  PrintableText& operator=(const PrintableText&) = delete;
  ~PrintableText() override;

 private:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;
  /// Prints the first `count` bytes of what is pending.
  bool print(std::size_t count);

  std::ostream& stream_;
  std::streambuf* to_;
  void (*before_)();
  std::string pending_;  ///< the rest of a line: characters are never cut
};

}  // namespace neutra::cli
