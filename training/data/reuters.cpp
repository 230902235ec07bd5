#include "training/data/reuters.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "training/data/fields.h"
#include "training/data/npy.h"
#include "training/data/split.h"

namespace neutra::training {
namespace {

// Defaults of load_data().
constexpr double kTestSplit = 0.2;
constexpr std::uint32_t kSeed = 113;
constexpr std::int64_t kStart = 1, kUnknown = 2, kMovedBy = 3;

constexpr double kMaxWords = 1e6;
constexpr std::int64_t kMaxWord = 2147483647;
/// Of all rows: 4 GiB. Keras's file has 11,228 rows, of 30,982 words.
constexpr double kMaxBag = 536870912;

struct Request {
  std::int64_t words;
  double test_split;
  std::uint32_t seed;
  bool unknown;
};

Request request_of(const Json& arguments) {
  check_fields(arguments, "data.arguments",
               {{"file", FieldRule::kText},
                {"num_words", FieldRule::kWhole, 1, kMaxWords},
                {"test_split", FieldRule::kNumber, 0, 1},
                {"seed", FieldRule::kWhole, 0, 4294967295.0},
                {"oov", FieldRule::kFlag}});
  if (!arguments.contains("num_words")) {
    throw input_error(
        "data.arguments.num_words: missing; source reuters needs the number of words, which is "
        "that "
        "of columns");
  }
  const auto number = [&](const char* name, double otherwise) {
    return arguments.contains(name) ? arguments[name].get<double>() : otherwise;
  };
  return {static_cast<std::int64_t>(number("num_words", 0)), number("test_split", kTestSplit),
          static_cast<std::uint32_t>(number("seed", kSeed)), arguments.value("oov", false)};
}

/// Where the words of row `i` are in `numbers`.
std::span<const std::int64_t> words_of(const program::PickledLists& texts, std::size_t i) {
  const std::size_t begin = i == 0 ? 0 : texts.ends[i - 1];
  return std::span(texts.numbers).subspan(begin, texts.ends[i] - begin);
}

/// Texts and topics of some rows.
Part bag(const program::PickledLists& texts, const program::PickledLists& topics,
         const Request& request, std::int64_t known, std::span<const std::int64_t> order) {
  const auto rows = static_cast<std::int64_t>(order.size());
  Part part{{{rows, request.words}, {}}, {{rows}, {}}};
  part.x.values.assign(static_cast<std::size_t>(rows * request.words), 0);
  double* row = part.x.values.data();
  for (const std::int64_t i : order) {
    const auto add = [&](std::int64_t word) {
      if (word < 0 || word >= known) word = kUnknown;
      if (word < request.words) row[word] = 1;
    };
    add(kStart);
    for (const std::int64_t word : words_of(texts, static_cast<std::size_t>(i))) {
      add(word + kMovedBy);
    }
    row += request.words;
    part.y.values.push_back(static_cast<double>(topics.numbers[static_cast<std::size_t>(i)]));
  }
  return part;
}

}  // namespace

RawData read_reuters_source(const Json& arguments, const SearchPath& search_path, Reading reading) {
  const Request request = request_of(arguments);
  const std::filesystem::path path =
      find_file({text_argument(arguments, "file", "reuters")}, search_path);
  const NpzFile file(path);
  const auto fail = [&](const std::string& place, const std::string& found,
                        const std::string& allowed) {
    throw input_error(describe(path.string(), place, found, allowed));
  };
  for (const char* name : {"x", "y"}) {
    if (!file.has(name)) {
      fail("", std::string("no array ") + name, "arrays x and y, as in Keras's reuters.npz");
    }
  }
  const std::int64_t rows = file.read_rows("x"), topic_rows = file.read_rows("y");
  if (rows != topic_rows) {
    fail("", std::to_string(rows) + " texts and " + std::to_string(topic_rows) + " topics",
         "the same number");
  }
  if (static_cast<double>(rows) * static_cast<double>(request.words) > kMaxBag) {
    fail("", std::to_string(rows) + " texts of " + std::to_string(request.words) + " words",
         "at most " + std::to_string(static_cast<std::int64_t>(kMaxBag)) +
             " numbers in all; make data.arguments.num_words smaller");
  }
  // As Keras rounds it.
  const auto train =
      static_cast<std::int64_t>(static_cast<double>(rows) * (1 - request.test_split));
  if (train == 0 || train == rows) {
    throw input_error("data.arguments.test_split: found " + std::to_string(request.test_split) +
                      " of " + std::to_string(rows) +
                      " texts; allowed: shares that leave training and test rows");
  }
  if (reading == Reading::kHeader) {
    const auto part = [&](std::int64_t count) {
      return Part{{{count, request.words}, {}}, {{count}, {}}};
    };
    return {part(train), part(rows - train), true};
  }
  const program::PickledLists texts = file.read_lists("x"), topics = file.read_lists("y");
  if (topics.numbers.size() != static_cast<std::size_t>(rows) ||
      std::adjacent_find(topics.ends.begin(), topics.ends.end(), std::greater_equal<>()) !=
          topics.ends.end()) {
    fail("y.npy",
         std::to_string(topics.numbers.size()) + " topics of " + std::to_string(rows) + " texts",
         "one of each");
  }
  for (const std::int64_t word : texts.numbers) {
    if (word < 0 || word > kMaxWord) {
      fail("x.npy", "the word " + std::to_string(word), "0 to " + std::to_string(kMaxWord));
    }
  }
  std::int64_t known = request.words;
  if (!request.unknown) {
    known = kStart;
    for (const std::int64_t word : texts.numbers) known = std::max(known, word + kMovedBy);
  }
  const std::vector<std::int64_t> order = numpy_permutation(rows, request.seed);
  const auto first = std::span(order).first(static_cast<std::size_t>(train));
  return {bag(texts, topics, request, known, first),
          bag(texts, topics, request, known, std::span(order).subspan(first.size())), true};
}

}  // namespace neutra::training
