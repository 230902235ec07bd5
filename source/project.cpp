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
  return ending == ".py" || ending == ".pyw" || ending == ".ipynb";
}

bool is_passed_over(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with('.') || name == "__pycache__" || name == "node_modules" ||
         fs::exists(folder / "pyvenv.cfg");
}

RuleSet read_rules(const fs::path& file) {
  return parse_rules(read_json(file), file.string(), Vocabulary::standard());
}

}  // namespace

std::vector<fs::path> source_files(const fs::path& path) {
  if (path == "-") return {path};
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (auto entry = fs::recursive_directory_iterator(
           path, fs::directory_options::skip_permission_denied, error);
       entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (error) break;
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (is_passed_over(entry->path())) entry.disable_recursion_pending();
    } else if (is_source(entry->path())) {
      files.push_back(entry->path());
    }
  }
  if (files.empty())
    throw input_error(describe(path.string(), "", "a folder without files of Python",
                               "one with .py, .pyw or .ipynb files"));
  std::sort(files.begin(), files.end());
  return files;
}

CheckedFile check_file(const fs::path& file, const std::vector<const Rule*>& rules,
                       Variant variant) {
  CheckedFile result;
  result.name = file == "-" ? "<stdin>" : file.string();
  try {
    std::string bytes = read_file(file == "-" ? fs::path("/dev/stdin") : file, "a file of Python");
    if (file.extension() == ".ipynb") bytes = code_of_notebook(bytes, result.name);
    result.text = std::make_shared<const SourceText>(result.name, std::move(bytes));
    const Analysis analysis(*result.text);
    result.errors = analysis.tree().errors();
    result.findings = variant == Variant::kRepaired ? check(analysis, rules)
                                                    : check_as_published(analysis, rules);
  } catch (const Error& error) {
    result.text = nullptr;
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
