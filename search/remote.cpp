#include "search/remote.h"

#include <algorithm>
#include <array>

#include "base/json.h"

namespace neutra::search {
namespace {

constexpr std::array<std::string_view, 5> kOrders = {"begin", "train", "recall", "stop", "end"};
constexpr std::array<std::string_view, 6> kReports = {"ready",   "finished", "returned",
                                                      "stopped", "failed",   "lost"};

template <typename Kind, std::size_t N>
Kind kind_from(const std::array<std::string_view, N>& words, const std::string& word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) throw failure("a message between processes: found " + word);
  return static_cast<Kind>(found - words.begin());
}

/// Messages may quote names of files, which needn't be UTF-8.
std::string compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Hash hash_from(const Json& json) {
  const auto hash = parse_hash(json.get<std::string>());
  if (!hash) throw failure("a message between processes: found no hash");
  return *hash;
}

}  // namespace

std::chrono::microseconds Pause::next() {
  const int now = microseconds_;
  microseconds_ = std::min(2 * microseconds_, kLongest);
  return std::chrono::microseconds(now);
}

std::string OrderWriter::text(const RemoteOrder& order) {
  Json json = {{"order", kOrders[static_cast<std::size_t>(order.kind)]}};
  switch (order.kind) {
    case RemoteOrder::Kind::kBegin:
      json["setup"] = order.setup;
      break;
    case RemoteOrder::Kind::kRecall:
      json["count"] = order.count;
      break;
    case RemoteOrder::Kind::kTrain: {
      Json& tasks = json["tasks"] = Json::array();
      for (const RemoteTask& task : order.tasks) {
        Json entry = {{"id", task.id},
                      {"hash", to_string(task.hash)},
                      {"job", to_json(task.job)},
                      {"apart", task.isolated}};
        if (std::find(known_.begin(), known_.end(), task.hash) == known_.end()) {
          entry["program"] = task.program->document;
          known_.push_back(task.hash);
          if (known_.size() > kKnown) known_.pop_front();
        }
        tasks.push_back(std::move(entry));
      }
      break;
    }
    case RemoteOrder::Kind::kStop:
    case RemoteOrder::Kind::kEnd:
      break;
  }
  return compact(json);
}

RemoteOrder OrderReader::order(std::string_view text) {
  Json json = Json::parse(text);
  RemoteOrder order;
  order.kind = kind_from<RemoteOrder::Kind>(kOrders, json.at("order").get<std::string>());
  if (json.contains("setup")) order.setup = std::move(json["setup"]);
  if (json.contains("count")) json["count"].get_to(order.count);
  if (!json.contains("tasks")) return order;
  for (Json& entry : json["tasks"]) {
    RemoteTask task;
    entry.at("id").get_to(task.id);
    task.hash = hash_from(entry.at("hash"));
    task.job = training::training_job_from_json(entry.at("job"));
    entry.at("apart").get_to(task.isolated);
    if (entry.contains("program")) {
      known_.emplace_back(task.hash, std::make_shared<const program::Program>(
                                         program::Program{std::move(entry["program"])}));
      if (known_.size() > OrderWriter::kKnown) known_.pop_front();
    }
    const auto found = std::find_if(known_.begin(), known_.end(), [&](const auto& program) {
      return program.first == task.hash;
    });
    if (found == known_.end()) throw failure("a message between processes: an unknown program");
    task.program = found->second;
    order.tasks.push_back(std::move(task));
  }
  return order;
}

std::string report_text(const RemoteReport& report) {
  Json json = {{"report", kReports[static_cast<std::size_t>(report.kind)]},
               {"threads", report.threads},
               {"ids", report.ids},
               {"exit", static_cast<int>(report.exit)},
               {"message", report.message}};
  if (report.kind == RemoteReport::Kind::kFinished) {
    json["result"] = to_json(report.result);
    json["epochs_reused"] = report.result.epochs_reused;  // stores don't have these two
    json["samples_reused"] = report.result.samples_reused;
  }
  return compact(json);
}

RemoteReport report_from_text(std::string_view text) {
  const Json json = Json::parse(text);
  RemoteReport report;
  report.kind = kind_from<RemoteReport::Kind>(kReports, json.at("report").get<std::string>());
  json.at("threads").get_to(report.threads);
  json.at("ids").get_to(report.ids);
  report.exit = static_cast<Exit>(json.at("exit").get<int>());
  json.at("message").get_to(report.message);
  if (json.contains("result")) {
    report.result = training::replica_result_from_json(json["result"]);
    json.at("epochs_reused").get_to(report.result.epochs_reused);
    json.at("samples_reused").get_to(report.result.samples_reused);
  }
  return report;
}

}  // namespace neutra::search
