#include "base/hdf5_file.h"
#include "base/json.h"

#include <hdf5.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <optional>
#include <thread>

#include "base/descriptor.h"
#include "base/error.h"
#include "tests/error_of.h"
#include "tests/shared_data.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

using tests::error_of;
using tests::TestFolder;

TEST(Hdf5File, ReadsBackWhatItWrote) {
  const TestFolder folder;
  const auto path = folder / "a.h5";
  std::vector<double> doubles(5000);
  for (std::size_t i = 0; i < doubles.size(); ++i) doubles[i] = 0.1 * static_cast<double>(i);
  const std::vector<std::string> similar(500, "act1=relu,batch_size=32");
  const std::vector<std::string> uneven = {"", std::string(100000, 'x'), "ä"};
  {
    auto file = Hdf5File::create(path, 1024);
    file.write("/z/floats", std::vector<float>{1.5F, -2, 3, 4, 5, 6}, {2, 3});
    file.write("/z/a/doubles", doubles, {50, 100});
    file.write("/integers", std::vector<std::int64_t>{-1, 9007199254740993});
    file.write("/similar", similar);
    file.write("/uneven", uneven);
    file.write("/empty", std::vector<double>{});
    file.write("/none", std::vector<std::string>{});
    file.write_attribute("/", "config", std::string(200000, 'c'));
    file.write_attribute("/z", "count", 3);
    file.write_attribute("/z", "count", 4);
    file.close();
  }
  const auto file = Hdf5File::open(path);
  EXPECT_EQ(file.read_floats("/z/floats"), (std::vector<float>{1.5F, -2, 3, 4, 5, 6}));
  EXPECT_EQ(file.extents("/z/floats"), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(file.read_doubles("/z/a/doubles"), doubles);
  EXPECT_EQ(file.read_integers("/integers"), (std::vector<std::int64_t>{-1, 9007199254740993}));
  EXPECT_EQ(file.read_doubles("/integers").front(), -1);
  EXPECT_EQ(file.read_strings("/similar"), similar);
  EXPECT_EQ(file.read_strings("/uneven"), uneven);
  EXPECT_TRUE(file.read_doubles("/empty").empty());
  EXPECT_TRUE(file.read_strings("/none").empty());
  EXPECT_EQ(file.read_string_attribute("/", "config").size(), 200000U);
  EXPECT_EQ(file.read_integer_attribute("/z", "count"), 4);
  EXPECT_EQ(file.list("/"),
            (std::vector<std::string>{"z", "integers", "similar", "uneven", "empty", "none"}));
  EXPECT_TRUE(file.has("/z/a/doubles"));
  EXPECT_TRUE(file.has("/"));
  EXPECT_FALSE(file.has("/z/b/doubles"));
  EXPECT_FALSE(file.has("/integers/deeper"));
  EXPECT_TRUE(file.has_attribute("/z", "count"));
  EXPECT_FALSE(file.has_attribute("/z", "other"));
}

TEST(Hdf5File, ReadsBytesInMemory) {
  Hdf5File written = Hdf5File::create_in_memory("name");
  written.write("/x", std::vector<float>{1, 2}, {2});
  written.write_attribute("/", "text", "words");
  const Hdf5File file = Hdf5File::open_image(written.image(), "name");
  EXPECT_EQ(file.read_floats("/x"), (std::vector<float>{1, 2}));
  EXPECT_EQ(file.stored_bytes("/x"), 8U);
  EXPECT_EQ(file.read_strings_attribute("/", "text"), std::vector<std::string>{"words"});
  EXPECT_NE(error_of([] {
              Hdf5File::open_image("no HDF5", "name");
            }).find("name: is no readable HDF5 file"),
            std::string::npos);
  EXPECT_NE(error_of([] { Hdf5File::open_image("", "name"); }).find("empty"), std::string::npos);
}

TEST(Hdf5File, NeverLeadsToAnotherFile) {
  const TestFolder folder;
  Hdf5File other = Hdf5File::create(folder / "other.h5");
  other.write("/secret", std::vector<float>{42});
  other.close();
  std::ofstream(folder / "raw", std::ios::binary) << std::string(8, 'x');
  const hid_t id = H5Fcreate((folder / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t count = 2;
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t external = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(external, (folder / "raw").c_str(), 0, 8);
  H5Dclose(H5Dcreate2(id, "external", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, external, H5P_DEFAULT));
  const hid_t virtual_layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_virtual(virtual_layout, space, (folder / "other.h5").c_str(), "secret", space);
  H5Dclose(
      H5Dcreate2(id, "virtual", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, virtual_layout, H5P_DEFAULT));
  H5Lcreate_external("other.h5", "/secret", id, "link", H5P_DEFAULT, H5P_DEFAULT);
  const hid_t text = H5Screate(H5S_NULL);
  H5Aclose(H5Acreate2(id, "none", H5T_NATIVE_DOUBLE, text, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(text);
  H5Pclose(virtual_layout);
  H5Pclose(external);
  H5Sclose(space);
  H5Fclose(id);
  const Hdf5File file = Hdf5File::open(folder / "a.h5");
  for (const char* name : {"/external", "/virtual"}) {
    EXPECT_NE(error_of([&] { file.read_floats(name); }).find("keeps its values in other files"),
              std::string::npos)
        << name;
  }
  EXPECT_NE(error_of([&] { file.read_floats("/link"); }), "");
  EXPECT_FALSE(file.has("/link"));
  EXPECT_TRUE(file.read_strings_attribute("/", "none").empty());
}

TEST(Hdf5File, EqualContentsGiveEqualBytes) {
  const TestFolder folder;
  std::string bytes[2];
  for (std::string& each : bytes) {
    auto file = Hdf5File::create(folder / "a.h5");
    file.write("/a", std::vector<double>(1000, 0.5));
    file.write_attribute("/", "name", "text");
    file.close();
    each = folder.read("a.h5");
  }
  EXPECT_FALSE(bytes[0].empty());
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(Hdf5File, CompressesLongData) {
  const TestFolder folder;
  auto file = Hdf5File::create(folder / "a.h5");
  file.write("/a", std::vector<double>(100000, 0.5));
  file.close();
  EXPECT_LT(std::filesystem::file_size(folder / "a.h5"), 100000U);
}

/// A dataset with rows that were never written: HDF5 gives fill values for them.
void write_claim(const std::filesystem::path& path, hsize_t rows) {
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const std::array<hsize_t, 2> extents = {rows, 4}, chunk = {std::min<hsize_t>(rows, 1000), 4};
  const hid_t space = H5Screate_simple(2, extents.data(), nullptr);
  const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(layout, 2, chunk.data());
  H5Dclose(H5Dcreate2(id, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, layout, H5P_DEFAULT));
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 8);
  H5Dclose(H5Dcreate2(id, "names", text, space, H5P_DEFAULT, layout, H5P_DEFAULT));
  H5Tclose(text);
  H5Pclose(layout);
  H5Sclose(space);
  H5Fclose(id);
}

TEST(Hdf5File, RefusesWhatItClaimsButDoesNotStore) {
  const TestFolder folder;
  write_claim(folder / "a.h5", 100'000'000);
  EXPECT_LT(std::filesystem::file_size(folder / "a.h5"), 10000U);
  const Hdf5File file = Hdf5File::open(folder / "a.h5");
  const std::string message = error_of([&] { file.read_doubles("/x"); });
  EXPECT_NE(message.find("a.h5: /x: claims 400000000 values of 8 bytes, but the file stores 0 "
                         "bytes of them"),
            std::string::npos)
      << message;
  EXPECT_NE(
      error_of([&] { file.read_strings("/names", 1U << 30); }).find("claims 400000000 values"),
      std::string::npos);
  // Little is read as HDF5 reads it.
  write_claim(folder / "b.h5", 10);
  EXPECT_EQ(Hdf5File::open(folder / "b.h5").read_doubles("/x"), std::vector<double>(40));
}

TEST(Hdf5File, ReadsLongDataInPieces) {
  std::vector<double> values(3'000'000);  // 24 MB
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 1000);
  Hdf5File file = Hdf5File::create_in_memory("name");
  file.write("/packed", values, {500'000, 3, 2});
  file.write("/one_row", values, {1, 3'000'000});
  file.write_bytes("/plain", std::string(20'000'000, 'x'), false);
  EXPECT_EQ(file.read_doubles("/packed"), values);
  EXPECT_EQ(file.read_doubles("/one_row"), values);
  EXPECT_EQ(file.read_bytes("/plain"), std::string(20'000'000, 'x'));
}

TEST(Hdf5File, ThousandsOfSmallValuesAreSound) {
  constexpr int kCount = 4000;
  Hdf5File file = Hdf5File::create_in_memory("name");
  for (int i = 0; i < kCount; ++i) {
    const std::string path = "/layer_" + std::to_string(i) + "/kernel";
    file.write(path, std::vector<float>{1, 2, 3});
    file.write_attribute(path, "names", std::vector<std::string>{"a", "b"});
  }
  EXPECT_EQ(Hdf5File::open_image(file.image(), "name").list("/").size(), std::size_t{kCount});
}

std::atomic<bool> stuck = false;

/// As a process does that was made while another thread held a lock.
TEST(Hdf5File, NoAnswerOfTheTrialIsNoDamage) {
  ::pthread_atfork(nullptr, nullptr, [] {
    while (stuck) ::pause();
  });
  Hdf5File file = Hdf5File::create_in_memory("name");
  file.write("/x", std::vector<float>{1});
  const std::string image = file.image();
  stuck = true;
  try {
    Hdf5File::open_image(image, "name");
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kFailed);
    EXPECT_STREQ(error.what(),
                 "name: the process that tries it first gave no answer in 10 seconds: this says "
                 "nothing of the file; try again");
  }
  stuck = false;
  EXPECT_TRUE(Hdf5File::open_image(image, "name").has("/x"));
}

TEST(Hdf5File, ATrialThatCannotStartNamesTheFile) {
  const TestFolder folder;
  Hdf5File::create(folder / "a.h5").close();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{std::min<rlim_t>(before.rlim_cur, 200), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<Descriptor> all;  // all but one: enough to look at the file, not for a pipe
  for (int number = dup(STDIN_FILENO); number >= 0; number = dup(STDIN_FILENO)) {
    all.emplace_back(number);
  }
  ASSERT_FALSE(all.empty());
  all.pop_back();
  const std::string message = error_of([&] { Hdf5File::open(folder / "a.h5"); });
  all.clear();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_NE(message.find("a.h5: cannot make a pipe: "), std::string::npos) << message;
}

TEST(Hdf5File, ErrorsNameFileAndObject) {
  const TestFolder folder;
  EXPECT_NE(error_of([&] { Hdf5File::open(folder / "none.h5"); }).find("none.h5: there is no such"),
            std::string::npos);
  std::ofstream(folder / "text.h5") << "no HDF5 at all";
  EXPECT_NE(error_of([&] { Hdf5File::open(folder / "text.h5"); }).find("no readable HDF5 file"),
            std::string::npos);
  {
    auto file = Hdf5File::create(folder / "a.h5");
    file.write("/words", std::vector<std::string>{"a"});
    file.write("/numbers", std::vector<double>{1, 2, 3});
    EXPECT_NE(error_of([&] { file.write("/numbers", std::vector<double>{1}); }).find("/numbers"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                file.write("/grid", std::vector<double>{1, 2}, {3});
              }).find("the extents don't match"),
              std::string::npos);
    file.close();
  }
  const auto file = Hdf5File::open(folder / "a.h5");
  EXPECT_NE(error_of([&] { file.read_doubles("/none"); }).find("a.h5: /none: cannot open"),
            std::string::npos);
  EXPECT_NE(error_of([&] { file.read_doubles("/words"); }).find("does not hold numbers"),
            std::string::npos);
  EXPECT_NE(error_of([&] { file.read_integers("/numbers"); }).find("whole numbers"),
            std::string::npos);
  EXPECT_NE(error_of([&] { file.read_strings("/numbers"); }).find("does not hold strings"),
            std::string::npos);
  EXPECT_NE(error_of([&] { file.read_doubles("/numbers", 2); }).find("more than 2 elements"),
            std::string::npos);
  EXPECT_NE(error_of([&] { file.read_string_attribute("/", "none"); }).find("/@none"),
            std::string::npos);
}

TEST(Hdf5File, TruncatedFilesAreRefused) {
  const TestFolder folder;
  {
    auto file = Hdf5File::create(folder / "a.h5");
    file.write("/numbers", std::vector<double>(10000, 1));
    file.close();
  }
  std::filesystem::resize_file(folder / "a.h5", std::filesystem::file_size(folder / "a.h5") / 2);
  EXPECT_NE(error_of([&] { Hdf5File::open(folder / "a.h5").read_doubles("/numbers"); }), "");
}

/// HDF5 reads a type that claims more than there is beyond the end of its buffers.
TEST(Hdf5File, AFlippedBitEndsInValuesOrInAnError) {
  auto file = Hdf5File::create_in_memory("a.h5");
  file.write("/doubles", std::vector<double>(40, 0.5));
  file.write("/floats", std::vector<float>(3, 0.5F));
  file.write("/whole", std::vector<std::int64_t>{1, 2, 3});
  file.write("/texts", std::vector<std::string>{"one", "two"});
  file.write_bytes("/bytes", "abc");
  file.write_attribute("/", "count", 7);
  file.write_attribute("/", "name", "some");
  const std::string bytes = file.image();
  file.close();
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 211) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    std::optional<Hdf5File> opened;
    const auto attempt = [&](const auto& read) {
      try {
        read();
      } catch (const Error&) {
        ++refused;
      }
    };
    attempt([&] { opened = Hdf5File::open_image(damaged, "a.h5"); });
    if (!opened) continue;
    attempt([&] { opened->read_doubles("/doubles"); });
    attempt([&] { opened->read_floats("/floats"); });
    attempt([&] { opened->read_integers("/whole"); });
    attempt([&] { opened->read_strings("/texts"); });
    attempt([&] { opened->read_bytes("/bytes"); });
    attempt([&] { opened->read_integer_attribute("/", "count"); });
    attempt([&] { opened->read_string_attribute("/", "name"); });
  }
  EXPECT_GT(refused, 3U);
}

TEST(Hdf5File, TypesThatNothingWritesAreRefused) {
  const TestFolder folder;
  const auto path = folder / "a.h5";
  const auto write = [&](hid_t type) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t extent = 2;
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    const hid_t data = H5Dcreate2(file, "/x", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(data, 0);
    const std::vector<double> values{1, 2};
    EXPECT_GE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(file);
  };
  const auto read = [&] { return Hdf5File::open(path).read_doubles("/x"); };
  for (const hid_t type : {H5T_IEEE_F32BE, H5T_IEEE_F64BE, H5T_STD_U8LE, H5T_STD_I16BE,
                           H5T_STD_I32LE, H5T_STD_U64BE, H5T_NATIVE_LDOUBLE}) {
    write(type);
    EXPECT_EQ(read(), (std::vector<double>{1, 2}));
  }
  const hid_t half = H5Tcopy(H5T_IEEE_F32LE);  // as h5py makes it
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  write(half);
  EXPECT_EQ(read(), (std::vector<double>{1, 2}));
  const hid_t wide = H5Tcopy(H5T_IEEE_F64LE), odd = H5Tcopy(H5T_STD_I64LE);
  H5Tset_size(wide, 9);
  H5Tset_precision(odd, 61);
  for (const hid_t type : {wide, odd}) {
    write(type);
    EXPECT_NE(error_of(read).find("a layout that nothing writes"), std::string::npos);
  }
  for (const hid_t type : {half, wide, odd}) H5Tclose(type);
}

TEST(Hdf5File, SeveralThreadsMayRead) {
  const TestFolder folder;
  {
    auto file = Hdf5File::create(folder / "a.h5");
    file.write("/numbers", std::vector<double>(10000, 1));
    file.close();
  }
  std::vector<std::string> errors(4);
  std::vector<std::thread> threads;
  for (std::string& error : errors) {
    threads.emplace_back([&] {
      error = error_of([&] {
        for (int i = 0; i < 20; ++i) {
          const auto file = Hdf5File::open(folder / "a.h5");
          if (file.read_doubles("/numbers").size() != 10000) throw failure("short read");
        }
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, std::vector<std::string>(4));
}

TEST(Hdf5File, ReadsFilesThatKerasWrote) {
  const auto folder = neutra::tests::shared_data("keras_h5");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs the shared Keras models";
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto file = Hdf5File::open(entry.path());
    if (!file.has_attribute("/", "model_config")) continue;
    const Json config =
        parse_json(file.read_string_attribute("/", "model_config"), entry.path().string());
    EXPECT_TRUE(config.contains("class_name"));
    ++models;
  }
  EXPECT_GT(models, 5);
}

}  // namespace
}  // namespace neutra
