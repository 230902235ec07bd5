#include "base/files.h"
#include "cli/completion.h"
#include "cli/texts.h"
#include "cli/verbs.h"

namespace neutra::cli {
namespace {

/// The script for a shell, which may have gone to a file.
struct Script {
  std::string shell, text;
  std::string output;  ///< the file; "": none
};

Json json_of(const Script& script) {
  return {{"format", "neutra-completion"},
          {"version", 1},
          {"shell", script.shell},
          script.output.empty() ? Json{"script", script.text} : Json{"output", script.output}};
}

std::string text_of(const Script& script) { return script.output.empty() ? script.text : ""; }

Result run(const Arguments& arguments) {
  Script script{arguments.positional.front(), completion_script(arguments.positional.front()), ""};
  if (arguments.has("output")) {
    script.output = arguments.text("output");
    write_file_atomically(script.output, script.text);
  }
  return result_of(std::move(script));
}

}  // namespace

Verb completion_verb() {
  std::vector<VerbAction> shells;
  for (const std::string& shell : completion_shells()) shells.push_back({shell, ""});
  return {.name = "completion",
          .summary = "print a script that completes the command in a shell",
          .synopsis = "completion bash|zsh|fish [-o FILE]",
          .options = {.names = {"output"},
                      .least_positional = 1,
                      .most_positional = 1,
                      .positional_name = "bash|zsh|fish",
                      .actions = shells},
          .description =
              "Verbs, actions, options and their values, ids of faults, subjects, operators and "
              "tools, and files by extension.\n"
              "cmake --install puts the scripts where the shells look for them; elsewhere the "
              "shell's start-up file loads them.",
          .example =
              "  source <(neutra completion bash)      in ~/.bashrc\n"
              "  source <(neutra completion zsh)       in ~/.zshrc, behind compinit\n"
              "  neutra completion fish | source       in ~/.config/fish/config.fish",
          .run = run};
}

}  // namespace neutra::cli
