#include "training/data/csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <regex>
#include <tuple>

#include "base/csv_table.h"
#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/parse_number.h"
#include "base/strings.h"
#include "training/data/fields.h"

namespace neutra::training {
namespace {

/// The next record of a file; false at its end. Throws input_error with `file`, line and column.
bool next_record(CsvRecords& records, std::vector<std::string>& fields, const std::string& file) {
  try {
    return records.next(fields);
  } catch (const CsvRecords::Mistake& mistake) {
    const bool open = mistake.kind == CsvRecords::Mistake::kOpenQuote;
    throw input_error(describe(
        file, "line " + std::to_string(mistake.line) + ", column " + std::to_string(mistake.field),
        open ? "a quote that is never closed" : "text behind a closing quote",
        open ? "" : "a delimiter or the end of the line"));
  }
}

/// Number of a field; nullopt: it is none. Empty fields are NaN.
std::optional<double> number(std::string_view text, const CsvOptions& options) {
  text = trimmed(text);
  if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (const auto it = options.labels.find(std::string(text)); it != options.labels.end()) {
    return it->second;
  }
  if (text.front() == '+') text.remove_prefix(1);
  std::string with_point;
  if (options.decimal != '.') {
    if (text.find('.') != std::string_view::npos) return std::nullopt;
    with_point = text;
    std::replace(with_point.begin(), with_point.end(), options.decimal, '.');
    text = with_point;
  }
  return parse_number<double>(text);
}

/// Position of a column given by name or index.
std::size_t locate(const Json& column, const std::vector<std::string>& names, std::size_t width,
                   const char* role, const std::string& file) {
  if (column.is_number_integer()) {
    const auto index = column.get<std::int64_t>();
    const std::int64_t from = index < 0 ? index + static_cast<std::int64_t>(width) : index;
    if (from >= 0 && from < static_cast<std::int64_t>(width)) {
      return static_cast<std::size_t>(from);
    }
    throw input_error(describe(file, role, "column " + std::to_string(index),
                               "0 to " + std::to_string(width - 1) + ", or negative from the end"));
  }
  const std::string name = column.is_string() ? column.get<std::string>() : column.dump();
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) {
    std::string all;
    for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
    throw input_error(describe(file, role, "column \"" + name + "\"",
                               all.empty() ? "indices, for a file without header" : all));
  }
  if (const auto again = std::find(it + 1, names.end(), name); again != names.end()) {
    throw input_error(describe(file, role, "column \"" + name + "\", which the header names twice",
                               "an index: " + std::to_string(it - names.begin()) + " or " +
                                   std::to_string(again - names.begin())));
  }
  return static_cast<std::size_t>(it - names.begin());
}

/// What to do about a number with signs between its thousands, as "1.234,5" or "1,234.5". "" for
/// other texts.
std::string thousands_hint(std::string_view text, char decimal) {
  text = trimmed(text);
  const std::string number(text.substr(0, 40));
  for (const auto& [separator, point, name] :
       {std::tuple('.', ',', "dots"), std::tuple(',', '.', "commas")}) {
    const std::regex form(std::string("[+-]?\\d{1,3}((?:[") + separator + "]\\d{3})+)([" + point +
                          "]\\d*)?");
    std::smatch match;
    if (!std::regex_match(number, match, form)) continue;
    // "1.234" may be a plain number with the other decimal sign, which guess_csv_form() finds.
    if (!match[2].matched && match[1].length() == 4) continue;
    std::string plain = number;
    std::erase(plain, separator);
    const std::string option =
        decimal == point ? ""
                         : std::string(", with \"decimal\": \"") + point + "\" in data.arguments";
    return "\nIt looks like a number with " + std::string(name) +
           " between its thousands, which isn't read: write " + plain + option + ".";
  }
  return "";
}

std::vector<Json> as_list(const Json& arguments, const char* key) {
  if (!arguments.contains(key)) return {};
  const Json& value = arguments[key];
  return value.is_array() ? value.get<std::vector<Json>>() : std::vector<Json>{value};
}

/// The lines of a file up to the end of its second record, which has numbers in any case.
std::string first_records(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path)) read_regular_file(path, "a CSV file");
  std::string text;
  std::int64_t records = 0, quotes = 0;
  for (std::string line; records < 2 && std::getline(file, line); text += line + "\n") {
    quotes += std::count(line.begin(), line.end(), '"');
    records += quotes % 2 == 0 && line.find_first_not_of("\r") != std::string::npos;
  }
  return text;
}

}  // namespace

CsvOptions csv_options(const Json& arguments) {
  check_fields(arguments, "data.arguments",
               {{"file", FieldRule::kText},
                {"header", FieldRule::kAny},
                {"delimiter", FieldRule::kAny},
                {"decimal", FieldRule::kAny},
                {"target", FieldRule::kAny},
                {"drop", FieldRule::kAny},
                {"labels", FieldRule::kAny},
                {"allow_nan", FieldRule::kFlag},
                {"rows", FieldRule::kWhole, 0, kLargestExactWhole}});
  CsvOptions options;
  if (arguments.contains("header") && arguments["header"].is_boolean()) {
    options.header = arguments["header"].get<bool>();
  } else if (arguments.contains("header") && arguments["header"] != "auto") {
    throw input_error("data.arguments.header: found " + arguments["header"].dump() +
                      "; allowed: true, false, \"auto\"");
  }
  if (arguments.contains("delimiter")) {
    const std::string text = arguments["delimiter"].is_string() ? arguments["delimiter"] : "";
    if (text.size() != 1 || text == "\"" || text == "\n" || text == "\r") {
      throw input_error("data.arguments.delimiter: found " + arguments["delimiter"].dump() +
                        "; allowed: one character other than a quote or a line end");
    }
    options.delimiter = text[0];
  }
  if (arguments.contains("decimal")) {
    const Json& decimal = arguments["decimal"];
    if (decimal != "." && decimal != ",") {
      throw input_error("data.arguments.decimal: found " + decimal.dump() +
                        "; allowed: \".\", \",\"");
    }
    options.decimal = decimal.get<std::string>().front();
  }
  // Commas for both: the numbers with decimals are in quotes.
  if (options.decimal == options.delimiter && options.decimal != ',') {
    throw input_error(std::string("data.arguments.delimiter: found \"") + options.delimiter +
                      "\", as the decimal sign; allowed: another character");
  }
  options.target = as_list(arguments, "target");
  options.drop = as_list(arguments, "drop");
  if (arguments.contains("labels")) {
    if (!arguments["labels"].is_object()) {
      throw input_error("data.arguments.labels: found " + arguments["labels"].dump() +
                        "; allowed: an object from texts to numbers");
    }
    for (const auto& [text, value] : arguments["labels"].items()) {
      if (!value.is_number()) {
        throw input_error("data.arguments.labels." + text + ": found " + value.dump() +
                          "; allowed: a number");
      }
      options.labels[text] = value.get<double>();
    }
  }
  options.allow_nan = arguments.value("allow_nan", false);
  options.rows = arguments.value("rows", std::int64_t{0});
  return options;
}

namespace {

/// Which share of the fields of the first rows are numbers; 0 where they have not the same number
/// of columns, or one.
double share_of_numbers(std::string_view text, const CsvOptions& options) {
  constexpr int kRows = 20;
  CsvRecords records(text, options.delimiter, CsvRecords::Blanks::kKept);
  std::vector<std::string> fields, first;
  std::size_t numbers = 0, all = 0;
  try {
    if (!records.next(first) || first.size() < 2) return 0;
    for (int row = 0; row < kRows && records.next(fields); ++row) {
      if (fields.size() != first.size()) return 0;
      for (const std::string& field : fields) numbers += number(field, options).has_value();
      all += fields.size();
    }
  } catch (const CsvRecords::Mistake&) {
    return 0;
  }
  if (all == 0) {  // one line
    for (const std::string& field : first) numbers += number(field, options).has_value();
    all = first.size();
  }
  return static_cast<double>(numbers) / static_cast<double>(all);
}

/// The encoding of a text that isn't UTF-8, by its byte order mark or by which bytes are 0: those
/// that ASCII, as most of a CSV file is, leaves empty. "" where nothing tells.
std::string wide_encoding(std::string_view text) {
  using namespace std::string_view_literals;
  // UTF-32 first: its little-endian mark begins with that of UTF-16.
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return "UTF-16";
  constexpr std::size_t kSample = 1000;
  const std::string_view sample = text.substr(0, kSample);
  std::array<std::size_t, 4> zeros{};  // by place in a group of four bytes
  for (std::size_t i = 0; i < sample.size(); ++i) zeros[i % 4] += sample[i] == '\0';
  const std::size_t fours = sample.size() / 4, twos = sample.size() / 2;
  if (fours > 0 && zeros[0] == 0 && zeros[2] >= fours && zeros[3] >= fours) return "UTF-32LE";
  if (fours > 0 && zeros[3] == 0 && zeros[0] >= fours && zeros[1] >= fours) return "UTF-32BE";
  const std::size_t even = zeros[0] + zeros[2], odd = zeros[1] + zeros[3];
  if (even == 0 && 2 * odd > twos) return "UTF-16LE";
  if (odd == 0 && 2 * even > twos) return "UTF-16BE";
  return "";
}

/// Refuses texts in another encoding, and what has bytes 0, as no text has.
void require_utf8(std::string_view text, const std::string& file) {
  const std::string found = wide_encoding(text);
  if (found.empty()) {
    const std::size_t at = text.find('\0');
    if (at == std::string_view::npos) return;
    const std::string_view before = text.substr(0, at);
    throw input_error(
        describe(file, "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n')),
                 "a byte 0, byte " + std::to_string(at + 1) + " of the file",
                 "text in UTF-8, which has none"));
  }
  throw input_error(
      describe(file, "", "a text in " + found,
               "UTF-8; make it with: iconv -f " + found + " -t UTF-8 '" + file + "' > utf8.csv"));
}

/// What the columns of a file are for.
struct ColumnRoles {
  enum Role { kFeature, kTarget, kDropped };
  std::vector<Role> roles;           ///< of each column
  std::vector<std::size_t> targets;  ///< in the order that the options name them
  std::size_t features = 0;          ///< how many there are
};

/// `names`: of the columns; empty for a file without header.
ColumnRoles choose_columns(const CsvOptions& options, const std::vector<std::string>& names,
                           std::size_t width, const std::string& file) {
  const auto named = [&](std::size_t column) {
    return names.empty() ? "column " + std::to_string(column) : "column \"" + names[column] + "\"";
  };
  ColumnRoles columns;
  columns.roles.assign(width, ColumnRoles::kFeature);
  for (const Json& column : options.drop) {
    columns.roles[locate(column, names, width, "drop", file)] = ColumnRoles::kDropped;
  }
  std::vector<std::size_t>& targets = columns.targets;
  for (const Json& column : options.target) {
    const std::size_t at = locate(column, names, width, "target", file);
    if (std::find(targets.begin(), targets.end(), at) != targets.end()) {
      throw input_error(describe(file, "target", named(at) + " twice", "each column once"));
    }
    if (columns.roles[at] == ColumnRoles::kDropped) {
      throw input_error(describe(file, "target", named(at) + ", which is in drop, too",
                                 "a column of one of them"));
    }
    targets.push_back(at);
  }
  if (targets.empty()) targets.push_back(width - 1);
  for (const std::size_t column : targets) columns.roles[column] = ColumnRoles::kTarget;
  columns.features = static_cast<std::size_t>(
      std::count(columns.roles.begin(), columns.roles.end(), ColumnRoles::kFeature));
  if (columns.features == 0) {
    throw input_error(
        describe(file, "", "no feature columns", "at least one column besides target and drop"));
  }
  return columns;
}

/// The number of a field at `place`. Throws input_error where it is none or isn't allowed.
double required_number(const std::string& field, const CsvOptions& options, const std::string& file,
                       const std::string& place) {
  const std::optional<double> value = number(field, options);
  const auto found = [&] { return "\"" + field.substr(0, 40) + "\""; };
  if (!value) {
    throw input_error(
        describe(file, place, found(), "a number, or a text listed in data.arguments.labels") +
        thousands_hint(field, options.decimal));
  }
  if (!std::isfinite(*value) && !options.allow_nan) {
    throw input_error(describe(file, place, field.empty() ? "an empty field" : found(),
                               "finite numbers, unless data.arguments.allow_nan is true"));
  }
  return *value;
}

Part parse(std::string_view text, const CsvOptions& options, const std::string& file) {
  CsvRecords records(text, options.delimiter, CsvRecords::Blanks::kKept);
  std::vector<std::string> fields;
  bool more = next_record(records, fields, file);
  if (!more) throw input_error(describe(file, "", "no rows", "at least one"));
  const std::size_t width = fields.size();
  std::vector<std::string> names;
  const bool header = options.header.value_or(
      std::any_of(fields.begin(), fields.end(),
                  [&](const std::string& field) { return !number(field, options); }));
  if (header) {
    for (const std::string& field : fields) names.emplace_back(trimmed(field));
    more = next_record(records, fields, file);
  }
  const ColumnRoles columns = choose_columns(options, names, width, file);

  Part part;
  std::vector<double> row(width);
  std::int64_t rows = 0;
  bool has_decimals = false;
  for (; more;
       more = (options.rows <= 0 || rows < options.rows) && next_record(records, fields, file)) {
    const std::string line = "line " + std::to_string(records.line());
    if (fields.size() != width) {
      throw input_error(describe(file, line, std::to_string(fields.size()) + " columns",
                                 std::to_string(width) + ", as in the first line"));
    }
    for (std::size_t i = 0; i < width; ++i) {
      if (columns.roles[i] == ColumnRoles::kDropped) continue;
      row[i] =
          required_number(fields[i], options, file, line + ", column " + std::to_string(i + 1));
      has_decimals |= fields[i].find(options.decimal) != std::string::npos;
      if (columns.roles[i] == ColumnRoles::kFeature) part.x.values.push_back(row[i]);
    }
    for (const std::size_t column : columns.targets) part.y.values.push_back(row[column]);
    ++rows;
  }
  if (rows == 0) throw input_error(describe(file, "", "a header and no rows", "at least one row"));
  // Without quotes each number with decimals was taken for two.
  if (options.decimal == options.delimiter && !has_decimals && rows != options.rows) {
    throw input_error(describe(file, "data.arguments.delimiter",
                               "\",\", as the decimal sign, and no number with a comma in quotes",
                               "another delimiter, or numbers such as \"1,5\" in quotes"));
  }
  part.x.extents = {rows, static_cast<std::int64_t>(columns.features)};
  part.y.extents = {rows};
  if (columns.targets.size() > 1) {
    part.y.extents.push_back(static_cast<std::int64_t>(columns.targets.size()));
  }
  return part;
}

}  // namespace

Json guess_csv_form(std::string_view text, const CsvOptions& options) {
  double best = share_of_numbers(text, options);
  Json form = Json::object();
  // What changes least comes first.
  for (const bool other_decimal : {false, true}) {
    for (const char delimiter : {options.delimiter, ',', ';', '\t', '|', ' '}) {
      CsvOptions tried = options;
      tried.delimiter = delimiter;
      if (other_decimal) tried.decimal = options.decimal == '.' ? ',' : '.';
      if (tried.delimiter == tried.decimal && tried.decimal != ',') continue;
      const double share = share_of_numbers(text, tried);
      if (share <= best) continue;
      best = share;
      form = Json::object();
      if (delimiter != options.delimiter) form["delimiter"] = std::string(1, delimiter);
      if (other_decimal) form["decimal"] = std::string(1, tried.decimal);
    }
  }
  return form;
}

Part parse_csv(std::string_view text, const CsvOptions& options, const std::string& file) {
  require_utf8(text, file);
  try {
    return parse(text, options, file);
  } catch (const Error& error) {
    std::string hint;
    const Json form = guess_csv_form(text, options);
    for (const auto& [name, value] : form.items()) {
      hint += (hint.empty() ? "" : ", ") + ("\"" + name + "\": ") + value.dump();
    }
    if (hint.empty()) throw;
    throw input_error(std::string(error.what()) + "\nIts rows look as if they need " + hint +
                      " in data.arguments.");
  }
}

RawData read_csv_source(const Json& arguments, const SearchPath& search_path, Reading reading) {
  const std::filesystem::path path =
      find_file({text_argument(arguments, "file", "csv")}, search_path);
  CsvOptions options = csv_options(arguments);
  if (reading == Reading::kAll) {
    return {parse_csv(read_regular_file(path, "a CSV file"), options, path.string()), {}, false};
  }
  options.rows = 1;
  Part part = parse_csv(first_records(path), options, path.string());
  for (Table* table : {&part.x, &part.y}) {
    table->extents.front() = 0;
    table->values.clear();
  }
  return {std::move(part), {}, false};
}

}  // namespace neutra::training
