#pragma once

#include <string>
#include <string_view>

namespace neutra::cli {

/// The script that completes the command in bash.
std::string bash_script();
/// The same for zsh.
std::string zsh_script();
/// The same for fish.
std::string fish_script();

namespace embedded {

/// neutra.bash, neutra.zsh and neutra.fish, with @NAMES@ for what is made of the verbs.
extern const std::string_view completion_bash;
extern const std::string_view completion_zsh;
extern const std::string_view completion_fish;

}  // namespace embedded
}  // namespace neutra::cli
