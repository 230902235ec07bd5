#include "evaluators/monitor_file.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>

#include "base/checksum_header.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "base/numbers.h"
#include "base/words.h"

namespace neutra::evaluators {
namespace {

constexpr int kVersion = 1;
constexpr std::array<std::string_view, kProperties> kPropertyNames{"gradients", "weights",
                                                                   "biases"};
constexpr std::array<Property, kProperties> kAll{Property::kGradients, Property::kWeights,
                                                 Property::kBiases};

std::vector<std::string> aggregate_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kAggregates; ++i) {
    names.emplace_back(to_string(static_cast<Aggregate>(i)));
  }
  return names;
}

std::string folder_of(std::size_t run) { return "/runs/" + std::to_string(run) + "/"; }

std::string path_of(const std::string& folder, Property property) {
  return folder + std::string(to_string(property));
}

std::string extents_text(const std::vector<std::uint64_t>& extents) {
  std::vector<std::string> texts;
  for (const std::uint64_t extent : extents) texts.push_back(std::to_string(extent));
  return join(texts, " x ");
}

/// Reads with checks; every mistake names file and place.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : name_(file), file_(open(file)) {}

  [[noreturn]] void fail(const std::string& place, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(describe(name_.string(), place, found, allowed));
  }
  std::string text(const std::string& attribute) const {
    if (!file_.has_attribute("/", attribute)) fail("/@" + attribute, "nothing", "a text");
    return file_.read_string_attribute("/", attribute);
  }
  std::int64_t whole(const std::string& attribute) const {
    if (!file_.has_attribute("/", attribute)) fail("/@" + attribute, "nothing", "a whole number");
    return file_.read_integer_attribute("/", attribute);
  }
  std::vector<std::string> list(const std::string& group) const { return file_.list(group); }

  std::vector<double> doubles(const std::string& path,
                              const std::vector<std::uint64_t>& extents) const {
    require(path, extents);
    return file_.read_doubles(path);
  }
  std::vector<std::int64_t> wholes(const std::string& path, std::uint64_t count) const {
    require(path, {count});
    std::vector<std::int64_t> values = file_.read_integers(path);
    for (const std::int64_t value : values) {
      if (value < 0) fail(path, std::to_string(value), "numbers from 0");
    }
    return values;
  }
  bool has(const std::string& path) const { return file_.has(path); }
  std::vector<std::string> texts(const std::string& path, std::uint64_t count) const {
    require(path, {count});
    return file_.read_strings(path);
  }
  std::uint64_t count(const std::string& path) const {
    const std::vector<std::uint64_t> extents = file_.extents(path);
    if (extents.size() != 1) fail(path, extents_text(extents) + " values", "a list");
    return extents.front();
  }

 private:
  static Hdf5File open(const std::filesystem::path& file) {
    require_format(file, kMonitorFormat, kVersion);
    return Hdf5File::open(file);
  }
  void require(const std::string& path, const std::vector<std::uint64_t>& extents) const {
    const std::vector<std::uint64_t> found = file_.extents(path);
    if (found != extents) {
      fail(path, extents_text(found) + " values", extents_text(extents) + " values");
    }
  }

  std::filesystem::path name_;
  Hdf5File file_;
};

std::vector<MonitoredLayer> read_layers(const Reader& reader) {
  const std::uint64_t count = reader.count("/layers/index");
  const std::vector<std::int64_t> indices = reader.wholes("/layers/index", count);
  const std::vector<std::string> classes = reader.texts("/layers/class_name", count);
  std::vector<std::string> names(count);
  if (reader.has("/layers/name")) names = reader.texts("/layers/name", count);
  std::vector<MonitoredLayer> layers(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (indices[i] > std::numeric_limits<int>::max() || (i > 0 && indices[i] <= indices[i - 1])) {
      reader.fail("/layers/index", std::to_string(indices[i]), "ascending indices of layers");
    }
    layers[i].index = static_cast<int>(indices[i]);
    layers[i].class_name = classes[i];
    layers[i].name = names[i];
  }
  for (const Property property : kAll) {
    const std::vector<std::int64_t> counts = reader.wholes(path_of("/layers/", property), count);
    for (std::size_t i = 0; i < count; ++i) {
      layers[i].counts[static_cast<std::size_t>(property)] = counts[i];
    }
  }
  return layers;
}

void read_epochs(const Reader& reader, const std::string& folder, std::uint64_t count,
                 MonitoredRun& run) {
  const std::uint64_t layers = run.layers.size();
  const std::vector<double> dead = reader.doubles(folder + "dead", {count, layers});
  for (const double share : dead) {
    if (share < 0 || share > 1) {
      reader.fail(folder + "dead", shortest(share), "shares from 0 to 1");
    }
  }
  run.epochs.resize(count);
  for (MonitoredEpoch& epoch : run.epochs) epoch.layers.resize(layers);
  for (const std::string& name : reader.list(folder + "logs")) {
    const std::vector<double> values = reader.doubles(folder + "logs/" + name, {count});
    for (std::size_t e = 0; e < count; ++e) run.epochs[e].logs[name] = values[e];
  }
  for (const Property property : kAll) {
    const std::string path = path_of(folder, property);
    const std::vector<double> values = reader.doubles(path, {count, layers, kAggregates});
    auto next = values.begin();
    for (MonitoredEpoch& epoch : run.epochs) {
      for (auto& layer : epoch.layers) {
        Aggregates& of_layer = layer[static_cast<std::size_t>(property)];
        std::copy_n(next, kAggregates, of_layer.values.begin());
        next += kAggregates;
        for (const Aggregate share : {Aggregate::kSpar, Aggregate::kNonfinite}) {
          if (of_layer[share] < 0 || of_layer[share] > 1) {
            reader.fail(path, "a share of " + shortest(of_layer[share]), "shares from 0 to 1");
          }
        }
      }
    }
  }
  for (std::size_t e = 0; e < count; ++e) {
    const auto begin = dead.begin() + static_cast<std::ptrdiff_t>(e * layers);
    run.epochs[e].dead.assign(begin, begin + static_cast<std::ptrdiff_t>(layers));
  }
}

}  // namespace

std::string_view to_string(Property property) {
  return kPropertyNames[static_cast<std::size_t>(property)];
}

namespace {

void write_layers(Hdf5File& file, const std::vector<MonitoredLayer>& layers) {
  std::vector<std::int64_t> indices;
  std::vector<std::string> classes, names;
  std::array<std::vector<std::int64_t>, kProperties> counts;
  for (const MonitoredLayer& layer : layers) {
    indices.push_back(layer.index);
    classes.push_back(layer.class_name);
    names.push_back(layer.name);
    for (std::size_t p = 0; p < kProperties; ++p) counts[p].push_back(layer.counts[p]);
  }
  file.write("/layers/index", indices);
  file.write("/layers/class_name", classes);
  file.write("/layers/name", names);
  for (const Property property : kAll) {
    file.write(path_of("/layers/", property), counts[static_cast<std::size_t>(property)]);
  }
}

void write_replicas(Hdf5File& file, const std::vector<MonitoredRun>& runs) {
  std::vector<std::int64_t> replicas, epochs;
  std::vector<std::string> statuses, messages;
  std::vector<double> metrics;
  for (const MonitoredRun& run : runs) {
    assert(run.layers == runs.front().layers && run.loss == runs.front().loss);
    replicas.push_back(run.replica);
    epochs.push_back(static_cast<std::int64_t>(run.epochs.size()));
    statuses.push_back(run.status);
    messages.push_back(run.message);
    metrics.push_back(run.metric);
  }
  file.write("/replicas/replica", replicas);
  file.write("/replicas/status", statuses);
  file.write("/replicas/message", messages);
  file.write("/replicas/metric", metrics);
  file.write("/replicas/epochs", epochs);
}

/// Precondition: the run has epochs.
void write_epochs(Hdf5File& file, const std::string& folder, const MonitoredRun& run) {
  for (const auto& entry : run.epochs.front().logs) {
    std::vector<double> values;
    for (const MonitoredEpoch& epoch : run.epochs) values.push_back(epoch.logs.at(entry.first));
    file.write(folder + "logs/" + entry.first, values);
  }
  for (const Property property : kAll) {
    std::vector<double> values;
    for (const MonitoredEpoch& epoch : run.epochs) {
      for (const auto& layer : epoch.layers) {
        const Aggregates& of_layer = layer[static_cast<std::size_t>(property)];
        values.insert(values.end(), of_layer.values.begin(), of_layer.values.end());
      }
    }
    file.write(path_of(folder, property), values,
               {run.epochs.size(), run.layers.size(), kAggregates});
  }
  std::vector<double> dead;
  for (const MonitoredEpoch& epoch : run.epochs) {
    dead.insert(dead.end(), epoch.dead.begin(), epoch.dead.end());
  }
  file.write(folder + "dead", dead, {run.epochs.size(), run.layers.size()});
}

}  // namespace

void write_monitor_file(const MonitorFile& content, const std::filesystem::path& path) {
  assert(!content.runs.empty());
  Hdf5File file = Hdf5File::create_in_memory(path, kChecksumHeaderBytes);
  file.write_attribute("/", "format", kMonitorFormat);
  file.write_attribute("/", "version", std::int64_t{kVersion});
  file.write_attribute("/", "program", content.program);
  file.write_attribute("/", "variant", content.variant);
  file.write_attribute("/", "hash", content.hash);
  file.write_attribute("/", "backend", content.backend);
  file.write_attribute("/", "loss", content.runs.front().loss);
  file.write_attribute("/", "metric", content.metric);
  file.write_attribute("/", "goal", content.goal);
  file.write_attribute("/", "seed", content.seed);
  file.write_attribute("/", "close_to_zero", shortest(content.close_to_zero));
  file.write_attribute("/", "provenance", content.provenance.dump());
  file.write("/aggregates", aggregate_names());
  write_layers(file, content.runs.front().layers);
  write_replicas(file, content.runs);
  for (std::size_t r = 0; r < content.runs.size(); ++r) {
    if (!content.runs[r].epochs.empty()) write_epochs(file, folder_of(r), content.runs[r]);
  }
  std::string bytes = file.image();
  file.close();
  put_checksum_header(bytes, kMonitorFormat, kVersion);
  write_file_atomically(path, bytes);
}

MonitorFile read_monitor_file(const std::filesystem::path& path) {
  const Reader reader(path);
  if (const std::string format = reader.text("format"); format != kMonitorFormat) {
    reader.fail("/@format", format, kMonitorFormat);
  }
  if (const std::int64_t version = reader.whole("version"); version != kVersion) {
    reader.fail("/@version", std::to_string(version), std::to_string(kVersion));
  }
  const std::vector<std::string> names = aggregate_names();
  if (reader.texts("/aggregates", kAggregates) != names) {
    reader.fail("/aggregates", "other names", join(names));
  }
  MonitorFile content;
  content.program = reader.text("program");
  content.variant = reader.text("variant");
  content.hash = reader.text("hash");
  content.backend = reader.text("backend");
  content.metric = reader.text("metric");
  content.goal = reader.text("goal");
  content.seed = reader.whole("seed");
  const std::string close = reader.text("close_to_zero");
  char* end = nullptr;
  content.close_to_zero = std::strtod(close.c_str(), &end);
  if (close.empty() || *end != '\0' || !(content.close_to_zero >= 0)) {
    reader.fail("/@close_to_zero", close, "a number from 0");
  }
  content.provenance = parse_json(reader.text("provenance"), path.string() + ": /@provenance");

  const std::vector<MonitoredLayer> layers = read_layers(reader);
  const std::uint64_t count = reader.count("/replicas/replica");
  if (count == 0) reader.fail("/replicas/replica", "no replica", "one or more");
  const std::vector<std::int64_t> replicas = reader.wholes("/replicas/replica", count);
  const std::vector<std::string> statuses = reader.texts("/replicas/status", count);
  const std::vector<std::string> messages = reader.texts("/replicas/message", count);
  const std::vector<double> metrics = reader.doubles("/replicas/metric", {count});
  const std::vector<std::int64_t> epochs = reader.wholes("/replicas/epochs", count);
  for (std::size_t r = 0; r < count; ++r) {
    if (replicas[r] > std::numeric_limits<int>::max() ||
        (r > 0 && replicas[r] <= replicas[r - 1])) {
      reader.fail("/replicas/replica", std::to_string(replicas[r]), "ascending numbers");
    }
    MonitoredRun run;
    run.replica = static_cast<int>(replicas[r]);
    run.status = statuses[r];
    run.message = messages[r];
    run.metric = metrics[r];
    run.loss = reader.text("loss");
    run.layers = layers;
    if (epochs[r] > 0) {
      read_epochs(reader, folder_of(r), static_cast<std::uint64_t>(epochs[r]), run);
    }
    content.runs.push_back(std::move(run));
  }
  return content;
}

}  // namespace neutra::evaluators
