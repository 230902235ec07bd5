#include <algorithm>
#include <cctype>

#include "base/numbers.h"
#include "base/words.h"
#include "program/formats/torch_program.h"

/// Calls as text, and the parts that they need: program/formats/torch_program.h.
namespace neutra::program {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Does the text mention the name as a word of its own? What belongs to an object or to LibTorch
/// has other owners.
bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + name.size();
    const std::string_view before = text.substr(0, at);
    const bool owned = before.ends_with('.') || before.ends_with("torch::");
    if (!owned && (at == 0 || !is_word(text[at - 1])) &&
        (end == text.size() || !is_word(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string TorchSyntax::text(const TorchArgument& argument, const TorchProgram& program) const {
  struct Visitor {
    const TorchSyntax& syntax;
    const TorchProgram& program;
    std::string operator()(std::monostate) const { return syntax.cpp ? "{}" : "None"; }
    std::string operator()(bool value) const {
      return syntax.cpp ? (value ? "true" : "false") : (value ? "True" : "False");
    }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return python_repr(value); }
    std::string operator()(const std::string& value) const { return '"' + value + '"'; }
    std::string operator()(const Shape& value) const {
      std::string text;
      for (const std::int64_t extent : value) {
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
      }
      return syntax.cpp ? "{" + text + "}" : "[" + text + "]";
    }
    std::string operator()(const TorchNumbers& values) const {
      std::string text;
      for (const double value : values) text += (text.empty() ? "" : ", ") + python_repr(value);
      return syntax.cpp ? "torch::tensor({" + text + "}, torch::kFloat)"
                        : "torch.tensor([" + text + "]).float()";
    }
    std::string operator()(TorchVariableRef variable) const {
      return syntax.variables + program.variables[variable.index].name;
    }
    std::string operator()(TorchTraining) const { return syntax.training; }
  };
  return std::visit(Visitor{*this, program}, argument);
}

std::string TorchSyntax::text(const TorchCall& call, const std::string& first,
                              const TorchProgram& program) const {
  std::string arguments = first;
  for (const TorchArgument& argument : call.arguments) {
    arguments += (arguments.empty() ? "" : ", ") + text(argument, program);
  }
  return functions + call.function + "(" + arguments + ")";
}

std::string TorchSyntax::text(const TorchStep& step, const TorchProgram& program) const {
  std::string from = join(step.from);
  if (step.from.size() > 1) from = cpp ? "{" + from + "}" : "[" + from + "]";
  const bool made = cpp && step.to != "x";
  return (made ? "const Tensor " : "") + step.to + " = " +
         (step.call.function.empty() ? from : text(step.call, from, program));
}

std::string parts_for(std::string_view parts, const std::string& needs) {
  struct Part {
    std::string_view name, text;
    bool wanted = false;
  };
  std::vector<Part> all;
  constexpr std::string_view kMark = "part: ";
  for (std::size_t begin = 0; begin < parts.size();) {
    const std::size_t end = std::min(parts.find('\n', begin), parts.size());
    const std::string_view line = parts.substr(begin, end - begin);
    const std::size_t mark = line.find(kMark);
    const bool head = mark != std::string_view::npos && mark <= 3;
    if (head) {
      all.push_back(
          {line.substr(mark + kMark.size()), parts.substr(std::min(end + 1, parts.size()), 0)});
    } else if (!all.empty()) {
      Part& part = all.back();
      part.text = {part.text.data(),
                   static_cast<std::size_t>(parts.data() + std::min(end + 1, parts.size()) -
                                            part.text.data())};
    }
    begin = end + 1;
  }
  std::vector<std::string_view> open{needs};
  while (!open.empty()) {
    const std::string_view text = open.back();
    open.pop_back();
    for (Part& part : all) {
      if (part.wanted || !mentions(text, part.name)) continue;
      part.wanted = true;
      open.push_back(part.text);
    }
  }
  std::string text;
  for (const Part& part : all) {
    if (part.wanted) text += part.text;
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace neutra::program
