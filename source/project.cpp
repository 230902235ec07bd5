#include "source/project.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/words.h"
#include "source/as_published.h"
#include "source/notebook.h"

namespace neutra::source {
namespace fs = std::filesystem;
namespace {

bool is_source(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (file.filename().string().starts_with('.')) return false;
  return ending == ".py" || ending == ".pyw" || ending == ".ipynb";
}

bool is_passed_over(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with('.') || name == "__pycache__" || name == "node_modules" || [&] {
    std::error_code ignored;  // of a folder that can't be entered it is told later
    return fs::exists(folder / "pyvenv.cfg", ignored);
  }();
}

/// Adds the files of Python in a folder and below.
void add_folder(const fs::path& folder, std::vector<fs::path>& files,
                std::vector<std::string>& problems) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    if (fs::is_directory(entry->symlink_status(ignored))) {
      if (!is_passed_over(path)) add_folder(path, files, problems);
    } else if (is_source(path) && entry->is_regular_file(ignored)) {
      files.push_back(path);
    }
  }
  if (error)
    problems.push_back(
        describe(folder.string(), "", "a folder that can't be read (" + error.message() + ")", ""));
}

RuleSet read_rules(const fs::path& file) {
  return parse_rules(read_json(file), file.string(), Vocabulary::standard());
}

}  // namespace

std::vector<fs::path> source_files(const fs::path& path, std::vector<std::string>& problems) {
  if (path == "-") return {path};
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  const std::size_t before = problems.size();
  std::vector<fs::path> files;
  add_folder(path, files, problems);
  if (files.empty() && problems.size() == before)
    throw input_error(describe(path.string(), "", "a folder without files of Python",
                               "one with .py, .pyw or .ipynb files"));
  std::sort(files.begin(), files.end());
  return files;
}

int CheckedFile::cell(std::uint32_t line) const {
  const NotebookCell* cell = notebook ? notebook->cell_of(line) : nullptr;
  return cell == nullptr ? 0 : cell->number;
}

std::uint32_t CheckedFile::shown_line(std::uint32_t line) const {
  const NotebookCell* cell = notebook ? notebook->cell_of(line) : nullptr;
  return cell == nullptr ? line : line - cell->first + 1;
}

CheckedFile check_file(const fs::path& file, const std::vector<const Rule*>& rules,
                       Variant variant) {
  CheckedFile result;
  result.name = file == "-" ? "<stdin>" : file.string();
  try {
    std::string bytes = read_file(file == "-" ? fs::path("/dev/stdin") : file, "a file of Python");
    if (file.extension() == ".ipynb") {
      result.notebook = read_notebook(bytes, result.name);
      bytes = result.notebook->code;
    }
    result.text = std::make_shared<const SourceText>(result.name, std::move(bytes));
    result.lines = result.text->lines();
    const Analysis analysis(*result.text);
    result.errors = analysis.tree().errors();
    if (variant == Variant::kRepaired) {
      result.findings = check(analysis, rules);
    } else {
      result.findings = check_as_published(analysis, rules);
      leave_out_ignored(analysis, result.findings);
    }
    if (result.findings.empty()) result.text = nullptr;  // of many files too much to keep
  } catch (const Error& error) {
    result.text = nullptr;
    result.findings.clear();
    result.problem = error.what();
  }
  return result;
}

std::vector<CheckedFile> check_files(const std::vector<fs::path>& files,
                                     const std::vector<const Rule*>& rules, Variant variant,
                                     int workers, const std::atomic<bool>* stop) {
  std::vector<CheckedFile> results(files.size());
  run_all(files.size(), workers, stop,
          [&](std::size_t i) { results[i] = check_file(files[i], rules, variant); });
  return results;
}

std::vector<const Rule*> chosen_rules(const std::vector<std::string>& names,
                                      std::vector<std::unique_ptr<const RuleSet>>& read) {
  std::vector<const Rule*> rules;
  const auto add = [&rules](const RuleSet& set) {
    for (const Rule& rule : set.rules) rules.push_back(&rule);
  };
  std::vector<std::string> known;
  for (const RuleSet& set : bundled_rules()) {
    known.push_back(set.name);
    if (names.empty()) add(set);
  }
  for (const std::string& name : names) {
    const auto bundled = std::find(known.begin(), known.end(), name);
    if (bundled != known.end()) {
      add(bundled_rules()[static_cast<std::size_t>(bundled - known.begin())]);
      continue;
    }
    std::error_code error;
    std::vector<fs::path> files{name};
    if (fs::is_directory(name, error)) {
      files.clear();
      for (const auto& entry : fs::directory_iterator(name, error))
        if (entry.path().extension() == ".json") files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      if (files.empty())
        throw input_error(describe(name, "", "a folder without .json files", "files of rules"));
    } else if (!fs::exists(name, error)) {
      throw input_error("--rules: found '" + name + "'; allowed: a file or folder of rules, or " +
                        allowed_words(name, known));
    }
    for (const fs::path& file : files) {
      read.push_back(std::make_unique<const RuleSet>(read_rules(file)));
      add(*read.back());
    }
  }
  return rules;
}

}  // namespace neutra::source
