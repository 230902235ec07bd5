#include "training/eager.h"
#include "training/trainer.h"
