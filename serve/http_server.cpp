#include "serve/http_server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "base/error.h"

namespace neutra::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 128;
constexpr double kLinger = 1;          ///< seconds in which a refused sender may still send
constexpr double kCrowded = 0.5;       ///< seconds that a connection may idle while others wait
constexpr double kCrowdedRequest = 1;  ///< and those that a request may take to arrive
constexpr auto kStopLook = std::chrono::milliseconds(50);
constexpr auto kAcceptAgain = std::chrono::milliseconds(50);

Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Whole milliseconds until then, at least 0.
int milliseconds_to(Clock::time_point time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  }
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

/// A request that is refused.
HttpResponse refusal(const RequestProblem& problem) {
  HttpResponse response{problem.status, HttpResponse{}.type, problem.text + "\n"};
  if (problem.status == 405) response.headers = {{"Allow", "GET, HEAD, POST"}};
  return response;
}

/// What is sent (RFC 9112); `with_body`: not for HEAD, which gets the same length all the same.
std::string message(const HttpResponse& response, bool with_body, bool close) {
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     std::string(status_phrase(response.status)) + "\r\n";
  const auto header = [&](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  header("Content-Type", response.type);
  header("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) header(name, value);
  if (close) header("Connection", "close");
  // 304 has no body; a length would be that of the page it stands for.
  if (response.status != 304) header("Content-Length", std::to_string(response.body.size()));
  text += "\r\n";
  if (with_body) text += response.body;
  return text;
}

}  // namespace

/// A socket that was accepted.
class HttpServer::Connection {
 public:
  Connection(int socket, int wake, const HttpLimits& limits)
      : socket_(socket), wake_(wake), limits_(limits) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  /// Waits for a first byte; false: none came, or the server ends. `crowded`: are all threads busy?
  template <typename Crowded>
  bool wait_for_request(const Crowded& crowded) {
    const auto begin = Clock::now();
    while (received_.empty()) {
      const double idle = std::chrono::duration<double>(Clock::now() - begin).count();
      const double allowed = crowded() ? kCrowded : limits_.idle_time;
      if (idle >= allowed) return false;
      pollfd files[]{{socket_, POLLIN, 0}, {wake_, POLLIN, 0}};
      const int ready =
          ::poll(files, 2, milliseconds_to(after(std::min(allowed - idle, kCrowded))));
      if (ready < 0 && errno != EINTR) return false;
      if (files[1].revents != 0) return false;
      if (ready > 0 && files[0].revents != 0 && !receive()) return false;
    }
    return true;
  }

  /// Reads until the head and the body are there. nullopt: the other end went away.
  template <typename Crowded>
  std::optional<RequestHead> read_request(const Crowded& crowded) {
    const auto begin = Clock::now();
    const auto receive_more = [&] {
      for (;;) {
        const double time =
            crowded() ? std::min(kCrowdedRequest, limits_.request_time) : limits_.request_time;
        const auto end = begin + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(time));
        const Received received = receive_until(std::min(end, after(kCrowded)));
        if (received != Received::kLate || Clock::now() >= end) return received;
      }
    };
    std::size_t end = 0, looked = 0;
    while ((end = received_.find("\r\n\r\n", looked)) == std::string::npos) {
      looked = received_.size() < 3 ? 0 : received_.size() - 3;
      const std::size_t line = received_.find('\n');
      if (line == std::string::npos && received_.size() > limits_.request.target + 64)
        return refused(414, "the request line is too long");
      if (received_.size() > limits_.request.head) return refused(431, "the headers are too long");
      // Never a request: a line that doesn't end in CR LF, or an empty one.
      if (line != std::string::npos && (line < 2 || received_[line - 1] != '\r'))
        return refused(400, "the request line isn't METHOD TARGET VERSION, CR, LF");
      switch (receive_more()) {
        case Received::kLate:
          return refused(408, "the request didn't come in time");
        case Received::kGone:
          return std::nullopt;
        case Received::kSome:
          break;
      }
    }
    RequestHead head =
        read_request_head(std::string_view(received_).substr(0, end + 4), limits_.request);
    if (head.problem) return head;
    while (received_.size() < end + 4 + head.body) {
      switch (receive_more()) {
        case Received::kLate:
          return refused(408, "the body didn't come in time");
        case Received::kGone:
          return std::nullopt;
        case Received::kSome:
          break;
      }
    }
    head.request.body = received_.substr(end + 4, head.body);
    received_.erase(0, end + 4 + head.body);
    return head;
  }

  void begin_response() { response_end_ = after(limits_.response_time); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (sent < 0 && errno == EAGAIN) {
        pollfd file{socket_, POLLOUT, 0};
        const int wait = milliseconds_to(response_end_);
        if (wait == 0 || (::poll(&file, 1, wait) <= 0 && errno != EINTR)) return false;
      } else if (sent == 0 || errno != EINTR) {
        return false;
      }
    }
    return true;
  }

  /// Says no more, and lets the other end finish: closing at once would take the response with it.
  void linger() {
    ::shutdown(socket_, SHUT_WR);
    const auto deadline = after(kLinger);
    while (receive_until(deadline) == Received::kSome) received_.clear();
  }

 private:
  enum class Received { kSome, kLate, kGone };

  std::optional<RequestHead> refused(int status, const std::string& text) {
    RequestHead head;
    head.problem = RequestProblem{status, text};
    return head;
  }

  /// Takes what is there; false at the end.
  bool receive() {
    char buffer[4096];
    const ssize_t size = ::recv(socket_, buffer, sizeof buffer, 0);
    if (size > 0) received_.append(buffer, static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
  }

  Received receive_until(Clock::time_point deadline) {
    for (;;) {
      const int wait = milliseconds_to(deadline);
      if (wait == 0) return Received::kLate;
      pollfd files[]{{socket_, POLLIN, 0}, {wake_, POLLIN, 0}};
      const int ready = ::poll(files, 2, wait);
      if (ready < 0 && errno != EINTR) return Received::kGone;
      if (files[1].revents != 0) return Received::kGone;
      if (ready <= 0 || files[0].revents == 0) continue;
      const std::size_t before = received_.size();
      if (!receive()) return Received::kGone;
      if (received_.size() > before) return Received::kSome;
    }
  }

  const int socket_, wake_;
  const HttpLimits& limits_;
  std::string received_;
  Clock::time_point response_end_{};
};

HttpServer::HttpServer(const std::string& host, int port, HttpHandler handler, HttpLimits limits)
    : handler_(std::move(handler)), limits_(limits) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string port_text = std::to_string(port);
  if (const int error = ::getaddrinfo(host.c_str(), port_text.c_str(), &hints, &found); error != 0)
    throw input_error(describe("", "--host", "'" + host + "': " + ::gai_strerror(error),
                               "a name or number of this machine"));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  int error = 0;
  for (const addrinfo* at = found; at != nullptr && listener_ < 0; at = at->ai_next) {
    const int socket = ::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    if (socket >= 0 && ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(socket, at->ai_addr, at->ai_addrlen) == 0 && ::listen(socket, kBacklog) == 0) {
      listener_ = socket;
      loopback_ = is_loopback(at->ai_addr);
    } else {
      error = errno;
      if (socket >= 0) ::close(socket);
    }
  }
  if (listener_ < 0) {
    if (error == EADDRNOTAVAIL)
      throw input_error(describe("", "--host", "'" + host + "': " + std::strerror(error),
                                 "a name or number of this machine"));
    throw failure("cannot listen on port " + port_text + " of " + host + ": " +
                  std::strerror(error) + "; --port 0 takes one that is free");
  }
  port_ = port_of(listener_);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) {
    const std::string reason = std::strerror(errno);
    ::close(listener_);
    throw failure("cannot make an eventfd: " + reason);
  }
}

HttpServer::~HttpServer() {
  ::close(listener_);
  ::close(wake_);
}

void HttpServer::run(const std::atomic<bool>& stop) {
  std::vector<std::thread> threads;
  for (int i = 0; i < limits_.connections; ++i) threads.emplace_back([this] { work(); });
  while (!stop) std::this_thread::sleep_for(kStopLook);
  stopping_ = true;
  // Ends the waits for connections and for requests.
  ::shutdown(listener_, SHUT_RDWR);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
  for (std::thread& thread : threads) thread.join();
}

void HttpServer::work() {
  while (!stopping_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
      // Too many open files, say: others may close some.
      if (!stopping_ && errno != EINTR && errno != ECONNABORTED)
        std::this_thread::sleep_for(kAcceptAgain);
      continue;
    }
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ++busy_;
    try {
      Connection connection(socket, wake_, limits_);
      serve(connection);
    } catch (const std::exception&) {
      // Out of memory: this connection ends.
    }
    --busy_;
  }
}

void HttpServer::serve(Connection& connection) {
  const auto crowded = [this] { return busy_ >= limits_.connections; };
  for (int count = 1; connection.wait_for_request(crowded); ++count) {
    const std::optional<RequestHead> head = connection.read_request(crowded);
    if (!head) return;
    connection.begin_response();
    if (head->problem) {
      if (connection.send(message(refusal(*head->problem), true, true))) connection.linger();
      return;
    }
    const bool close = !head->keep_alive || stopping_ || count >= limits_.requests;
    const HttpRequest& request = head->request;
    if (!connection.send(message(answer_to(request), request.method != "HEAD", close))) return;
    if (close) return connection.linger();
  }
}

HttpResponse HttpServer::answer_to(const HttpRequest& request) const {
  try {
    return handler_(request);
  } catch (const std::exception& error) {
    return {500, HttpResponse{}.type, std::string(error.what()) + "\n"};
  }
}

}  // namespace neutra::serve
