#include "experiments/benchmark/store.h"

#include "base/checksum_header.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "base/temporary_folder.h"
#include "experiments/benchmark/documents.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr std::string_view kFormat = "neutra-benchmark";
constexpr std::string_view kDigestFile = "benchmark.json.xxh128";
constexpr std::string_view kAnother = "another copy of it: this one was changed or damaged";

bool is_hdf5_name(const fs::path& path) {
  return path.extension() == ".h5" || path.extension() == ".hdf5";
}

/// What the digest file of a folder holds; xxh128sum -c reads it.
std::string digest_text(const std::string& index) {
  return digest(index) + "  " + std::string(kBenchmarkIndex) + "\n";
}

BenchmarkFiles read_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(folder / kBenchmarkIndex, error)) {
    throw input_error(
        describe(folder.string(), "", "no " + std::string(kBenchmarkIndex), "a benchmark"));
  }
  BenchmarkFiles files;
  std::string stated;
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    if (item.is_directory() && !item.is_symlink()) continue;
    const std::string name = item.path().lexically_relative(folder).generic_string();
    if (!item.is_regular_file() || !is_file_name(name)) {
      throw input_error(describe(folder.string(), "", name, "the files of a benchmark alone"));
    }
    std::string bytes = read_file(item.path(), "a file of a benchmark");
    (name == kDigestFile ? stated : files[name]) = std::move(bytes);
  }
  const std::string& index = files[std::string(kBenchmarkIndex)];
  if (stated != digest_text(index)) {
    throw input_error(describe(
        (folder / kBenchmarkIndex).string(), "",
        "digest " + digest(index) + ", which is not what " + std::string(kDigestFile) + " says",
        std::string(kAnother)));
  }
  return files;
}

void write_folder(const BenchmarkFiles& files, const fs::path& folder) {
  TemporaryFolder fresh(folder.has_parent_path() ? folder.parent_path() : ".", ".benchmark");
  fresh.become(folder, [&] {
    for (const auto& [name, bytes] : files) {
      const fs::path file = fresh.path() / name;
      fs::create_directories(file.parent_path());
      write_file_atomically(file, bytes);
    }
    write_file_atomically(fresh.path() / kDigestFile,
                          digest_text(files.at(std::string(kBenchmarkIndex))));
  });
}

void write_hdf5(const BenchmarkFiles& files, const fs::path& path) {
  // HDF5 crashes when it closes a file on a full disk: it never sees one.
  Hdf5File file = Hdf5File::create_in_memory(path, kChecksumHeaderBytes);
  std::vector<std::string> names, texts;
  for (const auto& [name, bytes] : files) {
    if (name == kBenchmarkIndex) continue;
    const bool data = name.starts_with("data/");
    names.push_back(name);
    texts.push_back(data ? "" : bytes);
    if (data) file.write_bytes("/" + name, bytes);
  }
  // By itself: it is much longer than the others, which are compressed as texts of one length.
  file.write("/" + std::string(kBenchmarkIndex), {files.at(std::string(kBenchmarkIndex))});
  file.write_attribute("/", "format", std::string(kFormat));
  file.write_attribute("/", "version", std::int64_t{kVersion});
  file.write("/names", names);
  file.write("/texts", texts);
  std::string bytes = file.image();
  file.close();
  put_checksum_header(bytes, kFormat, kVersion);
  write_file_atomically(path, bytes);
}

BenchmarkFiles read_hdf5(const fs::path& path) {
  const std::optional<ChecksumHeader> stated = read_checksum_header(path);
  if (!stated || stated->format != kFormat) {
    const bool store = stated && stated->format == "neutra-store";
    if (store || !is_hdf5_file(path)) {
      throw input_error(describe(path.string(), "", kind_of_file(path), "a benchmark"));
    }
    throw input_error(describe(path.string(), "", "bytes at its start that are no benchmark's",
                               "a benchmark, or " + std::string(kAnother)));
  }
  if (stated->version > kVersion) {
    throw input_error(describe(path.string(), "", "version " + std::to_string(stated->version),
                               "up to " + std::to_string(kVersion) + ": a newer neutra made it"));
  }
  if (const std::string found = digest_behind_header(path); found != stated->digest) {
    throw input_error(describe(path.string(), "", "digest " + found,
                               stated->digest + "; take " + std::string(kAnother)));
  }
  const Hdf5File file = Hdf5File::open(path);
  const std::vector<std::string> names = file.read_strings("/names", 1 << 20),
                                 texts = file.read_strings("/texts", 1 << 20);
  if (names.size() != texts.size()) {
    throw input_error(describe(path.string(), "/texts", std::to_string(texts.size()) + " texts",
                               std::to_string(names.size()) + ", one for each name"));
  }
  const std::vector<std::string> index = file.read_strings("/" + std::string(kBenchmarkIndex), 1);
  if (index.size() != 1) {
    throw input_error(
        describe(path.string(), "/" + std::string(kBenchmarkIndex), "no text", "one"));
  }
  BenchmarkFiles files{{std::string(kBenchmarkIndex), index.front()}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (!is_file_name(name)) {
      throw input_error(describe(path.string(), "/names", name, "the relative name of a file"));
    }
    files[name] = name.starts_with("data/") ? file.read_bytes("/" + name, kLargestFile) : texts[i];
  }
  return files;
}

}  // namespace

fs::path benchmark_path(const fs::path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

bool has_benchmark_name(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return fs::exists(path / kBenchmarkIndex, error) || fs::exists(path / kDigestFile, error);
  }
  return fs::is_regular_file(path, error) && is_hdf5_name(path);
}

std::optional<fs::path> benchmark_around(const fs::path& path) {
  std::error_code error;
  for (fs::path folder = fs::weakly_canonical(path, error); folder != folder.parent_path();
       folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / kBenchmarkIndex, error) &&
        fs::is_regular_file(folder / kDigestFile, error)) {
      return folder;
    }
  }
  return std::nullopt;
}

bool is_benchmark(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return false;
  if (fs::is_directory(status)) {
    if (fs::is_empty(path, error)) return false;
    if (fs::is_regular_file(path / kBenchmarkIndex, error)) return true;
  } else if (fs::is_regular_file(status)) {
    const std::optional<ChecksumHeader> found = read_checksum_header(path);
    if (found && found->format == kFormat) return true;
  }
  throw input_error(describe(path.string(), "", "something that is no benchmark",
                             "a benchmark, or a name that is still free"));
}

BenchmarkFiles read_benchmark_files(const fs::path& path) {
  require_no_pipe(path, "a benchmark");
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::is_directory(status)) return read_folder(path);
  if (!fs::is_regular_file(status)) {
    throw input_error(
        describe(path.string(), "", "no such file", "a benchmark: an HDF5 file or a folder"));
  }
  return read_hdf5(path);
}

void write_benchmark_files(const BenchmarkFiles& files, const fs::path& given) {
  const fs::path path = benchmark_path(given);
  is_benchmark(path);  // never over something else
  std::error_code error;
  if (is_hdf5_name(path)) {
    if (fs::is_directory(path, error)) {
      throw input_error(describe(path.string(), "", "a folder", "a file, as its name says"));
    }
    write_hdf5(files, path);
  } else {
    if (fs::is_regular_file(path, error)) {
      throw input_error(
          describe(path.string(), "", "a file", "a folder, or a name that ends in .h5"));
    }
    write_folder(files, path);
  }
}

Benchmark load_benchmark(const fs::path& path) {
  return benchmark_from_files(read_benchmark_files(path), path.string());
}

}  // namespace neutra::experiments
