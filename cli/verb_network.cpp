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
#include "experiments/scores/pictures.h"

namespace neutra::cli {
namespace {

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
  const std::vector<std::string> formats = network_verb().options.formats;
  return std::find(formats.begin(), formats.end(), ending) != formats.end() ? ending : format;
}

/// A picture is of bytes that a terminal takes for commands. Asked before any work.
void require_place_for(const std::string& form, const Arguments& arguments) {
  if (form != "svg" && !arguments.has("output") && isatty(STDOUT_FILENO) == 1)
    throw usage_error("--format " + form +
                      ": found a terminal, which can't show it; allowed: -o FILE, or a pipe");
  experiments::require_picture_form(form);
}

int run(const Arguments& arguments) {
  require_output(arguments);
  const std::string format = format_of(arguments);
  const auto& forms = experiments::picture_forms();
  const bool is_picture = std::find(forms.begin(), forms.end(), format) != forms.end();
  if (is_picture) require_place_for(format, arguments);
  const std::filesystem::path file = arguments.positional.front();
  const experiments::NetworkFile loaded = experiments::read_network_file(
      file, arguments.has("fault") ? std::optional(experiments::load_fault(arguments.text("fault")))
                                   : std::nullopt);
  if (!loaded.finished)
    std::cerr << "neutra: " << file.string()
              << ": the search isn't finished; this is its network so far\n";
  if (!loaded.fault && file.extension() == ".tsv")
    std::cerr << "neutra: " << file.string()
              << ": root is no bundled fault's buggy program; --fault FILE gives metric and known "
                 "fix\n";
  std::ostringstream out;
  if (arguments.has("compare")) {
    const auto comparison =
        compare_networks(loaded.network, search::read_network_tsv(arguments.text("compare")),
                         loaded.fault ? &loaded.fault->space : nullptr);
    if (format == "json")
      out << to_text({{"recorded", comparison.recorded},
                      {"visited", comparison.visited},
                      {"recorded_alternatives", comparison.recorded_alternatives},
                      {"also_alternatives", comparison.also_alternatives},
                      {"missed", comparison.missed},
                      {"not_alternatives", comparison.not_alternatives}});
    else
      out << comparison_text(comparison);
  } else if (format == "tsv") {
    search::write_tsv(loaded.network, out);
    if (loaded.network.improve)
      std::cerr
          << "neutra: " << file.string()
          << ": is_gt says which programs are significantly better than the buggy one (search "
             "--improve)\n";
  } else if (format == "graphml") {
    search::write_graphml(loaded.network, out);
  } else if (format == "dot") {
    search::write_dot(loaded.network, out);
  } else if (is_picture) {
    search::write_picture_dot(loaded.network, out);
    out.str(experiments::picture(experiments::laid_out(out.str()), format));
  } else if (format == "json") {
    out << to_text(
        experiments::network_json(loaded.network, loaded.fault ? &*loaded.fault : nullptr));
  } else {
    std::vector<std::string> out_of_reach;
    if (loaded.fault && !loaded.header.empty()) {
      const search::SearchConfig config =
          search::search_config_from_json(loaded.header.value("config", Json()), file.string());
      out_of_reach =
          experiments::reach_lines(*loaded.fault, config.preset, search::depth_limit(config));
    }
    ListLimit limit;
    limit.folded = arguments.flag("all-repairs");
    limit.command = "--all-repairs lists all";
    out << network_text(loaded.network, loaded.fault ? &*loaded.fault : nullptr, limit,
                        out_of_reach);
  }
  put_result(arguments, out.str());
  return 0;
}

}  // namespace

Verb network_verb() {
  return {
      "network",
      "print the neutrality network of a search or of a recorded TSV file",
      "network STORE|FILE.tsv [--format tsv|graphml|dot|json|svg|png|pdf|text] [-o FILE]\n"
      "                    [--compare FILE.tsv] [--all-repairs]",
      {{"all-repairs", "compare", "fault", "output"},
       1,
       1,
       "STORE|FILE.tsv",
       {"tsv", "graphml", "dot", "json", "svg", "png", "pdf", "text"}},
      "Rows are the edges of the network, as their parents left the queue, then by id. Two "
      "searches found the same\n"
      "network when their tsv forms are equal byte for byte. json carries complexity and "
      "improvement (Table 9 of the\n"
      "study), and of each repair whether it is 1-minimal; text lists the repairs for people, the "
      "small ones first. svg, png and pdf are pictures of it, laid out by "
      "Graphviz. Without\n"
      "--format the ending of -o FILE says the form, where it is one of these.",
      "  neutra network D7.h5 --format text\n  neutra network D7.h5 -o D7.pdf",
      run};
}

}  // namespace neutra::cli
