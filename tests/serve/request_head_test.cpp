#include "serve/request_head.h"

#include <gtest/gtest.h>

namespace neutra::serve {
namespace {

using namespace std::string_literals;

int status_of(const std::string& head) {
  const RequestHead read = read_request_head(head);
  return read.problem ? read.problem->status : 200;
}

/// GET of a target, with one Host.
std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

TEST(RequestHead, HandsOnWhatMeansSomething) {
  const RequestHead head = read_request_head(
      "GET /an%20entry?name=a%20b+c%26=&empty&twice=1&twice=2&=none HTTP/1.1\r\n"
      "Host:  localhost:80 \r\nACCEPT-ENCODING: br\r\n"
      "Range: bytes=0-1\r\nIf-None-Match: \"x\"\r\n\r\n");
  EXPECT_FALSE(head.problem);
  EXPECT_TRUE(head.keep_alive);
  const HttpRequest& request = head.request;
  using Words = std::map<std::string, std::string>;
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/an entry");
  EXPECT_EQ(request.query, (Words{{"name", "a b c&="}, {"empty", ""}, {"twice", "1"}}));
  EXPECT_EQ(request.headers, (Words{{"host", "localhost:80"}, {"if-none-match", "\"x\""}}));
}

TEST(RequestHead, KnowsHowLongABodyIs) {
  const RequestHead head =
      read_request_head("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n");
  EXPECT_FALSE(head.problem);
  EXPECT_EQ(head.body, 12U);
}

TEST(RequestHead, ConnectionsEndWhereTheyAreAskedTo) {
  EXPECT_FALSE(read_request_head("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_FALSE(
      read_request_head("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n").keep_alive);
}

TEST(RequestHead, PathsThatLeadUpwardsAreRefused) {
  for (const char* target :
       {"/..",         "/../etc/passwd", "/a/../../b", "/%2e%2e/x",  "/..%2fx",
        "/%2E%2e%2Fx", "/a%5c..%5cb",    "/a\\b",      "/%00",       "/a%0d%0ab",
        "/%ff",        "/%c0%ae%c0%ae/", "/%",         "/%4",        "/%zz",
        "/a?%",        "/a?b=%00",       "/a?b=%c3",   "etc/passwd", "http://localhost/",
        "*",           "/a b",           "/\x01",      "/\xc3\xa9"})
    EXPECT_EQ(status_of(get(target)), 400) << target;
  for (const char* target : {"/", "/..a", "/a..b/", "/a?name=..%2F..%2Fx", "/?a=%F0%9F%98%80",
                             "/report?name=a%5Cb", "/%C3%A9"})
    EXPECT_EQ(status_of(get(target)), 200) << target;
}

TEST(RequestHead, TooMuchIsRefused) {
  const RequestLimits limits;
  EXPECT_EQ(status_of(get("/" + std::string(limits.target - 1, 'a'))), 200);
  EXPECT_EQ(status_of(get("/" + std::string(limits.target, 'a'))), 414);
  std::string lines;
  for (std::size_t i = 0; i < limits.headers; ++i) lines += "X: y\r\n";
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n"), 431);
  EXPECT_EQ(
      status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(limits.head, 'y') + "\r\n\r\n"),
      431);
  const auto body = [](const std::string& length) {
    return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + "\r\n\r\n";
  };
  EXPECT_EQ(status_of(body(std::to_string(limits.body))), 200);
  EXPECT_EQ(status_of(body(std::to_string(limits.body + 1))), 413);
  EXPECT_EQ(status_of(body("99999999999999999999999999")), 413);
  for (const char* length : {"", "-1", "+1", "1 2", "1,2", "0x4", "4.0"})
    EXPECT_EQ(status_of(body(length)), 400) << length;
}

TEST(RequestHead, WhatTwoReadersCouldReadInTwoWaysIsRefused) {
  for (const char* head :
       {"", "\r\n", "GET / HTTP/1.1", "GET / HTTP/1.1\r\nHost: a\r\n",
        "GET / HTTP/1.1\nHost: a\n\n", "GET /\r\n\r\n", "GET  HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nnone\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
        "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "GET / HTTPS\r\nHost: a\r\n\r\n",
        "G\xc3\xa9T / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n"})
    EXPECT_EQ(status_of(head), 400) << head;
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n"s), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\n\r\n"), 411);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n"),
            411);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"), 417);
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "BREW"})
    EXPECT_EQ(status_of(std::string(method) + " / HTTP/1.1\r\nHost: a\r\n\r\n"), 405) << method;
}

TEST(RequestHead, HeadersWithOneValueComeOnce) {
  for (const char* lines :
       {"Host: a\r\nOrigin: http://a\r\nOrigin: http://b\r\n",
        "Host: a\r\nORIGIN: http://a\r\norigin: http://a\r\n",
        "Host: a\r\nSec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n",
        "Host: a\r\nContent-Type: text/plain\r\nContent-Type: application/json\r\n", "Host:\r\n",
        "Host: \t \r\n", "Host: a\r\nHost:\r\n"})
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\n"s + lines + "\r\n"), 400) << lines;
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\nHost:\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nAccept: a\r\n"
                      "Accept: b\r\nIf-None-Match: a\r\nIf-None-Match: b\r\n\r\n"),
            200);
}

TEST(RequestHead, DecodesPercents) {
  EXPECT_EQ(percent_decoded("a%20b+%C3%A9%2f"), "a b+\xc3\xa9/");
  for (const char* text : {"%", "%1", "a%g0", "%-1", "% 1"})
    EXPECT_FALSE(percent_decoded(text)) << text;
}

TEST(RequestHead, EveryStatusHasAPhrase) {
  for (const int status : {400, 405, 408, 411, 413, 414, 417, 431}) {
    EXPECT_NE(status_phrase(status), status_phrase(500)) << status;
  }
}

}  // namespace
}  // namespace neutra::serve
