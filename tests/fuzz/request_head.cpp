// Any bytes as the head of a request: what passes is plain text, with a path that leads nowhere
// upwards.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serve/request_head.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using neutra::serve::is_plain_text;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const neutra::serve::RequestHead head = neutra::serve::read_request_head(text);
  if (head.problem) return 0;
  const neutra::serve::HttpRequest& request = head.request;
  if (request.path.front() != '/' || !is_plain_text(request.path)) std::abort();
  if ((request.path + "/").find("/../") != std::string::npos) std::abort();
  for (const auto& [name, value] : request.query)
    if (name.empty() || !is_plain_text(name) || !is_plain_text(value)) std::abort();
  for (const auto& [name, value] : request.headers)
    if (value.find_first_of("\r\n") != std::string::npos) std::abort();
  if (head.body > 0 && request.method != "POST") std::abort();
  return 0;
}
