#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator data_missing{.id = "data_missing",
                                           .abbreviation = "DM",
                                           .group = OperatorGroup::kTrainingData,
                                           .fault_type = "DM",
                                           .description = "Deletes a share of the training rows.",
                                           .source = kDeepMutation,
                                           .parameter = kPercentageOfRemoved,
                                           .random = true,
                                           .range = percentages_of_removed,
                                           .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
