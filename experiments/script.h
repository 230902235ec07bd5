#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace neutra::experiments {

/// How a value is written (docs/formats/fault.md).
enum class PlaceKind { kLiteral, kVariable, kArgument, kLoop, kDefault, kCommandLine, kComputed };
std::string_view to_string(PlaceKind kind);  ///< "literal", ..., "command_line", "computed"
/// The kind of such a word; nullopt: none has it.
std::optional<PlaceKind> parse_place_kind(std::string_view word);

/// From `line` and `column` to in front of `end_line` and `end_column`; all from 1, columns in
/// characters.
struct Extent {
  int line = 1, column = 1, end_line = 1, end_column = 1;
};

/// A call of the user's on the way to what a site made.
struct ScriptFrame {
  std::string file;            ///< as seen from the folder of the place's file
  int line = 1;                ///< from 1
  std::string function;        ///< around the call; "<module>" at the top
  std::optional<Extent> call;  ///< where its expression is known
};

/// The call that made a part of a program.
struct ScriptSite {
  std::string name;                 ///< of what was called: "Dense"
  std::string path;                 ///< JSON pointer of what it made
  std::vector<ScriptFrame> frames;  ///< from the innermost outward
  /// Arguments with the pointers that they set; "": what is called is the value.
  std::vector<std::pair<std::string, std::string>> arguments;
  std::vector<std::string> parameters;  ///< positional ones, in order
  std::vector<std::string> given;       ///< arguments that the call passed
};

/// Where a value or a part of a program is written.
struct ScriptPlace {
  std::string path;  ///< JSON pointer into the fault's program
  std::string file;  ///< relative to Script::folder, or absolute
  int line = 1;      ///< from 1
  /// nullopt: the line alone is known.
  std::optional<Extent> extent;
  PlaceKind kind{};
  std::string text;                ///< that stands there; "" where it isn't known
  std::optional<ScriptSite> site;  ///< of a whole part
};

/// "train.py:23"
std::string line_text(const ScriptPlace& place);

/// A file of a script with its SHA-256, 64 hexadecimal digits.
struct ScriptFile {
  std::string file, sha256;
};

/// The training script that a fault was captured from: `script` of a fault file
/// (docs/formats/fault.md).
class Script {
 public:
  /// Reads the section, an object. `file` and `where` ("/script") are for messages. `folder`: of
  /// the fault file; made absolute. Throws input_error for a field that is unknown, missing or no
  /// value of its kind.
  Script(Json section, const std::string& file, const std::string& where,
         const std::filesystem::path& folder);

  std::string file;  ///< the script, as the names of `files`
  std::vector<std::string> arguments;
  std::string framework;  ///< "tf.keras 2.15.0"
  std::vector<ScriptFile> files;
  std::optional<ScriptFile> data, weights;
  std::vector<std::string> notes;  ///< what was frozen, assumed or left out
  std::vector<std::string> seeds;  ///< lines that set a seed: "train.py:4"
  std::vector<ScriptPlace> places;

  /// Where the value at a JSON pointer is written, in the order of the file. Of several entries of
  /// one value those that give it, else the call that leaves it to a default. Where the value has
  /// none, those of the nearest part around it; empty where that has none either.
  std::vector<const ScriptPlace*> at(std::string_view pointer) const;

  /// A file of the script's, by the name that it has here, as an absolute one.
  std::filesystem::path path_of(const std::string& name) const { return folder_ / name; }
  /// The folder that relative names of files begin in; absolute.
  const std::filesystem::path& folder() const { return folder_; }
  /// The section as it was read.
  const Json& section() const { return section_; }

 private:
  Json section_;
  std::filesystem::path folder_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> index_;
};

/// The section as a store holds it: as in the fault file, with `folder`.
Json stored_script(const Script& script);
/// The script in a store's header (search/store_reader.h); nullopt: the fault had none. Throws
/// input_error, with `file`, the store, where it isn't what stored_script() gives.
std::optional<Script> script_of_store(const Json& header, const std::string& file);

}  // namespace neutra::experiments
