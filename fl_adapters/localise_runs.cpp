#include "fl_adapters/localise_runs.h"

#include <atomic>

#include "fl_adapters/tool_folder.h"

namespace neutra::fl_adapters {

ToolAnswers localise_runs(const Tool& tool, const FaultyProgram& faulty,
                          const LocaliseContext& context, std::size_t runs, int workers,
                          const std::function<void(const Tally&)>& done) {
  if (!tool.needs.contains(ToolNeed::kTraining)) runs = 1;
  ToolAnswers answers{&tool, std::vector<Localisation>(runs)};
  LocaliseContext shared = context;
  shared.data_files = std::make_shared<DataFiles>();
  std::atomic<std::size_t> failed = 0;
  const auto localise = [&](std::size_t run) {
    LocaliseContext own = shared;
    own.run = static_cast<int>(run);
    answers.runs[run] = tool.localise(faulty, own);
    failed += broken(answers.runs[run].status);
  };
  run_all(runs, workers, context.stop, localise, [&](std::size_t finished) {
    if (done) done({finished, runs, failed});
  });
  return answers;
}

}  // namespace neutra::fl_adapters
