#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace neutra::serve::tests {

/// A connection to a server on this machine, for bytes that no client would send.
class RawClient {
 public:
  static constexpr int kPatience = 60;  ///< seconds without an answer: none comes

  explicit RawClient(int port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{kPatience, 0};
    ::setsockopt(descriptor_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(descriptor_.number(), reinterpret_cast<const sockaddr*>(&address),
                           sizeof address) == 0;
  }

  bool connected() const { return connected_; }
  /// false: the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// All that the server says until it closes; "" and what came so far where it never does.
  std::string rest() {
    std::string text;
    char buffer[4096];
    for (ssize_t size = 0; (size = ::recv(descriptor_.number(), buffer, sizeof buffer, 0)) > 0;)
      text.append(buffer, static_cast<std::size_t>(size));
    return text;
  }

 private:
  const Descriptor descriptor_;
  bool connected_ = false;
};

/// The whole response to one request.
inline std::string raw_answer(int port, std::string_view bytes) {
  RawClient client(port);
  client.send(bytes);
  return client.rest();
}

/// The number behind "HTTP/1.1 "; 0: there is none.
inline int status_of(const std::string& response) {
  return response.starts_with("HTTP/1.1 ") ? std::stoi(response.substr(9, 3)) : 0;
}

/// What is behind the head.
inline std::string body_of(const std::string& response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? "" : response.substr(end + 4);
}

/// A GET that is the only one over its connection.
inline std::string get_once(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
}

}  // namespace neutra::serve::tests
