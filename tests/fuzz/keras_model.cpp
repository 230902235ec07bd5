// Any bytes as the texts of a Keras model file, as an HDF5 file with such names and as a .keras
// file: an error, or a valid program whose weights, where the file has them, are of its shapes.
// The first byte says which. HDF5's own reading of damaged bytes is not looked at here: the command
// leaves it to another process (cli/imports.h).

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "program/formats/keras_import.h"
#include "program/formats/keras_model.h"
#include "program/layer.h"

namespace {

using namespace neutra;

/// A file in memory with this content, by a name that can be opened.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("model", 0)) {
    if (write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      std::abort();
    }
  }
  ~MemoryFile() { close(descriptor_); }
  std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

program::Program imported(const program::KerasModel& model, const Json& training) {
  program::ImportSources sources;
  sources.name = "model";
  sources.training = training;
  sources.training_file = "training";
  const program::KerasImport import = program::import_keras(model, sources);
  if (!program::validate(import.document).empty()) std::abort();
  return {import.document};
}

void read(const std::string& file) {
  const program::KerasModelFile model(file);
  const program::ResolvedProgram program = program::resolve(imported(model.model(), Json()));
  std::int64_t elements = 0;
  for (const program::ResolvedLayer& layer : program.layers) {
    for (const program::Weight& weight : layer.weights)
      elements += program::element_count(weight.shape);
  }
  if (elements > 1 << 20) return;
  const program::ModelWeights weights = model.weights(program);
  if (weights.size() != program.layers.size()) std::abort();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t k = 0; k < weights[i].size(); ++k) {
      const auto wanted =
          static_cast<std::size_t>(program::element_count(program.layers[i].weights[k].shape));
      if (weights[i][k].size() != wanted) std::abort();
    }
  }
}

/// The text up to the next line break, which is taken off.
std::string_view line_of(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// An HDF5 file with the attributes "@OBJECT NAME TEXT" and the arrays "PATH EXTENT EXTENT...".
std::string hdf5(std::string_view lines) {
  Hdf5File file = Hdf5File::create_in_memory("input");
  while (!lines.empty()) {
    std::string_view line = line_of(lines);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string first(line.substr(0, space));
    line.remove_prefix(space + 1);
    try {
      if (first.starts_with('@')) {
        const std::size_t end = line.find(' ');
        if (end == std::string_view::npos) continue;
        file.write_attribute(first.substr(1), std::string(line.substr(0, end)),
                             std::string(line.substr(end + 1)));
      } else {
        std::vector<std::uint64_t> extents;
        std::uint64_t count = 1;
        for (const char c : line) {
          if (c < '0' || c > '9' || extents.size() == 5) continue;
          extents.push_back(static_cast<std::uint64_t>(c - '0'));
          count *= extents.back();
        }
        file.write(first, std::vector<float>(count, 1.0F), extents);
      }
    } catch (const Error&) {  // a name that HDF5 doesn't take
    }
  }
  return file.image();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 1 << 16) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 3) {
      case 0: {  // version, model, training configuration and options, a line each
        program::KerasModel model{"input", "", "", Json(), Json()};
        model.version = line_of(rest);
        model.model = parse_json(line_of(rest), "model");
        const std::string_view training = line_of(rest), options = line_of(rest);
        if (!training.empty()) model.training = parse_json(training, "training");
        imported(model, options.empty() ? Json() : parse_json(options, "options"));
        break;
      }
      case 1:
        read(MemoryFile(hdf5(rest)).name());
        break;
      default:
        if (rest.starts_with("PK")) read(MemoryFile(rest).name());
    }
  } catch (const Error&) {
  }
  return 0;
}
