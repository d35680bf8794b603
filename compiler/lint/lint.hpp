#pragma once

// The front door of the room is the public one: check(), render(), explain() and the table of rules.
#include "dtj/lint.hpp"
