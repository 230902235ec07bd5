#include "experiments/mutation_analysis/report.h"

#include <algorithm>
#include <string_view>

namespace neutra::experiments {
namespace {

/// Writes like to_text(), remembering places.
class Writer {
 public:
  explicit Writer(LocatedText& result) : result_(result) {}

  void write(const Json& value, const std::string& pointer, int depth) {
    TextSpan span;
    span.first_line = line_;
    span.first_column = column();
    if (value.is_object() && !value.empty()) {
      list(value, '{', '}', depth, [&](const auto& item) {
        put(Json(item.key()).dump() + ": ");
        write(item.value(), pointer + "/" + escaped(item.key()), depth + 1);
      });
    } else if (value.is_array() && !value.empty()) {
      std::size_t index = 0;
      list(value, '[', ']', depth, [&](const auto& item) {
        write(item.value(), pointer + "/" + std::to_string(index++), depth + 1);
      });
    } else {
      put(value.dump());
    }
    span.last_line = line_;
    span.last_column = column();
    result_.places[pointer] = span;
  }
  void put(std::string_view text) { result_.text += text; }
  void newline(int depth) {
    result_.text += '\n';
    ++line_;
    line_begin_ = result_.text.size();
    result_.text.append(static_cast<std::size_t>(depth) * 2, ' ');
  }

 private:
  /// Columns count code points.
  std::size_t column() const {
    const auto bytes = std::string_view(result_.text).substr(line_begin_);
    return 1 + static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), [](char c) {
             return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
           }));
  }
  template <typename F>
  void list(const Json& value, char open, char close, int depth, F item_text) {
    put(std::string(1, open));
    bool first = true;
    for (const auto& item : value.items()) {
      if (!first) put(",");
      first = false;
      newline(depth + 1);
      item_text(item);
    }
    newline(depth);
    put(std::string(1, close));
  }
  static std::string escaped(std::string key) {
    for (std::size_t i = 0; i < key.size(); ++i) {
      if (key[i] == '~') {
        key.replace(i++, 1, "~0");
      } else if (key[i] == '/') {
        key.replace(i++, 1, "~1");
      }
    }
    return key;
  }

  LocatedText& result_;
  std::size_t line_ = 1, line_begin_ = 0;
};

const char* word(MutantStatus status) {
  switch (status) {
    case MutantStatus::kKilled:
      return "Killed";
    case MutantStatus::kSurvived:
      return "Survived";
    case MutantStatus::kInvalid:
      return "CompileError";
    case MutantStatus::kError:
      return "RuntimeError";
    case MutantStatus::kTimeout:
      return "Timeout";
    case MutantStatus::kIgnored:
      return "Ignored";
  }
  return "";
}

/// The place where the mutant first differs: the value itself, or what it was added to.
TextSpan place_of(const LocatedText& text, const Json& original, const Json& mutant) {
  const Json changes = Json::diff(original, mutant);
  std::string pointer = changes.empty() ? "" : changes.front().at("path").get<std::string>();
  while (!text.places.contains(pointer)) pointer.resize(pointer.rfind('/'));
  return text.places.at(pointer);
}

Json position(std::size_t line, std::size_t column) { return {{"line", line}, {"column", column}}; }

}  // namespace

LocatedText located_text(const Json& document) {
  LocatedText result;
  Writer writer(result);
  writer.write(document, "", 0);
  result.text += '\n';
  return result;
}

Json mutation_report(const program::Program& original, const std::string& file,
                     const std::vector<ReportedMutant>& mutants,
                     const std::map<std::string, std::string>& tests) {
  const LocatedText text = located_text(original.document);
  Json list = Json::array();
  for (const ReportedMutant& mutant : mutants) {
    const TextSpan span = place_of(text, original.document, mutant.program->document);
    Json entry = {{"id", mutant.id},
                  {"mutatorName", mutant.op},
                  {"replacement", mutant.replacement},
                  {"location",
                   {{"start", position(span.first_line, span.first_column)},
                    {"end", position(span.last_line, span.last_column)}}},
                  {"status", word(mutant.status)},
                  {"statusReason", mutant.reason},
                  {"duration", mutant.seconds * 1000},
                  {"coveredBy", mutant.covered_by}};
    if (!mutant.killed_by.empty()) entry["killedBy"] = mutant.killed_by;
    list.push_back(std::move(entry));
  }
  Json test_list = Json::array();
  for (const auto& [id, name] : tests) test_list.push_back({{"id", id}, {"name", name}});
  return {{"schemaVersion", "2.0"},
          {"thresholds", {{"high", 80}, {"low", 60}}},
          {"framework", {{"name", "neutra"}}},
          {"files", {{file, {{"language", "json"}, {"source", text.text}, {"mutants", list}}}}},
          {"testFiles", {{"test sets", {{"tests", std::move(test_list)}}}}}};
}

}  // namespace neutra::experiments
