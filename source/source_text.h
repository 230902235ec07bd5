#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace neutra::source {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  ///< of UTF-8

/// A place in a text as people count: both from 1, the column in characters.
struct Position {
  std::uint32_t line = 1, column = 1;
};

/// The bytes of a file of Python as UTF-8 text, and where its lines begin. Text that is no UTF-8,
/// or whose first two lines declare Latin-1 (PEP 263), is read as Latin-1, which knows every byte.
class SourceText {
 public:
  /// `name` is what messages call it. Throws input_error for what is no text: a byte 0 in it.
  SourceText(std::string name, std::string bytes);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  /// Was it read as Latin-1? Then offsets are not those of the file.
  bool latin1() const { return latin1_; }
  /// Did it begin with a byte order mark, which is no part of text()?
  bool bom() const { return bom_; }

  Position position(std::size_t offset) const;
  std::size_t lines() const { return line_begins_.size(); }
  /// Line `number` (from 1) without its end.
  std::string_view line(std::size_t number) const;

 private:
  std::string name_, text_;
  bool latin1_ = false, bom_ = false;
  std::vector<std::uint32_t> line_begins_;
};

}  // namespace neutra::source
