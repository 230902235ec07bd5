#pragma once

#include <optional>
#include <string_view>

namespace neutra::training {

/// What computes a training.
enum class Backend {
  kAuto,   ///< fused where it knows the program, else eager
  kEager,  ///< the reference: LibTorch and autograd
  kFused   ///< a compiled plan; programs it doesn't know fail
};
/// "auto", "eager", "fused"; nullopt for other words.
std::optional<Backend> parse_backend(std::string_view word);
/// The word that parse_backend() reads.
std::string_view to_string(Backend backend);

}  // namespace neutra::training
