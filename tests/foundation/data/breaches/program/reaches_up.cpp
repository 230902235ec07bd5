#include "program/error.h"
#include "search/search.h"
