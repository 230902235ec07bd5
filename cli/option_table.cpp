#include "cli/options.h"

namespace neutra::cli {

const std::vector<Option>& option_table() {
  using enum OptionType;
  static const std::vector<std::string> on_off = {"on", "off"};
  static const std::vector<Option> table = {
      {"backend", 0, kChoice, "NAME", "auto", {"auto", "eager", "fused"}, 0, 0,
       "training back end; auto takes the fastest that covers the program"},
      {"budget-evaluations", 0, kInteger, "N", "", {}, 1, 1e12,
       "stop after N candidates, the buggy program included"},
      {"budget-time", 0, kDuration, "TIME", "48h", {}, 0, 0,
       "stop after this much wall time, added up over resumes (48h, 90m, 1h30m, 30 = seconds)"},
      {"check", 0, kFlag, "", "", {}, 0, 0,
       "train buggy and fixed program of each fault: does the fault show, does the fix repair it?"},
      {"compare", 0, kText, "FILE.tsv", "", {}, 0, 0,
       "how much of a recorded network was visited and found to repair here"},
      {"config", 0, kText, "FILE", "", {}, 0, 0,
       "read options from FILE, one 'name = value' a line"},
      {"curtail", 0, kChoice, "on|off", "on", on_off, 0, 0,
       "stop training a candidate once it can no longer reach its parent or the ground truth (exact)"},
      {"data-dir", 0, kText, "DIR", "", {}, 0, 0,
       "folder with data sets; default $NEUTRA_SHARED/data, then ../shared/data"},
      {"fault", 0, kText, "FAULT", "", {}, 0, 0, "the fault that a recorded network belongs to"},
      {"format", 'f', kChoice, "NAME", "tsv", {"tsv", "graphml", "dot", "json", "text"}, 0, 0,
       "form of the network"},
      {"fresh", 0, kFlag, "", "", {}, 0, 0, "start anew: an unfinished or finished store is dropped"},
      {"ground-truth-metric", 0, kNumber, "X", "", {}, 0, 0,
       "level a repair must reach; default: mean of the known fix"},
      {"help", 'h', kFlag, "", "", {}, 0, 0, "show this help"},
      {"json", 0, kFlag, "", "", {}, 0, 0, "print the result as JSON"},
      {"max-depth", 0, kInteger, "N", "", {}, 0, 1000,
       "expand no program with N or more changes (rule recorded: 4 unless set)"},
      {"memory-limit", 0, kSize, "SIZE", "0", {}, 0, 0,
       "memory one training may need (2G, 512M); 0: no limit"},
      {"min-pass", 0, kNumber, "SHARE", "0.98", {}, 0, 1, "share of rows that must pass"},
      {"output", 'o', kText, "FILE", "", {}, 0, 0, "write here instead of standard output"},
      {"preset", 0, kChoice, "NAME", "paper", {"paper", "keras"}, 0, 0,
       "value sets of the mutations: those of the published runs, or all that Keras knows"},
      {"quiet", 'q', kFlag, "", "", {}, 0, 0, "no progress on standard error"},
      {"replicas", 'n', kInteger, "N", "10", {}, 1, 1000, "trainings of each program"},
      {"reuse", 0, kList, "STORE", "", {}, 0, 0,
       "take evaluations from this store too (may be given several times)"},
      {"rows", 0, kText, "N|LIST", "", {}, 0, 0,
       "the first N programs, or those at the positions of a list such as 1,7,13"},
      {"rule", 0, kChoice, "NAME", "algorithm1", {"algorithm1", "recorded"}, 0, 0,
       "neutrality rule: the paper's Algorithm 1, or the stricter one seen in the published data"},
      {"seed", 's', kInteger, "N", "0", {}, 0, 9007199254740992.0, "seed of the study"},
      {"share-identical", 0, kChoice, "on|off", "on", on_off, 0, 0,
       "train programs that mean the same only once (exact)"},
      {"skip-dead", 0, kChoice, "on|off", "on", on_off, 0, 0,
       "end a training whose weights are all NaN (exact)"},
      {"speculate", 0, kChoice, "on|off", "on", on_off, 0, 0,
       "let idle workers train the next program's neighbours ahead (exact)"},
      {"store", 0, kText, "FILE", "", {}, 0, 0, "HDF5 file of the search; default FAULT.h5"},
      {"time-limit", 0, kDuration, "TIME", "0", {}, 0, 0, "time one training may take; 0: no limit"},
      {"top-k", 'k', kInteger, "K", "5", {}, 1, 1000000, "neutral neighbours queued for each program"},
      {"version", 0, kChoice, "NAME", "buggy", {"buggy", "fixed"}, 0, 0, "which program of a fault"},
      {"workers", 'j', kInteger, "N", "", {}, 1, 4096, "trainings at the same time; default: cores"},
  };
  return table;
}

}  // namespace neutra::cli
