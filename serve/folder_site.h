#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "serve/http_server.h"
#include "serve/library.h"
#include "serve/tool_jobs.h"

namespace neutra::serve {

/// What `neutra serve` shows of a folder (docs/formats/serve.md): pages, and the JSON that they
/// are made of. Thread safe.
class FolderSite {
 public:
  /// What a site is made of.
  struct Setup {
    std::filesystem::path folder;              ///< that it shows
    std::chrono::milliseconds freshness{500};  ///< the folder is looked at again after it
    Json provenance;                           ///< of the program that writes reports
    std::vector<std::string> command;          ///< that runs tools: "neutra"
    std::vector<std::string> tool_options;     ///< of `command` localise
  };
  /// Throws input_error for what is no folder.
  explicit FolderSite(Setup setup);

  /// Before the first request. `host`: that the server listens on. From elsewhere than this machine
  /// no tool can be run.
  void set_address(const std::string& host, bool loopback);

  /// The page or the JSON that a request asks for, with the headers that keep other sites out; what
  /// goes wrong becomes a status and a line of text.
  HttpResponse answer(const HttpRequest& request);

  /// Ends what tools run.
  void stop() { jobs_.stop(); }

 private:
  HttpResponse routed(const HttpRequest& request);
  HttpResponse searches();
  HttpResponse benchmark(const HttpRequest& request);
  HttpResponse entry(const HttpRequest& request);
  HttpResponse report(const HttpRequest& request);
  HttpResponse localise(const HttpRequest& request);
  HttpResponse job(const HttpRequest& request);
  bool is_known_host(const std::string& header) const;
  std::string write_fault(const ToolQuestion& question, const std::filesystem::path& folder);

  const Setup setup_;
  Library library_;
  std::string host_ = "127.0.0.1";
  bool loopback_ = true;
  ToolJobs jobs_;
};

}  // namespace neutra::serve
