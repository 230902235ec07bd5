#include "fl_adapters/tool_description.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/files.h"
#include "base/json_section.h"
#include "base/words.h"
#include "fl_adapters/parsers/parser.h"

namespace neutra::fl_adapters {
namespace {

constexpr double kLongestTime = 1e7;  ///< seconds: 16 weeks
constexpr std::int64_t kMostMemory = std::int64_t{1} << 50;
constexpr std::int64_t kMostOutput = std::int64_t{1} << 30;  ///< held in memory

std::string name_of(const JsonSection& root) {
  const std::string name = root.text("name");
  const bool fits = name.front() != '.' && name.front() != '-' && name.size() <= 100 &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                    });
  if (!fits) {
    root.fail("name", name,
              "letters, digits, '_', '-', '.'; at most 100, the first neither '-' nor '.'");
  }
  return name;
}

std::vector<std::string> command_of(const JsonSection& root, const std::string& here) {
  std::vector<std::string> command = root.texts("command");
  if (command.empty() || command.front().empty()) {
    root.fail("command", root.at("command"), "a program and its arguments: [\"python3\", ...]");
  }
  for (std::string& word : command) {
    if (word.find('\0') != std::string::npos) {
      root.fail("command", root.at("command"), "texts without NUL");
    }
    word = filled_in(std::move(word), "{here}", here);
  }
  return command;
}

std::set<ToolInput> inputs_of(const JsonSection& root) {
  if (!root.has("needs")) return {ToolInput::kScript, ToolInput::kData};
  std::set<ToolInput> inputs;
  for (const std::string& word : root.texts("needs")) {
    if (word == "script") {
      inputs.insert(ToolInput::kScript);
    } else if (word == "data") {
      inputs.insert(ToolInput::kData);
    } else if (word != "program") {
      root.fail("needs", word, "program, script, data");
    }
  }
  return inputs;
}

/// A tool that changes without another version shall still be asked again.
std::string digest_of(const Json& description, const std::vector<std::string>& command) {
  std::string text = description.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (const std::string& word : command) {
    const std::filesystem::path file = word;
    std::error_code ignored;
    const bool is_own = file.is_absolute() && std::filesystem::is_regular_file(file, ignored) &&
                        ::access(word.c_str(), R_OK) == 0;
    if (is_own) text += " " + file_digest(file);
  }
  return digest(text);
}

}  // namespace

std::string filled_in(std::string text, std::string_view placeholder, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos;
       at += value.size()) {
    text.replace(at, placeholder.size(), value);
  }
  return text;
}

ToolDescription read_tool_description(const std::filesystem::path& file) {
  const Json json = read_json(file);
  const JsonSection root(
      json, file.string(), "",
      {"format", "version", "name", "tool_version", "description", "source", "command", "needs",
       "script", "time_limit", "memory_limit", "output_limit", "answer"});
  root.require_format("neutra-tool", 1);
  ToolDescription tool;
  tool.name = name_of(root);
  tool.version = root.text("tool_version");
  tool.description = root.text("description");
  tool.source = root.text("source");
  tool.command = command_of(root, std::filesystem::absolute(file).parent_path().string());
  tool.inputs = inputs_of(root);
  if (root.has("script")) {
    const std::string script = root.text("script");
    tool.script = program::find_tool_script(script);
    if (tool.script == nullptr) {
      std::vector<std::string> allowed;
      for (const program::ToolScript& known : program::tool_scripts()) {
        allowed.push_back(known.name);
      }
      root.fail("script", script, allowed_words(script, allowed));
    }
  }
  if (root.has("time_limit")) tool.time_limit = root.number("time_limit", 0.001, kLongestTime);
  if (root.has("memory_limit")) {
    tool.memory_limit = static_cast<std::uint64_t>(root.whole("memory_limit", 1, kMostMemory));
  }
  if (root.has("output_limit")) {
    tool.output_limit = static_cast<std::uint64_t>(root.whole("output_limit", 1, kMostOutput));
  }
  tool.digest = digest_of(json, tool.command);
  if (const std::string answer = root.text("answer", "json"); answer != "json") {
    const parsers::LogParser* parser = parsers::find_log_parser(answer);
    if (parser == nullptr) {
      std::vector<std::string> allowed{"json"};
      for (const parsers::LogParser* known : parsers::log_parsers()) allowed.push_back(known->name);
      root.fail("answer", answer, allowed_words(answer, allowed));
    }
    tool.parser = [parser](std::string_view text, const FaultyProgram& faulty) {
      Localisation answer = parsers::read_output(*parser, text, faulty);
      // Lines of the script that it was given, which is not the user's.
      for (ToolMessage& message : answer.messages) message.lines.clear();
      return answer;
    };
  }
  return tool;
}

}  // namespace neutra::fl_adapters
