#pragma once

#include "training/data/mutation_step.h"

namespace neutra::training {

// Steps of data.mutations for the faults of data that studies of real faults name
// (docs/reference/fault_catalogue.md). Each is described in docs/mutators/NAME.md, with its source.

/// The step's share of each class gets the label of the class whose mean features are nearest.
void class_conditional_noise(Part& part, MutationStep& step);
/// Copies of the step's share of the rows with slightly other features and a random other target.
void contradicting_duplicates(Part& part, MutationStep& step);
/// Thins out classes (or buckets): the larger, the less. `ratio`: of the largest to the smallest;
/// `profile`: long_tailed, step.
void class_imbalance(Part& part, MutationStep& step);

/// The features of the first rows, the step's share, lie off by `shift` deviations of their
/// columns, all alike (`form` sudden) or ever less (incremental).
void covariate_drift(Part& part, MutationStep& step);
/// The targets of the first rows, the step's share, follow another rule: each class has the label
/// of the next; values are greater by one deviation.
void concept_drift(Part& part, MutationStep& step);

/// The features of the step's share of the rows are drawn uniformly from the columns' ranges.
void out_of_distribution(Part& part, MutationStep& step);
/// Each feature of each row is missing with the step's chance and is `fill` instead: a number,
/// "mean", "nan".
void missing_values(Part& part, MutationStep& step);

/// All targets are NaN, and so the loss of each batch, as with weights of zero.
void zero_sample_weights(Part& part, MutationStep& step);

/// The features of the step's share of the rows go through `type`: float16, int32, int8, uint8.
void cast_features(Part& part, MutationStep& step);
/// Features beyond the middle of their column's range are at its ends; the step's share of the
/// range is cut off.
void clip_features(Part& part, MutationStep& step);
/// The features of the step's share of the rows are multiplied by `factor`.
void scale_features(Part& part, MutationStep& step);
/// The images of the step's share of the rows are stored in another order, `layout`:
/// reversed_channels, channels_first, transposed.
void change_layout(Part& part, MutationStep& step);

}  // namespace neutra::training
