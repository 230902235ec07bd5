#include "serve/library.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/checksum_header.h"
#include "base/error.h"
#include "base/file_lock.h"
#include "base/printable.h"
#include "experiments/batch/batch.h"
#include "experiments/benchmark/store.h"
#include "experiments/network_file.h"
#include "report/report.h"
#include "serve/request_head.h"

namespace neutra::serve {
namespace {

namespace fs = std::filesystem;

/// A store that takes long to read is read again after this many times as long.
constexpr int kRest = 10;
constexpr std::size_t kPages = 4;

/// Changes whenever the file does; "" where there is none. Of a link: "", too.
std::string file_revision(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0 || S_ISLNK(status.st_mode)) return "";
  return std::to_string(status.st_ino) + ":" + std::to_string(status.st_size) + ":" +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

fs::path beside(const fs::path& store, const char* ending) { return store.string() + ending; }

std::string search_revision(const fs::path& store) {
  const std::optional<std::string> owner = lock_owner(store.string() + ".lock");
  return file_revision(store) + "|" + file_revision(beside(store, ".journal")) + "|" +
         owner.value_or("");
}

bool is_link(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(fs::symlink_status(path, ignored));
}

template <typename Item>
const Item* find(const std::vector<Item>& items, const std::string& name) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

/// Forgets what the latest scan has not seen.
template <typename Known>
void forget(std::map<std::string, Known>& known, std::uint64_t scan) {
  std::erase_if(known, [&](const auto& item) { return item.second.seen != scan; });
}

}  // namespace

const ListedSearch* Listing::find_search(const std::string& name) const {
  return find(searches, name);
}
const ListedBenchmark* Listing::find_benchmark(const std::string& name) const {
  return find(benchmarks, name);
}

/// One look at the whole folder.
class Library::Scan {
 public:
  explicit Scan(Library& library) : library_(library), number_(++library.scans_) {}

  std::shared_ptr<const Listing> run() {
    walk("", 0);
    for (const std::string& name : stores_) add_search(name);
    for (const std::string& name : waiting_) {
      if (stores_.contains(name)) continue;
      experiments::BatchState state;
      state.fault = fs::path(name).stem().string();
      state.state = "waiting";
      listing_->searches.push_back({name, std::move(state), ""});
    }
    std::sort(listing_->searches.begin(), listing_->searches.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const std::string& name : benchmarks_) add_benchmark(name);
    if (unnamed_ > 0)
      note(std::to_string(unnamed_) + " names that aren't plain UTF-8 are left out");
    if (links_ > 0) note(std::to_string(links_) + " links aren't followed");
    if (entries_ > kMost) note("there is more: " + std::to_string(kMost) + " files were looked at");
    if (deep_ > 0)
      note(std::to_string(deep_) + " folders lie deeper than " + std::to_string(kDepth));
    forget(library_.searches_, number_);
    forget(library_.benchmarks_, number_);
    forget(library_.kinds_, number_);
    return listing_;
  }

 private:
  void note(const std::string& text) {
    listing_->notes.push_back(printable(library_.relative_text(text)));
  }

  void walk(const std::string& name, int depth) {
    std::error_code error;
    fs::directory_iterator entries(library_.path_of(name), error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      if (++entries_ > kMost) return;
      const std::string leaf = entries->path().filename().string();
      if (leaf.starts_with(".")) continue;
      std::error_code ignored;
      const fs::file_status status = entries->symlink_status(ignored);
      if (fs::is_symlink(status)) {
        ++links_;
      } else if (!is_plain_text(leaf)) {
        ++unnamed_;
      } else if (fs::is_directory(status)) {
        const std::string inner = name.empty() ? leaf : name + "/" + leaf;
        if (has_index(entries->path())) {
          benchmarks_.insert(inner);
        } else if (depth == kDepth) {
          ++deep_;
        } else {
          walk(inner, depth + 1);
        }
      } else if (fs::is_regular_file(status)) {
        see_file(name, leaf);
      }
    }
    if (error) note((name.empty() ? library_.folder_.string() : name) + ": " + error.message());
  }

  /// A folder that is a benchmark, maybe a damaged one.
  static bool has_index(const fs::path& folder) {
    return !is_link(folder / experiments::kBenchmarkIndex) &&
           experiments::has_benchmark_name(folder);
  }

  void see_file(const std::string& folder, const std::string& leaf) {
    std::string name = folder.empty() ? leaf : folder + "/" + leaf;
    const fs::path ending = fs::path(leaf).extension();
    if (ending == ".damaged" || ending == ".tmp" || ending == ".lock") return;
    if (leaf == "batch.json") return see_batch(folder);
    if (ending == ".journal") {
      name.resize(name.size() - std::string_view(".journal").size());
      // A search that never saved has its journal alone.
      if (fs::path(name).extension() == ".h5" && !is_link(library_.path_of(name)))
        stores_.insert(name);
      return;
    }
    const std::string format = format_of(name);
    if (format == "neutra-store") stores_.insert(name);
    if (format == "neutra-benchmark") benchmarks_.insert(name);
  }

  /// The format that a file's checksum header names; "" where it has none.
  std::string format_of(const std::string& name) {
    KnownKind& known = library_.kinds_[name];
    known.seen = number_;
    const fs::path file = library_.path_of(name);
    const std::string revision = file_revision(file);
    if (known.revision == revision) return known.format;
    try {
      const std::optional<ChecksumHeader> header = read_checksum_header(file);
      known.format = header ? header->format : "";
    } catch (const Error&) {
      known.format = "";  // unreadable, or gone
    }
    known.revision = revision;
    return known.format;
  }

  void see_batch(const std::string& folder) {
    try {
      const std::optional<experiments::SearchBatch> batch =
          experiments::read_batch(library_.path_of(folder));
      for (const std::string& fault : batch ? batch->faults : std::vector<std::string>()) {
        if (is_plain_text(fault) && fault.find('/') == std::string::npos)
          waiting_.insert((folder.empty() ? "" : folder + "/") + fault + ".h5");
      }
    } catch (const Error& error) {
      note(error.what());
    }
  }

  void add_search(const std::string& name) {
    KnownSearch& known = library_.searches_[name];
    known.seen = number_;
    const fs::path store = library_.path_of(name);
    if (is_link(beside(store, ".journal"))) {
      known.state = {};
      known.state.fault = store.stem().string();
      known.state.state = "damaged";
      known.state.note = "its journal is a link";
    } else if (known.revision.empty() && read_ >= kReadAtOnce && Clock::now() >= read_until_) {
      listing_->complete = false;
      known.state.fault = store.stem().string();
      known.state.state = "unread";
    } else if (const std::string revision = search_revision(store);
               revision != known.revision && Clock::now() >= known.next_look) {
      const auto begin = Clock::now();
      ++read_;
      try {
        known.state = experiments::batch_states({store}).front();
      } catch (const std::exception& error) {
        known.state = {};
        known.state.fault = store.stem().string();
        known.state.state = "damaged";
        known.state.note = error.what();
      }
      known.state.note = printable(library_.relative_text(known.state.note));
      // That of before: what is written meanwhile is read next time.
      known.revision = revision;
      known.next_look = Clock::now() + kRest * (Clock::now() - begin);
    }
    listing_->searches.push_back({name, known.state, known.revision});
  }

  void add_benchmark(const std::string& name) {
    KnownBenchmark& known = library_.benchmarks_[name];
    known.seen = number_;
    const fs::path path = library_.path_of(name);
    std::error_code ignored;
    std::string revision = file_revision(path);
    if (fs::is_directory(path, ignored))
      revision += "|" + file_revision(path / experiments::kBenchmarkIndex);
    if (known.listed.revision != revision) {
      known.listed = {name, nullptr, "", revision};
      try {
        experiments::Benchmark content = experiments::load_benchmark(path);
        content.data.clear();  // their bytes are asked for by tools alone
        known.listed.content = std::make_shared<const experiments::Benchmark>(std::move(content));
      } catch (const std::exception& error) {
        known.listed.problem = printable(library_.relative_text(error.what()));
      }
    }
    listing_->benchmarks.push_back(known.listed);
  }

  Library& library_;
  const std::uint64_t number_;
  std::shared_ptr<Listing> listing_ = std::make_shared<Listing>();
  std::set<std::string> stores_, waiting_, benchmarks_;
  std::size_t entries_ = 0, unnamed_ = 0, links_ = 0, deep_ = 0;
  int read_ = 0;  ///< searches
  const Clock::time_point read_until_ = Clock::now() + library_.reading_;
};

Library::Library(const fs::path& folder, std::chrono::milliseconds freshness,
                 std::chrono::milliseconds reading)
    : folder_([&] {
        std::error_code error;
        if (!fs::is_directory(folder, error))
          throw input_error(describe(folder.string(), "",
                                     fs::exists(folder, error) ? "a file" : "no such folder",
                                     "a folder with searches or benchmarks"));
        return fs::canonical(folder);
      }()),
      freshness_(freshness),
      reading_(reading) {}

std::shared_ptr<const Listing> Library::listing() {
  const auto latest = [this](bool fresh) -> std::shared_ptr<const Listing> {
    const std::lock_guard lock(mutex_);
    const bool is_fresh = looked_ && Clock::now() - *looked_ < freshness_;
    return latest_ && (!fresh || is_fresh) ? latest_ : nullptr;
  };
  if (auto fresh = latest(true)) return fresh;
  // While one thread looks, the others take what was there; at the very first they wait.
  std::unique_lock scan(scan_mutex_, std::try_to_lock);
  if (!scan) {
    if (auto older = latest(false)) return older;
    scan.lock();
  }
  if (auto fresh = latest(true)) return fresh;
  auto found = scanned();
  const std::lock_guard lock(mutex_);
  looked_.reset();
  if (found->complete) looked_ = Clock::now();
  return latest_ = std::move(found);
}

std::shared_ptr<const Listing> Library::scanned() { return Scan(*this).run(); }

std::shared_ptr<const std::string> Library::report(const std::string& name, const Json& provenance,
                                                   const std::optional<std::string>& with) {
  const auto listed = listing();
  std::vector<std::string> names = {name};
  if (with) names.push_back(*with);
  std::string all, revision;  // no name holds a line end
  for (const std::string& one : names) {
    const ListedSearch* search = listed->find_search(one);
    if (search == nullptr || search->state.state == "waiting") return nullptr;
    all += one + "\n";
    revision += search->revision + "\n";
  }
  // One at a time: a page may take much memory.
  const std::lock_guard lock(page_mutex_);
  const auto known = std::find_if(pages_.begin(), pages_.end(), [&](const Page& page) {
    return page.name == all && page.revision == revision;
  });
  if (known != pages_.end()) return known->text;
  const auto read = [&](const std::string& one) {
    const fs::path store = path_of(one);
    if (is_link(store) || is_link(beside(store, ".journal")))
      throw input_error(describe(one, "", "a link", "a store"));
    return experiments::read_network_file(store, std::nullopt);
  };
  report::ReportInput input;
  input.file = name;
  input.network = read(name);
  if (with) input.compared.emplace_back(read(*with), *with);
  input.provenance = provenance;
  auto text =
      std::make_shared<const std::string>(report::report_page(report::report_document(input)));
  std::erase_if(pages_, [&](const Page& page) { return page.name == all; });
  pages_.insert(pages_.begin(), {all, revision, text});
  if (pages_.size() > kPages) pages_.pop_back();
  return text;
}

std::string Library::relative_text(std::string text) const {
  const std::string own = folder_.string() + "/";
  for (std::size_t at = 0; (at = text.find(own, at)) != std::string::npos;)
    text.erase(at, own.size());
  return text;
}

}  // namespace neutra::serve
