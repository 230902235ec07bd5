#include <iostream>

#include "cli/completion.h"
#include "cli/outputs.h"
#include "cli/texts.h"
#include "cli/verbs.h"

namespace neutra::cli {
namespace {

int run(const Arguments& arguments) {
  const std::string& shell = arguments.positional.front();
  const std::string script = completion_script(shell);
  const bool json = arguments.flag("json"), written = arguments.has("output");
  if (written || !json) put_result(arguments, script);
  if (json)
    std::cout << to_text(
        {{"format", "neutra-completion"},
         {"version", 1},
         {"shell", shell},
         written ? Json{"output", arguments.text("output")} : Json{"script", script}});
  return 0;
}

}  // namespace

Verb completion_verb() {
  std::vector<VerbAction> shells;
  for (const std::string& shell : completion_shells()) shells.push_back({shell, ""});
  return {"completion",
          "print a script that completes the command in a shell",
          "completion bash|zsh|fish [-o FILE]",
          {{"output"}, 1, 1, "bash|zsh|fish", {}, shells},
          "Verbs, actions, options and their values, ids of faults, subjects, operators and tools, "
          "and files by extension.\n"
          "cmake --install puts the scripts where the shells look for them; elsewhere the shell's "
          "start-up file loads them.",
          "  source <(neutra completion bash)      in ~/.bashrc\n"
          "  source <(neutra completion zsh)       in ~/.zshrc, behind compinit\n"
          "  neutra completion fish | source       in ~/.config/fish/config.fish",
          run};
}

}  // namespace neutra::cli
