// Readers of binary data files: IDX, CIFAR-10, NPY and NPZ. data/make_arrays.py wrote the arrays.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/zip_file.h"
#include "tests/shared_data.h"
#include "tests/source_file.h"
#include "tests/training/data_headers.h"
#include "training/data/cifar10.h"
#include "training/data/dataset.h"
#include "training/data/idx.h"
#include "training/data/npy.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;
using Extents = std::vector<std::int64_t>;
using Values = std::vector<double>;

const fs::path kArrays = source_file("tests/training/data");

/// The error of `action`, or "accepted".
template <typename Action>
std::string message(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput) << error.what();
    return error.what();
  }
  return "accepted";
}

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 255);
  return text;
}

std::string idx(int type, const std::vector<std::uint32_t>& extents, const std::string& numbers) {
  std::string text =
      std::string(2, '\0') + static_cast<char>(type) + static_cast<char>(extents.size());
  for (const std::uint32_t extent : extents) text += big_endian(extent, 4);
  return text + numbers;
}

Table from_idx(const std::string& bytes) {
  ByteReader reader = ByteReader::of(bytes, "a.idx");
  return read_idx(reader);
}

Table from_npy(const std::string& bytes) {
  ByteReader reader = ByteReader::of(bytes, "a.npy");
  return read_npy(reader);
}

Table from_npy_file(const std::string& name) {
  ByteReader reader = ByteReader::open(kArrays / name);
  return read_npy(reader);
}

/// A folder of its own that goes with the test.
class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              (std::string("neutra_files_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  fs::path write_gzip(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder_ / name).parent_path());
    const gzFile file = gzopen((folder_ / name).c_str(), "wb9");
    EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
              static_cast<int>(bytes.size()));
    gzclose(file);
    return folder_ / name;
  }
  fs::path write_zip(const std::string& name, const std::string& member, const std::string& bytes,
                     zip_int32_t method, bool encrypted = false) const {
    int code = 0;
    zip_t* zip = zip_open((folder_ / name).c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    zip_source_t* source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
    const auto index = static_cast<zip_uint64_t>(zip_file_add(zip, member.c_str(), source, 0));
    EXPECT_EQ(zip_set_file_compression(zip, index, method, 0), 0);
    if (encrypted) {
      EXPECT_EQ(zip_file_set_encryption(zip, index, ZIP_EM_AES_256, "secret"), 0);
    }
    EXPECT_EQ(zip_close(zip), 0);
    return folder_ / name;
  }
  /// Members of one content, stored as they are.
  fs::path write_zip(const std::string& name, const std::vector<std::string>& members,
                     const std::string& bytes) const {
    std::vector<std::pair<std::string, std::string>> files;
    for (const std::string& member : members) files.emplace_back(member, bytes);
    return write(name, zip_archive(files));
  }
  std::string load_message(const Json& data) const {
    return message([&] { load_dataset(data, {folder_}); });
  }
  fs::path folder_;
};

TEST(Idx, EveryType) {
  EXPECT_EQ(from_idx(idx(0x08, {2, 2}, "\x01\x02\xfe\xff")).values, (Values{1, 2, 254, 255}));
  EXPECT_EQ(from_idx(idx(0x08, {2, 2}, "\x01\x02\xfe\xff")).extents, (Extents{2, 2}));
  EXPECT_EQ(from_idx(idx(0x09, {2}, "\x7f\x80")).values, (Values{127, -128}));
  EXPECT_EQ(from_idx(idx(0x0b, {2}, "\x01\x02\xff\xfe")).values, (Values{258, -2}));
  EXPECT_EQ(from_idx(idx(0x0c, {1}, big_endian(0xfffffffd, 4))).values, Values{-3});
  EXPECT_EQ(from_idx(idx(0x0d, {1}, big_endian(0xbfc00000, 4))).values, Values{-1.5});
  EXPECT_EQ(from_idx(idx(0x0e, {1}, big_endian(0x3ff8000000000000, 8))).values, Values{1.5});
}

TEST(Idx, RefusesWhatIsMalformed) {
  const auto text = [](const std::string& bytes) { return message([&] { from_idx(bytes); }); };
  for (const auto& [bytes, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "a.idx: byte 0: found the header of 2 bytes; allowed: at most 0 bytes"},
           {"PK\x03\x04", "byte 0: found another start than two zero bytes"},
           {idx(0x0a, {1}, "1"), "byte 2: found type 0x0a; allowed: an IDX type: 0x08"},
           {idx(0x08, {}, ""), "byte 4: found a single number"},
           {idx(0x08, {2, 0}, ""), "found extents 2 x 0; allowed: extents of 1 or more"},
           {idx(0x08, {2, 2}, "123"),
            "byte 12: found an array of 4 numbers of 4 bytes; allowed: at most 3 bytes"},
           {idx(0x0e, {3}, std::string(23, 'a')), "found an array of 3 numbers of 24 bytes"},
           {idx(0x08, {2, 2}, "12345"), "byte 16: found more bytes"},
           {idx(0x08, {0xffffffff, 0xffffffff, 0xffffffff}, "1"),
            "extents 4294967295 x 4294967295 x 4294967295; allowed: at most 2147483648 numbers"},
           {idx(0x0e, {0x10000, 0x8000}, "1"), "of 17179869184 bytes; allowed: at most 1 bytes"},
           {idx(0x08, {1, 1}, "").substr(0, 7), "the extents of 4 bytes; allowed: at most 3"}}) {
    EXPECT_NE(text(bytes).find(words), std::string::npos) << text(bytes);
  }
}

TEST_F(Files, IdxPlainAndPacked) {
  const std::string bytes = idx(0x08, {2, 3}, "abcdef");
  for (const fs::path& path : {write("a", bytes), write_gzip("a.gz", bytes)}) {
    ByteReader reader = ByteReader::open(path);
    EXPECT_EQ(read_idx(reader).values, (Values{97, 98, 99, 100, 101, 102}));
  }
}

TEST_F(Files, DamagedGzip) {
  std::string noise;
  for (int i = 0; i < 5000; ++i) noise += static_cast<char>(i * i * 31 % 251);
  const std::string packed = read_file(write_gzip("a.gz", idx(0x08, {5000}, noise)), "data");
  const auto text = [&](const std::string& bytes) {
    const fs::path path = write("b.gz", bytes);
    return message([&] {
      ByteReader reader = ByteReader::open(path);
      read_idx(reader);
    });
  };
  EXPECT_EQ(text(packed), "accepted");
  EXPECT_NE(text(packed.substr(0, packed.size() / 2)).find("b.gz: found an end in the middle"),
            std::string::npos)
      << text(packed.substr(0, packed.size() / 2));
  EXPECT_NE(text(packed.substr(0, packed.size() - 3)).find("an end in the middle"),
            std::string::npos);
  std::string flipped = packed;
  flipped[packed.size() - 6] = static_cast<char>(flipped[packed.size() - 6] ^ 1);  // checksum
  EXPECT_NE(text(flipped).find("damaged gzip data"), std::string::npos) << text(flipped);
}

TEST_F(Files, ExpansionIsBoundedByTheHeader) {
  // 5 MB of zeros in 5 kB, where the header speaks of ten numbers: not unpacked.
  const std::string zeros(5'000'000, '\0');
  const fs::path bomb = write_gzip("bomb.gz", idx(0x08, {10}, zeros));
  ByteReader reader = ByteReader::open(bomb);
  EXPECT_NE(message([&] { read_idx(reader); }).find("byte 18: found more bytes"),
            std::string::npos);
  EXPECT_EQ(reader.offset(), 18u);
  // A header that claims what so few bytes can't unpack to.
  ByteReader liar = ByteReader::open(write_gzip("liar.gz", idx(0x08, {0x7fffffff}, "abc")));
  EXPECT_NE(message([&] { read_idx(liar); }).find("2147483647 bytes; allowed: at most"),
            std::string::npos);
}

Json idx_recipe(const std::string& folder) {
  return {{"source", "idx"},
          {"arguments",
           {{"train_images", folder + "train-images-idx3-ubyte.gz"},
            {"train_labels", folder + "train-labels-idx1-ubyte.gz"},
            {"test_images", folder + "t10k-images-idx3-ubyte.gz"},
            {"test_labels", folder + "t10k-labels-idx1-ubyte.gz"}}}};
}

TEST_F(Files, IdxSourceFindsFilesPackedOrNot) {
  write_gzip("mnist/train-images-idx3-ubyte.gz", idx(0x08, {3, 1, 2}, "\x01\x02\x03\x04\x05\x06"));
  write("mnist/train-labels-idx1-ubyte", idx(0x08, {3}, std::string("\x07\x00\x09", 3)));
  write("mnist/t10k-images-idx3-ubyte", idx(0x08, {1, 1, 2}, "\x09\x08"));
  Json data = idx_recipe("mnist/");
  const std::string text = load_message(data);
  EXPECT_NE(text.find("mnist/t10k-labels-idx1-ubyte.gz not found"), std::string::npos) << text;
  EXPECT_NE(text.find((folder_ / "mnist/t10k-labels-idx1-ubyte.gz").string()), std::string::npos);
  EXPECT_NE(text.find("MNIST's four files"), std::string::npos);
  write("mnist/t10k-labels-idx1-ubyte", idx(0x08, {1}, "\x02"));
  const auto loaded = load_dataset(data, {folder_});
  tests::expect_header(data, *loaded, {folder_});
  EXPECT_EQ(loaded->x_train.extents, (Extents{3, 1, 2}));
  EXPECT_EQ(loaded->y_train.values, (std::vector<float>{7, 0, 9}));
  EXPECT_EQ(loaded->x_test.values, (std::vector<float>{9, 8}));

  data["preprocess"] = Json::parse(R"([{"op":"one_hot","on":"y","classes":8}])");
  EXPECT_NE(load_message(data).find("found the label 9 in row 2; allowed: whole numbers from 0 "
                                    "to 7"),
            std::string::npos)
      << load_message(data);
  write("mnist/t10k-labels-idx1-ubyte", idx(0x08, {2}, "\x02\x03"));
  EXPECT_NE(load_message(data).find("1 rows of features and 2 of targets for test"),
            std::string::npos);
  data["arguments"].erase("test_images");
  EXPECT_NE(load_message(data).find("data.arguments.test_images: missing"), std::string::npos);
  EXPECT_NE(load_message(idx_recipe("fashion-mnist/")).find("package dataset-fashion-mnist"),
            std::string::npos);
}

TEST_F(Files, Cifar10IsPlanesOfColours) {
  std::string rows;
  for (int row = 0; row < 2; ++row) {
    rows += static_cast<char>(9 - row);
    for (int channel = 0; channel < 3; ++channel) {
      for (int pixel = 0; pixel < 1024; ++pixel) {
        rows += static_cast<char>(100 * row + 50 * channel + pixel % 50);
      }
    }
  }
  write("cifar-10-batches-bin/data_batch_1.bin", rows);
  write("cifar-10-batches-bin/data_batch_2.bin", rows.substr(0, 3073));
  write("cifar-10-batches-bin/test_batch.bin", rows.substr(3073));
  Json data = Json::parse(R"({"source": "cifar10", "arguments": {
      "train": ["cifar-10-batches-bin/data_batch_1.bin", "cifar-10-batches-bin/data_batch_2.bin"],
      "test": ["cifar-10-batches-bin/test_batch.bin"]}})");
  const auto loaded = load_dataset(data, {folder_});
  tests::expect_header(data, *loaded, {folder_});
  EXPECT_EQ(loaded->x_train.extents, (Extents{3, 32, 32, 3}));
  EXPECT_EQ(loaded->y_train.values, (std::vector<float>{9, 8, 9}));
  EXPECT_EQ(loaded->y_test.values, std::vector<float>{8});
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t pixel = 0; pixel < 1024; ++pixel) {
      for (std::size_t channel = 0; channel < 3; ++channel) {
        ASSERT_EQ(loaded->x_train.values[(row * 1024 + pixel) * 3 + channel],
                  static_cast<float>(100 * row + 50 * channel + pixel % 50));
      }
    }
  }

  data["arguments"]["train"].push_back("cifar-10-batches-bin/data_batch_3.bin");
  EXPECT_NE(load_message(data).find("cifar-10-binary.tar.gz"), std::string::npos);
  for (const auto& [bytes, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "byte 0: found row 3 of 1 bytes"},
           {rows.substr(0, 3072), "byte 1: found row 3 of 3072 bytes; allowed: at most 3071"},
           {rows + "\x01", "byte 6147: found row 5 of 3072 bytes"},
           {rows + "\x0a" + rows.substr(1), "byte 6146: found the label 10; allowed: 0 to 9"}}) {
    write("cifar-10-batches-bin/data_batch_3.bin", bytes);
    EXPECT_NE(load_message(data).find("data_batch_3.bin: " + words), std::string::npos)
        << load_message(data);
  }
  write("cifar-10-batches-bin/data_batch_3.bin", rows);
  data["arguments"]["test"] = "test_batch.bin";
  EXPECT_NE(load_message(data).find("data.arguments.test: found \"test_batch.bin\""),
            std::string::npos);
}

TEST(Npy, EveryType) {
  const NpzFile file(kArrays / "types.npz");
  for (const std::string name : {"b1",    "i1",    "le_i2", "be_i2", "le_i4", "be_i4", "le_i8",
                                 "be_i8", "u1",    "le_u2", "be_u2", "le_u4", "be_u4", "le_u8",
                                 "be_u8", "le_f2", "be_f2", "le_f4", "be_f4", "le_f8", "be_f8"}) {
    ASSERT_TRUE(file.has(name)) << name;
    const Table table = file.read(name);
    EXPECT_EQ(table.extents, (Extents{2, 3})) << name;
    const char kind = name[name.size() - 2];
    Values expected = kind == 'b'   ? Values{0, 1, 0, 1, 0, 1}
                      : kind == 'u' ? Values{0, 1, 2, 3, 4, 5}
                                    : Values{-2, -1, 0, 1, 2, 3};
    if (kind == 'f') {
      for (double& value : expected) value += 0.5;
    }
    EXPECT_EQ(table.values, expected) << name;
  }
  EXPECT_FALSE(file.has("f16"));
  EXPECT_NE(message([&] { file.read("f16"); }).find("f16.npy: found no such array"),
            std::string::npos);
}

TEST(Npy, OrdersVersionsAndHalfPrecision) {
  const Table fortran = from_npy_file("fortran.npy");
  ASSERT_EQ(fortran.extents, (Extents{2, 3, 4}));
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(fortran.values[i], 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4) << i;
  }
  EXPECT_EQ(from_npy_file("vector.npy").values, (Values{3, 1, 2}));
  EXPECT_EQ(from_npy_file("version2.npy").values, (Values{0, 1, 2}));
  EXPECT_EQ(from_npy_file("version3.npy").values, (Values{0, 1, 2}));
  const Values half = from_npy_file("half.npy").values;
  EXPECT_EQ(Values(half.begin(), half.begin() + 4), (Values{0, 1, -2, 65504}));
  EXPECT_EQ(half[4], std::ldexp(1, -24));
  EXPECT_EQ(half[5], std::ldexp(1, -14));
  EXPECT_EQ(half[6], 1365.0 / 4096);
  EXPECT_EQ(half[7], INFINITY);
  EXPECT_EQ(half[8], -INFINITY);
  EXPECT_TRUE(std::isnan(half[9]));
}

std::string npy(const std::string& header, const std::string& numbers) {
  return std::string("\x93NUMPY\x01") + '\0' + static_cast<char>(header.size()) + '\0' + header +
         numbers;
}

TEST(Npy, RefusesWhatIsNoTableOfNumbers) {
  for (const auto& [file, words] :
       std::vector<std::pair<std::string, std::string>>{{"objects.npy", "pickled Python objects"},
                                                        {"structure.npy", "found a structure"},
                                                        {"complex.npy", "found type \"<c8\""},
                                                        {"text.npy", "found type \"<U2\""},
                                                        {"scalar.npy", "found a single number"},
                                                        {"empty.npy", "found extents 0 x 3"}}) {
    const std::string text = message([&file = file] { from_npy_file(file); });
    EXPECT_NE(text.find(words), std::string::npos) << file << ": " << text;
    EXPECT_NE(text.find(file + ": byte "), std::string::npos) << text;
  }
}

TEST(Npy, RefusesWhatIsMalformed) {
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n";
  EXPECT_EQ(from_npy(npy(good, "\x01\x02\x03\x04")).values, (Values{1, 2, 3, 4}));
  EXPECT_EQ(
      from_npy(npy("{\"shape\":(4L,),'fortran_order':True,\"descr\":'u1'}", "\1\2\3\4")).values,
      (Values{1, 2, 3, 4}));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string header = good;
    return npy(header.replace(header.find(from), from.size(), to), "\x01\x02\x03\x04");
  };
  for (const auto& [bytes, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "byte 0: found the header of 6 bytes"},
           {"\x93NUMPZ\x01", "byte 0: found another start than NumPy's"},
           {"\x93NUMPY\x04", "byte 6: found version 4; allowed: 1, 2, 3"},
           {std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12),
            "byte 8: found a header of 4294967295 bytes; allowed: at most 65536"},
           {std::string("\x93NUMPY\x01\0\x40\0{", 11), "byte 10: found a header of 64 bytes"},
           {npy(good, "123"), "an array of 4 numbers of 4 bytes; allowed: at most 3"},
           {npy(good, "12345"), "found more bytes"},
           {with("(2, 2)", "(2, 0)"), "extents 2 x 0"},
           {with("(2, 2)", "(-2, 2)"), "a whole number below 2^64"},
           {with("(2, 2)", "(18446744073709551616,)"), "a whole number below 2^64"},
           {with("(2, 2)", "(4294967296, 4294967296)"), "at most 2147483648 numbers"},
           {with("(2, 2)", "[2, 2]"), "byte 60: found \"[2, 2], }"},
           {with("(2, 2)", "()"), "found a single number"},
           {with("'|u1'", "'|u3'"), "found type \"|u3\""},
           {with("'|u1'", "'|O'"), "which are never unpickled"},
           {with("'|u1'", "'|u1"), "found type \"|u1, \""},
           {with("False", "Falsch"), "True, False"},
           {with("'fortran_order': False", "'descr': '|u1'"), "found the field 'descr'"},
           {with("'descr': '|u1', ", ""), "found no descr"},
           {with("}", "} {"), "found text behind the header's braces"},
           {with("}", ""), "the header's end"}}) {
    const std::string text = message([&bytes = bytes] { from_npy(bytes); });
    EXPECT_NE(text.find(words), std::string::npos) << words << " in: " << text;
  }
}

TEST_F(Files, NpzSource) {
  const Json data = {{"source", "npz"}, {"arguments", {{"file", "parts.npz"}}}};
  const auto loaded = load_dataset(data, {kArrays});
  tests::expect_header(data, *loaded, {kArrays});
  EXPECT_EQ(loaded->x_train.extents, (Extents{500, 4}));
  EXPECT_EQ(loaded->x_train.values[1999], 1999);
  EXPECT_EQ(loaded->y_train.values[499], 9);
  EXPECT_EQ(loaded->x_test.extents, (Extents{10, 4}));
  EXPECT_EQ(loaded->y_test.values[9], 9);

  const std::string member = read_file(kArrays / "vector.npy", "data");
  const auto text = [&](const fs::path& path) { return message([&] { NpzFile(path).read("x"); }); };
  EXPECT_EQ(text(write_zip("stored.npz", "x.npy", member, ZIP_CM_STORE)), "accepted");
  EXPECT_EQ(text(write_zip("deflated.npz", "x.npy", member, ZIP_CM_DEFLATE)), "accepted");
  EXPECT_NE(load_message({{"source", "npz"}, {"arguments", {{"file", "stored.npz"}}}})
                .find("stored.npz: found no array y"),
            std::string::npos);
  EXPECT_NE(text(write_zip("bzip2.npz", "x.npy", std::string(5000, 'a'), ZIP_CM_BZIP2))
                .find("compression method 12; allowed: 0 (stored), 8 (deflated)"),
            std::string::npos);
  EXPECT_NE(text(write_zip("secret.npz", "x.npy", member, ZIP_CM_STORE, true))
                .find("found an encrypted member"),
            std::string::npos);
  EXPECT_NE(text(write("no.npz", "PK and no more")).find("no.npz: found what is no zip file"),
            std::string::npos);
  // NumPy takes the last of two, libzip the first.
  std::string twice = read_file(write_zip("twice.npz", {"x.npy", "z.npy"}, member), "data");
  for (std::size_t at; (at = twice.find("z.npy")) != std::string::npos;) twice[at] = 'x';
  EXPECT_NE(
      text(write("twice.npz", twice)).find("twice.npz: x.npy: found two members of this name"),
      std::string::npos)
      << text(folder_ / "twice.npz");
  // Its last number is changed: only the checksum tells.
  std::string flipped = read_file(folder_ / "stored.npz", "data");
  const std::size_t at = flipped.find("\x93NUMPY") + member.size() - 8;
  flipped[at] = static_cast<char>(flipped[at] ^ 1);
  EXPECT_NE(text(write("flipped.npz", flipped)).find("x.npy: found damaged data"),
            std::string::npos)
      << text(folder_ / "flipped.npz");
  // 5 MB of zeros behind an array of three numbers.
  EXPECT_NE(
      text(write_zip("bomb.npz", "x.npy", member + std::string(5'000'000, '\0'), ZIP_CM_DEFLATE))
          .find("found more bytes"),
      std::string::npos);
}

TEST_F(Files, NpySource) {
  write("x.npy", read_file(kArrays / "half.npy", "data"));
  write("y.npy", read_file(kArrays / "vector.npy", "data"));
  Json data = Json::parse(R"({"source": "npy", "arguments": {"x": "y.npy", "y": "y.npy"},
                              "split": {"test_size": 1, "seed": 0}})");
  EXPECT_EQ(load_dataset(data, {folder_})->x_train.extents, (Extents{2, 1}));
  data["arguments"]["x"] = "x.npy";
  // Numbers of rows are compared before any number is looked at.
  EXPECT_NE(load_message(data).find("10 rows of features and 3 of targets for training"),
            std::string::npos)
      << load_message(data);
  data["arguments"]["y"] = "x.npy";
  EXPECT_NE(load_message(data).find("x.npy: row 7: found inf; allowed: finite numbers"),
            std::string::npos)
      << load_message(data);
  data["arguments"] = {{"x_train", "y.npy"}, {"y_train", "y.npy"}, {"x_test", "y.npy"}};
  EXPECT_NE(load_message(data).find("data.arguments: found no file y_test"), std::string::npos);
  data["arguments"]["x"] = 5;
  EXPECT_NE(load_message(data).find("data.arguments.x"), std::string::npos);
}

/// Loads the study's MNIST, or what a Debian package installs.
void check_images(const fs::path& folder, const std::string& name, double mean,
                  const std::vector<float>& first) {
  if (!fs::exists(folder / name)) GTEST_SKIP() << "no " << (folder / name).string();
  Json data = idx_recipe(name + "/");
  data["preprocess"] = Json::parse(R"([{"op":"scale","by":255}])");
  data["holdout"] = {{"test_size", 0.2}, {"seed", 42}};
  const auto loaded = load_dataset(data, {folder});
  tests::expect_header(data, *loaded, {folder});
  EXPECT_EQ(loaded->x_train.extents, (Extents{60000, 28, 28}));
  EXPECT_EQ(loaded->x_test.extents, (Extents{10000, 28, 28}));
  EXPECT_EQ(loaded->x_holdout.extents, (Extents{2000, 28, 28}));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), loaded->y_train.values.begin()));
  const auto& x = loaded->x_train.values;
  EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size()), mean, 5e-5);
  std::vector<int> counts(10);
  for (const float label : loaded->y_train.values) ++counts.at(static_cast<std::size_t>(label));
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 60000);
  EXPECT_GT(*std::min_element(counts.begin(), counts.end()), 5000);
}

TEST(Images, Mnist) {
  check_images(neutra::tests::shared_data(""), "mnist", 0.1307, {5, 0, 4, 1, 9});
}

TEST(Images, FashionMnist) {
  check_images("/usr/share/datasets", "fashion-mnist", 0.2860, {9, 0, 0, 3, 0});
}

}  // namespace
}  // namespace neutra::training
