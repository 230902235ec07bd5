#include "source/source_text.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace neutra::source {
namespace {

/// Does one of the first two lines declare the encoding Latin-1?
bool declares_latin1(std::string_view text) {
  for (int line = 0; line < 2 && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string words = lower(text.substr(0, end));
    const std::size_t coding = words.find("coding");
    if (words.find('#') != std::string::npos && coding != std::string::npos) {
      const std::string_view behind = std::string_view(words).substr(coding);
      return contains(behind, "latin-1") || contains(behind, "latin1") ||
             contains(behind, "iso-8859-1") || contains(behind, "cp1252");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

std::string from_latin1(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x80) {
      text += byte;
    } else {
      text += static_cast<char>(0xC0 | (code >> 6));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return text;
}

}  // namespace

SourceText::SourceText(std::string name, std::string bytes)
    : name_(std::move(name)), text_(std::move(bytes)) {
  if (const std::size_t zero = text_.find('\0'); zero != std::string::npos)
    throw input_error(
        describe(name_, "byte " + std::to_string(zero), "a byte 0", "a text of Python"));
  bom_ = text_.starts_with(kByteOrderMark);
  if (bom_) text_.erase(0, kByteOrderMark.size());
  latin1_ = declares_latin1(text_) || find_no_utf8(text_) != std::string_view::npos;
  if (latin1_) text_ = from_latin1(text_);
  line_begins_.push_back(0);
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const bool carriage_return = text_[at] == '\r';
    if (text_[at] != '\n' && !carriage_return) continue;
    if (carriage_return && at + 1 < text_.size() && text_[at + 1] == '\n') ++at;
    line_begins_.push_back(static_cast<std::uint32_t>(at + 1));
  }
  if (line_begins_.size() > 1 && line_begins_.back() == text_.size()) line_begins_.pop_back();
}

Position SourceText::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
  const auto line = static_cast<std::uint32_t>(next - line_begins_.begin());
  std::uint32_t column = 1;
  for (std::size_t at = line_begins_[line - 1]; at < offset; ++at)
    if ((static_cast<unsigned char>(text_[at]) & 0xC0) != 0x80) ++column;
  return {line, column};
}

std::string_view SourceText::line(std::size_t number) const {
  if (number == 0 || number > line_begins_.size()) return {};
  const std::size_t begin = line_begins_[number - 1];
  const std::size_t end = std::min(text_.find_first_of("\r\n", begin), text_.size());
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace neutra::source
