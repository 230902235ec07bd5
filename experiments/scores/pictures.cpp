#include "experiments/scores/pictures.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/temporary_folder.h"
#include "base/words.h"

namespace neutra::experiments {
namespace {

/// A program that draws, and the Debian package that has it.
struct Drawer {
  std::string name, package;
};
const Drawer kGraphviz{"dot", "graphviz"}, kLibrsvg{"rsvg-convert", "librsvg2-bin"};

Error missing(const Drawer& drawer) {
  return failure(describe("", "",
                          "no program '" + drawer.name + "' in PATH, which draws the picture",
                          "one; Debian's package " + drawer.package + " has it"));
}

ProcessResult run(const std::vector<std::string>& command) {
  // Dates in a file would make it another one each time (reproducible-builds.org). `env` is there
  // wherever a shell is.
  ProcessCall call;
  call.command = {"/usr/bin/env", "SOURCE_DATE_EPOCH=0"};
  call.command.insert(call.command.end(), command.begin(), command.end());
  call.folder = ".";
  return run_process(call);
}

/// Runs a program on a text, `words` behind its name, input and output last.
std::string drawn(const Drawer& drawer, std::vector<std::string> words, const std::string& text) {
  const TemporaryFolder folder("neutra-picture");
  const auto input = folder.path() / "input", output = folder.path() / "output";
  write_file_atomically(input, text);
  words.insert(words.begin(), drawer.name);
  words.insert(words.end(), {"-o", output.string(), input.string()});
  const ProcessResult result = run(words);
  constexpr int kNotFound = 127;  // env's
  if (result.end == ProcessEnd::kNotStarted ||
      (result.end == ProcessEnd::kExited && result.code == kNotFound)) {
    throw missing(drawer);
  }
  std::error_code ignored;
  if (result.end != ProcessEnd::kExited || result.code != 0 ||
      !std::filesystem::exists(output, ignored)) {
    throw failure(drawer.name + " could not draw the picture (" +
                  std::string(to_string(result.end)) + ' ' + std::to_string(result.code) +
                  "): " + result.err.substr(0, result.err.find('\n')));
  }
  return read_regular_file(output, "a picture");
}

}  // namespace

const std::vector<std::string>& picture_forms() {
  static const std::vector<std::string> forms = {"svg", "png", "pdf"};
  return forms;
}

std::string picture_form(const std::filesystem::path& file, const std::string& name) {
  const std::string ending = file.extension().string();
  for (const std::string& form : picture_forms()) {
    if (ending == "." + form) return form;
  }
  throw usage_error(name + ": found " + file.string() + "; allowed: a file that ends in ." +
                    join(picture_forms(), ", ."));
}

void require_picture_form(const std::string& form) {
  if (form != "svg") {
    picture("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>", form);
  }
}

std::string picture(const std::string& svg, const std::string& form) {
  if (form == "svg") return svg;
  return drawn(kLibrsvg, {"--unlimited", "--zoom", form == "png" ? "2" : "1", "--format", form},
               svg);
}

std::string laid_out(const std::string& dot) { return drawn(kGraphviz, {"-Tsvg"}, dot); }

}  // namespace neutra::experiments
