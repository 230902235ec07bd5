#include "base/error.h"
#include "search/search.h"
