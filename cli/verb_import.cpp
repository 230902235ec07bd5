#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "cli/imports.h"
#include "cli/outputs.h"
#include "cli/texts.h"
#include "cli/verbs.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

int run(const Arguments& arguments) {
  const fs::path file = arguments.positional.front();
  if (!arguments.has("output")) throw usage_error("--output: found nothing; allowed: a JSON file");
  require_output(arguments);
  const fs::path output = arguments.text("output");
  require_not_read(
      output.string(), "--output",
      {file, arguments.has("data") ? arguments.text("data") : "",
       arguments.has("training") ? fs::path(arguments.text("training")) : sidecar_file(file)});
  const ImportedModel imported = import_model(arguments, file, output);
  const program::Program program{imported.import.document};
  write_file_atomically(link_target(output), neutra::to_text(program.document));
  const std::string hash = to_string(program::program_hash(program));
  const std::size_t layers = program.document["model"]["config"]["layers"].size();
  if (arguments.flag("json")) {
    std::cout << neutra::to_text(Json{
        {"format", "neutra-import"},
        {"version", 1},
        {"file", file.string()},
        {"keras_version", imported.model.version.empty() ? Json() : Json(imported.model.version)},
        {"program", output.string()},
        {"hash", hash},
        {"layers", layers},
        {"assumptions", to_json(imported.import.assumptions)}});
    return 0;
  }
  std::cout << output.string() << ": " << layers << " layers, "
            << (imported.model.version.empty() ? "of a file that names no version of Keras"
                                               : "of Keras " + imported.model.version)
            << ", hash " << hash << "\n";
  if (!imported.import.assumptions.empty()) {
    std::cout << "\n" << to_text(imported.import.assumptions);
  }
  return 0;
}

}  // namespace

Verb import_verb() {
  return {"import",
          "make a program of a Keras model file",
          "import FILE -o OUT.json [--data FILE] [--training FILE.json] [--json]",
          {{"data", "data-dir", "output", "training"}, 1, 1, "FILE"},
          "FILE is a model that Keras 1.2 to 3 has saved: .h5, .hdf5, .keras, or the JSON of "
          "to_json(); Sequential or a\n"
          "functional model that is a chain of layers. Prints what had to be assumed. Exit 3, with "
          "nothing written, where a "
          "program can't represent\n"
          "the model: what it can't is named (docs/formats/keras_model.md). Code in files "
          "(Lambda layers, pickles) is\n"
          "refused.",
          "  neutra import model.h5 -o model.json --data rows.npz\n"
          "  neutra import model.keras -o model.json --training training.json --json",
          run};
}

}  // namespace neutra::cli
