#include "base/file_kind.h"

#include <array>
#include <fstream>
#include <utility>

#include "base/checksum.h"

namespace neutra {
namespace {

constexpr std::size_t kLooked = 4096;

/// Formats of neutra that are no JSON files, as their first bytes name them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFormats{
    {{"neutra-store", "the store of a search"},
     {"neutra-benchmark", "a benchmark"},
     {"neutra-monitor", "monitored trainings"},
     {"neutra-mutant-runs", "the runs of neutra mutate --kill"},
     {"neutra-runs", "the runs of tools"}}};

std::string_view kind_of_format(std::string_view format, std::string_view otherwise) {
  for (const auto& [name, kind] : kFormats) {
    if (format == name) return kind;
  }
  return otherwise;
}

/// The format that the header of a journal names.
std::string_view format_of_journal(std::string_view start) {
  constexpr std::string_view kField = "\"format\":\"";
  const std::size_t at = start.find(kField);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = start.substr(at + kField.size());
  return rest.substr(0, rest.find('"'));
}

}  // namespace

std::string start_of_file(const std::filesystem::path& file, std::size_t bytes) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return "";
  std::string start(bytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  return start;
}

bool is_hdf5_file(const std::filesystem::path& file) {
  const std::string start = start_of_file(file, kSealBytes + kHdf5Start.size());
  return start.starts_with(kHdf5Start) ||
         (start.size() > kSealBytes &&
          start.compare(kSealBytes, std::string::npos, kHdf5Start) == 0);
}

std::optional<std::string> kind_of_binary(const std::filesystem::path& file) {
  const std::string start = start_of_file(file, kLooked);
  if (start.starts_with(kJournalBeginning)) {
    const std::string_view format = format_of_journal(start);
    if (format == "neutra-store") return "the journal of a search";
    return std::string(kind_of_format(format, "a journal of neutra"));
  }
  if (is_hdf5_file(file)) {
    return std::string(kind_of_format(start.substr(0, start.find(' ')), "an HDF5 file"));
  }
  if (start.starts_with(kZipStart)) return "a zip archive";
  if (start.starts_with('\x80')) return "a pickle, which is Python code";
  return std::nullopt;
}

std::string kind_of_file(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) return "a folder";
  if (!std::filesystem::is_regular_file(status)) return "something that is no file";
  if (start_of_file(file, 1).empty()) return "an empty file";
  return kind_of_binary(file).value_or("another kind of file");
}

}  // namespace neutra
