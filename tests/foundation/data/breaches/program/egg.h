#include "program/hen.h"
