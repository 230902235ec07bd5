#include "cli/manual.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/words.h"
#include "cli/build_info.h"

namespace neutra::cli {
namespace {

/// Text that roff takes literally; a "-" can be copied.
std::string literal(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '~')
      result += "\\(ti";
    else if (c == '^')
      result += "\\(ha";
    else if (c == '`')
      result += "\\(ga";
    else if (c == '\'')
      result += "\\(aq";
    else
      result += c;
  }
  return result;
}

/// Text in lines of a length that the checkers like; none begins a request. `joint`: put behind a
/// line that goes on, where line ends count.
std::string line(const std::string& text, const std::string& joint = "") {
  constexpr std::size_t kLongest = 78;
  std::string rest = literal(text), result;
  for (;;) {
    if (rest.starts_with('.')) rest.insert(0, "\\&");
    std::size_t end = rest.size();
    if (end > kLongest) {
      end = rest.rfind(' ', kLongest - joint.size() - 1);
      // A line that counts is broken behind its space, another one in its place.
      if (end == 0 || end == std::string::npos) end = rest.find(' ', 1);
    }
    if (end >= rest.size()) return result + rest + "\n";
    result += rest.substr(0, end + !joint.empty()) + joint + "\n";
    rest.erase(0, end + 1);
  }
}

/// Paragraphs; lines that begin with spaces stay lines.
std::string paragraphs(const std::string& text) {
  std::istringstream stream(text);
  std::string result;
  bool table = false, begun = false;
  for (std::string next; std::getline(stream, next);) {
    if (next.empty()) {
      if (table) result += ".fi\n";
      table = false;
      if (begun) result += ".PP\n";
      begun = false;
      continue;
    }
    if (next.starts_with(' ') != table) {
      table = !table;
      result += table ? ".nf\n" : ".fi\n";
    }
    begun = true;
    result += line(next, table ? "\\" : "");
  }
  return result + (table ? ".fi\n" : "");
}

std::string example(const std::string& text) {
  std::istringstream stream(text);
  std::string result = ".nf\n";
  for (std::string next; std::getline(stream, next);) {
    const auto start = next.find_first_not_of(' ');
    result += line(start == std::string::npos ? "" : next.substr(start), "\\");
  }
  return result + ".fi\n";
}

std::string header(const std::string& name, const std::string& summary, const std::string& date) {
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return ".\\\" Written by `neutra man`.\n.TH " + literal(title) + " 1 " + date + " \"neutra " +
         version() + "\" \"neutra\"\n.SH NAME\n" + line(name + " - " + summary);
}

std::string option_text(const Option& option) {
  std::string text = ".TP\n";
  if (option.letter) text += "\\fB\\-" + std::string(1, option.letter) + "\\fR, ";
  text += "\\fB\\-\\-" + literal(option.name) + "\\fR";
  if (!option.argument.empty()) text += " \\fI" + literal(option.argument) + "\\fR";
  text += "\n" + line(option.help);
  std::string more;
  if (!option.choices.empty()) more = "One of: " + join(option.choices) + ".";
  if (!option.fallback.empty()) more += (more.empty() ? "" : " ") + ("Default: " + option.fallback);
  if (!more.empty()) text += ".br\n" + line(more + (more.ends_with('.') ? "" : "."));
  return text;
}

/// Lines of "usage:", one each.
std::string synopsis(const std::string& text) {
  std::istringstream stream(text);
  std::string result;
  for (std::string next; std::getline(stream, next);) {
    const auto start = next.find_first_not_of(' ');
    next = next.substr(start == std::string::npos ? 0 : start);
    if (next.starts_with("neutra ")) next = next.substr(7);
    const auto space = next.find(' ');
    result += (result.empty() ? "" : ".br\n") + (".B neutra " + literal(next.substr(0, space))) +
              "\n" + (space == std::string::npos ? "" : line(next.substr(space + 1)));
  }
  return result;
}

std::string exit_status() {
  const std::vector<std::pair<const char*, const char*>> codes = {
      {"0", "done"},
      {"1", "failed, or a threshold was not met"},
      {"2", "the command line is wrong"},
      {"3", "a file or a value is wrong or missing"},
      {"75", "interrupted; where something is kept, the same command goes on"}};
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : codes)
    text += ".TP\n.B " + std::string(code) + "\n" + meaning + "\n";
  return text;
}

}  // namespace

std::string manual_page(const Verb& verb, const std::string& date) {
  std::string text = header("neutra-" + verb.name, verb.summary, date);
  text += ".SH SYNOPSIS\n" + synopsis(verb.synopsis);
  text += ".SH DESCRIPTION\n" + paragraphs(verb.description);
  text += ".SH OPTIONS\n";
  for (const Option& option : options_of(verb.options)) text += option_text(option);
  text += exit_status();
  text += ".SH EXAMPLES\n" + example(verb.example);
  return text + ".SH SEE ALSO\n.BR neutra (1)\n";
}

std::string manual_page(const std::string& date) {
  std::string text = header(
      "neutra", "faulty deep-learning programs and all the small patches that repair them", date);
  text += ".SH SYNOPSIS\n.B neutra\n.I VERB\n" + line("[arguments]") +
          ".br\n.B neutra \\-\\-version\n" + line("[--json]") +
          ".br\n.B neutra\n.I VERB\n.B \\-\\-help\n";
  text += ".SH DESCRIPTION\n";
  text += line(
      "neutra takes a faulty deep-learning program, searches in parallel for every small "
      "patch that repairs it (the neutrality network), and tells which repairs are as good "
      "as the known fix and which are significantly better.");
  text += line(
      "It makes faulty programs with mutation operators, asks fault-localisation tools "
      "what is wrong with them, and scores their answers against all repairs.");
  text += line("Results go to standard output, everything else to standard error.");
  text += ".SH VERBS\n";
  for (const Verb& verb : verbs())
    if (!verb.hidden)
      text += ".TP\n.BR neutra\\-" + literal(verb.name) + " (1)\n" + line(verb.summary);
  text += ".SH CONFIGURATION\n";
  text += line(
      "Every option may also come from a configuration file (--config FILE, or the file "
      "that NEUTRA_CONFIG names): a line 'name = value' for each, or a JSON object.");
  text +=
      line("The environment (NEUTRA_NAME) comes before the file, the command line before both.");
  text += line("neutra config show tells what holds and where it comes from.");
  text += ".SH ENVIRONMENT\n";
  const std::vector<std::pair<const char*, const char*>> variables = {
      {"NEUTRA_CONFIG", "the configuration file"},
      {"NEUTRA_NAME", "the option --name, for every option: NEUTRA_DATA_DIR, NEUTRA_WORKERS, ..."},
      {"NEUTRA_RESOURCES", "folder of the bundled subjects, faults and data"},
      {"NEUTRA_SHARED", "data sets are in its folder data"},
      {"NEUTRA_TORCH", "folder of another LibTorch (torch/lib of an installed torch), or none"},
      {"NO_COLOR", "not empty: no colours on terminals"}};
  for (const auto& [name, meaning] : variables)
    text += ".TP\n.B " + std::string(name) + "\n" + line(meaning);
  text += exit_status();
  text += ".SH EXAMPLES\n" + example(
                                 "neutra search D7 --store D7.h5 --budget-evaluations 150\n"
                                 "neutra network D7.h5 --format text");
  text += ".SH SEE ALSO\n";
  std::string separator;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    text += separator + ".BR neutra\\-" + literal(verb.name) + " (1)";
    separator = ",\n";
  }
  return text + "\n";
}

}  // namespace neutra::cli
