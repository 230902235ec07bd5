#include "serve/request_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace neutra::serve {
namespace {

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

/// Takes the target apart into path and query.
std::optional<RequestProblem> read_target(std::string_view target, HttpRequest& request) {
  if (target.front() != '/') return RequestProblem{400, "the target doesn't begin with /"};
  if (std::any_of(target.begin(), target.end(), [](char c) { return c <= ' ' || c > '~'; }))
    return RequestProblem{400, "the target has characters that must be percent-encoded"};
  const std::size_t mark = target.find('?');
  std::string_view query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  const std::optional<std::string> path = percent_decoded(target.substr(0, mark));
  const std::optional<std::string> rest = percent_decoded(query);
  if (!path || !rest)
    return RequestProblem{400, "a % of the target isn't followed by two hexadecimal digits"};
  if (!is_plain_text(*path) || !is_plain_text(*rest))
    return RequestProblem{400, "the target decodes to control characters or to what is no UTF-8"};
  if (path->find('\\') != std::string::npos || (*path + "/").find("/../") != std::string::npos)
    return RequestProblem{400, "the path leads upwards"};
  request.path = *path;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    std::string part(query.substr(0, end));
    std::replace(part.begin(), part.end(), '+', ' ');  // as forms send a blank
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string value = equals < part.size() ? part.substr(equals + 1) : "";
    if (equals > 0) {
      request.query.emplace(*percent_decoded(part.substr(0, equals)), *percent_decoded(value));
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return std::nullopt;
}

/// Headers that are handed on. Ranges and encodings mean nothing here.
constexpr std::array kKept{"host", "content-type", "if-none-match", "origin", "sec-fetch-site"};

/// Headers with one value: of two, one reader would believe the first and another the last.
constexpr std::array kOnce{"host", "content-length", "content-type", "origin", "sec-fetch-site"};

}  // namespace

bool is_plain_text(std::string_view text) {
  const auto control = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
  if (std::any_of(text.begin(), text.end(), control)) return false;
  return find_no_utf8(text) == std::string_view::npos;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    unsigned char value = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const char *begin = text.data() + i + 1, *end = begin + 2;
    if (std::from_chars(begin, end, value, 16).ptr != end) return std::nullopt;
    result += static_cast<char>(value);
    i += 2;
  }
  return result;
}

RequestHead read_request_head(std::string_view head, const RequestLimits& limits) {
  RequestHead result;
  const auto refuse = [&](int status, const std::string& text) {
    result.problem = RequestProblem{status, text};
    result.keep_alive = false;
    return result;
  };
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0;;) {
    const std::size_t end = head.find("\r\n", begin);
    if (end == std::string_view::npos) return refuse(400, "the head isn't ended by an empty line");
    if (end == begin) break;
    lines.push_back(head.substr(begin, end - begin));
    begin = end + 2;
  }
  if (head.size() > limits.head) return refuse(431, "the headers are too long");
  if (lines.empty()) return refuse(400, "no request line");
  for (const std::string_view line : lines) {
    if (std::any_of(line.begin(), line.end(),
                    [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; }))
      return refuse(400, "control characters in the head");
  }

  const std::string_view line = lines.front();
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return refuse(400, "the request line isn't METHOD TARGET VERSION");
  const std::string_view method = line.substr(0, first),
                         target = line.substr(first + 1, last - first - 1),
                         version = line.substr(last + 1);
  if (!is_token(method) || target.empty()) return refuse(400, "no method or no target");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return refuse(400, "allowed: HTTP/1.1 and HTTP/1.0");
  }
  if (target.size() > limits.target) return refuse(414, "the target is too long");
  if (method != "GET" && method != "HEAD" && method != "POST")
    return refuse(405, "allowed: GET, HEAD and POST");
  result.request.method = method;
  if (const auto problem = read_target(target, result.request))
    return refuse(problem->status, problem->text);

  result.keep_alive = version == "HTTP/1.1";
  if (lines.size() - 1 > limits.headers) return refuse(431, "too many headers");
  std::set<std::string> once;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t colon = lines[i].find(':');
    if (colon == std::string_view::npos || !is_token(lines[i].substr(0, colon)))
      return refuse(400, "a header isn't NAME: VALUE");
    const std::string name = lower(lines[i].substr(0, colon));
    std::string_view value = lines[i].substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
      value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    if (name == "transfer-encoding") return refuse(411, "a body needs a Content-Length");
    if (name == "expect") return refuse(417, "expectations aren't met");
    if (std::find(kOnce.begin(), kOnce.end(), name) != kOnce.end() && !once.insert(name).second)
      return refuse(400, "allowed: one " + name);
    if (name == "host" && value.empty()) return refuse(400, "allowed: one host, with a name");
    if (name == "connection" && lower(value) == "close") result.keep_alive = false;
    if (name == "content-length") {
      const bool digits = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
        return c >= '0' && c <= '9';
      });
      if (!digits) return refuse(400, "Content-Length isn't one number");
      const auto body = parse_number<std::size_t>(value);
      if (!body || *body > limits.body) return refuse(413, "the body is too long");
      result.body = *body;
    }
    if (std::find(kKept.begin(), kKept.end(), name) != kKept.end())
      result.request.headers.emplace(name, value);
  }
  if (version == "HTTP/1.1" && !once.contains("host")) return refuse(400, "allowed: one host");
  if (method == "POST" && !once.contains("content-length"))
    return refuse(411, "a body needs a Content-Length");
  if (method != "POST" && result.body > 0) return refuse(400, "allowed: a body with POST");
  return result;
}

std::string_view status_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

}  // namespace neutra::serve
