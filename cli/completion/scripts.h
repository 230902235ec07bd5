#pragma once

#include <string>
#include <string_view>

namespace neutra::cli {

/// The scripts that complete the command in bash, zsh and fish.
std::string bash_script();
std::string zsh_script();
std::string fish_script();

namespace embedded {

/// neutra.bash, neutra.zsh and neutra.fish, with @NAMES@ for what is made of the verbs.
extern const std::string_view completion_bash;
extern const std::string_view completion_zsh;
extern const std::string_view completion_fish;

}  // namespace embedded
}  // namespace neutra::cli
