#include "program/program.h"

#include "base/error.h"

namespace neutra::program {

std::string_view to_string(Goal goal) { return goal == Goal::kMaximize ? "maximize" : "minimize"; }
std::optional<Goal> parse_goal(std::string_view word) {
  for (const Goal goal : {Goal::kMaximize, Goal::kMinimize}) {
    if (to_string(goal) == word) return goal;
  }
  return std::nullopt;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + ")";
}

std::string to_string(const Problem& problem) {
  return describe("", problem.path.empty() ? "/" : problem.path, problem.found, problem.allowed);
}

}  // namespace neutra::program
