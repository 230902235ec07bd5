#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "serve/request_head.h"

namespace neutra::serve {

/// An answer.
struct HttpResponse {
  int status = 200;                                ///< of HTTP
  std::string type = "text/plain; charset=utf-8";  ///< of the body
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< besides type and length
};

/// Thread safe. What it throws becomes a status 500.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// What a client may take of the server.
struct HttpLimits {
  RequestLimits request;      ///< sizes
  int connections = 24;       ///< at once; others wait
  double request_time = 10;   ///< seconds from a request's first byte to its last
  double idle_time = 15;      ///< seconds that a connection is kept without a request
  double response_time = 60;  ///< seconds to send a response
  int requests = 1000;        ///< over one connection
};

/// An HTTP server with a fixed number of threads, each with one connection, so that neither memory
/// nor descriptors grow with the load (docs/dev/serve.md).
class HttpServer {
 public:
  /// Listens on the address of `host`, a name or a number; port 0: any that is free. Throws
  /// input_error for a host that isn't of this machine, failure() where the port is taken.
  HttpServer(const std::string& host, int port, HttpHandler handler, HttpLimits limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// The port that it listens on.
  int port() const { return port_; }
  /// Is the address one that only this machine reaches?
  bool loopback() const { return loopback_; }

  /// Serves until `stop` is set; requests in hand are answered.
  void run(const std::atomic<bool>& stop);

 private:
  class Connection;
  void work();
  void serve(Connection& connection);
  HttpResponse answer_to(const HttpRequest& request) const;

  const HttpHandler handler_;
  const HttpLimits limits_;
  int listener_ = -1, wake_ = -1;
  int port_ = 0;
  bool loopback_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<int> busy_{0};
};

}  // namespace neutra::serve
