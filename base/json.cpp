#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"

namespace neutra {
namespace {

constexpr std::size_t kMaxDepth = 100;
constexpr std::size_t kMaxQuoted = 120;  ///< longest excerpt of a bad file in a message

/// Input iterator over a text that tells how far the parser has read, also inside its callbacks.
class Reader {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Reader(const char* at, const char** progress) : at_(at), progress_(progress) {}
  reference operator*() const { return *at_; }
  Reader& operator++() {
    *progress_ = ++at_;
    return *this;
  }
  Reader operator++(int) {
    const Reader before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Reader& other) const { return at_ == other.at_; }
  bool operator!=(const Reader& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** progress_;
};

/// Builds the value from the parser's events and refuses what strict JSON leaves open.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  const char* read = nullptr;  ///< how far the parser has come

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    Level& level = levels_.back();
    if (!level.names.insert(name).second) {
      fail(position(), "the key \"" + excerpt(name) + "\" a second time", "each key once");
    }
    level.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& e) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: DETAIL"; the number
    // overflow of out_of_range.406 has no place.
    std::string detail = e.what();
    for (const char* mark : {"] ", "column "}) {
      if (const auto at = detail.find(mark); at != std::string::npos) {
        detail.erase(0, at + std::strlen(mark));
      }
    }
    if (const auto at = detail.find_first_not_of("0123456789");
        at != std::string::npos && at > 0 && detail.compare(at, 2, ": ") == 0) {
      detail.erase(0, at + 2);
    }
    fail(position(), "no valid JSON: " + excerpt(detail), "");
  }

 private:
  struct Level {
    Json* value;
    std::string key;
    std::unordered_set<std::string> names;
  };

  std::size_t position() const { return static_cast<std::size_t>(read - text_.data()); }

  /// Messages hold short printable ASCII only, whatever the file holds.
  static std::string excerpt(std::string text) {
    if (text.size() > kMaxQuoted) text = text.substr(0, kMaxQuoted) + "...";
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
  }

  [[noreturn]] void fail(std::size_t at, const std::string& found, const std::string& allowed) {
    const std::string_view before = text_.substr(0, at > 0 ? at - 1 : 0);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto newline = before.rfind('\n');
    const auto column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
    throw input_error(
        describe(file_, "line " + std::to_string(line) + ", column " + std::to_string(column),
                 found, allowed));
  }

  template <typename T>
  Json* place(T&& value) {
    if (levels_.empty()) return &(root_ = Json(std::forward<T>(value)));
    Level& level = levels_.back();
    if (level.value->is_array()) {
      level.value->push_back(Json(std::forward<T>(value)));
      return &level.value->back();
    }
    // Appends without ordered_json's search for the key, which would make large objects quadratic;
    // key() has made sure that it is new.
    auto& members = level.value->get_ref<Json::object_t&>();
    members.emplace_back(std::move(level.key), Json(std::forward<T>(value)));
    return &members.back().second;
  }

  template <typename T>
  bool add(T&& value) {
    place(std::forward<T>(value));
    return true;
  }

  bool open(Json container) {
    if (levels_.size() >= kMaxDepth) {
      fail(position(), "more than " + std::to_string(kMaxDepth) + " levels of brackets",
           "at most " + std::to_string(kMaxDepth));
    }
    levels_.push_back({place(std::move(container)), {}, {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  Json root_;
  std::vector<Level> levels_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  Builder builder(text, file);
  builder.read = text.data();
  Json::sax_parse(Reader(text.data(), &builder.read),
                  Reader(text.data() + text.size(), &builder.read), &builder);
  return builder.take();
}

Json read_json(const std::filesystem::path& file) {
  const std::string text = read_file(file, "a JSON file");
  try {
    return parse_json(text, file.string());
  } catch (const Error&) {
    const std::optional<std::string> kind = kind_of_binary(file);
    if (!kind) throw;
    throw input_error(describe(file.string(), "", *kind, "a JSON file"));
  }
}

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(std::string(key));
  return at == object.end() ? nullptr : &*at;
}

std::string to_text(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json exact_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double exact_number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto word = json.get<std::string>();
  return word == "inf"    ? kInfinity
         : word == "-inf" ? -kInfinity
                          : std::numeric_limits<double>::quiet_NaN();
}

Json exact_numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(exact_number(value));
  return list;
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace neutra
