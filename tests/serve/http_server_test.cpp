#include "serve/http_server.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/strings.h"
#include "tests/serve/raw_client.h"

namespace neutra::serve {
namespace {

using tests::body_of;
using tests::get_once;
using tests::raw_answer;
using tests::RawClient;
using tests::status_of;

HttpResponse echo(const HttpRequest& request) {
  if (request.path == "/throws") throw std::runtime_error("thrown");
  std::string text = request.method + " " + request.path + "\n";
  for (const auto& [name, value] : request.query) text += name + "=" + value + "\n";
  if (request.path == "/long") text = std::string(3'000'000, 'x');
  return {200, "text/plain", text + request.body, {{"X-Own", "yes"}}};
}

/// The limits of tests that are about none: however slow the machine is.
HttpLimits patient() {
  HttpLimits limits;
  limits.request_time = limits.response_time = 3600;
  return limits;
}

/// A server on a free port, for the life of the object.
class Serving {
 public:
  explicit Serving(HttpLimits limits = patient(), HttpHandler handler = echo)
      : server_("127.0.0.1", 0, std::move(handler), limits),
        thread_([this] { server_.run(stop_); }) {}
  ~Serving() {
    stop_ = true;
    thread_.join();
  }
  int port() const { return server_.port(); }
  bool loopback() const { return server_.loopback(); }

 private:
  std::atomic<bool> stop_{false};
  HttpServer server_;
  std::thread thread_;
};

TEST(HttpServer, AnswersAClient) {
  Serving serving;
  EXPECT_TRUE(serving.loopback());
  const std::string got =
      raw_answer(serving.port(), get_once("/a%20b/%C3%A9?name=x%2Fy%26z&empty="));
  EXPECT_EQ(status_of(got), 200);
  EXPECT_EQ(body_of(got), "GET /a b/\xc3\xa9\nempty=\nname=x/y&z\n");
  for (const char* line : {"Content-Type: text/plain", "Content-Length: 30", "X-Own: yes",
                           "X-Content-Type-Options: nosniff", "Connection: close"})
    EXPECT_TRUE(contains(got, "\r\n" + std::string(line) + "\r\n")) << line;
  EXPECT_EQ(
      body_of(raw_answer(serving.port(), "POST /p HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello")),
      "POST /p\nhello");
  const std::string head = raw_answer(serving.port(), "HEAD /h HTTP/1.0\r\n\r\n");
  EXPECT_EQ(body_of(head), "");
  EXPECT_TRUE(contains(head, "\r\nContent-Length: 8\r\n")) << head;
}

TEST(HttpServer, SendsLongBodiesWhole) {
  Serving serving;
  EXPECT_EQ(body_of(raw_answer(serving.port(), get_once("/long"))).size(), 3'000'000U);
}

TEST(HttpServer, WhatIsThrownIsAStatus) {
  Serving serving;
  EXPECT_EQ(status_of(raw_answer(serving.port(), get_once("/throws"))), 500);
  EXPECT_EQ(status_of(raw_answer(serving.port(), get_once("/"))), 200);
}

TEST(HttpServer, AnswersRequestsThatComeTogether) {
  Serving serving;
  const std::string both =
      "POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc" + get_once("/2");
  const std::string answer = raw_answer(serving.port(), both);
  EXPECT_NE(answer.find("POST /1\nabcHTTP/1.1 200"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("GET /2\n")) << answer;
}

TEST(HttpServer, AnswersRequestsThatComeInPieces) {
  Serving serving;
  RawClient client(serving.port());
  for (const char c : get_once("/pieces")) client.send(std::string(1, c));
  EXPECT_EQ(body_of(client.rest()), "GET /pieces\n");
}

TEST(HttpServer, RefusesWhatIsNoRequest) {
  Serving serving;
  const std::string host = "Host: localhost\r\n";
  const std::vector<std::pair<int, std::string>> cases{
      {400, "\x16\x03\x01\x02\n\r\n"},
      {400, "GET / HTTP/1.1\n" + host + "\n"},
      {400, "\r\n\r\n"},
      {400, get_once("/%2e%2e/etc/passwd")},
      {400, get_once("/../../etc/passwd")},
      {400, get_once("/%00")},
      {414, "GET /" + std::string(100'000, 'a')},
      {414, get_once("/" + std::string(8000, 'a'))},
      {431, "GET / HTTP/1.1\r\n" + host + "X: " + std::string(100'000, 'a')},
      {431, "GET / HTTP/1.1\r\n" + host + std::string(12'000, 'a') + ": x\r\n" +
                std::string(12'000, 'b') + ": y\r\n\r\n"},
      {413, "POST / HTTP/1.1\r\n" + host + "Content-Length: 1000000\r\n\r\n" +
                std::string(1'000'000, 'x')},
      {411, "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n"},
      {405, "DELETE / HTTP/1.1\r\n" + host + "\r\n"},
  };
  for (const auto& [status, bytes] : cases) {
    const std::string answer = raw_answer(serving.port(), bytes);
    EXPECT_EQ(status_of(answer), status) << bytes.substr(0, 100) << "\n" << answer;
  }
  EXPECT_EQ(status_of(raw_answer(serving.port(), get_once("/"))), 200);
}

TEST(HttpServer, NeverMatchesLongTextsByExpressions) {
  Serving serving;
  std::string ranges = "0-1";
  while (ranges.size() < 12'000) ranges += ",2-3";
  EXPECT_EQ(status_of(raw_answer(serving.port(), "GET /" + std::string(4000, 'a') +
                                                     " HTTP/1.1\r\nHost: localhost\r\nConnection: "
                                                     "close\r\nRange: bytes=" +
                                                     ranges + "\r\n\r\n")),
            200);
}

TEST(HttpServer, RequestsThatDoNotComeEnd) {
  HttpLimits limits = patient();
  limits.request_time = 0.1;
  Serving serving(limits);
  RawClient head(serving.port()), body(serving.port());
  head.send("GET / HTTP/1.1\r\nHost: loc");
  body.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(status_of(head.rest()), 408);
  EXPECT_EQ(status_of(body.rest()), 408);
}

TEST(HttpServer, IdleConnectionsMakeRoom) {
  HttpLimits limits = patient();
  limits.connections = 2;
  limits.idle_time = 3600;
  Serving serving(limits);
  RawClient one(serving.port()), two(serving.port());
  EXPECT_EQ(status_of(raw_answer(serving.port(), get_once("/"))), 200);
}

TEST(HttpServer, SlowRequestsMakeRoom) {
  HttpLimits limits = patient();
  limits.connections = 2;
  Serving serving(limits);
  RawClient one(serving.port()), two(serving.port());
  one.send("GET / HT");
  two.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(status_of(raw_answer(serving.port(), get_once("/"))), 200);
}

TEST(HttpServer, ConnectionsEndAfterSoManyRequests) {
  HttpLimits limits = patient();
  limits.requests = 2;
  Serving serving(limits);
  const std::string one = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string answer = raw_answer(serving.port(), one + one + one);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = answer.find("HTTP/1.1 200", at)) != std::string::npos; ++at)
    ++count;
  EXPECT_EQ(count, 2U);
}

TEST(HttpServer, EndsWithConnectionsOpen) {
  auto serving = std::make_unique<Serving>(patient());
  RawClient idle(serving->port()), half(serving->port());
  half.send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(status_of(raw_answer(serving->port(), get_once("/"))), 200);
  serving.reset();
  EXPECT_EQ(idle.rest(), "");
  EXPECT_EQ(half.rest(), "");
}

TEST(HttpServer, SaysWhereItCannotListen) {
  Serving serving;
  try {
    HttpServer second("127.0.0.1", serving.port(), echo);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kFailed);
    EXPECT_NE(std::string(error.what()).find(std::to_string(serving.port())), std::string::npos);
  }
  try {
    HttpServer elsewhere("192.0.2.1", 0, echo);  // of no machine: RFC 5737
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput) << error.what();
  }
}

}  // namespace
}  // namespace neutra::serve
