#include "search/store_file.h"

#include <fcntl.h>

#include <string>
#include <utility>
#include <vector>

#include "base/checksum_header.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "search/store_header.h"
#include "search/store_replay.h"
#include "search/store_schema.h"

namespace neutra::search {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStoreOrFree = "a store made by neutra search, or a name that is still free";

// --- writing ---

void write_content(Hdf5File& file, const std::string& name, const StoreContent& content) {
  // Attributes are for people and h5dump; the program reads the header back from one text.
  for (const auto& [key, value] : content.header.items()) {
    if (key == kStoredScript) continue;  // an attribute holds 64 KiB
    if (value.is_number_integer()) {
      file.write_attribute("/", key, value.get<std::int64_t>());
    } else {
      file.write_attribute("/", key, value.is_string() ? value.get<std::string>() : value.dump());
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

  std::vector<StoredEvaluation> evaluations;
  evaluations.reserve(content.evaluations.size());
  for (const auto& [key, result] : content.evaluations) evaluations.push_back({key, result});
  kStoredEvaluations.write(file, name, evaluations);
  std::vector<StoredDeaths> deaths;
  for (const auto& [program, count] : content.deaths) deaths.push_back({program, count});
  kStoredDeaths.write(file, name, deaths);
  kStoredNodes.write(file, name, content.network.nodes);
  kStoredEdges.write(file, name, content.network.edges);
  file.write("/fixed/metrics", content.network.fixed_metrics);
  if (content.network.fixed_parameters) {
    file.write_attribute("/fixed", "parameters",
                         program::to_string(*content.network.fixed_parameters));
  }
  if (content.minimising) {
    file.write_attribute("/", "minimising", to_json(*content.minimising).dump());
    kStoredSubpatches.write(file, name, content.network.subpatches);
  }
  file.write_bytes("/records", records_of(content), false);
}

// --- reading ---

void read_evaluations(const Hdf5File& file, const std::string& name, StoreContent& content) {
  for (StoredEvaluation& row : kStoredEvaluations.read(file, name)) {
    content.evaluations.insert_or_assign(row.key, std::move(row.result));
  }
  for (const auto& [program, count] : kStoredDeaths.read(file, name)) {
    content.deaths[program] = count;
  }
}

void read_network(const Hdf5File& file, const std::string& name, Network& network) {
  network.nodes = kStoredNodes.read(file, name);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const Node& node = network.nodes[i];
    if (node.id != static_cast<std::int64_t>(i) || node.parent >= node.id) {
      throw input_error(describe(
          name, "/nodes/id",
          "node " + std::to_string(node.id) + " with parent " + std::to_string(node.parent),
          "node " + std::to_string(i) + " with an earlier parent"));
    }
  }
  network.edges = kStoredEdges.read(file, name);
  const auto exists = [&](std::int64_t node) {
    return node >= 0 && node < static_cast<std::int64_t>(network.nodes.size());
  };
  for (const Edge& edge : network.edges) {
    if (exists(edge.parent) && exists(edge.child)) continue;
    throw input_error(describe(name, "/edges/child",
                               std::to_string(edge.parent) + " -> " + std::to_string(edge.child),
                               "nodes of /nodes"));
  }
  network.fixed_metrics = file.read_doubles("/fixed/metrics");
  if (file.has_attribute("/fixed", "parameters")) {
    network.fixed_parameters = program::parse_parameters(
        file.read_string_attribute("/fixed", "parameters"), name + ": /fixed");
  }
}

/// What minimising found; a store from before has none of it.
void read_subpatches(const Hdf5File& file, const std::string& name, StoreContent& content) {
  if (!file.has_attribute("/", "minimising")) return;
  content.minimising = minimising_from_json(
      parse_json(file.read_string_attribute("/", "minimising"), name + ": minimising"));
  content.network.subpatches = kStoredSubpatches.read(file, name);
  std::int64_t id = 0;
  for (Node& node : content.network.subpatches) node.id = --id;
}

/// Throws input_error for a file that is no store or of a newer version.
ChecksumHeader read_store_header(const fs::path& file, const char* allowed) {
  require_no_pipe(file, "a store");
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(file, ignored);
  const std::optional<ChecksumHeader> found = is_file ? read_checksum_header(file) : std::nullopt;
  if (!found || found->format != kStoreFormat) {
    throw input_error(describe(file.string(), "", kind_of_file(file), allowed));
  }
  if (found->version > kStoreVersion) {
    throw newer_version(file,
                        std::string(kStoreFormat) + " version " + std::to_string(found->version));
  }
  return *found;
}

/// The file of a store that is whole.
Hdf5File open_store(const fs::path& store) {
  const ChecksumHeader stated = read_store_header(store, kAStore);
  if (const std::string found = digest_behind_header(store); found != stated.digest) {
    throw input_error(describe(
        store.string(), "", "digest " + found,
        stated.digest + ": the file is damaged; neutra store repair takes what is whole, or " +
            kBeginAnew));
  }
  return Hdf5File::open(store);
}

}  // namespace

void write_store_file(const fs::path& file, const StoreContent& content) {
  const fs::path temporary = beside(file, ".tmp");
  try {
    // HDF5 crashes when it closes a file on a full disk: it never sees one.
    Hdf5File hdf5 = Hdf5File::create_in_memory(file, kChecksumHeaderBytes);
    write_content(hdf5, file.string(), content);
    std::string bytes = hdf5.image();
    hdf5.close();
    put_checksum_header(bytes, kStoreFormat, kStoreVersion);
    const Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!out || !put_in_place(out.number(), bytes, temporary, file)) {
      throw_system_error("cannot write", file);
    }
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.find(kResumeHint) != std::string::npos) throw;
    std::error_code ignored;
    if (!fs::exists(beside(file, ".journal"), ignored)) throw;  // nothing is kept
    throw failure(message + " (" + std::string(kResumeHint) + ")");
  }
}

void read_store_file(const fs::path& store, StoreContent& content) {
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
  read_evaluations(file, store.string(), content);
  read_network(file, store.string(), content.network);
  try {
    read_subpatches(file, store.string(), content);
  } catch (const Json::exception& error) {
    throw input_error(describe(store.string(), "minimising", error.what(), ""));
  }
}

Json read_store_header(const fs::path& file) {
  return parse_json(open_store(file).read_strings("/header").at(0), file.string());
}

void require_store_or_free(const fs::path& file) {
  if (fs::exists(file)) read_store_header(file, kStoreOrFree);
}

}  // namespace neutra::search
