#include <ctime>
#include <iostream>

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
  if (const char* given = std::getenv("SOURCE_DATE_EPOCH"); given != nullptr && *given != '\0')
    time = static_cast<std::time_t>(std::strtoll(given, nullptr, 10));
  char text[32];
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

int run(const Arguments& arguments) {
  std::vector<std::pair<std::string, std::string>> pages;  // name, text
  std::vector<std::string> names;
  const std::string wanted = arguments.positional.empty() ? "" : arguments.positional.front();
  if (wanted.empty()) pages.emplace_back("neutra", manual_page(date()));
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    names.push_back(verb.name);
    const bool all = wanted.empty() && arguments.has("output");
    if (all || verb.name == wanted)
      pages.emplace_back("neutra-" + verb.name, manual_page(verb, date()));
  }
  if (pages.empty())
    throw usage_error("unknown verb '" + wanted + "'; allowed: " + allowed_words(wanted, names));
  Json list = Json::array();
  if (arguments.has("output")) {
    const std::filesystem::path folder = arguments.text("output");
    require_writable_folder(folder, "--output");
    std::filesystem::create_directories(folder);
    for (const auto& [name, text] : pages) {
      write_file_atomically(folder / (name + ".1"), text);
      list.push_back({{"page", name}, {"file", (folder / (name + ".1")).string()}});
    }
  } else {
    list.push_back({{"page", pages.front().first}, {"text", pages.front().second}});
  }
  if (arguments.flag("json"))
    std::cout << to_text({{"format", "neutra-man"}, {"version", 1}, {"pages", std::move(list)}});
  else if (!arguments.has("output"))
    std::cout << pages.front().second;
  return 0;
}

}  // namespace

Verb man_verb() {
  return {"man",
          "print or write the manual pages",
          "man [VERB] [-o FOLDER]",
          {{"output"}, 0, 1, "VERB"},
          "The page of a verb, or neutra(1), in the form that man reads. With -o FOLDER that page, "
          "or without a verb all of\n"
          "them, as files. They are made of what --help says; cmake --install puts them where man "
          "looks.",
          "  neutra man search | man -l -\n  neutra man -o ~/.local/share/man/man1",
          run};
}

}  // namespace neutra::cli
