#include "training/backend.h"

#include <array>
#include <utility>

namespace neutra::training {
namespace {

constexpr std::array<std::pair<Backend, std::string_view>, 3> kBackends{
    {{Backend::kAuto, "auto"}, {Backend::kEager, "eager"}, {Backend::kFused, "fused"}}};

}  // namespace

std::optional<Backend> parse_backend(std::string_view word) {
  for (const auto& [backend, known] : kBackends) {
    if (word == known) return backend;
  }
  return std::nullopt;
}

std::string_view to_string(Backend backend) {
  return kBackends[static_cast<std::size_t>(backend)].second;
}

}  // namespace neutra::training
