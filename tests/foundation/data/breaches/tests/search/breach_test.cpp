#include "experiments/catalog.h"
#include "search/search.h"
