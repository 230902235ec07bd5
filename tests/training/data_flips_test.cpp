// Damaged data files: single flipped bits and cuts of a small file of each kind. They are read, or
// refused as bad input, soon and without taking memory that the file doesn't hold.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "base/zip_file.h"
#include "tests/source_file.h"
#include "training/data/data_header.h"
#include "training/data/dataset.h"
#include "training/data/npy.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;

/// Damages of each file; NEUTRA_TEST_FLIPS has more of them.
int flips() {
  const char* text = std::getenv("NEUTRA_TEST_FLIPS");
  return text != nullptr ? std::atoi(text) : 200;
}
constexpr long kMemory = 512 << 10;  ///< KiB that a damaged file may take

class Damage : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              (std::string("neutra_damage_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::trunc) << bytes;
  }
  static long peak() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  }

  /// Reads the section with a file that is damaged over and over; `share`: of the usual number.
  void damage(const std::string& name, const Json& data, double share = 1) const {
    ASSERT_NO_THROW(load_dataset(data, {folder_})) << data;
    const std::string good = read_file(folder_ / name, "data");
    ASSERT_FALSE(good.empty());
    const long before = peak();
    std::mt19937 draw(1);
    const int count = static_cast<int>(share * flips());
    const auto read = [&](const std::string& bytes, const std::string& what) {
      write(name, bytes);
      const auto start = std::chrono::steady_clock::now();
      for (const bool header : {true, false}) {
        try {
          if (header) {
            read_data_header(data, {folder_});
          } else {
            load_dataset(data, {folder_});
          }
        } catch (const Error& error) {
          EXPECT_EQ(error.exit(), Exit::kBadInput) << what << ": " << error.what();
        }
      }
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      EXPECT_LT(seconds.count(), 20) << what;
    };
    for (int i = 0; i < count; ++i) {
      const std::size_t bit = draw() % (8 * good.size());
      std::string bytes = good;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      read(bytes, name + ", bit " + std::to_string(bit));
    }
    for (int i = 0; i < count * 3 / 10; ++i) {
      const std::size_t length = draw() % good.size();
      read(good.substr(0, length), name + ", cut to " + std::to_string(length));
    }
    EXPECT_LT(peak() - before, kMemory) << name;
    write(name, good);
  }

  fs::path folder_;
};

Array numbers(std::vector<std::int64_t> extents) {
  Array array{std::move(extents), {}};
  array.values.resize(static_cast<std::size_t>(array.rows() * array.row_size()));
  std::iota(array.values.begin(), array.values.end(), 0.0F);
  return array;
}

const Json kSplit = {{"test_size", 2}, {"seed", 1}};

TEST_F(Damage, Csv) {
  write("a.csv", "a,b,\"c\"\n1,2.5,3\n-4,5e1,6\n7,8,9\n10,11,12\n");
  damage("a.csv", {{"source", "csv"}, {"arguments", {{"file", "a.csv"}}}, {"split", kSplit}});
}

TEST_F(Damage, NpyAndNpz) {
  write_npy(folder_ / "x.npy", numbers({6, 3}));
  write_npy(folder_ / "y.npy", numbers({6}));
  const Json npy = {
      {"source", "npy"}, {"arguments", {{"x", "x.npy"}, {"y", "y.npy"}}}, {"split", kSplit}};
  damage("x.npy", npy);
  damage("y.npy", npy);
  write("a.npz", zip_archive({{"x.npy", read_file(folder_ / "x.npy", "data")},
                              {"y.npy", read_file(folder_ / "y.npy", "data")}}));
  damage("a.npz", {{"source", "npz"}, {"arguments", {{"file", "a.npz"}}}, {"split", kSplit}});
}

TEST_F(Damage, Hdf5) {
  for (const bool chunked : {false, true}) {
    Hdf5File file = Hdf5File::create(folder_ / "a.h5");
    const std::int64_t rows = chunked ? 500 : 20;  // those over 1 KiB are packed
    std::vector<double> x(static_cast<std::size_t>(3 * rows), 1.5);
    std::vector<std::int64_t> y(static_cast<std::size_t>(rows), 2);
    file.write("/x", x, {static_cast<std::uint64_t>(rows), 3});
    file.write("/y", y);
    file.close();
    // HDF5 takes milliseconds for what takes others microseconds.
    damage("a.h5", {{"source", "hdf5"}, {"arguments", {{"file", "a.h5"}}}, {"split", kSplit}}, 0.2);
  }
}

TEST_F(Damage, Idx) {
  write("x", std::string("\0\0\x08\x03\0\0\0\3\0\0\0\2\0\0\0\2", 16) + "abcdefghijkl");
  write("y", std::string("\0\0\x08\x01\0\0\0\3\1\2\3", 11));
  const Json data = {{"source", "idx"},
                     {"arguments",
                      {{"train_images", "x"},
                       {"train_labels", "y"},
                       {"test_images", "x2"},
                       {"test_labels", "y2"}}}};
  write("x2", read_file(folder_ / "x", "data"));
  write("y2", read_file(folder_ / "y", "data"));
  damage("x", data);
  damage("y", data);
  const gzFile packed = gzopen((folder_ / "x").c_str(), "wb9");
  const std::string plain = read_file(folder_ / "x2", "data");
  gzwrite(packed, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose(packed);
  damage("x", data);
}

TEST_F(Damage, Cifar10) {
  write("a.bin", std::string(3 * 3073, '\1'));
  write("b.bin", std::string(3073, '\1'));
  damage("a.bin",
         {{"source", "cifar10"}, {"arguments", {{"train", {"a.bin"}}, {"test", {"b.bin"}}}}});
}

TEST_F(Damage, Reuters) {
  fs::copy_file(source_file("tests/training/data/reuters.npz"), folder_ / "reuters.npz");
  damage("reuters.npz",
         {{"source", "reuters"}, {"arguments", {{"file", "reuters.npz"}, {"num_words", 50}}}});
}

}  // namespace
}  // namespace neutra::training
