#include "search/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>
#include <sstream>
#include <thread>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "base/warn_once.h"
#include "base/words.h"
#include "search/minimal.h"

namespace neutra::search {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr std::string_view kFormat = "neutra-store";
constexpr std::string_view kLockBeginning = "pid ";
constexpr auto kLockPatience = std::chrono::milliseconds(500);
/// Saving for readers costs at most a fiftieth of the time.
constexpr int kSaveShare = 50;
constexpr auto kSaveInterval = std::chrono::seconds(2);
/// How to get rid of a store; other verbs than search come here, too.
constexpr const char* kAnew = "remove it to start anew (neutra search --fresh does)";
constexpr const char* kStore = "a store made by neutra search";
constexpr const char* kStoreOrFree = "a store made by neutra search, or a name that is still free";
/// Of the configuration.
constexpr std::array<const char*, 2> kBudgets{"budget_evaluations", "budget_seconds"};

fs::path beside(const fs::path& store, const char* suffix) { return store.string() + suffix; }

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

// --- JSON ---

Json record(const char* type, const EvaluationKey& key) {
  return {{"type", type}, {"hash", to_string(key.hash)}, {"replica", key.replica}};
}

EvaluationKey key_from(const Json& json) {
  const auto hash = parse_hash(json.at("hash").get<std::string>());
  const int replica = json.at("replica").get<int>();
  if (!hash || replica < 0) throw input_error("no key");
  return {*hash, replica};
}

// --- the HDF5 file ---

/// A table: columns of one length in a group.
class Table {
 public:
  Table(Hdf5File& file, std::string group) : file_(file), group_(std::move(group)) {}
  template <typename Rows, typename Get>
  void write(const char* column, const Rows& rows, Get get) {
    using Value = std::decay_t<decltype(get(*rows.begin()))>;
    using Stored = std::conditional_t<std::is_integral_v<Value>, std::int64_t, Value>;
    std::vector<Stored> values;
    for (const auto& row : rows) values.push_back(static_cast<Stored>(get(row)));
    file_.write(group_ + "/" + column, values);
  }

 private:
  Hdf5File& file_;
  std::string group_;
};

class TableReader {
 public:
  TableReader(const Hdf5File& file, const fs::path& name, std::string group)
      : file_(file), name_(name), group_(std::move(group)) {}
  std::vector<std::int64_t> integers(const char* column) {
    return checked(column, file_.read_integers(group_ + "/" + column));
  }
  std::vector<double> doubles(const char* column) {
    return checked(column, file_.read_doubles(group_ + "/" + column));
  }
  std::vector<std::string> strings(const char* column) {
    return checked(column, file_.read_strings(group_ + "/" + column));
  }
  [[noreturn]] void fail(const std::string& column, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(describe(name_.string(), group_ + "/" + column, found, allowed));
  }

 private:
  template <typename T>
  std::vector<T> checked(const char* column, std::vector<T> values) {
    if (!rows_) rows_ = values.size();
    if (*rows_ != values.size()) {
      fail(column, std::to_string(values.size()) + " rows", std::to_string(*rows_) + " rows");
    }
    return values;
  }
  const Hdf5File& file_;
  const fs::path& name_;
  std::string group_;
  std::optional<std::size_t> rows_;
};

/// What a journal would hold of the content, for repair_store(): bytes that need no HDF5 to be
/// read. The header stands at both ends, since nothing is worth anything without it.
std::string journal_frames(const StoreContent& content) {
  const std::string header = journal_frame({{"type", "header"}, {"header", content.header}});
  std::string frames = header;
  for (const auto& [key, result] : content.evaluations) {
    Json json = record("finished", key);
    json["elapsed"] = 0;
    json.update(to_json(result));
    frames += journal_frame(json);
  }
  for (const auto& [hash, count] : content.deaths) {
    frames += journal_frame({{"type", "deaths"}, {"hash", to_string(hash)}, {"count", count}});
  }
  return frames + journal_frame({{"type", "elapsed"}, {"seconds", content.elapsed}}) + header;
}

constexpr const char* kSubpatches = "/subpatches";
constexpr const char* kSubpatchMetrics = "/subpatch_metrics";

/// The metrics of all nodes, one after the other.
void write_metrics(Hdf5File& file, const char* path, const std::vector<Node>& nodes) {
  std::vector<double> metrics;
  for (const Node& node : nodes) {
    metrics.insert(metrics.end(), node.metrics.begin(), node.metrics.end());
  }
  file.write(path, metrics);
}

void write_subpatches(Hdf5File& file, const std::vector<Node>& nodes) {
  Table table(file, kSubpatches);
  table.write("parameters", nodes, [](const Node& n) { return program::to_string(n.parameters); });
  table.write("hash", nodes, [](const Node& n) { return to_string(n.hash); });
  table.write("changes", nodes, [](const Node& n) { return n.depth; });
  table.write("status", nodes, [](const Node& n) { return n.status; });
  table.write("mean", nodes, [](const Node& n) { return n.mean; });
  table.write("metric_count", nodes, [](const Node& n) { return n.metrics.size(); });
  table.write("alternative", nodes, [](const Node& n) { return n.alternative; });
  table.write("significant", nodes, [](const Node& n) { return n.significant; });
  table.write("p", nodes, [](const Node& n) { return n.p; });
  table.write("d", nodes, [](const Node& n) { return n.d; });
  write_metrics(file, kSubpatchMetrics, nodes);
}

void write_content(Hdf5File& file, const StoreContent& content) {
  // Attributes are for people and h5dump; the program reads the header back from one text.
  for (const auto& [name, value] : content.header.items()) {
    if (value.is_number_integer()) {
      file.write_attribute("/", name, value.get<std::int64_t>());
    } else {
      file.write_attribute("/", name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  file.write_attribute("/", "finished", std::int64_t{content.finished});
  file.write_attribute("/", "end", std::string(to_string(content.end)));
  file.write_attribute("/", "counters", to_json(content.counters).dump());
  const Json state = {
      {"journal_id", content.journal_id},
      {"journal_bytes", content.journal_bytes},
      {"elapsed", content.elapsed},
      {"ground_truth",
       content.network.ground_truth ? exact_number(*content.network.ground_truth) : Json(nullptr)}};
  file.write("/header", std::vector<std::string>{content.header.dump(), state.dump()});

  using Evaluation = EvaluationMap::value_type;
  Table evaluations(file, "/evaluations");
  const auto& all = content.evaluations;
  evaluations.write("hash", all, [](const Evaluation& e) { return to_string(e.first.hash); });
  evaluations.write("replica", all, [](const Evaluation& e) { return e.first.replica; });
  evaluations.write("status", all,
                    [](const Evaluation& e) { return std::string(to_string(e.second.status)); });
  evaluations.write("metric", all, [](const Evaluation& e) { return e.second.metric; });
  evaluations.write("correct", all, [](const Evaluation& e) { return e.second.correct; });
  evaluations.write("total", all, [](const Evaluation& e) { return e.second.total; });
  evaluations.write("seconds", all, [](const Evaluation& e) { return e.second.seconds; });
  evaluations.write("steps", all, [](const Evaluation& e) { return e.second.steps; });
  evaluations.write("samples", all, [](const Evaluation& e) { return e.second.samples; });
  evaluations.write("epochs_saved", all, [](const Evaluation& e) { return e.second.epochs_saved; });
  evaluations.write("backend", all, [](const Evaluation& e) { return e.second.backend; });
  evaluations.write("message", all, [](const Evaluation& e) { return e.second.message; });

  using Death = std::pair<const Hash, int>;
  Table deaths(file, "/deaths");
  deaths.write("hash", content.deaths, [](const Death& d) { return to_string(d.first); });
  deaths.write("count", content.deaths, [](const Death& d) { return d.second; });

  const auto& nodes = content.network.nodes;
  Table table(file, "/nodes");
  table.write("id", nodes, [](const Node& n) { return n.id; });
  table.write("parameters", nodes, [](const Node& n) { return program::to_string(n.parameters); });
  table.write("hash", nodes, [](const Node& n) { return to_string(n.hash); });
  table.write("parent", nodes, [](const Node& n) { return n.parent; });
  table.write("depth", nodes, [](const Node& n) { return n.depth; });
  table.write("operator", nodes, [](const Node& n) { return n.mutation.op; });
  table.write("key", nodes, [](const Node& n) { return n.mutation.key; });
  table.write("before", nodes, [](const Node& n) { return n.mutation.before; });
  table.write("after", nodes, [](const Node& n) { return n.mutation.after; });
  table.write("status", nodes, [](const Node& n) { return n.status; });
  table.write("mean", nodes, [](const Node& n) { return n.mean; });
  table.write("metric_count", nodes, [](const Node& n) { return n.metrics.size(); });
  table.write("neutral", nodes, [](const Node& n) { return n.neutral; });
  table.write("queued", nodes, [](const Node& n) { return n.queued; });
  table.write("alternative", nodes, [](const Node& n) { return n.alternative; });
  table.write("significant", nodes, [](const Node& n) { return n.significant; });
  table.write("p", nodes, [](const Node& n) { return n.p; });
  table.write("d", nodes, [](const Node& n) { return n.d; });
  table.write("dequeued", nodes, [](const Node& n) { return n.dequeued; });
  write_metrics(file, "/metrics", nodes);
  Table edges(file, "/edges");
  edges.write("parent", content.network.edges, [](const Edge& e) { return e.parent; });
  edges.write("child", content.network.edges, [](const Edge& e) { return e.child; });
  file.write("/fixed/metrics", content.network.fixed_metrics);
  if (content.network.fixed_parameters) {
    file.write_attribute("/fixed", "parameters",
                         program::to_string(*content.network.fixed_parameters));
  }
  if (content.minimising) {
    file.write_attribute("/", "minimising", to_json(*content.minimising).dump());
    write_subpatches(file, content.network.subpatches);
  }
  file.write_bytes("/records", journal_frames(content), false);
}

void read_evaluations(const Hdf5File& file, const fs::path& name, StoreContent& content) {
  TableReader table(file, name, "/evaluations");
  const auto hash = table.strings("hash");
  const auto replica = table.integers("replica");
  const auto status = table.strings("status");
  const auto metric = table.doubles("metric");
  const auto correct = table.integers("correct");
  const auto total = table.integers("total");
  const auto seconds = table.doubles("seconds");
  const auto steps = table.integers("steps");
  const auto samples = table.integers("samples");
  const auto epochs_saved = table.integers("epochs_saved");
  const auto backend = table.strings("backend");
  const auto message = table.strings("message");
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const auto id = parse_hash(hash[i]);
    if (!id) table.fail("hash", "'" + hash[i] + "'", "32 hexadecimal digits");
    const auto known = training::parse_run_status(status[i]);
    if (!known) table.fail("status", "'" + status[i] + "'", "a status of this version");
    content.evaluations[{*id, static_cast<int>(replica[i])}] = {
        *known,     metric[i],       correct[i], total[i],   seconds[i], steps[i],
        samples[i], epochs_saved[i], backend[i], message[i], 0,          0};
  }
  TableReader deaths(file, name, "/deaths");
  const auto dead = deaths.strings("hash");
  const auto counts = deaths.integers("count");
  for (std::size_t i = 0; i < dead.size(); ++i) {
    const auto id = parse_hash(dead[i]);
    if (!id) deaths.fail("hash", "'" + dead[i] + "'", "32 hexadecimal digits");
    content.deaths[*id] = static_cast<int>(counts[i]);
  }
}

void read_network(const Hdf5File& file, const fs::path& name, Network& network) {
  TableReader table(file, name, "/nodes");
  const auto id = table.integers("id");
  const auto parameters = table.strings("parameters");
  const auto hash = table.strings("hash");
  const auto parent = table.integers("parent");
  const auto depth = table.integers("depth");
  const auto op = table.strings("operator");
  const auto key = table.strings("key");
  const auto before = table.strings("before");
  const auto after = table.strings("after");
  const auto status = table.strings("status");
  const auto mean = table.doubles("mean");
  const auto metric_count = table.integers("metric_count");
  const auto neutral = table.integers("neutral");
  const auto queued = table.integers("queued");
  const auto alternative = table.integers("alternative");
  const auto significant = table.integers("significant");
  const auto p = table.doubles("p");
  const auto d = table.doubles("d");
  const auto dequeued = table.integers("dequeued");
  const auto metrics = file.read_doubles("/metrics");
  auto next = metrics.begin();
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (id[i] != static_cast<std::int64_t>(i) || parent[i] >= id[i]) {
      table.fail("id",
                 "node " + std::to_string(id[i]) + " with parent " + std::to_string(parent[i]),
                 "node " + std::to_string(i) + " with an earlier parent");
    }
    if (metric_count[i] < 0 || metric_count[i] > metrics.end() - next) {
      table.fail("metric_count", std::to_string(metric_count[i]), "as many as /metrics holds");
    }
    Node node;
    node.id = id[i];
    node.parameters =
        program::parse_parameters(parameters[i], name.string() + ": /nodes/parameters");
    node.hash = parse_hash(hash[i]).value_or(Hash{});
    node.parent = parent[i];
    node.depth = static_cast<int>(depth[i]);
    node.mutation = {op[i], key[i], before[i], after[i]};
    node.status = status[i];
    node.metrics.assign(next, next + metric_count[i]);
    next += metric_count[i];
    node.mean = mean[i];
    node.neutral = neutral[i] != 0;
    node.queued = queued[i] != 0;
    node.alternative = alternative[i] != 0;
    node.significant = significant[i] != 0;
    node.p = p[i];
    node.d = d[i];
    node.dequeued = dequeued[i];
    network.nodes.push_back(std::move(node));
  }
  TableReader edges(file, name, "/edges");
  const auto from = edges.integers("parent");
  const auto to = edges.integers("child");
  const auto exists = [&](std::int64_t node) {
    return node >= 0 && node < static_cast<std::int64_t>(network.nodes.size());
  };
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!exists(from[i]) || !exists(to[i])) {
      edges.fail("child", std::to_string(from[i]) + " -> " + std::to_string(to[i]),
                 "nodes of /nodes");
    }
    network.edges.push_back({from[i], to[i]});
  }
  network.fixed_metrics = file.read_doubles("/fixed/metrics");
  if (file.has_attribute("/fixed", "parameters")) {
    network.fixed_parameters = program::parse_parameters(
        file.read_string_attribute("/fixed", "parameters"), name.string() + ": /fixed");
  }
}

/// What minimising found; a store from before has none of it.
void read_subpatches(const Hdf5File& file, const fs::path& name, StoreContent& content) {
  if (!file.has_attribute("/", "minimising")) return;
  content.minimising = minimising_from_json(
      parse_json(file.read_string_attribute("/", "minimising"), name.string() + ": minimising"));
  TableReader table(file, name, kSubpatches);
  const auto parameters = table.strings("parameters");
  const auto hash = table.strings("hash");
  const auto changes = table.integers("changes");
  const auto status = table.strings("status");
  const auto mean = table.doubles("mean");
  const auto metric_count = table.integers("metric_count");
  const auto alternative = table.integers("alternative");
  const auto significant = table.integers("significant");
  const auto p = table.doubles("p");
  const auto d = table.doubles("d");
  const auto metrics = file.read_doubles(kSubpatchMetrics);
  auto next = metrics.begin();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (metric_count[i] < 0 || metric_count[i] > metrics.end() - next) {
      table.fail("metric_count", std::to_string(metric_count[i]),
                 std::string("as many as ") + kSubpatchMetrics + " holds");
    }
    Node node;
    node.id = -static_cast<std::int64_t>(i) - 1;
    node.parameters = program::parse_parameters(parameters[i],
                                                name.string() + ": " + kSubpatches + "/parameters");
    node.hash = parse_hash(hash[i]).value_or(Hash{});
    node.depth = static_cast<int>(changes[i]);
    node.status = status[i];
    node.mean = mean[i];
    node.metrics.assign(next, next + metric_count[i]);
    next += metric_count[i];
    node.alternative = alternative[i] != 0;
    node.significant = significant[i] != 0;
    node.p = p[i];
    node.d = d[i];
    content.network.subpatches.push_back(std::move(node));
  }
}

/// Writes the complete store beside `file` and renames it.
void write_store(const fs::path& file, const StoreContent& content) {
  const fs::path temporary = beside(file, ".tmp");
  try {
    // HDF5 crashes when it closes a file on a full disk: it never sees one.
    Hdf5File hdf5 = Hdf5File::create_in_memory(file, kSealBytes);
    write_content(hdf5, content);
    std::string bytes = hdf5.image();
    hdf5.close();
    seal(bytes, kFormat, kVersion);
    const int descriptor =
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) throw_system_error("cannot write", file);
    const bool written = write_all(descriptor, bytes) && ::fsync(descriptor) == 0;
    const int error = errno;
    ::close(descriptor);
    errno = error;
    if (!written || ::rename(temporary.c_str(), file.c_str()) != 0) {
      throw_system_error("cannot write", file);
    }
    sync_folder(file);
  } catch (const Error& error) {
    ::unlink(temporary.c_str());
    const std::string message = error.what();
    if (message.find(kResumeHint) != std::string::npos) throw;
    std::error_code ignored;
    if (!fs::exists(beside(file, ".journal"), ignored)) throw;  // nothing is kept
    throw failure(message + " (" + std::string(kResumeHint) + ")");
  }
}

Error newer_version(const fs::path& file, const std::string& found) {
  return input_error(
      describe(file.string(), "", found,
               "versions up to " + std::to_string(kVersion) + ": a newer neutra made it"));
}

/// Throws input_error for the header of a newer version.
void require_known_version(const fs::path& file, const Json& header) {
  const Json* version = member(header, "version");
  if (version && !(version->is_number_integer() && *version <= kVersion)) {
    throw newer_version(file, "version " + version->dump());
  }
}

/// Throws input_error for a file that is no store or of a newer version.
Seal read_store_seal(const fs::path& file, const char* allowed) {
  require_no_pipe(file, "a store");
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(file, ignored);
  const std::optional<Seal> found = is_file ? read_seal(file) : std::nullopt;
  if (!found || found->format != kFormat) {
    throw input_error(describe(file.string(), "", kind_of_file(file), allowed));
  }
  if (found->version > kVersion) {
    throw newer_version(file, std::string(kFormat) + " version " + std::to_string(found->version));
  }
  return *found;
}

/// The file of a store that is whole.
Hdf5File open_store(const fs::path& store) {
  const Seal stated = read_store_seal(store, kStore);
  if (const std::string found = sealed_digest(store); found != stated.digest) {
    throw input_error(describe(
        store.string(), "", "digest " + found,
        stated.digest + ": the file is damaged; neutra store repair takes what is whole, or " +
            kAnew));
  }
  return Hdf5File::open(store);
}

void read_hdf5(const fs::path& store, StoreContent& content) {
  const Hdf5File file = open_store(store);
  const auto texts = file.read_strings("/header");
  if (texts.size() != 2) {
    throw input_error(
        describe(store.string(), "/header", std::to_string(texts.size()) + " texts", "2"));
  }
  content.header = parse_json(texts[0], store.string() + ": /header");
  try {
    const Json state = parse_json(texts[1], store.string() + ": /header");
    content.journal_id = state.at("journal_id").get<std::string>();
    content.journal_bytes = state.at("journal_bytes").get<std::uint64_t>();
    content.elapsed = state.at("elapsed").get<double>();
    content.saved_elapsed = content.elapsed;
    if (!state.at("ground_truth").is_null()) {
      content.network.ground_truth = exact_number(state.at("ground_truth"));
    }
    content.counters = search_counters_from_json(
        parse_json(file.read_string_attribute("/", "counters"), store.string() + ": counters"));
    content.network.fault_id = content.header.at("fault").get<std::string>();
    content.network.metric = content.header.at("metric").get<std::string>();
    content.network.goal = program::parse_goal(content.header.at("goal").get<std::string>())
                               .value_or(program::Goal::kMaximize);
    content.network.improve = content.header.at("config").value("improve", false);
  } catch (const Json::exception& error) {
    throw input_error(describe(store.string(), "/header", error.what(), ""));
  }
  content.finished = file.read_integer_attribute("/", "finished") != 0;
  const auto end = parse_search_end(file.read_string_attribute("/", "end"));
  content.end = end.value_or(SearchEnd::kInterrupted);
  read_evaluations(file, store, content);
  read_network(file, store, content.network);
  try {
    read_subpatches(file, store, content);
  } catch (const Json::exception& error) {
    throw input_error(describe(store.string(), "minimising", error.what(), ""));
  }
}

/// The journal's first record that says what was searched; nullptr: none does.
const Json* header_record(const JournalContent& journal) {
  for (const auto& [offset, payload] : journal.records) {
    const Json *type = member(payload, "type"), *header = member(payload, "header");
    if (type && *type == "header" && header && header->is_object()) return &payload;
  }
  return nullptr;
}

/// Adds the records from byte `skip` on. One process wrote them: each program in its hands when it
/// died counts once.
void apply_records(const JournalContent& journal, std::uint64_t skip, StoreContent& content) {
  std::map<Hash, std::set<int>> in_flight;
  for (const auto& [offset, payload] : journal.records) {
    if (offset < skip) continue;
    try {
      const auto type = payload.at("type").get<std::string>();
      if (type == "started" && !payload.at("apart").get<bool>()) {
        const EvaluationKey key = key_from(payload);
        in_flight[key.hash].insert(key.replica);
      } else if (type == "dropped" || type == "finished") {
        const EvaluationKey key = key_from(payload);
        in_flight[key.hash].erase(key.replica);
        if (type == "dropped") continue;
        content.evaluations.emplace(key, training::replica_result_from_json(payload));
        content.elapsed = std::max(content.elapsed, payload.at("elapsed").get<double>());
      } else if (type == "elapsed") {
        content.elapsed = std::max(content.elapsed, payload.at("seconds").get<double>());
      } else if (type == "deaths") {
        const auto hash = parse_hash(payload.at("hash").get<std::string>());
        if (!hash) throw input_error("no hash");
        content.deaths.emplace(*hash, payload.at("count").get<int>());
      }
    } catch (const std::exception&) {
      content.journal_damage.add(offset, journal_frame(payload).size());  // whole, but not ours
    }
  }
  for (const auto& [hash, replicas] : in_flight) {
    if (!replicas.empty()) ++content.deaths[hash];
  }
}

/// Adds what the journal holds beyond the HDF5 file.
void apply_journal(const std::string& bytes, const fs::path& file, StoreContent& content) {
  const JournalContent journal = parse_journal(bytes);
  content.journal_damage = journal.damage;
  if (!may_be_journal(bytes, journal)) {
    throw input_error(describe(file.string(), "", "another kind of file",
                               "the journal of the search; move it away"));
  }
  if (journal.records.empty()) return;
  std::uint64_t skip = 0;
  const Json* first = header_record(journal);
  // What is left of a finished search's journal, unless it was made for minimising.
  if (content.finished && (first == nullptr || !first->value("minimising", false))) {
    content.journal_damage = {};
    return;
  }
  if (first != nullptr) {
    const Json& header = first->at("header");
    require_known_version(file, header);
    if (content.header.empty()) {
      content.header = header;
    } else if (!header_differences(content.header, header).empty() &&
               !raises_budgets(header, content.header)) {  // the file is written first
      throw input_error(describe(file.string(), "", "the journal of another search",
                                 "that of the store beside it; move it away"));
    }
    const Json* id = member(*first, "id");
    if (id && *id == content.journal_id) skip = content.journal_bytes;
    content.journal_id = id && id->is_string() ? id->get<std::string>() : "";
  } else if (content.header.empty()) {
    throw input_error(describe(file.string(), "", "evaluations after a damaged first record",
                               "a first record that says what was searched; take a copy of the "
                               "file, and " +
                                   std::string(kAnew)));
  }
  content.journal_is_ahead = bytes.size() > skip;
  content.journal_bytes = bytes.size();
  apply_records(journal, skip, content);
}

std::string random_id() {
  std::random_device device;
  const Hash id{(std::uint64_t{device()} << 32) | device(),
                (std::uint64_t{device()} << 32) | device()};
  return to_string(id);
}

}  // namespace

std::vector<std::string> header_differences(const Json& stored, const Json& wanted) {
  std::vector<std::string> differences;
  const auto text = [](const Json& json) {
    return json.is_null() ? "not set" : json.is_string() ? json.get<std::string>() : json.dump();
  };
  const auto compare = [&](const std::string& name, const Json& a, const Json& b) {
    if (a != b) differences.push_back(name + " was " + text(a) + ", now " + text(b));
  };
  const auto field = [](const Json& json, const std::string& name) {
    return json.is_object() && json.contains(name) ? json[name] : Json(nullptr);
  };
  for (const char* name : {"fault", "metric", "goal", "start", "fixed"}) {
    compare(name, field(stored, name), field(wanted, name));
  }
  if (field(stored, "program") != field(wanted, "program")) {
    differences.push_back("the buggy program was changed: its hash was " +
                          text(field(stored, "program")) + ", now " +
                          text(field(wanted, "program")));
  }
  const Json before = field(stored, "config"), now = field(wanted, "config");
  for (const auto& [name, value] : now.items()) {
    const bool older = !before.contains(name) && fields_of_older_stores().contains(name);
    compare(name, older ? fields_of_older_stores()[name] : field(before, name), value);
  }
  return differences;
}

bool raises_budgets(const Json& stored, const Json& wanted) {
  Json raised = stored;
  const Json *before = member(stored, "config"), *now = member(wanted, "config");
  for (const char* name : kBudgets) {
    const Json* old_budget = before != nullptr ? member(*before, name) : nullptr;
    const Json* new_budget = now != nullptr ? member(*now, name) : nullptr;
    // One that is taken away may have been forgotten.
    if (old_budget != nullptr && new_budget != nullptr && old_budget->is_number() &&
        new_budget->is_number() && *new_budget > *old_budget) {
      raised["config"][name] = *new_budget;
    }
  }
  return raised != stored && header_differences(raised, wanted).empty();
}

void require_store_or_free(const fs::path& file) {
  if (fs::exists(file)) read_store_seal(file, kStoreOrFree);
}

StoreContent load_existing_store(const fs::path& store) {
  if (!fs::exists(store) && !fs::exists(beside(store, ".journal"))) {
    throw input_error(describe(store.string(), "", "no such file", kStore));
  }
  StoreContent content = load_store(store);
  if (content.header.empty()) {
    throw input_error(describe(store.string(), "", "an empty journal",
                               "a store; the search that begins it can be started again"));
  }
  return content;
}

std::optional<SearchConfig> stored_config(const fs::path& store) {
  const fs::path journal = beside(store, ".journal");
  try {
    Json header;
    if (fs::exists(store)) {
      header = parse_json(open_store(store).read_strings("/header").at(0), store.string());
    } else if (fs::exists(journal)) {
      const JournalContent content =
          parse_journal(read_regular_file(journal, "a journal of neutra"));
      if (const Json* first = header_record(content)) header = first->at("header");
    }
    const Json* config = member(header, "config");
    if (config != nullptr) return search_config_from_json(*config, store.string());
  } catch (const std::exception&) {
    // Damaged, or replaced at this moment: the search itself says so, or waits.
  }
  return std::nullopt;
}

StoreContent load_store(const fs::path& store) {
  const fs::path journal = beside(store, ".journal");
  const auto identity = [&] {
    struct stat status {};
    return ::stat(store.c_str(), &status) == 0 ? std::pair{status.st_ino, status.st_mtim.tv_nsec}
                                               : std::pair{ino_t{0}, 0L};
  };
  for (int attempt = 0;; ++attempt) {
    const auto before = identity();
    try {
      StoreContent content;
      content.header = Json::object();
      // The journal first: an HDF5 file that is renamed meanwhile holds all of it.
      std::optional<std::string> bytes;
      try {
        if (fs::exists(journal)) bytes = read_regular_file(journal, "a journal of neutra");
      } catch (const Error&) {
        if (fs::exists(journal)) throw;  // else its writer has just finished
      }
      if (fs::exists(store)) read_hdf5(store, content);
      if (bytes) apply_journal(*bytes, journal, content);
      return content;
    } catch (const std::exception&) {
      // A writer replaced the file under the reader's eyes: read the new one.
      if (attempt == 10 || identity() == before) throw;
    }
  }
}

/// May `file` be replaced or removed? Only when it is absent, empty or begins, as far as it goes,
/// like what we write under that name, or with the zeros that a power cut leaves of a file whose
/// content had not reached the disk. Throws input_error.
static void require_ours(const fs::path& file, std::string_view beginning) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return;
  std::string start = start_of_file(file, beginning.size());
  if (start.find_first_not_of('\0') == std::string::npos) start.clear();
  if (!fs::is_regular_file(file, ignored) || start != beginning.substr(0, start.size())) {
    throw input_error(describe(file.string(), "", "another kind of file",
                               "a file of this search, or a name that is still free"));
  }
}

namespace {

/// What a lock says of its owner, on one line.
std::string owner_text(int descriptor) {
  std::array<char, 1024> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size() - 1, 0);
  std::string owner(text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  while (!owner.empty() && owner.back() == '\n') owner.pop_back();
  for (std::size_t at = 0; (at = owner.find('\n', at)) != std::string::npos; at += 2)
    owner.replace(at, 1, ", ");
  return owner.empty() ? "just starting" : owner;
}

}  // namespace

StoreLock::StoreLock(fs::path file, const std::string& command, const std::string& use)
    : file_(std::move(file)) {
  require_ours(file_, kLockBeginning);
  const auto deadline = std::chrono::steady_clock::now() + kLockPatience;
  for (;;) {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw_system_error("cannot create", file_);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
      // Its last owner may have removed the file since it was opened: then it locks nothing.
      struct stat ours {
      }, named{};
      if (::fstat(descriptor_, &ours) == 0 && ::stat(file_.c_str(), &named) == 0 &&
          ours.st_ino == named.st_ino) {
        break;
      }
      ::close(descriptor_);
      continue;
    }
    const int error = errno;
    const std::string owner = owner_text(descriptor_);
    ::close(descriptor_);
    descriptor_ = -1;
    if (error != EWOULDBLOCK) {
      errno = error;
      throw_system_error("cannot lock", file_);
    }
    if (std::chrono::steady_clock::now() > deadline) {
      throw failure(file_.string() + ": " + use + " (" + owner + "); wait for it or stop it");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string text = std::string(kLockBeginning) + std::to_string(::getpid()) + "\nhost " +
                           host.data() + "\nstarted " + now_text() + "\ncommand " + command + "\n";
  // The text only names the owner: a full disk must not keep the lock from working.
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    std::cerr << "warning: " << file_.string() << " cannot name its owner\n";
  }
}

std::optional<std::string> store_owner(const fs::path& store) {
  // A pipe of that name has no owner, and must not be waited for.
  const int descriptor =
      ::open(beside(store, ".lock").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::string> owner;
  struct stat found {};
  if (::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) &&
      ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    owner = owner_text(descriptor);
  }
  ::close(descriptor);
  return owner;
}

void StoreLock::keep_over_exec() { ::fcntl(descriptor_, F_SETFD, 0); }

StoreLock::~StoreLock() {
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

void StoreLock::give_up() { ::unlink(file_.c_str()); }

Store::Store(fs::path store, Json header, bool fresh)
    : file_(std::move(store)),
      journal_file_(beside(file_, ".journal")),
      lock_(beside(file_, ".lock"), header.value("command", "")) {
  const fs::path journal_temporary = journal_file_.string() + ".tmp";
  require_ours(beside(file_, ".tmp"), kFormat);
  require_ours(journal_temporary, kJournalBeginning);
  if (fresh) require_ours(journal_file_, kJournalBeginning);
  ::unlink(beside(file_, ".tmp").c_str());
  ::unlink(journal_temporary.c_str());
  require_store_or_free(file_);
  if (fresh) {
    if (::unlink(journal_file_.c_str()) != 0 && errno != ENOENT) {
      throw_system_error("cannot remove", journal_file_);
    }
    if (::unlink(file_.c_str()) != 0 && errno != ENOENT) throw_system_error("cannot remove", file_);
  }
  content_ = load_store(file_);
  elapsed_before_ = content_.elapsed;
  if (content_.header.empty()) {
    content_ = {};
    content_.header = std::move(header);
    content_.header["created"] = now_text();
  } else {
    const bool raised = raises_budgets(content_.header, header);
    const auto differences = header_differences(content_.header, header);
    if (!differences.empty() && !raised) {
      throw input_error(file_.string() + ": made with other options: " + join(differences, "; ") +
                        "; give the old ones, or larger budgets, or another file (neutra search "
                        "--reuse " +
                        file_.string() + " takes over what was trained), or " + kAnew);
    }
    if (raised) {
      std::cerr << file_.string() << ": goes on with a larger budget: " << join(differences, "; ")
                << "\n";
      for (const char* name : kBudgets) {
        content_.header["config"][name] = header["config"][name];
      }
      content_.header["command"] = header["command"];
      content_.finished = false;
      content_.end = SearchEnd::kInterrupted;
      if (content_.minimising) content_.minimising->end = SearchEnd::kInterrupted;
    }
    if (const auto problem = journal_problem(content_, file_)) {
      std::cerr << "warning: " << *problem << "\n";
    }
    if (!content_.finished || content_.journal_is_ahead) write_store(file_, content_);
    if (content_.finished) {
      ::unlink(journal_file_.c_str());  // the process died before it did so, or while minimising
      return;
    }
  }
  start_journal();
}

void Store::start_journal() {
  const std::string id = random_id();
  std::vector<Json> first = {{{"type", "header"}, {"id", id}, {"header", content_.header}}};
  if (minimising_) first.front()["minimising"] = true;
  for (const EvaluationKey& key : in_flight_) {
    first.push_back(record("started", key));
    first.back()["apart"] = false;
  }
  first.push_back(first.front());  // a single damage loses no header
  // On a full disk this throws and the old journal goes on.
  journal_ = std::make_unique<Journal>(journal_file_, first, [this] {
    return Json{{"type", "elapsed"}, {"seconds", elapsed()}};
  });
  content_.journal_id = id;
  content_.journal_bytes = 0;
}

Store::~Store() {
  journal_.reset();
  if (content_.evaluations.empty() && !fs::exists(file_)) ::unlink(journal_file_.c_str());
}

void Store::give_up() {
  if (content_.evaluations.empty() && !fs::exists(file_)) ::unlink(journal_file_.c_str());
  lock_.give_up();
}

double Store::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

double Store::elapsed() const {
  return minimising_ ? content_.elapsed : elapsed_before_ + seconds();
}

void Store::started(const EvaluationKey& key, bool apart) {
  Json json = record("started", key);
  json["apart"] = apart;
  journal_->append(json);
  if (!apart) in_flight_.insert(key);
}

void Store::finished(const EvaluationKey& key, const training::ReplicaResult& result) {
  Json json = record("finished", key);
  json["elapsed"] = elapsed();
  json.update(to_json(result));
  journal_->append(json);
  in_flight_.erase(key);
  content_.evaluations.emplace(key, result);
  unsaved_ = true;
}

void Store::dropped(const EvaluationKey& key) {
  journal_->append(record("dropped", key));
  in_flight_.erase(key);
}

bool Store::save_due() const {
  const auto interval = std::max<Clock::duration>(kSaveInterval, kSaveShare * save_cost_);
  return unsaved_ && Clock::now() - saved_at_ >= interval;
}

void Store::save(const Network& network, const SearchCounters& counters,
                 std::optional<SearchEnd> end) {
  std::vector<Node> subpatches = std::move(content_.network.subpatches);
  content_.network = network;
  content_.network.subpatches = std::move(subpatches);
  content_.counters = counters;
  content_.elapsed = elapsed();
  content_.end = end.value_or(SearchEnd::kInterrupted);
  content_.finished = content_.end != SearchEnd::kInterrupted;
  fold_journal(end.has_value());
}

void Store::begin_minimising() {
  minimising_ = true;
  start_journal();
}

void Store::save_minimised(const std::vector<Node>& subpatches, const Minimising& state,
                           bool over) {
  content_.network.subpatches = subpatches;
  content_.minimising = state;
  fold_journal(over);
}

void Store::fold_journal(bool over) {
  const auto begin = Clock::now();
  if (over) {
    // Still in training: lost with another process.
    std::set<Hash> lost;
    for (const EvaluationKey& key : std::exchange(in_flight_, {})) lost.insert(key.hash);
    for (const Hash& hash : lost) ++content_.deaths[hash];
  }
  content_.journal_bytes = journal_->size();
  write_store(file_, content_);
  if (over) {
    journal_.reset();
    ::unlink(journal_file_.c_str());
    sync_folder(file_);
  } else {
    start_journal();
  }
  unsaved_ = false;
  saved_at_ = Clock::now();
  save_cost_ = saved_at_ - begin;
}

std::optional<std::string> journal_problem(const StoreContent& content, const fs::path& store) {
  if (content.journal_damage.bytes == 0) return std::nullopt;
  return beside(store, ".journal").string() + ": " + to_string(content.journal_damage) +
         " left out; a search makes the evaluations in them again";
}

StoredRun read_store(const fs::path& store) {
  StoreContent content = load_existing_store(store);
  if (const auto problem = journal_problem(content, store)) warn_once(*problem);
  StoredRun run;
  run.header = std::move(content.header);
  run.network = std::move(content.network);
  if (run.network.nodes.empty()) {  // only the journal is there yet
    run.network.fault_id = run.header.value("fault", "");
    run.network.metric = run.header.value("metric", "");
    run.network.goal =
        program::parse_goal(run.header.value("goal", "")).value_or(program::Goal::kMaximize);
  }
  run.counters = content.counters;
  run.counters.total_seconds = content.elapsed;
  run.saved_seconds = content.saved_elapsed;
  run.finished = content.finished;
  run.end = content.end;
  run.minimising = content.minimising;
  return run;
}

namespace {

/// Is it there to be made?
void require_free(const fs::path& file) {
  if (!fs::exists(fs::symlink_status(file))) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
    if (fs::is_directory(folder)) return;
    throw input_error(describe(file.string(), "", "no folder " + folder.string(),
                               "a name in a folder that is there"));
  }
  throw input_error(
      describe(file.string(), "", "a file of that name", "a name that is still free"));
}

/// All whole records of a store and its journal, whatever else is damaged.
StoreContent recover(const fs::path& store) {
  StoreContent content;
  content.header = Json::object();
  const fs::path journal = beside(store, ".journal");
  if (fs::exists(store)) {
    try {
      read_hdf5(store, content);
    } catch (const Error&) {
      content = {};
      const JournalContent records = parse_journal(read_regular_file(store, "a store of neutra"));
      const Json* first = header_record(records);
      content.header = first ? first->at("header") : Json::object();
      if (const Json* format = member(content.header, "format"); format && *format != kFormat) {
        throw input_error(describe(store.string(), "", kind_of_file(store),
                                   "the store of a search, or its journal"));
      }
      require_known_version(store, content.header);
      apply_records(records, 0, content);
      content.journal_damage = {};  // the other bytes are HDF5's
    }
  }
  if (fs::exists(journal)) {
    apply_journal(read_regular_file(journal, "a journal of neutra"), journal, content);
  }
  if (content.header.value("format", Json()) != kFormat) {
    throw input_error(describe(store.string(), "", "no whole record that says what was searched",
                               "the store of a search, or its journal, with one"));
  }
  return content;
}

/// A copy of a sound store, with what its journal holds.
StoreSummary write_copy(const fs::path& file, StoreContent content) {
  StoreSummary summary;
  summary.trainings = content.evaluations.size();
  summary.command = content.header.value("command", "");
  summary.finished = content.finished;
  content.journal_id.clear();
  content.journal_bytes = 0;
  write_store(file, content);
  return summary;
}

/// Begins an unfinished store with what was evaluated; the search makes its network again.
StoreSummary write_new_store(const fs::path& file, StoreContent content) {
  StoreSummary summary;
  summary.trainings = content.evaluations.size();
  summary.damaged_bytes = content.journal_damage.bytes;
  summary.command = content.header.value("command", "");
  content.finished = false;
  content.end = SearchEnd::kInterrupted;
  content.network = {};
  content.counters = {};
  content.minimising.reset();
  content.journal_id.clear();
  content.journal_bytes = 0;
  write_store(file, content);
  return summary;
}

}  // namespace

std::optional<StoreSummary> repair_store(const fs::path& store,
                                         const std::optional<fs::path>& out) {
  const fs::path journal = beside(store, ".journal");
  if (!fs::exists(store) && !fs::exists(journal)) read_store(store);  // says what is missing
  const StoreLock lock(beside(store, ".lock"), "store repair " + store.string());
  const bool sound = check_store(store).empty();
  if (out) {
    require_free(*out);
    require_free(beside(*out, ".journal"));
    if (sound) return write_copy(*out, load_existing_store(store));
  } else if (sound) {
    return std::nullopt;
  }
  StoreContent content = recover(store);
  if (out) return write_new_store(*out, std::move(content));
  const fs::path repaired = beside(store, ".repaired");
  require_free(repaired);
  std::vector<fs::path> damaged;
  for (const fs::path& file : {store, journal}) {
    if (fs::exists(file)) damaged.push_back(file);
    require_free(beside(file, ".damaged"));
  }
  StoreSummary summary = write_new_store(repaired, std::move(content));
  for (const fs::path& file : damaged) {
    summary.kept.push_back(beside(file, ".damaged"));
    if (::rename(file.c_str(), summary.kept.back().c_str()) != 0) {
      throw_system_error("cannot rename", file);
    }
  }
  if (::rename(repaired.c_str(), store.c_str()) != 0) throw_system_error("cannot rename", repaired);
  sync_folder(store);
  return summary;
}

StoreSummary merge_stores(const std::vector<fs::path>& stores, const fs::path& out) {
  require_free(out);
  require_free(beside(out, ".journal"));
  StoreContent merged;
  merged.header = Json::object();
  for (const fs::path& store : stores) {
    const StoreContent content = load_existing_store(store);
    if (content.journal_damage.bytes > 0) {
      throw input_error(describe(beside(store, ".journal").string(), "",
                                 to_string(content.journal_damage) + " which hold no record",
                                 "a sound store; neutra store repair makes one"));
    }
    if (merged.header.empty()) merged.header = content.header;
    // What a training gives depends on these alone.
    Json asked = content.header, first = merged.header;
    for (Json* header : {&asked, &first}) {
      Json& config = (*header)["config"];
      for (auto it = config.begin(); it != config.end();) {
        const bool decides = it.key() == "seed" || it.key() == "fingerprint" ||
                             it.key() == "time_limit" || it.key() == "memory_limit";
        it = decides ? std::next(it) : config.erase(it);
      }
    }
    if (const auto differences = header_differences(first, asked); !differences.empty()) {
      throw input_error(describe(
          store.string(), "",
          "another search than that of " + stores.front().string() + ": " + join(differences, "; "),
          "stores of one search"));
    }
    for (const auto& [key, result] : content.evaluations) {
      const auto [known, is_new] = merged.evaluations.emplace(key, result);
      const bool same = known->second.status == result.status &&
                        (known->second.metric == result.metric ||
                         (std::isnan(known->second.metric) && std::isnan(result.metric)));
      if (!is_new && !same) {
        throw input_error(describe(store.string(), "",
                                   "program " + to_string(key.hash) + ", replica " +
                                       std::to_string(key.replica) +
                                       " with another result than in the stores before it",
                                   "stores that agree: remove the one that is wrong"));
      }
    }
    for (const auto& [hash, count] : content.deaths) merged.deaths[hash] += count;
    merged.elapsed += content.elapsed;
  }
  return write_new_store(out, std::move(merged));
}

std::vector<std::string> check_store(const fs::path& store) {
  std::vector<std::string> problems;
  StoreContent content;
  try {
    content = load_existing_store(store);
  } catch (const Error& error) {
    return {error.what()};
  }
  if (const auto problem = journal_problem(content, store)) problems.push_back(*problem);
  for (const auto* nodes : {&content.network.nodes, &content.network.subpatches}) {
    for (const Node& node : *nodes) {
      for (std::size_t replica = 0; replica < node.metrics.size(); ++replica) {
        const auto found = content.evaluations.find({node.hash, static_cast<int>(replica)});
        const double metric = node.metrics[replica];
        const bool same = found != content.evaluations.end() &&
                          (found->second.metric == metric ||
                           (std::isnan(found->second.metric) && std::isnan(metric)));
        // Results that came from another store are in the node only.
        if (found != content.evaluations.end() && !same) {
          problems.push_back(store.string() + ": node " + node_name(node) + ", replica " +
                             std::to_string(replica) +
                             ": its metric is not that of its evaluation");
        }
      }
    }
  }
  return problems;
}

}  // namespace neutra::search
