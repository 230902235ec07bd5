#include "experiments/benchmark/store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/experiments/benchmark/sample.h"

namespace neutra::experiments::tests {
namespace {

namespace fs = std::filesystem;

// --- the store ---

TEST(BenchmarkStore, FolderAndFileHoldTheSame) {
  const TemporaryFolder folder("neutra-test");
  const BenchmarkFiles files = to_files(sample());
  for (const char* name : {"sample.h5", "sample"}) {
    const fs::path path = folder.path() / name;
    EXPECT_FALSE(is_benchmark(path));
    write_benchmark_files(files, path);
    EXPECT_TRUE(is_benchmark(path));
    EXPECT_EQ(read_benchmark_files(path), files) << name;
    BenchmarkFiles fewer = files;
    write_benchmark_files(fewer, path);  // over itself
    EXPECT_EQ(read_benchmark_files(path), files) << name;
  }
  // Nothing else is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
}

TEST(BenchmarkStore, ASeparatorAtTheEndIsNoName) {
  const TemporaryFolder folder("neutra-test");
  const BenchmarkFiles files = to_files(sample());
  write_benchmark_files(files, folder.path() / "sample/");
  EXPECT_EQ(read_benchmark_files(folder.path() / "sample"), files);
  EXPECT_EQ(read_benchmark_files(folder.path() / "sample/"), files);
  write_benchmark_files(files, folder.path() / "sample/");
  write_benchmark_files(files, folder.path() / "sample.h5/");
  EXPECT_TRUE(fs::is_regular_file(folder.path() / "sample.h5"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
  for (const auto& [given, path] : {std::pair{"a/", "a"}, {"a//", "a"}, {"a", "a"}, {"/", "/"}}) {
    EXPECT_EQ(benchmark_path(given), path);
  }
}

TEST(BenchmarkStore, AFolderThatCannotBeReplacedStays) {
  const TemporaryFolder folder("neutra-test");
  const fs::path path = folder.path() / "sample";
  write_benchmark_files(to_files(sample()), path);
  TemporaryFolder fresh(folder.path(), "fresh");
  fs::remove_all(fresh.path());
  EXPECT_THROW(fresh.become(path, [] {}), Error);
  EXPECT_EQ(read_benchmark_files(path), to_files(sample()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(BenchmarkStore, EqualContentsGiveEqualBytes) {
  const TemporaryFolder folder("neutra-test");
  std::string bytes[2];
  for (int i = 0; i < 2; ++i) {
    const fs::path path = folder.path() / (std::to_string(i) + ".h5");
    write_benchmark_files(to_files(sample()), path);
    bytes[i] = read_regular_file(path, "");
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(BenchmarkStore, AnyChangedByteOfTheFileIsFound) {
  Benchmark benchmark = sample();
  benchmark.entries.resize(1);
  benchmark.entries[0].support = 1;
  const TemporaryFolder folder("neutra-test");
  const fs::path path = folder.path() / "a.h5";
  write_benchmark_files(to_files(benchmark), path);
  const std::string bytes = read_regular_file(path, "");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t at, char byte) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    file.flush();
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    put(i, static_cast<char>(bytes[i] ^ (i % 2 == 0 ? 0x01 : 0x20)));
    ASSERT_FALSE(error_of([&] { load_benchmark(path); }).empty()) << "byte " << i;
    put(i, bytes[i]);
  }
  file.close();
  EXPECT_NO_THROW(load_benchmark(path));
  for (std::size_t length = 0; length < bytes.size(); length += 101) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, length);
    ASSERT_FALSE(error_of([&] { load_benchmark(path); }).empty()) << length << " bytes";
  }
}

TEST(BenchmarkStore, AnyChangedByteOfTheFolderIsFound) {
  Benchmark benchmark = sample();
  benchmark.entries.resize(1);
  benchmark.entries[0].support = 1;
  const TemporaryFolder folder("neutra-test");
  const fs::path path = folder.path() / "a";
  write_benchmark_files(to_files(benchmark), path);
  std::size_t files = 0;
  for (const auto& item : fs::recursive_directory_iterator(path)) {
    if (!item.is_regular_file()) continue;
    ++files;
    const std::string bytes = read_regular_file(item.path(), "");
    std::fstream file(item.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const char byte : {static_cast<char>(bytes[i] ^ (i % 2 == 0 ? 0x01 : 0x20)), bytes[i]}) {
        file.seekp(static_cast<std::streamoff>(i));
        file.put(byte);
        file.flush();
        const bool damaged = byte != bytes[i];
        ASSERT_EQ(!error_of([&] { load_benchmark(path); }).empty(), damaged)
            << item.path() << ", byte " << i;
      }
    }
  }
  EXPECT_EQ(files, 1u + 1 + 2 + 1 + 2);  // index, its digest, subjects, entry, data
  std::ofstream(path / "stray.json") << "{}";
  EXPECT_NE(error_of([&] { load_benchmark(path); }).find("stray.json"), std::string::npos);
  fs::remove(path / "stray.json");
  fs::remove(path / "subjects/wine.json");
  EXPECT_NE(error_of([&] { load_benchmark(path); }).find("subjects/wine.json"), std::string::npos);
}

TEST(BenchmarkStore, NeverOverwritesAnythingElse) {
  const TemporaryFolder folder("neutra-test");
  const BenchmarkFiles files = to_files(sample());
  std::ofstream(folder.path() / "text.h5") << "mine";
  fs::create_directories(folder.path() / "mine");
  std::ofstream(folder.path() / "mine" / "text") << "mine";
  for (const char* name : {"text.h5", "mine"}) {
    EXPECT_NE(
        error_of([&] { write_benchmark_files(files, folder.path() / name); }).find("no benchmark"),
        std::string::npos);
  }
  EXPECT_EQ(read_regular_file(folder.path() / "text.h5", ""), "mine");
  EXPECT_TRUE(fs::exists(folder.path() / "mine" / "text"));
  fs::create_directories(folder.path() / "empty");
  write_benchmark_files(files, folder.path() / "empty");
  EXPECT_TRUE(is_benchmark(folder.path() / "empty"));
}

// --- validation ---

}  // namespace
}  // namespace neutra::experiments::tests
