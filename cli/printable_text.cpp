#include "cli/printable_text.h"

#include "base/printable.h"

namespace neutra::cli {

PrintableText::PrintableText(std::ostream& stream, void (*before)())
    : stream_(stream), to_(stream.rdbuf(this)), before_(before) {}

PrintableText::~PrintableText() {
  stream_.flush();
  const auto state = stream_.rdstate();  // which a new buffer clears
  stream_.rdbuf(to_);
  stream_.setstate(state);
}

PrintableText::int_type PrintableText::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PrintableText::xsputn(const char* text, std::streamsize count) {
  pending_.append(text, static_cast<std::size_t>(count));
  const std::size_t end = pending_.rfind('\n');
  return end == std::string::npos || print(end + 1) ? count : 0;
}

int PrintableText::sync() { return print(pending_.size()) && to_->pubsync() == 0 ? 0 : -1; }

bool PrintableText::print(std::size_t count) {
  if (count > 0 && before_ != nullptr) before_();
  const std::string text = printable({pending_.data(), count}, "\n\t");
  pending_.erase(0, count);
  const auto size = static_cast<std::streamsize>(text.size());
  return to_->sputn(text.data(), size) == size;
}

}  // namespace neutra::cli
