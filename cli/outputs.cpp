#include "cli/outputs.h"

#include <system_error>

#include "base/checksum_header.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "experiments/benchmark/store.h"
#include "experiments/scores/pictures.h"

namespace neutra::cli {

void require_text_output(const std::string& file, const std::string& option) {
  require_writable(file, option);
  require_outside_benchmarks(file, option);
  // A store must not be overwritten by its own export.
  if (is_hdf5_file(file) || start_of_file(file, kJournalBeginning.size()) == kJournalBeginning)
    throw usage_error(option + ": found " + file + ", " + kind_of_file(file) +
                      "; allowed: a new file or a text");
}

void require_outside_benchmarks(const std::string& path, const std::string& option) {
  if (const auto folder = experiments::benchmark_around(path))
    throw usage_error(option + ": found " + path + ", in the folder of the benchmark " +
                      folder->string() + "; allowed: a place outside of it");
}

void require_not_read(const std::string& output, const std::string& option,
                      const std::vector<std::filesystem::path>& read) {
  for (const std::filesystem::path& file : read) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, output, ignored))
      throw usage_error(option + ": found " + output + ", which is read; allowed: another file");
  }
}

void require_apart(const std::vector<std::pair<std::string, std::filesystem::path>>& files) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (std::filesystem::weakly_canonical(files[i].second) ==
          std::filesystem::weakly_canonical(files[j].second))
        throw usage_error(files[i].first + ": found " + files[i].second.string() + ", which is " +
                          files[j].first + ", too; allowed: a file of its own");
    }
  }
}

void require_model_output(const std::string& file, const std::string& option) {
  require_writable(file, option);
  require_outside_benchmarks(file, option);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return;
  const bool model = start_of_file(file, kZipStart.size()) == kZipStart ||
                     (is_hdf5_file(file) && !read_checksum_header(file));
  if (!model && std::filesystem::file_size(file, ignored) > 0)
    throw usage_error(option + ": found " + file +
                      ", which is no model; allowed: a new file or a model's");
}

void require_picture_file(const std::string& file, const std::string& option) {
  require_text_output(file, option);
  experiments::require_picture_form(experiments::picture_form(file, option));
}

void write_picture(const std::string& svg, const std::string& file) {
  write_file_atomically(file, experiments::picture(svg, experiments::picture_form(file, "")));
}

void require_output(const Arguments& arguments) {
  if (arguments.has("output")) require_text_output(arguments.text("output"), "--output");
}

std::filesystem::path link_target(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_symlink(file, ignored) ? std::filesystem::weakly_canonical(file)
                                                    : file;
}

}  // namespace neutra::cli
