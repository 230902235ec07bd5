#include "training/local_trainer.h"
#include "training/trainer.h"
