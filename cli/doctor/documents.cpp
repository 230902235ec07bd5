// The command itself, and what it says of itself where it is installed.

#include <filesystem>
#include <string_view>

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

/// Where the share/ of this installation may be: beside the folder of the command. A wheel puts
/// manual pages and completions into that of its environment.
std::vector<fs::path> share_folders() {
  fs::path folder = own_program().parent_path().parent_path();
  std::vector<fs::path> folders{folder / "share"};
  if (folder.filename() != "_native") return folders;
  std::error_code ignored;
  do {
    folder = folder.parent_path();
  } while (folder.has_relative_path() && !fs::exists(folder / "bin", ignored));
  folders.push_back(folder / "share");
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
  // Packages may leave the documentation out, as wheels do.
  const bool left_out = std::string_view(document.files.front()).starts_with("doc/") &&
                        !fs::exists(shares.front() / "doc/neutra", error);
  return {document.name, left_out ? State::kNote : State::kMissing,
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
