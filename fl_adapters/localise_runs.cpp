#include "fl_adapters/localise_runs.h"

#include "fl_adapters/tool_folder.h"
#include "training/parallel.h"

namespace neutra {

ToolAnswers localise_runs(const Tool& tool, const FaultyProgram& faulty,
                          const LocaliseContext& context, std::size_t runs, int workers,
                          const std::function<void(std::size_t)>& done) {
  if (!tool.needs.contains(ToolNeed::kTraining)) runs = 1;
  ToolAnswers answers{&tool, std::vector<Localisation>(runs)};
  LocaliseContext shared = context;
  shared.data_files = std::make_shared<DataFiles>();
  const auto localise = [&](std::size_t run) {
    LocaliseContext own = shared;
    own.run = static_cast<int>(run);
    answers.runs[run] = tool.localise(faulty, own);
  };
  run_all(runs, workers, context.stop, localise, done);
  return answers;
}

}  // namespace neutra
