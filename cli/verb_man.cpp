#include <ctime>
#include <filesystem>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/manual.h"
#include "cli/verbs.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

/// Today; SOURCE_DATE_EPOCH (reproducible-builds.org) names another day.
std::string date() {
  std::time_t time = std::time(nullptr);
  if (const std::string given = environment("SOURCE_DATE_EPOCH"); !given.empty()) {
    time = static_cast<std::time_t>(std::strtoll(given.c_str(), nullptr, 10));
  }
  char text[32];
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

struct Page {
  std::string name, text;
};

/// The pages, which may have gone to a folder.
struct Pages {
  std::vector<Page> pages;
  std::filesystem::path folder;  ///< "": none
};

Json json_of(const Pages& written) {
  Json list = Json::array();
  for (const Page& page : written.pages) {
    if (written.folder.empty())
      list.push_back({{"page", page.name}, {"text", page.text}});
    else
      list.push_back(
          {{"page", page.name}, {"file", (written.folder / (page.name + ".1")).string()}});
  }
  return {{"format", "neutra-man"}, {"version", 1}, {"pages", std::move(list)}};
}

std::string text_of(const Pages& written) {
  return written.folder.empty() ? written.pages.front().text : "";
}

Result run(const Arguments& arguments) {
  Pages made;
  std::vector<std::string> names;
  const std::string wanted = arguments.positional.empty() ? "" : arguments.positional.front();
  if (wanted.empty()) made.pages.push_back({"neutra", manual_page(date())});
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    names.push_back(verb.name);
    const bool all = wanted.empty() && arguments.has("output");
    if (all || verb.name == wanted)
      made.pages.push_back({"neutra-" + verb.name, manual_page(verb, date())});
  }
  if (made.pages.empty())
    throw usage_error("unknown verb '" + wanted + "'; allowed: " + allowed_words(wanted, names));
  if (arguments.has("output")) {
    made.folder = arguments.text("output");
    require_writable_folder(made.folder, "--output");
    std::filesystem::create_directories(made.folder);
    for (const Page& page : made.pages)
      write_file_atomically(made.folder / (page.name + ".1"), page.text);
  }
  return result_of(std::move(made));
}

}  // namespace

Verb man_verb() {
  return {.name = "man",
          .summary = "print or write the manual pages",
          .synopsis = "man [VERB] [-o FOLDER]",
          .options = {.names = {"output"}, .most_positional = 1, .positional_name = "VERB"},
          .description =
              "The page of a verb, or neutra(1), in the form that man reads. With -o FOLDER that "
              "page, or without a verb all of\n"
              "them, as files. They are made of what --help says; cmake --install puts them where "
              "man looks.",
          .example = "  neutra man search | man -l -\n  neutra man -o ~/.local/share/man/man1",
          .run = run};
}

}  // namespace neutra::cli
