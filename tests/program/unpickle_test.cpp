// Pickled arrays of lists. data/make_pickles.py wrote them, with NumPy 1.26 and NumPy 2.4.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "program/formats/pickle.h"
#include "support.h"
#include "tests/source_file.h"

namespace neutra::program {
namespace {

using tests::error_of;
using Lists = std::vector<std::vector<std::int64_t>>;

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

Lists lists_of(const std::string& bytes) {
  const PickledLists read = unpickle_lists(bytes, "x.npy", 80);
  Lists lists;
  std::size_t begin = 0;
  for (const std::size_t end : read.ends) {
    lists.emplace_back(read.numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                       read.numbers.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  return lists;
}

/// Calls `use(bytes, "numpy 1, protocol 2")` with the pickles of one name.
template <typename Use>
void for_each_pickle(const std::string& name, Use&& use) {
  for (const std::string numpy : {"1", "2"}) {
    const Json all =
        read_json(source_file("tests/program/data") / ("pickles_numpy" + numpy + ".json"));
    for (const auto& [protocol, hex] : all.at(name).items()) {
      const std::string label = name + ", NumPy " + numpy + ", protocol " + protocol;
      SCOPED_TRACE(label);
      use(from_hex(hex.template get<std::string>()), label);
    }
  }
}

TEST(Unpickle, ListsOfEveryProtocolAndNumPy) {
  const std::vector<std::int64_t> first = {1, 2, 300, 70000};
  const Lists words = {first, {}, {5, -6, std::int64_t{1} << 40}, std::vector<std::int64_t>(30, 7)};
  for (const auto& [name, lists] :
       std::vector<std::pair<std::string, Lists>>{{"lists", words},
                                                  {"tuples", words},
                                                  {"arrays", words},
                                                  {"numpy_numbers", words},
                                                  {"small_arrays", {{1, -2}, {300}, {}}},
                                                  {"shared", {first, first, first}},
                                                  {"numbers", {{3}, {0}, {45}}},
                                                  {"matrix", {{1, 2}, {3, 4}, {5, 6}}}}) {
    for_each_pickle(name, [&, lists = lists](const std::string& bytes, const std::string&) {
      EXPECT_EQ(lists_of(bytes), lists);
    });
  }
}

TEST(Unpickle, RunsNothing) {
  for (const auto& [name, words] :
       std::vector<std::pair<std::string, std::string>>{{"system", ".system"}, {"eval", ".eval"}}) {
    for_each_pickle(name, [&, words = words](const std::string& bytes, const std::string&) {
      const std::string message = error_of([&] { lists_of(bytes); });
      EXPECT_NE(message.find("x.npy: byte "), std::string::npos) << message;
      EXPECT_NE(message.find("found a call of "), std::string::npos) << message;
      EXPECT_NE(
          message.find(words + "; allowed: a NumPy array of lists of whole numbers; nothing of "
                               "a pickle is ever run"),
          std::string::npos)
          << message;
    });
  }
  EXPECT_FALSE(std::filesystem::exists("/tmp/neutra_was_run"));
}

TEST(Unpickle, RefusesWhatIsNoArrayOfLists) {
  for (const auto& [name, words] : std::vector<std::pair<std::string, std::string>>{
           {"texts", "found a text in item 0"},
           {"floats", "found a real number in a list in item 0"},
           {"nested", "found a list in a list in item 0"},
           {"plain", "found an array of numbers, pickled"},
           {"dict", "found the pickle operation 125"}}) {
    for_each_pickle(name, [&, words = words](const std::string& bytes, const std::string&) {
      const std::string message = error_of([&] { lists_of(bytes); });
      EXPECT_NE(message.find(words), std::string::npos) << message;
    });
  }
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Unpickle, BoundsWhatAHostilePickleMakes) {
  for (const auto& [bytes, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "byte 80: found the end of the data within a pickle"},
           {"\x80\x06N.", "found pickle protocol 6; allowed: 2 to 5"},
           {"N.", "found None"},
           {"NN.", "found an end in the middle"},
           {"N.N", "found more bytes"},
           {"a", "found an operation without its operands"},
           {"Na", "found an operation without its operands"},
           {"NNa", "found items of None"},
           {"e", "found an operation without its mark"},
           {"(0", "found an operation without its operands"},
           {"R", "found an operation without its operands"},
           {"NNR", "found a call of None"},
           {"NNb", "found a state of None"},
           {std::string("h\x07", 2), "found memo entry 7, which was never stored"},
           {std::string("Nr\xff\xff\xff\xff.", 7), "found None"},
           {std::string("\x8d\xff\xff\xff\xff\xff\xff\xff\x7f", 9), "the end of the data within"},
           {std::string("\x8a\x09", 2) + std::string(9, '\1'), "found a whole number of 9 bytes"},
           {"cos\nsystem\n", "found a call of os.system"},
           {"cos\n" + std::string(1000, 's'), "found a name without an end"},
           {"\x8c\x02os\x8c\x06system\x93", "found a call of os.system"},
           {"cnumpy\ndtype\n)R", "found a call with other arguments"},
           {std::string("P1\n"), "found the pickle operation 80"},
           // A million lists within each other, and as many marks.
           {repeated("]", 1'000'000) + repeated("a", 999'999) + ".", "found a list"},
           {repeated("(", 1'000'000) + ".", "found an end in the middle"},
           {repeated("]", 3'000'000), "found more than 2097152 lists"},
           {repeated("N", 20'000'000), "found more than 16777216 values"},
           {"\x80\x02" + std::string("cnumpy.core.multiarray\n_reconstruct\n)R(K\x01(") +
                repeated(std::string("K\x01", 2), 65) + "t" +
                std::string("cnumpy\ndtype\nU\x02O8\x85R\x89](]etb."),
            "found a shape of 65 extents; allowed: up to 64"},
           {"N" + repeated("\x94", 9'000'000), "found a memo of more than 8388608 values"},
           // 1,000 calls of encode with one text of 100,000 bytes.
           {std::string("X\xa0\x86\x01\0", 5) + repeated("a", 100'000) + std::string("q\x00", 2) +
                "0c_codecs\nencode\nq\1" + "0U\6latin1q\2" + "0" +
                repeated(std::string("h\1h\0h\2\x86R0", 9), 1'000),
            "found texts of more than 109038 bytes in calls of encode"}}) {
    const std::string message = error_of([&bytes = bytes] { lists_of(bytes); });
    EXPECT_NE(message.find(words), std::string::npos) << words << " in: " << message;
  }
}

TEST(Unpickle, BoundsWhatSharedListsBecome) {
  // 10,000 times one list of 10,000 numbers: 20 kB that would be 100 million numbers.
  const std::string bytes = std::string("\x80\x02") +
                            "cnumpy.core.multiarray\n_reconstruct\n)R(K\x01M\x10\x27\x85" +
                            std::string("cnumpy\ndtype\nU\x02O8\x85R\x89](](") +
                            repeated(std::string("K\x01", 2), 10'000) + "eq\x05" +
                            repeated(std::string("h\x05", 2), 9'999) + "etb.";
  const std::string message = error_of([&] { lists_of(bytes); });
  EXPECT_NE(message.find("found more than 16777216 numbers in all lists"), std::string::npos)
      << message;
}

TEST(Unpickle, CutsAndFlipsAreRefusedOrRead) {
  for (const std::string name : {"lists", "arrays", "numpy_numbers", "system"}) {
    for_each_pickle(name, [&](const std::string& bytes, const std::string&) {
      for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_NE(error_of([&] { lists_of(bytes.substr(0, length)); }), "");
      }
      for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 3) {
        std::string flipped = bytes;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
        try {
          lists_of(flipped);
        } catch (const Error& error) {
          EXPECT_EQ(error.exit(), Exit::kBadInput) << error.what();
        }
      }
    });
  }
}

}  // namespace
}  // namespace neutra::program
