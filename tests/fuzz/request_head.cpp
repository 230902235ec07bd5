// Any bytes as the head of a request: what passes has a path that leads nowhere upwards, and what
// is handed on is again a head that passes, with the same text.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serve/request_head.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const neutra::serve::RequestHead head = neutra::serve::read_request_head(text);
  if (head.problem) return 0;
  const std::size_t begin = head.text.find(' ') + 1, end = head.text.find(' ', begin);
  const auto target = neutra::serve::percent_decoded(head.text.substr(begin, end - begin));
  if (!target || !neutra::serve::is_plain_text(*target)) std::abort();
  const std::string path = target->substr(0, target->find('?')) + "/";
  if (path.front() != '/') std::abort();
  const std::string raw = head.text.substr(begin, end - begin);
  const auto decoded = neutra::serve::percent_decoded(raw.substr(0, raw.find('?')));
  if ((*decoded + "/").find("/../") != std::string::npos) std::abort();
  // Its length isn't handed on: the body is read before.
  if (head.text.starts_with("POST")) return 0;
  const neutra::serve::RequestHead again = neutra::serve::read_request_head(head.text);
  if (again.problem || again.text != head.text || again.body != 0) std::abort();
  return 0;
}
