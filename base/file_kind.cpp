#include "base/file_kind.h"

#include <fstream>
#include <utility>

#include "base/checksum_header.h"
#include "base/error.h"
#include "base/files.h"

namespace neutra {
namespace {

constexpr std::size_t kLooked = 4096;

std::vector<FormatWords>& format_words() {
  static std::vector<FormatWords> words;
  return words;
}

/// nullptr: nobody has named it.
const FormatWords* words_of(std::string_view format) {
  for (const FormatWords& words : format_words()) {
    if (words.format == format) return &words;
  }
  return nullptr;
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

void set_format_words(std::vector<FormatWords> formats) { format_words() = std::move(formats); }

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
  const std::string start = start_of_file(file, kChecksumHeaderBytes + kHdf5Start.size());
  return start.starts_with(kHdf5Start) ||
         (start.size() > kChecksumHeaderBytes &&
          start.compare(kChecksumHeaderBytes, std::string::npos, kHdf5Start) == 0);
}

std::optional<std::string> kind_of_binary(const std::filesystem::path& file) {
  const std::string start = start_of_file(file, kLooked);
  if (start.starts_with(kJournalBeginning)) {
    const FormatWords* words = words_of(format_of_journal(start));
    return std::string(words != nullptr ? words->as_journal : "a journal of neutra");
  }
  if (is_hdf5_file(file)) {
    const FormatWords* words = words_of(start.substr(0, start.find(' ')));
    return std::string(words != nullptr ? words->file : "an HDF5 file");
  }
  if (start.starts_with(kZipStart)) return "a zip archive";
  if (start.starts_with('\x80')) return "a pickle, which is Python code";
  return std::nullopt;
}

std::string kind_of_file(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) return kind_of_no_file(file);
  if (!std::filesystem::is_regular_file(status)) return "something that is no file";
  if (start_of_file(file, 1).empty()) return "an empty file";
  return kind_of_binary(file).value_or("another kind of file");
}

std::string kind_of_no_file(const std::filesystem::path& path) {
  std::error_code ignored;
  switch (std::filesystem::status(path, ignored).type()) {
    case std::filesystem::file_type::directory:
      return "a folder";
    case std::filesystem::file_type::fifo:
      return "a pipe";
    case std::filesystem::file_type::socket:
      return "a socket";
    default:
      return "a device";
  }
}

void require_format(const std::filesystem::path& file, std::string_view format, int version) {
  require_no_pipe(file, "an HDF5 file");
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw input_error(file.string() + ": there is no such file");
  }
  const bool is_file = std::filesystem::is_regular_file(file, ignored);
  const std::optional<ChecksumHeader> header = is_file ? read_checksum_header(file) : std::nullopt;
  if (!header) {
    if (start_of_file(file, kHdf5Start.size()) == kHdf5Start) return warn_no_digest(file);
    const bool block = is_hdf5_file(file);
    throw input_error(
        describe(file.string(), "",
                 block ? "bytes at its start that are no checksum header" : kind_of_file(file),
                 "a whole file of " + std::string(format)));
  }
  if (header->format != format) {
    throw input_error(
        describe(file.string(), "", kind_of_file(file), "a file of " + std::string(format)));
  }
  if (header->version > version) {
    throw input_error(describe(file.string(), "", "version " + std::to_string(header->version),
                               "up to " + std::to_string(version) + ": a newer neutra made it"));
  }
  if (const std::string found = digest_behind_header(file); found != header->digest) {
    throw damaged_file(file, found, header->digest);
  }
}

}  // namespace neutra
