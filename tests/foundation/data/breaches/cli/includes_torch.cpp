#include <torch/torch.h>

#include "training/eager.h"
