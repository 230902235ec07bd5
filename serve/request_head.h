#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace neutra::serve {

/// What a request may be at most.
struct RequestLimits {
  std::size_t target = 4096;  ///< bytes of path and query
  std::size_t head = 16384;   ///< bytes of the request line and all headers
  std::size_t headers = 64;   ///< lines
  std::size_t body = 4096;    ///< bytes
};

/// Why a request is refused.
struct RequestProblem {
  int status = 400;  ///< of HTTP
  std::string text;  ///< one sentence
};

/// A request that was checked.
struct HttpRequest {
  std::string method;                          ///< "GET", "HEAD", "POST"
  std::string path;                            ///< decoded
  std::map<std::string, std::string> query;    ///< decoded; of a name given twice, the first
  std::map<std::string, std::string> headers;  ///< that mean something here; names in lower case
  std::string body;                            ///< of a POST
};

/// The first lines of a request (RFC 9112).
struct RequestHead {
  std::optional<RequestProblem> problem;  ///< the rest holds only without one
  std::size_t body = 0;                   ///< bytes that follow
  bool keep_alive = false;                ///< may the next request come over the same connection?
  HttpRequest request;                    ///< without its body
};

/// `head`: all bytes up to the empty line, that included. Strict: a line ends in CR LF; one Host,
/// not empty; one of each header that has one value; a target that begins with "/", of visible
/// characters, whose path decodes to UTF-8 without control characters, backslashes or ".." between
/// slashes; methods GET, HEAD and POST; a body has a length. No message that two readers could read
/// in two ways passes.
RequestHead read_request_head(std::string_view head, const RequestLimits& limits = {});

/// UTF-8 without control characters (C0, DEL)?
bool is_plain_text(std::string_view text);

/// Percent-encoding undone; nullopt where a '%' isn't followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

/// The reason phrase of a status: "Not Found".
std::string_view status_phrase(int status);

}  // namespace neutra::serve
