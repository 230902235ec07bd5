#include "search/store_replay.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "search/store_header.h"

namespace neutra::search {
namespace {

namespace fs = std::filesystem;

EvaluationKey key_from(const Json& json) {
  const auto hash = parse_hash(json.at("hash").get<std::string>());
  const int replica = json.at("replica").get<int>();
  if (!hash || replica < 0) throw input_error("no key");
  return {*hash, replica};
}

}  // namespace

Json training_record(const char* type, const EvaluationKey& key) {
  return {{"type", type}, {"hash", to_string(key.hash)}, {"replica", key.replica}};
}

std::string records_of(const StoreContent& content) {
  const std::string header = journal_frame({{"type", "header"}, {"header", content.header}});
  std::string frames = header;
  for (const auto& [key, result] : content.evaluations) {
    Json json = training_record("finished", key);
    json["elapsed"] = 0;
    json.update(to_json(result));
    frames += journal_frame(json);
  }
  for (const auto& [hash, count] : content.deaths) {
    frames += journal_frame({{"type", "deaths"}, {"hash", to_string(hash)}, {"count", count}});
  }
  return frames + journal_frame({{"type", "elapsed"}, {"seconds", content.elapsed}}) + header;
}

const Json* header_record(const JournalContent& journal) {
  for (const auto& [offset, payload] : journal.records) {
    const Json *type = member(payload, "type"), *header = member(payload, "header");
    if (type && *type == "header" && header && header->is_object()) return &payload;
  }
  return nullptr;
}

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
                                   std::string(kBeginAnew)));
  }
  content.journal_is_ahead = bytes.size() > skip;
  content.journal_bytes = bytes.size();
  apply_records(journal, skip, content);
}

std::optional<std::string> journal_problem(const StoreContent& content, const fs::path& store) {
  if (content.journal_damage.bytes == 0) return std::nullopt;
  return beside(store, ".journal").string() + ": " + to_string(content.journal_damage) +
         " left out; a search makes the evaluations in them again";
}

}  // namespace neutra::search
