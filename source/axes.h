#pragma once

#include "source/syntax_tree.h"

namespace neutra::source {

class Analysis;

/// Are the arguments of a `view` or `reshape` sizes of the same tensor, in another order than its
/// own? Then it was to be a `permute` or `transpose`. Sizes are `x.shape[1]`, `x.size(1)` and names
/// unpacked from `x.shape` or `x.size()`.
bool exchanges_axes(const Analysis& analysis, NodeId call);

/// The same where it is less sure: the first two sizes are those of another tensor, exchanged, and
/// nothing transposes the values; or all sizes are numbers, and the tensor was made with them in
/// another order.
bool seems_to_exchange_axes(const Analysis& analysis, NodeId call);

}  // namespace neutra::source
