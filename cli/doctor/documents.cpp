// The command itself, and what it says of itself where it is installed.

#include <filesystem>

#include "base/environment.h"
#include "cli/build_info.h"
#include "cli/doctor/check.h"

namespace neutra::cli::doctor {
namespace {

namespace fs = std::filesystem;

struct Document {
  const char* name;                ///< of the check
  std::vector<const char*> files;  ///< below share/ of the installation; one of them is enough
  const char* hint;                ///< how to get it elsewhere
};

const Document kDocuments[] = {
    {"documentation",
     {"doc/neutra/docs/index.md"},
     "the sources have it in docs/; neutra VERB --help says what each option does"},
    {"schemas",
     {"doc/neutra/docs/schemas/program.schema.json"},
     "the sources have them in docs/schemas/; neutra config schema prints that of configurations"},
    {"manual pages",
     {"man/man1/neutra.1", "man/man1/neutra.1.gz"},
     "neutra man -o ~/.local/share/man/man1 writes them"},
    {"completion of bash",
     {"bash-completion/completions/neutra"},
     "source <(neutra completion bash) in ~/.bashrc"},
    {"completion of zsh",
     {"zsh/site-functions/_neutra", "zsh/vendor-completions/_neutra"},
     "source <(neutra completion zsh) in ~/.zshrc, behind compinit"},
    {"completion of fish",
     {"fish/vendor_completions.d/neutra.fish"},
     "neutra completion fish | source in ~/.config/fish/config.fish"}};

/// Where the share/ of this installation may be: beside the folder of the command and, as a wheel
/// puts manual pages and completions there, in a folder above.
std::vector<fs::path> share_folders() {
  std::vector<fs::path> folders;
  for (fs::path folder = own_program().parent_path(); folder.has_relative_path();) {
    folder = folder.parent_path();
    folders.push_back(folder / "share");
  }
  return folders;
}

Check document_check(const Document& document, const std::vector<fs::path>& shares) {
  std::error_code error;
  for (const fs::path& share : shares) {
    for (const char* name : document.files) {
      const fs::path file = share / name;
      if (!fs::is_regular_file(file, error)) continue;
      if (fs::file_size(file, error) > 0) return {document.name, State::kOk, file.string()};
      return {document.name, State::kBroken, file.string() + " is empty", kInstallAgain};
    }
  }
  return {document.name, State::kMissing,
          "no file " + (shares.front() / document.files.front()).string(), document.hint};
}

}  // namespace

Check command_check() {
  return {"command", State::kOk,
          std::string("neutra ") + version() + " (" + git_commit() + "), " + compiler() + ", " +
              own_program().string()};
}

Checks document_checks() {
  const std::vector<fs::path> shares = share_folders();
  std::error_code ignored;
  if (fs::is_symlink(shares.front() / "neutra", ignored)) {  // to the sources
    return {{"documentation", State::kOk,
             "neutra runs from its build folder, so neither manual pages nor completions are "
             "installed; the sources have the documentation in docs/"}};
  }
  Checks checks;
  for (const Document& document : kDocuments) checks.push_back(document_check(document, shares));
  return checks;
}

}  // namespace neutra::cli::doctor
