#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "source/checker.h"

namespace neutra::source {

/// The files of Python that a path leads to, sorted: itself, or those in a folder (.py, .pyw and
/// notebooks, .ipynb). What is hidden, and virtual environments, are left out. Throws input_error
/// where there is nothing.
std::vector<std::filesystem::path> source_files(const std::filesystem::path& path);

/// What was found in a file, or why it could not be read.
struct CheckedFile {
  std::string name;
  std::shared_ptr<const SourceText> text;  ///< nullptr: it could not be read
  std::string problem;
  std::vector<Finding> findings;
  std::size_t errors = 0;  ///< places that could not be read as Python
};

/// By which reading of the patterns a text is checked.
enum class Variant : std::uint8_t {
  kRepaired,    ///< the rules, over graphs
  kAsPublished  ///< the text matching of the published tool; set pysiassist only
};

/// Reads and checks a file; "-" is standard input. Of a notebook the cells of code, one after the
/// other: a finding's line is that of its cell, whose number is in the name of its file. Throws
/// nothing for what can't be read: it says so.
CheckedFile check_file(const std::filesystem::path& file, const std::vector<const Rule*>& rules,
                       Variant variant);

/// check_file() of each on `workers` threads, in the order of the files.
std::vector<CheckedFile> check_files(const std::vector<std::filesystem::path>& files,
                                     const std::vector<const Rule*>& rules, Variant variant,
                                     int workers, const std::atomic<bool>* stop);

/// The rules of these sets: names of bundled ones, files, folders of files. None named: all bundled
/// ones. The sets that it reads from files are kept in `read`. Throws input_error.
std::vector<const Rule*> chosen_rules(const std::vector<std::string>& names,
                                      std::vector<std::unique_ptr<const RuleSet>>& read);

}  // namespace neutra::source
