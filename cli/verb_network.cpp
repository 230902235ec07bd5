#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "cli/network_text.h"
#include "cli/outputs.h"
#include "cli/verbs.h"
#include "experiments/catalog.h"
#include "experiments/network_file.h"
#include "experiments/network_warnings.h"
#include "experiments/scores/pictures.h"

namespace neutra::cli {
namespace {

/// Of --format, the default first.
const std::vector<std::string> kFormats{"tsv", "graphml", "dot", "json",
                                        "svg", "png",     "pdf", "text"};

std::string comparison_text(const NetworkComparison& comparison) {
  std::string text = "recorded programs " + std::to_string(comparison.recorded) +
                     ", generated here " + std::to_string(comparison.visited) +
                     "\nrecorded repairs among them " +
                     std::to_string(comparison.recorded_alternatives) + ", repairs here, too, " +
                     std::to_string(comparison.also_alternatives) + "\n";
  for (const auto& program : comparison.missed) text += "not generated: " + program + "\n";
  for (const auto& program : comparison.not_alternatives)
    text += "no repair here: " + program + "\n";
  return text;
}

/// --format, else what the ending of the output's file says, else the first one.
std::string format_of(const Arguments& arguments) {
  const std::string format = chosen_format(arguments);
  if (!arguments.has("output") || arguments.flag("json") || arguments.origin("format") != "default")
    return format;
  std::string ending = std::filesystem::path(arguments.text("output")).extension().string();
  if (!ending.empty()) ending.erase(0, 1);
  return std::find(kFormats.begin(), kFormats.end(), ending) != kFormats.end() ? ending : format;
}

/// A picture is of bytes that a terminal takes for commands. Asked before any work.
void require_place_for(const std::string& form, const Arguments& arguments) {
  if (form != "svg" && !arguments.has("output") && isatty(STDOUT_FILENO) == 1)
    throw usage_error("--format " + form +
                      ": found a terminal, which can't show it; allowed: -o FILE, or a pipe");
  experiments::require_picture_form(form);
}

/// How much of a recorded network a network has; --compare.
struct Compared {
  NetworkComparison comparison;
  std::string format;
};

std::string form_of(const Compared& compared, const std::string&) {
  const NetworkComparison& comparison = compared.comparison;
  if (compared.format != "json") return comparison_text(comparison);
  return to_text({{"recorded", comparison.recorded},
                  {"visited", comparison.visited},
                  {"recorded_alternatives", comparison.recorded_alternatives},
                  {"also_alternatives", comparison.also_alternatives},
                  {"missed", comparison.missed},
                  {"not_alternatives", comparison.not_alternatives}});
}

/// A network in the form that --format or the ending of the output's file says.
struct FormedNetwork {
  experiments::NetworkFile loaded;
  std::string file, format;
  bool all_repairs = false;

  const experiments::Fault* fault() const { return loaded.fault ? &*loaded.fault : nullptr; }
};

std::string text_of(const FormedNetwork& network) {
  std::vector<std::string> out_of_reach;
  if (network.fault() != nullptr && !network.loaded.header.empty()) {
    const search::SearchConfig config = search::search_config_from_json(
        network.loaded.header.value("config", Json()), network.file);
    out_of_reach =
        experiments::reach_lines(*network.fault(), config.preset, search::depth_limit(config));
  }
  ListLimit limit;
  limit.folded = network.all_repairs;
  limit.command = "--all-repairs lists all";
  return network_text(network.loaded.network, network.fault(), limit, out_of_reach);
}

std::string form_of(const FormedNetwork& formed, const std::string&) {
  const search::Network& network = formed.loaded.network;
  const std::string& format = formed.format;
  if (format == "json") return to_text(experiments::network_json(formed.loaded));
  if (format == "text") return text_of(formed);
  std::ostringstream out;
  if (format == "tsv") {
    search::write_tsv(network, out);
  } else if (format == "graphml") {
    search::write_graphml(network, out);
  } else if (format == "dot") {
    search::write_dot(network, out);
  } else {
    search::write_picture_dot(network, out);
    return experiments::picture(experiments::laid_out(out.str()), format);
  }
  return out.str();
}

Result run(const Arguments& arguments) {
  require_output(arguments);
  FormedNetwork formed;
  formed.format = format_of(arguments);
  const auto& forms = experiments::picture_forms();
  if (std::find(forms.begin(), forms.end(), formed.format) != forms.end())
    require_place_for(formed.format, arguments);
  formed.file = arguments.positional.front();
  formed.all_repairs = arguments.flag("all-repairs");
  formed.loaded = experiments::read_network_file(
      formed.file, arguments.has("fault")
                       ? std::optional(experiments::load_fault(arguments.text("fault")))
                       : std::nullopt);
  const experiments::NetworkFile& loaded = formed.loaded;
  const std::string of_file = "neutra: " + formed.file;
  if (!loaded.finished)
    std::cerr << of_file << ": the search isn't finished; this is its network so far\n";
  if (!loaded.fault && std::filesystem::path(formed.file).extension() == ".tsv")
    std::cerr << of_file
              << ": root is no bundled fault's buggy program; --fault FILE gives metric and known "
                 "fix\n";
  if (arguments.has("compare"))
    return output_of(Compared{compare_networks(loaded.network,
                                               search::read_network_tsv(arguments.text("compare")),
                                               loaded.fault ? &loaded.fault->space : nullptr),
                              formed.format},
                     arguments);
  if (formed.format == "tsv" && loaded.network.improve)
    std::cerr << of_file
              << ": is_gt says which programs are significantly better than the buggy one (search "
                 "--improve)\n";
  return output_of(std::move(formed), arguments);
}

}  // namespace

Verb network_verb() {
  return {.name = "network",
          .summary = "print the neutrality network of a search or of a recorded TSV file",
          .synopsis =
              "network STORE|FILE.tsv [--format tsv|graphml|dot|json|svg|png|pdf|text] [-o FILE]\n"
              "                    [--compare FILE.tsv] [--all-repairs]",
          .options = {.names = {"all-repairs", "compare", "fault", "output"},
                      .least_positional = 1,
                      .most_positional = 1,
                      .positional_name = "STORE|FILE.tsv",
                      .formats = kFormats},
          .description =
              "Rows are the edges of the network, as their parents left the queue, then by id. Two "
              "searches found the same network\n"
              "when their tsv forms are equal byte for byte. json carries complexity and "
              "improvement (Table 9 of the study), and of\n"
              "each repair whether it is 1-minimal; text lists the repairs for people, the small "
              "ones first. svg, png and pdf are\n"
              "pictures of it, laid out by Graphviz. Without --format the ending of -o FILE "
              "decides, where it is one of these.",
          .example = "  neutra network D7.h5 --format text\n  neutra network D7.h5 -o D7.pdf",
          .run = run};
}

}  // namespace neutra::cli
