#pragma once

#include <string>
#include <vector>

namespace neutra::cli {

/// A script that completes the command in a shell: verbs, actions, options and their values, words
/// of a verb, all from the option table. `shell`: one of completion_shells().
std::string completion_script(const std::string& shell);
/// "bash", "zsh" and "fish".
const std::vector<std::string>& completion_shells();

}  // namespace neutra::cli
