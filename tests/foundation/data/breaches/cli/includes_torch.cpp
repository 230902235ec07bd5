#include <torch/torch.h>

#include "training/local_trainer.h"
