#include "search/store_schema.h"

#include <algorithm>
#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace neutra::search {
namespace {

// --- how members are kept: as whole numbers, numbers or texts ---

std::int64_t kept(std::integral auto value) { return static_cast<std::int64_t>(value); }
double kept(double value) { return value; }
std::string kept(const std::string& text) { return text; }
std::string kept(const Hash& hash) { return to_string(hash); }
std::string kept(const program::Parameters& parameters) { return program::to_string(parameters); }
std::string kept(training::RunStatus status) { return std::string(to_string(status)); }

template <std::integral T>
void restore(std::int64_t value, T& member, const ColumnPlace&) {
  member = static_cast<T>(value);
}
void restore(double value, double& member, const ColumnPlace&) { member = value; }
void restore(const std::string& text, std::string& member, const ColumnPlace&) { member = text; }
void restore(const std::string& text, Hash& member, const ColumnPlace& place) {
  const auto hash = parse_hash(text);
  if (!hash) place.fail("'" + text + "'", "32 hexadecimal digits");
  member = *hash;
}
void restore(const std::string& text, program::Parameters& member, const ColumnPlace& place) {
  member = program::parse_parameters(text, place.file + ": " + place.path);
}
void restore(const std::string& text, training::RunStatus& member, const ColumnPlace& place) {
  const auto status = training::parse_run_status(text);
  if (!status) place.fail("'" + text + "'", "a status of this version");
  member = *status;
}

// --- columns ---

template <typename Class, typename Member>
Class class_of(Member Class::*);
/// The class that a member belongs to.
template <auto Member>
using ClassOf = decltype(class_of(Member));

/// A member of a row, or a member of that, and so on.
template <auto... Members>
auto& member_of(auto& row) {
  return (row.*....*Members);
}

template <auto First, auto... Rest>
void write_column(const std::vector<ClassOf<First>>& rows, Hdf5File& file,
                  const std::string& path) {
  std::vector<decltype(kept(member_of<First, Rest...>(rows.front())))> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(kept(member_of<First, Rest...>(row)));
  file.write(path, values);
}

template <typename Value>
std::vector<Value> values_of(const Hdf5File& file, const std::string& path) {
  if constexpr (std::is_same_v<Value, double>) {
    return file.read_doubles(path, kMostRows);
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    return file.read_integers(path, kMostRows);
  } else {
    return file.read_strings(path, kMostRows);
  }
}

template <auto First, auto... Rest>
void read_column(std::vector<ClassOf<First>>& rows, const Hdf5File& file,
                 const ColumnPlace& place) {
  using Value = decltype(kept(member_of<First, Rest...>(rows.front())));
  const std::vector<Value> values = values_of<Value>(file, place.path);
  rows.resize(values.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    restore(values[i], member_of<First, Rest...>(rows[i]), place);
  }
}

/// `later`: as in Column.
template <auto First, auto... Rest>
constexpr Column<ClassOf<First>> column(const char* name, bool later = false) {
  return {name, &write_column<First, Rest...>, &read_column<First, Rest...>, later};
}

// --- lists ---

template <auto List>
void write_lengths(const std::vector<ClassOf<List>>& rows, Hdf5File& file,
                   const std::string& path) {
  std::vector<std::int64_t> lengths;
  for (const auto& row : rows) lengths.push_back(static_cast<std::int64_t>((row.*List).size()));
  file.write(path, lengths);
}

template <auto List>
void write_items(const std::vector<ClassOf<List>>& rows, Hdf5File& file, const std::string& path) {
  std::vector<double> items;
  for (const auto& row : rows) items.insert(items.end(), (row.*List).begin(), (row.*List).end());
  file.write(path, items);
}

template <auto List>
void read_lists(std::vector<ClassOf<List>>& rows, const Hdf5File& file, const ColumnPlace& place) {
  const auto lengths = values_of<std::int64_t>(file, place.path);
  const std::vector<double> items =
      file.read_doubles(place.items, std::numeric_limits<std::uint64_t>::max());
  rows.resize(lengths.size());
  auto next = items.begin();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (lengths[i] < 0 || lengths[i] > items.end() - next) {
      place.fail(std::to_string(lengths[i]), std::string("as many as ") + place.items + " holds");
    }
    (rows[i].*List).assign(next, next + lengths[i]);
    next += lengths[i];
  }
}

/// `name`: of the column with the lengths. `items`: the dataset with all items.
template <auto List>
constexpr Column<ClassOf<List>> lists(const char* name, const char* items) {
  return {name, &write_lengths<List>, &read_lists<List>, false, items, &write_items<List>};
}

// --- the tables ---

using mutators::Mutation;
using training::ReplicaResult;

constexpr Column<StoredEvaluation> kEvaluationColumns[] = {
    column<&StoredEvaluation::key, &EvaluationKey::hash>("hash"),
    column<&StoredEvaluation::key, &EvaluationKey::replica>("replica"),
    column<&StoredEvaluation::result, &ReplicaResult::status>("status"),
    column<&StoredEvaluation::result, &ReplicaResult::metric>("metric"),
    column<&StoredEvaluation::result, &ReplicaResult::correct>("correct"),
    column<&StoredEvaluation::result, &ReplicaResult::total>("total"),
    column<&StoredEvaluation::result, &ReplicaResult::seconds>("seconds"),
    column<&StoredEvaluation::result, &ReplicaResult::steps>("steps"),
    column<&StoredEvaluation::result, &ReplicaResult::samples>("samples"),
    column<&StoredEvaluation::result, &ReplicaResult::epochs_saved>("epochs_saved"),
    column<&StoredEvaluation::result, &ReplicaResult::backend>("backend"),
    column<&StoredEvaluation::result, &ReplicaResult::message>("message"),
};

constexpr Column<StoredDeaths> kDeathColumns[] = {
    column<&StoredDeaths::program>("hash"),
    column<&StoredDeaths::count>("count"),
};

constexpr Column<Node> kNodeColumns[] = {
    column<&Node::id>("id"),
    column<&Node::parameters>("parameters"),
    column<&Node::hash>("hash"),
    column<&Node::parent>("parent"),
    column<&Node::depth>("depth"),
    column<&Node::mutation, &Mutation::op>("operator"),
    column<&Node::mutation, &Mutation::key>("key"),
    column<&Node::mutation, &Mutation::before>("before"),
    column<&Node::mutation, &Mutation::after>("after"),
    column<&Node::status>("status"),
    column<&Node::mean>("mean"),
    lists<&Node::metrics>("metric_count", "/metrics"),
    column<&Node::neutral>("neutral"),
    column<&Node::queued>("queued"),
    column<&Node::alternative>("alternative"),
    column<&Node::significant>("significant"),
    column<&Node::p>("p"),
    column<&Node::d>("d"),
    column<&Node::dequeued>("dequeued"),
};

constexpr Column<Edge> kEdgeColumns[] = {
    column<&Edge::parent>("parent"),
    column<&Edge::child>("child"),
};

constexpr Column<Node> kSubpatchColumns[] = {
    column<&Node::parameters>("parameters"),
    column<&Node::hash>("hash"),
    column<&Node::depth>("changes"),
    column<&Node::status>("status"),
    column<&Node::mean>("mean"),
    lists<&Node::metrics>("metric_count", "/subpatch_metrics"),
    column<&Node::alternative>("alternative"),
    column<&Node::significant>("significant"),
    column<&Node::p>("p"),
    column<&Node::d>("d"),
};

}  // namespace

const Table<StoredEvaluation> kStoredEvaluations{"/evaluations", kEvaluationColumns};
const Table<StoredDeaths> kStoredDeaths{"/deaths", kDeathColumns};
const Table<Node> kStoredNodes{"/nodes", kNodeColumns};
const Table<Edge> kStoredEdges{"/edges", kEdgeColumns};
const Table<Node> kStoredSubpatches{"/subpatches", kSubpatchColumns};

// --- reading and writing ---

void ColumnPlace::fail(const std::string& found, const std::string& allowed) const {
  throw input_error(describe(file, path, found, allowed));
}

template <typename Row>
void Table<Row>::write(Hdf5File& file, const std::string& name,
                       const std::vector<Row>& rows) const {
  if (rows.size() > kMostRows) {
    throw failure(describe(name, group, std::to_string(rows.size()) + " rows",
                           std::to_string(kMostRows) + " rows at most"));
  }
  for (const Column<Row>& column : columns) {
    column.write(rows, file, group + std::string("/") + column.name);
  }
  for (const Column<Row>& column : columns) {
    if (column.items != nullptr) column.write_items(rows, file, column.items);
  }
}

template <typename Row>
std::vector<Row> Table<Row>::read(const Hdf5File& file, const std::string& name) const {
  // All lengths first; rows are made for values that the file does hold.
  std::vector<std::pair<const Column<Row>*, ColumnPlace>> found;
  std::uint64_t count = 0;
  for (const Column<Row>& column : columns) {
    const ColumnPlace place{name, group + std::string("/") + column.name, column.items};
    if (column.later && !file.has(place.path)) continue;
    std::uint64_t length = 1;
    for (const std::uint64_t extent : file.extents(place.path)) length *= extent;
    if (found.empty()) count = length;
    if (length != count || length > kMostRows) {
      place.fail(std::to_string(length) + " rows",
                 std::to_string(std::min(count, kMostRows)) + " rows");
    }
    found.emplace_back(&column, place);
  }
  std::vector<Row> rows;
  for (const auto& [column, place] : found) column->read(rows, file, place);
  return rows;
}

template struct Table<StoredEvaluation>;
template struct Table<StoredDeaths>;
template struct Table<Node>;
template struct Table<Edge>;

}  // namespace neutra::search
