#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/last_act.h"
#include "cli/provenance.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "serve/folder_site.h"
#include "serve/http_server.h"

namespace neutra::cli {
namespace {

/// As in an address: IPv6 numbers in brackets.
std::string host_of_url(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

Result run(const Arguments& arguments) {
  catch_signals();
  say_nothing_of_stops();
  const LastAct last([] { std::_Exit(static_cast<int>(Exit::kDone)); });
  serve::FolderSite::Setup setup;
  setup.folder = arguments.positional.front();
  setup.provenance = provenance();
  // Itself, also after its file was replaced.
  setup.command = {"/proc/self/exe"};
  setup.tool_options = {"--workers", std::to_string(worker_count(arguments))};
  if (arguments.has("data-dir")) {
    data_path(arguments, "");  // says when it is no folder
    setup.tool_options.insert(setup.tool_options.end(), {"--data-dir", arguments.text("data-dir")});
  }
  serve::FolderSite site(setup);
  const std::string host = arguments.text("host");
  serve::HttpServer server(host, static_cast<int>(arguments.integer("port")),
                           [&](const serve::HttpRequest& request) { return site.answer(request); });
  site.set_address(host_of_url(host), server.loopback());
  if (!server.loopback())
    std::cerr << "neutra: anyone who reaches this machine can see the folder\n";
  const std::string url = "http://" + host_of_url(host) + ":" + std::to_string(server.port()) + "/";
  if (chosen_format(arguments) == "json")
    std::cout << Json{{"url", url}, {"folder", setup.folder.string()}}.dump() << std::endl;
  else
    std::cout << url << std::endl;
  // Nobody would learn the address: main says so.
  if (!std::cout) return {{}, Exit::kFailed};
  server.run(stop_requested());
  site.stop();
  return {};
}

}  // namespace

Verb serve_verb() {
  return {.name = "serve",
          .summary = "show the searches and benchmarks of a folder in a browser, while they grow",
          .synopsis = "serve FOLDER [--port N] [--host HOST] [--workers N] [--data-dir DIR]",
          .options = {.names = {"data-dir", "host", "port", "workers"},
                      .least_positional = 1,
                      .most_positional = 1,
                      .positional_name = "FOLDER"},
          .description =
              "Prints the address and serves until Ctrl-C or SIGTERM, which end it with exit code "
              "0. Searches, also those that\n"
              "run: how far they are, and their reports (neutra report). Benchmarks: their entries "
              "by fault type, category,\n"
              "operator, subject and tool, each with the difference of both programs, similar "
              "entries, and tools that can be run\n"
              "on it. Folders in the folder are looked through, too; links aren't followed. "
              "Nothing is written. Tools run one\n"
              "after the other, each with --workers trainings at the same time. Without --host "
              "only this machine is answered.",
          .example = "  neutra serve quickstart-results\n  neutra serve results --port 8080",
          .run = run};
}

}  // namespace neutra::cli
