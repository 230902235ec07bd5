#include "base/error.h"
#include "base/files.h"
#include "cli/imports.h"
#include "cli/outputs.h"
#include "cli/texts.h"
#include "cli/verbs.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// A program that was written, and what had to be assumed for it.
struct Imported {
  fs::path file, program;     ///< read, written
  std::string keras_version;  ///< "": the file names none
  std::string hash;
  std::size_t layers = 0;
  std::vector<program::Assumption> assumptions;
};

Json json_of(const Imported& imported) {
  return {{"format", "neutra-import"},
          {"version", 1},
          {"file", imported.file.string()},
          {"keras_version", imported.keras_version.empty() ? Json() : Json(imported.keras_version)},
          {"program", imported.program.string()},
          {"hash", imported.hash},
          {"layers", imported.layers},
          {"assumptions", to_json(imported.assumptions)}};
}

std::string text_of(const Imported& imported) {
  const std::string text =
      imported.program.string() + ": " + std::to_string(imported.layers) + " layers, " +
      (imported.keras_version.empty() ? "of a file that names no version of Keras"
                                      : "of Keras " + imported.keras_version) +
      ", hash " + imported.hash + "\n";
  return imported.assumptions.empty() ? text : text + "\n" + to_text(imported.assumptions);
}

Result run(const Arguments& arguments) {
  const fs::path file = arguments.positional.front();
  if (!arguments.has("output")) throw usage_error("--output: found nothing; allowed: a JSON file");
  require_output(arguments);
  const fs::path output = arguments.text("output");
  require_not_read(
      output.string(), "--output",
      {file, arguments.has("data") ? arguments.text("data") : "",
       arguments.has("training") ? fs::path(arguments.text("training")) : sidecar_file(file)});
  ImportedModel imported = import_model(arguments, file, output);
  const program::Program program{imported.import.document};
  write_file_atomically(link_target(output), neutra::to_text(program.document));
  return result_of(Imported{file, output, imported.model.version,
                            to_string(program::program_hash(program)),
                            program.document["model"]["config"]["layers"].size(),
                            std::move(imported.import.assumptions)});
}

}  // namespace

Verb import_verb() {
  return {.name = "import",
          .summary = "turn a Keras model file into a program",
          .synopsis = "import FILE -o OUT.json [--data FILE] [--training FILE.json] [--json]",
          .options = {.names = {"data", "data-dir", "output", "training"},
                      .least_positional = 1,
                      .most_positional = 1,
                      .positional_name = "FILE"},
          .description =
              "FILE is a model that Keras 1.2 to 3 has saved: .h5, .hdf5, .keras, or the JSON of "
              "to_json(); Sequential or a\n"
              "functional model that is a chain of layers. Prints what had to be assumed. Exit 3, "
              "with nothing written, where a\n"
              "program can't represent the model: the reasons are named "
              "(docs/formats/keras_model.md). Code in files (Lambda layers,\n"
              "pickles) is refused.",
          .example =
              "  neutra import model.h5 -o model.json --data rows.npz\n"
              "  neutra import model.keras -o model.json --training training.json --json",
          .run = run};
}

}  // namespace neutra::cli
