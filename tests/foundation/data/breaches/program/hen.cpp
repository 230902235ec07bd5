#include "program/hen.h"

#include "program/egg.h"
