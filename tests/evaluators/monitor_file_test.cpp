#include "evaluators/monitor_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "monitored.h"

namespace neutra::evaluators {
namespace {

class MonitorFiles : public testing::Test {
 protected:
  MonitorFiles() { std::filesystem::create_directories(folder_); }
  ~MonitorFiles() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path file(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("neutra_monitor_" + std::to_string(getpid()));
};

MonitorFile example() {
  MonitorFile content;
  content.program = "D6";
  content.variant = "buggy";
  content.hash = "0123";
  content.backend = "fused";
  content.metric = "accuracy";
  content.goal = "maximize";
  content.seed = 7;
  content.provenance = {{"program_version", "0.1.0"}};
  content.runs = {quiet_run(), quiet_run()};
  set(content.runs[0], Property::kGradients, Aggregate::kSkew, std::nan(""), {2});
  content.runs[0].epochs[1].dead[3] = 1;
  content.runs[1].replica = 1;
  content.runs[1].status = "timeout";
  content.runs[1].message = "ran past its time limit in epoch 1";
  content.runs[1].metric = std::nan("");
  content.runs[1].epochs.clear();
  return content;
}

void expect_same(double a, double b) {
  if (std::isnan(a)) {
    EXPECT_TRUE(std::isnan(b));
  } else {
    EXPECT_EQ(a, b);
  }
}

TEST_F(MonitorFiles, ReadBack) {
  const MonitorFile content = example();
  write_monitor_file(content, file("m.h5"));
  const MonitorFile read = read_monitor_file(file("m.h5"));
  EXPECT_EQ(read.program, "D6");
  EXPECT_EQ(read.variant, "buggy");
  EXPECT_EQ(read.hash, "0123");
  EXPECT_EQ(read.backend, "fused");
  EXPECT_EQ(read.metric, "accuracy");
  EXPECT_EQ(read.goal, "maximize");
  EXPECT_EQ(read.seed, 7);
  EXPECT_EQ(read.close_to_zero, kCloseToZero);
  EXPECT_EQ(read.provenance, content.provenance);
  ASSERT_EQ(read.runs.size(), 2U);
  for (std::size_t r = 0; r < 2; ++r) {
    const MonitoredRun &a = content.runs[r], &b = read.runs[r];
    EXPECT_EQ(a.replica, b.replica);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.message, b.message);
    expect_same(a.metric, b.metric);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.layers, b.layers);
    ASSERT_EQ(a.epochs.size(), b.epochs.size());
    for (std::size_t e = 0; e < a.epochs.size(); ++e) {
      EXPECT_EQ(a.epochs[e].logs, b.epochs[e].logs);
      EXPECT_EQ(a.epochs[e].dead, b.epochs[e].dead);
      for (std::size_t i = 0; i < a.layers.size(); ++i) {
        for (std::size_t p = 0; p < kProperties; ++p) {
          for (std::size_t k = 0; k < kAggregates; ++k) {
            expect_same(a.epochs[e].layers[i][p].values[k], b.epochs[e].layers[i][p].values[k]);
          }
        }
      }
    }
  }
}

TEST_F(MonitorFiles, SameContentSameBytes) {
  write_monitor_file(example(), file("a.h5"));
  write_monitor_file(example(), file("b.h5"));
  EXPECT_GT(read_file(file("a.h5"), "a monitor file").size(), 1000U);
  EXPECT_EQ(read_file(file("a.h5"), "a monitor file"), read_file(file("b.h5"), "a monitor file"));
}

/// A file whose content is whole but for one thing.
void write_changed(const std::filesystem::path& from, const std::filesystem::path& to,
                   const std::set<std::string>& left_out,
                   const std::function<void(Hdf5File&)>& change) {
  const Hdf5File in = Hdf5File::open(from);
  Hdf5File out = Hdf5File::create(to);
  for (const char* name : {"format", "program", "variant", "hash", "backend", "loss", "metric",
                           "goal", "close_to_zero", "provenance"}) {
    if (!left_out.contains(name)) {
      out.write_attribute("/", name, in.read_string_attribute("/", name));
    }
  }
  for (const char* name : {"version", "seed"}) {
    if (!left_out.contains(name)) {
      out.write_attribute("/", name, in.read_integer_attribute("/", name));
    }
  }
  for (const char* path :
       {"/aggregates", "/layers/class_name", "/replicas/status", "/replicas/message"}) {
    if (!left_out.contains(path)) out.write(path, in.read_strings(path));
  }
  for (const char* path : {"/layers/index", "/layers/gradients", "/layers/weights",
                           "/layers/biases", "/replicas/replica", "/replicas/epochs"}) {
    if (!left_out.contains(path)) out.write(path, in.read_integers(path));
  }
  for (const char* path : {"/replicas/metric", "/runs/0/logs/loss", "/runs/0/gradients",
                           "/runs/0/weights", "/runs/0/biases", "/runs/0/dead"}) {
    if (!left_out.contains(path)) out.write(path, in.read_doubles(path), in.extents(path));
  }
  change(out);
  out.close();
}

TEST_F(MonitorFiles, ADamagedOneIsRefused) {
  write_monitor_file(example(), file("m.h5"));
  const std::string bytes = read_file(file("m.h5"), "a monitor file");
  const auto refused = [&](const std::string& damaged) {
    std::ofstream(file("x.h5"), std::ios::binary) << damaged;
    try {
      read_monitor_file(file("x.h5"));
    } catch (const Error& error) {
      return error.exit() == Exit::kBadInput;
    }
    return false;
  };
  EXPECT_FALSE(refused(bytes));
  for (std::size_t bit = 3; bit < 8 * bytes.size(); bit += 1009) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_TRUE(refused(damaged)) << "bit " << bit;
  }
  for (std::size_t length = 0; length < bytes.size(); length += 2011) {
    EXPECT_TRUE(refused(bytes.substr(0, length))) << length << " bytes";
  }
  // As older versions wrote it.
  write_changed(file("m.h5"), file("old.h5"), {}, [](Hdf5File&) {});
  EXPECT_EQ(read_monitor_file(file("old.h5")).program, "D6");
}

TEST_F(MonitorFiles, EachMistakeIsNamed) {
  write_monitor_file(example(), file("m.h5"));
  struct Case {
    std::set<std::string> left_out;
    std::function<void(Hdf5File&)> change;
    std::string message;
  };
  const std::vector<Case> cases{
      {{"format"},
       [](Hdf5File& f) { f.write_attribute("/", "format", "neutra-store"); },
       "/@format: found neutra-store; allowed: neutra-monitor"},
      {{"version"},
       [](Hdf5File& f) { f.write_attribute("/", "version", 2); },
       "/@version: found 2; allowed: 1"},
      {{"hash"}, [](Hdf5File&) {}, "/@hash: found nothing"},
      {{"/aggregates"},
       [](Hdf5File& f) { f.write("/aggregates", std::vector<std::string>(kAggregates, "max")); },
       "/aggregates: found other names"},
      {{"/runs/0/weights"}, [](Hdf5File&) {}, "/runs/0/weights"},
      {{"/runs/0/weights"},
       [](Hdf5File& f) {
         f.write("/runs/0/weights", std::vector<double>(36), {3, 1, 12});
       },
       "/runs/0/weights: found 3 x 1 x 12 values; allowed: 3 x 6 x 12 values"},
      {{"/runs/0/dead"},
       [](Hdf5File& f) {
         f.write("/runs/0/dead", std::vector<double>(18, 1.5), {3, 6});
       },
       "/runs/0/dead: found 1.5; allowed: shares from 0 to 1"},
      {{"/runs/0/biases"},
       [](Hdf5File& f) {
         f.write("/runs/0/biases", std::vector<double>(216, 2), {3, 6, 12});
       },
       "/runs/0/biases: found a share of 2"},
      {{"/layers/index"},
       [](Hdf5File& f) {
         f.write("/layers/index", std::vector<std::int64_t>{0, 1, 1, 2, 3, 4});
       },
       "/layers/index: found 1; allowed: ascending"},
      {{"/replicas/epochs"},
       [](Hdf5File& f) {
         f.write("/replicas/epochs", std::vector<std::int64_t>{std::int64_t{1} << 60, 0});
       },
       "/runs/0/dead: found 3 x 6 values"},
      {{"/replicas/epochs"},
       [](Hdf5File& f) {
         f.write("/replicas/epochs", std::vector<std::int64_t>{-1, 0});
       },
       "/replicas/epochs: found -1"},
      {{"close_to_zero"},
       [](Hdf5File& f) { f.write_attribute("/", "close_to_zero", "small"); },
       "/@close_to_zero: found small; allowed: a number from 0"},
  };
  for (const Case& c : cases) {
    write_changed(file("m.h5"), file("x.h5"), c.left_out, c.change);
    try {
      read_monitor_file(file("x.h5"));
      ADD_FAILURE() << "no error: " << c.message;
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::kBadInput);
      const std::string text = e.what();
      EXPECT_NE(text.find(c.message), std::string::npos) << text;
      EXPECT_NE(text.find("x.h5"), std::string::npos) << text;
    }
  }
  write_changed(file("m.h5"), file("x.h5"), {}, [](Hdf5File&) {});
  EXPECT_NO_THROW(read_monitor_file(file("x.h5")));
  std::ofstream(file("t.h5")) << "no HDF5";
  EXPECT_THROW(read_monitor_file(file("t.h5")), Error);
  EXPECT_THROW(read_monitor_file(file("missing.h5")), Error);
}

}  // namespace
}  // namespace neutra::evaluators
