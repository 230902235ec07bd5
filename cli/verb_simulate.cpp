#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/parse_number.h"
#include "cli/outputs.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "evaluators/result_table.h"
#include "experiments/scores/figures.h"
#include "search/recorded_search.h"
#include "search/simulator.h"

namespace neutra::cli {
namespace {

constexpr int kMostWorkers = 65536;
constexpr double kMostSlowness = 1e6;  ///< sums of longer times lose the shorter ones

std::vector<int> sizes(const std::string& text) {
  std::vector<int> result;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const std::optional<int> number = parse_number<int>(item);
    if (!number || *number < 1 || *number > kMostWorkers) {
      throw usage_error("--sizes: found '" + item + "'; allowed: numbers of workers from 1 to " +
                        std::to_string(kMostWorkers) + " such as 1,64,1000");
    }
    result.push_back(*number);
  }
  return result;
}

/// Powers of two, as far as there are as many trainings.
std::vector<int> default_sizes(std::int64_t trainings) {
  constexpr int kMost = 4096;
  std::vector<int> result{1};
  while (result.back() < kMost && 2 * result.back() <= trainings)
    result.push_back(2 * result.back());
  return result;
}

std::int64_t needed_trainings(const search::RecordedSearch& search) {
  std::int64_t count = 0;
  const std::optional<program::Program>& fixed = search.task().fixed;
  search::needed_work(search.network(), fixed ? std::optional(search.hash(*fixed)) : std::nullopt,
                      [&](const search::EvaluationKey&) { return ++count, 0.0; });
  return count;
}

/// How many programs had their neighbours trained.
int count_parents(const search::Network& network) {
  int count = 0;
  for (std::size_t i = 1; i < network.nodes.size(); ++i)
    count += i == 1 || network.nodes[i].parent != network.nodes[i - 1].parent;
  return count;
}

/// "0.05:4": one rank in twenty takes four times as long.
void read_stragglers(const std::string& text, search::SimulatedCluster& cluster) {
  std::istringstream in(text);
  char colon = 0;
  in >> cluster.straggler_share >> colon >> cluster.straggler_factor;
  if (!in || !in.eof() || colon != ':' || cluster.straggler_share < 0 ||
      cluster.straggler_share > 1 || !(cluster.straggler_factor >= 1) ||
      cluster.straggler_factor > kMostSlowness) {
    throw usage_error("--stragglers: found '" + text +
                      "'; allowed: SHARE:FACTOR, a share of the ranks from 0 to 1 and how many "
                      "times as long they take, from 1 to 1000000, such as 0.05:4");
  }
}

std::string tsv(const search::Network& network) {
  std::ostringstream out;
  search::write_tsv(network, out);
  return out.str();
}

evaluators::ResultTable make_table(const std::string& fault) {
  return {"runs",
          "Simulated searches of " + fault,
          {{"workers", "workers", ""},
           {"speculate", "ahead", ""},
           {"seconds", "seconds", "time", 3},
           {"lower_bound", "bound", "time", 3},
           {"efficiency", "efficiency", "time", 3},
           {"speedup", "speed-up", "time", 1},
           {"busy", "busy", "time", 3},
           {"trainings", "all", "trainings"},
           {"not_needed", "not needed", "trainings"},
           {"begun_in_vain", "in vain", "trainings"},
           {"estimated", "estimated", "trainings"},
           {"tasks_per_order", "tasks", "orders", 2},
           {"largest_order", "largest", "orders"},
           {"messages_per_second", "messages/s", "rank 0", 0},
           {"dealing", "deals", "rank 0", 3},
           {"failures", "failures", ""},
           {"same_network", "network", ""}},
          {}};
}

search::SimulatedCluster cluster_of(const Arguments& arguments) {
  search::SimulatedCluster cluster;
  cluster.rank_threads = static_cast<int>(arguments.integer("rank-threads"));
  cluster.latency_seconds = arguments.number("latency") / 1000;
  cluster.task_seconds = arguments.number("task-time") / 1000;
  read_stragglers(arguments.text("stragglers"), cluster);
  cluster.failures_per_hour = arguments.number("failures");
  cluster.restart_seconds = arguments.seconds("restart-time");
  cluster.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  cluster.curtail = arguments.is_on("curtail");
  return cluster;
}

/// What simulated searches gave.
struct Simulation {
  std::string store;
  evaluators::ResultTable table;
  std::vector<experiments::EfficiencyPoint> points;
  std::map<bool, std::vector<double>> times;  ///< by whether idle workers run ahead
  bool all_same = true;                       ///< each ended in the network of the store
  std::int64_t needed = 0, scheduled = 0;     ///< trainings
  double needed_seconds = 0;                  ///< that one worker takes for them
  double scheduling = 0;                      ///< seconds of the scheduler itself
  int parents = 0;                            ///< programs whose neighbours were trained
};

std::string form_of(const Simulation& simulation, const std::string& form) {
  evaluators::Report report;
  report.about = {{"format", "neutra-simulation"},
                  {"version", 1},
                  {"store", simulation.store},
                  {"needed", simulation.needed},
                  {"needed_seconds", simulation.needed_seconds}};
  report.tables.push_back(simulation.table);
  return written(report, form);
}

/// What it took, and whether running ahead helps.
std::string notes_of(const Simulation& simulation) {
  std::string text = "one worker: " + std::to_string(simulation.needed) + " trainings in " +
                     duration_text(simulation.needed_seconds) + "; the scheduler itself took " +
                     rounded(1e6 * simulation.scheduling /
                             static_cast<double>(std::max<std::int64_t>(simulation.scheduled, 1))) +
                     " microseconds for each simulated one\n";
  const auto& times = simulation.times;
  if (times.size() < 2 || times.at(true) != times.at(false)) return text;
  text += "running ahead changes nothing here";
  if (simulation.parents < 3)
    text += ": the neighbours of " + std::to_string(simulation.parents) + " program" +
            (simulation.parents == 1 ? "" : "s") +
            " were trained, and those of a third are the first to be begun ahead";
  return text + "\n";
}

/// Adds a search on a cluster; `first`: the first with these settings.
void simulate(search::RecordedSearch& recorded, const search::SimulatedCluster& cluster,
              const std::string& expected, bool first, Simulation& simulation) {
  const auto begin = std::chrono::steady_clock::now();
  const search::SimulatedRun run =
      search::simulate(recorded.task(), recorded, recorded.config(), recorded, cluster);
  simulation.scheduling +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  simulation.scheduled += run.trainings;
  const bool same = tsv(run.network) == expected;
  simulation.all_same = simulation.all_same && same;
  simulation.needed = run.needed;
  simulation.needed_seconds = run.needed_seconds;
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const auto rate = [&](double value) { return run.seconds > 0 ? value / run.seconds : 0; };
  simulation.table.rows.push_back(
      {{number(cluster.workers), cluster.speculate ? "on" : "off", run.seconds, run.lower_bound,
        run.efficiency(), rate(run.needed_seconds), rate(run.training_seconds) / cluster.workers,
        number(run.trainings), number(run.trainings - run.needed), number(run.begun_in_vain),
        number(run.estimated), run.orders > 0 ? number(run.tasks_sent) / number(run.orders) : 0.0,
        number(run.largest_order), rate(number(run.messages)), rate(run.dealing_seconds),
        number(run.failures), same ? "the same" : "ANOTHER"},
       first});
  simulation.points.push_back(
      {cluster.workers, run.efficiency(), cluster.speculate ? "with running ahead" : "without"});
  simulation.times[cluster.speculate].push_back(run.seconds);
}

Result run(const Arguments& arguments) {
  if (arguments.has("plot")) require_picture_file(arguments.text("plot"), "--plot");
  require_output(arguments);
  if (arguments.has("plot") && arguments.has("output"))
    require_apart({{"--output", arguments.text("output")}, {"--plot", arguments.text("plot")}});
  search::SimulatedCluster cluster = cluster_of(arguments);
  const auto& given = arguments.given;
  const bool both = std::find(given.begin(), given.end(), "speculate") == given.end();

  Simulation simulation;
  simulation.store = arguments.positional.front();
  search::RecordedSearch recorded(simulation.store, arguments.number("time-factor"));
  const std::string expected = tsv(recorded.network());
  simulation.table = make_table(recorded.network().fault_id);
  simulation.parents = count_parents(recorded.network());
  const std::vector<int> all_workers = arguments.has("sizes")
                                           ? sizes(arguments.text("sizes"))
                                           : default_sizes(needed_trainings(recorded));
  for (const bool speculate : {true, false}) {
    if (!both && speculate != arguments.is_on("speculate")) continue;
    cluster.speculate = speculate;
    for (const int workers : all_workers) {
      cluster.workers = workers;
      const bool first = !simulation.table.rows.empty() && workers == all_workers.front();
      simulate(recorded, cluster, expected, first, simulation);
    }
  }
  if (arguments.has("plot"))
    write_picture(experiments::efficiency_figure(simulation.points), arguments.text("plot"));
  const std::string notes =
      (arguments.flag("quiet") ? "" : notes_of(simulation)) +
      (simulation.all_same
           ? ""
           : "neutra: a simulated search ended in another network than the store\n");
  const Exit exit = simulation.all_same ? Exit::kDone : Exit::kFailed;
  Result result = output_of(std::move(simulation), arguments, exit);
  result.notes = notes;
  return result;
}

}  // namespace

Verb simulate_verb() {
  return {
      .name = "simulate",
      .summary = "estimate how fast a finished search would be on more workers",
      .synopsis = "simulate STORE [--sizes LIST] [--plot PICTURE] [options]",
      .options = {.names = {"curtail", "failures", "latency", "output", "plot", "rank-threads",
                            "restart-time", "seed", "sizes", "speculate", "stragglers", "task-time",
                            "time-factor"},
                  .least_positional = 1,
                  .most_positional = 1,
                  .positional_name = "STORE",
                  .formats = {"text", "csv", "json", "latex"}},
      .description =
          "Runs the search of a store once more through the scheduler, on ranks that are simulated "
          "with the recorded times\n"
          "of its trainings: how long it takes, against a lower bound that no schedule can beat "
          "(its longest chain of\n"
          "trainings, and its work shared among all), what is trained that the serial search does "
          "not need, and how busy\n"
          "rank 0 is. With and without speculation, unless --speculate says which. Exit 1 when a "
          "simulated search ends\n"
          "in another network than the store's. A store made with --curtail off and --reuse-epochs "
          "off has all times;\n"
          "others are estimated.\n"
          "\n"
          "columns:\n"
          "  ahead       do idle workers train the next program's neighbours ahead (--speculate)\n"
          "  bound       seconds that no schedule can beat\n"
          "  efficiency  bound by seconds: 1 is the best possible\n"
          "  speed-up    seconds of the needed trainings on one worker, by seconds\n"
          "  busy        share of the workers' time in which they train\n"
          "  all         trainings that ended; of them not needed by the serial search, and "
          "estimated: not in the store\n"
          "  in vain     trainings under way at the end, or when a rank failed\n"
          "  tasks       trainings in an order of rank 0 to another rank, mean; largest: in the "
          "largest one\n"
          "  messages/s  that rank 0 sends and receives; deals: the share of its time that they "
          "take",
      .example =
          "  neutra search D8 --store D8.h5 --budget-evaluations 580 --curtail off --reuse-epochs "
          "off\n"
          "  neutra simulate D8.h5 --sizes 1,16,256,1000 --time-factor 100 --plot D8.svg\n"
          "  neutra simulate D8.h5 --sizes 1000 --stragglers 0.05:4 --failures 0.001",
      .run = run};
}

}  // namespace neutra::cli
