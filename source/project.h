#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "source/checker.h"
#include "source/notebook.h"

namespace neutra::source {

/// The files of Python that a path leads to, sorted: itself, or those in a folder (.py, .pyw and
/// notebooks, .ipynb). What is hidden, virtual environments and what is no regular file (pipes,
/// links to nothing) are left out; links to folders are not followed. Folders in it that can't be
/// read are told in `problems`. Throws input_error where there is nothing.
std::vector<std::filesystem::path> source_files(const std::filesystem::path& path,
                                                std::vector<std::string>& problems);

/// What was found in a file, or why it could not be read.
struct CheckedFile {
  std::string name;
  std::shared_ptr<const SourceText> text;  ///< of files with findings, else nullptr
  std::optional<Notebook> notebook;        ///< of notebooks: what `text` is made of
  std::size_t lines = 0;
  std::string problem;  ///< why it could not be read; "": it was
  std::vector<Finding> findings;
  std::size_t errors = 0;  ///< places that could not be read as Python

  /// The cell of a notebook that a line of `text` is in, else 0.
  int cell(std::uint32_t line) const;
  /// A line of `text` as people count: of a notebook in its cell.
  std::uint32_t shown_line(std::uint32_t line) const;
};

/// By which reading of the patterns a text is checked.
enum class Variant : std::uint8_t {
  kRepaired,    ///< the rules, over graphs
  kAsPublished  ///< the text matching of the published tool; set pysiassist only
};

/// Reads and checks a file; "-" is standard input. Of a notebook the cells of code, one after the
/// other. Comments switch rules off in both variants. Throws nothing for what can't be read: it
/// says so.
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
