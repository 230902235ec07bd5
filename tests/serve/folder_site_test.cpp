#include "serve/folder_site.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "search/store.h"
#include "tests/serve/raw_client.h"
#include "tests/source_file.h"

namespace neutra::serve {
namespace {

namespace fs = std::filesystem;

const fs::path kCompat = source_file("tests/data/compat/0.1.0");

/// A site of a folder with one search and one benchmark; tools are a shell script.
class FolderSiteTest : public ::testing::Test {
 protected:
  FolderSiteTest() {
    fs::copy(kCompat / "batch/D6.h5", folder.path() / "D6.h5");
    fs::copy(kCompat / "benchmark.h5", folder.path() / "small one.h5");
  }
  FolderSite& site() {
    if (!site_) {
      FolderSite::Setup setup;
      setup.folder = folder.path();
      setup.freshness = std::chrono::milliseconds(0);
      setup.provenance = {{"program_version", "test"}};
      setup.command = {"/bin/sh", "-c", R"(cat "$2" && ls "${2%/*}" >&2)", "neutra"};
      site_ = std::make_unique<FolderSite>(setup);
    }
    return *site_;
  }
  static HttpRequest get(const std::string& path, std::map<std::string, std::string> query = {}) {
    return {"GET", path, std::move(query), {{"host", "localhost:1234"}}, ""};
  }
  static HttpRequest post(const std::string& path, const Json& body) {
    return {"POST",
            path,
            {},
            {{"host", "localhost:1234"}, {"content-type", "application/json"}},
            body.dump()};
  }
  Json json(const HttpRequest& request, int status = 200) {
    const HttpResponse response = site().answer(request);
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_EQ(response.type, "application/json");
    return Json::parse(response.body);
  }
  int status(const HttpRequest& request) { return site().answer(request).status; }
  static std::string header(const HttpResponse& response, const std::string& name) {
    std::string found;
    for (const auto& [own, value] : response.headers)
      if (own == name) found += value;
    return found;
  }
  static Json question() {
    return {{"benchmark", "small one.h5"},
            {"entry", 1},
            {"tool", "umlaut"},
            {"runs", 1},
            {"program_version", "buggy"}};
  }

  TemporaryFolder folder{"neutra-site-test"};

 private:
  std::unique_ptr<FolderSite> site_;
};

TEST_F(FolderSiteTest, ListsTheFolder) {
  const Json listing = json(get("/api/listing"));
  EXPECT_EQ(listing["format"], "neutra-listing");
  ASSERT_EQ(listing["searches"].size(), 1U);
  EXPECT_EQ(listing["searches"][0]["name"], "D6.h5");
  EXPECT_EQ(listing["searches"][0]["state"], "finished");
  EXPECT_EQ(listing["searches"][0]["evaluations"], 12);
  ASSERT_EQ(listing["benchmarks"].size(), 1U);
  EXPECT_EQ(listing["benchmarks"][0]["entries"], 2);
  EXPECT_EQ(listing["benchmarks"][0]["problem"], nullptr);
}

TEST_F(FolderSiteTest, TellsWhatHasNotChanged) {
  HttpRequest request = get("/api/listing");
  const HttpResponse first = site().answer(request);
  request.headers["if-none-match"] = header(first, "ETag");
  const HttpResponse second = site().answer(request);
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.body, "");
  fs::copy(kCompat / "batch/D6.h5", folder.path() / "another.h5");
  EXPECT_EQ(site().answer(request).status, 200);
}

TEST_F(FolderSiteTest, PagesAndTheirPolicies) {
  for (const char* path : {"/", "/search", "/benchmark", "/entry", "/site.js", "/site.css"}) {
    const HttpResponse response = site().answer(get(path));
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_NE(header(response, "Content-Security-Policy").find("script-src 'self'"),
              std::string::npos);
    EXPECT_EQ(header(response, "Access-Control-Allow-Origin"), "");
  }
  const HttpResponse report = site().answer(get("/report", {{"name", "D6.h5"}}));
  EXPECT_EQ(report.status, 200);
  EXPECT_NE(report.body.find("neutra-report"), std::string::npos);
  EXPECT_NE(header(report, "Content-Security-Policy").find("sandbox allow-scripts"),
            std::string::npos);
}

TEST_F(FolderSiteTest, TwoSearchesStandSideBySide) {
  fs::copy(kCompat / "batch/D6.h5", folder.path() / "again.h5");
  const HttpResponse both =
      site().answer(get("/report", {{"name", "D6.h5"}, {"with", "again.h5"}}));
  EXPECT_EQ(both.status, 200);
  EXPECT_NE(both.body.find("\"file\":\"again.h5\""), std::string::npos);
  EXPECT_NE(header(both, "Content-Security-Policy").find("allow-downloads"), std::string::npos);
  const HttpResponse alone = site().answer(get("/report", {{"name", "D6.h5"}}));
  EXPECT_EQ(alone.body.find("again.h5"), std::string::npos);  // another page
  for (const char* other : {"nothing.h5", "../D6.h5", "small one.h5", ""})
    EXPECT_EQ(status(get("/report", {{"name", "D6.h5"}, {"with", other}})), 404) << other;
}

TEST_F(FolderSiteTest, WhatIsNotThereIsSaid) {
  for (const HttpRequest& request :
       {get("/nothing"), get("/etc/passwd"), get("/D6.h5"), get("/report"),
        get("/report", {{"name", "../D6.h5"}}), get("/report", {{"name", "/etc/passwd"}}),
        get("/api/benchmark"), get("/api/benchmark", {{"name", "D6.h5"}}), get("/api/entry"),
        get("/api/entry", {{"name", "small one.h5"}, {"id", "3"}}),
        get("/api/entry", {{"name", "small one.h5"}, {"id", "1x"}}),
        get("/api/entry", {{"name", "small one.h5"}, {"id", "99999999999999999999"}}),
        get("/api/job", {{"id", "1"}}), get("/api/job")})
    EXPECT_EQ(status(request), 404) << request.path;
  EXPECT_EQ(status(get("/api/localise")), 405);
  EXPECT_EQ(status(post("/api/listing", {})), 405);
}

TEST_F(FolderSiteTest, DamagedOnesAreSaid) {
  fs::resize_file(folder.path() / "small one.h5", 2000);
  fs::resize_file(folder.path() / "D6.h5", 2000);
  const Json listing = json(get("/api/listing"));
  EXPECT_EQ(listing["searches"][0]["state"], "damaged");
  EXPECT_TRUE(listing["benchmarks"][0]["problem"].is_string());
  EXPECT_EQ(status(get("/api/benchmark", {{"name", "small one.h5"}})), 422);
  EXPECT_EQ(status(get("/report", {{"name", "D6.h5"}})), 422);
}

TEST_F(FolderSiteTest, EntriesHaveWhatTheyAreFilteredBy) {
  const Json benchmark = json(get("/api/benchmark", {{"name", "small one.h5"}}));
  ASSERT_EQ(benchmark["entries"].size(), 2U);
  const Json& entry = benchmark["entries"][0];
  EXPECT_EQ(entry["fault_types"], Json::array({"TCL"}));
  EXPECT_EQ(entry["category"], "training_data");
  EXPECT_EQ(entry["bug_type"], "T");
  EXPECT_EQ(entry["operators"], Json::array({"change_label"}));
  EXPECT_EQ(entry["tools"], Json::array({"symptoms"}));  // the one with a message for TCL
  EXPECT_EQ(benchmark["fault_types"].size(), 1U);
}

TEST_F(FolderSiteTest, AnEntryHasBothProgramsAndWhatIsLikeIt) {
  const Json found = json(get("/api/entry", {{"name", "small one.h5"}, {"id", "1"}}));
  EXPECT_EQ(found["entry"]["id"], 1);
  EXPECT_NE(found["buggy"], found["fixed"]);
  EXPECT_TRUE(Json::accept(found["buggy"].get<std::string>()));
  EXPECT_NE(found["change"].get<std::string>().find("change_label"), std::string::npos);
  ASSERT_EQ(found["similar"].size(), 1U);
  EXPECT_EQ(found["similar"][0]["id"], 2);
  EXPECT_GT(found["similar"][0]["points"], 0);
  EXPECT_EQ(found["can_run"], true);
  EXPECT_GT(found["tools"].size(), 10U);
}

TEST_F(FolderSiteTest, ToolsGetTheEntryAndItsData) {
  const Json asked = json(post("/api/localise", question()), 202);
  Json job = asked;
  while (job["state"] == "waiting" || job["state"] == "running") {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    job = json(get("/api/job", {{"id", std::to_string(asked["job"].get<int>())}}));
  }
  ASSERT_EQ(job["state"], "done") << job;
  EXPECT_EQ(job["answer"]["format"], "neutra-fault");  // the script prints the file
  const Json entry = json(get("/api/entry", {{"name", "small one.h5"}, {"id", "1"}}));
  EXPECT_EQ(entry["jobs"].size(), 1U);
  EXPECT_EQ(json(post("/api/localise", question()), 202)["job"], asked["job"]);
  EXPECT_EQ(json(post("/api/cancel", {{"job", asked["job"]}}))["state"], "done");
  EXPECT_EQ(status(post("/api/cancel", {{"job", 77}})), 404);
}

TEST_F(FolderSiteTest, QuestionsAreChecked) {
  const auto with = [](const char* name, const Json& value) {
    Json body = question();
    body[name] = value;
    return post("/api/localise", body);
  };
  EXPECT_EQ(status(with("benchmark", "../x")), 404);
  EXPECT_EQ(status(with("entry", 3)), 404);
  EXPECT_EQ(status(with("entry", "1")), 404);
  EXPECT_EQ(status(with("tool", "--help")), 404);
  EXPECT_EQ(status(with("tool", "/tmp/tool.json")), 404);
  EXPECT_EQ(status(with("runs", 0)), 400);
  EXPECT_EQ(status(with("runs", 101)), 400);
  EXPECT_EQ(status(with("program_version", "other")), 400);
  EXPECT_EQ(status(post("/api/localise", Json::array())), 400);
  HttpRequest broken = post("/api/localise", {});
  broken.body = "{";
  EXPECT_EQ(status(broken), 400);
  broken.body = std::string(4000, '[');
  EXPECT_EQ(status(broken), 400);
}

TEST_F(FolderSiteTest, OtherSitesCannotAsk) {
  const auto with = [](const char* name, const char* value) {
    HttpRequest request = post("/api/localise", question());
    request.headers[name] = value;
    return request;
  };
  EXPECT_EQ(status(with("origin", "http://evil.example")), 403);
  EXPECT_EQ(status(with("origin", "null")), 403);
  EXPECT_EQ(status(with("origin", "http://localhost:99")), 403);
  EXPECT_EQ(status(with("sec-fetch-site", "cross-site")), 403);
  EXPECT_EQ(status(with("sec-fetch-site", "same-site")), 403);
  EXPECT_EQ(status(with("content-type", "text/plain")), 415);
  EXPECT_EQ(status(with("host", "evil.example")), 421);
  EXPECT_EQ(status(with("origin", "http://localhost:1234")), 202);
}

TEST_F(FolderSiteTest, OnlyItsOwnNamesAreAnswered) {
  const auto named = [&](const std::string& host) {
    HttpRequest request = get("/");
    request.headers["host"] = host;
    return status(request);
  };
  for (const char* host : {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:8080", "[::1]:80"})
    EXPECT_EQ(named(host), 200) << host;
  for (const char* host : {"evil.example", "evil.example:80", "localhost.evil.example",
                           "127.0.0.1.evil.example", "10.0.0.1", "localhost:x", "[::1", "a:b:c"})
    EXPECT_EQ(named(host), 421) << host;
  site().set_address("results.example", false);
  for (const char* host : {"results.example:80", "10.0.0.1", "[2001:db8::1]:80", "localhost"})
    EXPECT_EQ(named(host), 200) << host;
  EXPECT_EQ(named("evil.example"), 421);
}

TEST_F(FolderSiteTest, ToolsAreRunForThisMachineAlone) {
  site().set_address("0.0.0.0", false);
  EXPECT_EQ(status(post("/api/localise", question())), 403);
  EXPECT_EQ(json(get("/api/entry", {{"name", "small one.h5"}, {"id", "1"}}))["can_run"], false);
}

/// A search writes, two clients read: each answer is whole, and nothing goes back.
TEST_F(FolderSiteTest, AGrowingStoreIsReadWhole) {
  constexpr int kSaves = 60;
  std::atomic<bool> stop{false}, written{false};
  FolderSite& shown = site();  // made before threads ask for it
  HttpServer server("127.0.0.1", 0,
                    [&](const HttpRequest& request) { return shown.answer(request); });
  std::thread serving([&] { server.run(stop); });
  search::SearchConfig config;
  config.budget_evaluations = kSaves;
  const Json header = {{"format", "neutra-store"}, {"version", 1},
                       {"fault", "growing"},       {"metric", "accuracy"},
                       {"goal", "maximize"},       {"start", "a=0"},
                       {"fixed", nullptr},         {"config", to_json(config)}};
  std::thread writer([&] {
    search::Store store(folder.path() / "growing.h5", header, false);
    search::Network network;
    network.fault_id = "growing";
    search::SearchCounters counters;
    for (int i = 0; i < kSaves; ++i) {
      search::Node node;
      node.id = i;
      node.parent = i - 1;
      node.parameters = {{"a", std::to_string(i)}};
      node.status = "ok";
      node.metrics = {0.5, 0.25 + i};
      node.mean = 0.5;
      node.alternative = i % 2 == 1;
      network.nodes.push_back(node);
      if (i > 0) network.edges.push_back({i - 1, i});
      const search::EvaluationKey key{{1, static_cast<std::uint64_t>(i)}, 0};
      store.started(key, false);
      store.finished(key, {});
      counters.evaluations = i + 1;
      store.save(
          network, counters,
          i + 1 < kSaves ? std::nullopt : std::optional(search::SearchEnd::kEvaluationBudget));
    }
    written = true;
  });
  const auto read = [&] {
    std::int64_t evaluations = 0, programs = 0, repairs = 0;
    for (bool finished = false; !finished;) {
      const bool last = written;
      const std::string answer = tests::raw_answer(server.port(), tests::get_once("/api/listing"));
      ASSERT_EQ(tests::status_of(answer), 200) << answer;
      const Json listing = Json::parse(tests::body_of(answer));
      for (const Json& search : listing["searches"]) {
        if (search["name"] != "growing.h5") continue;
        ASSERT_NE(search["state"], "damaged") << search;
        ASSERT_GE(search["evaluations"], evaluations);
        ASSERT_GE(search["programs"], programs);
        ASSERT_GE(search["repairs"], repairs);
        evaluations = search["evaluations"];
        programs = search["programs"];
        repairs = search["repairs"];
        finished = search["state"] == "finished";
        ASSERT_EQ(programs, evaluations);
      }
      const std::string page =
          tests::raw_answer(server.port(), tests::get_once("/report?name=growing.h5"));
      if (tests::status_of(page) == 200) {
        ASSERT_TRUE(page.ends_with("</html>\n"));
      }
      // What is finished is shown as such at last; the store may have rested a moment.
      if (last && !finished) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(evaluations, kSaves);
    EXPECT_EQ(repairs, kSaves / 2);
  };
  std::thread other(read);
  read();
  other.join();
  writer.join();
  stop = true;
  serving.join();
}

}  // namespace
}  // namespace neutra::serve
