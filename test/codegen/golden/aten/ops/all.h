// Generated from schemas/ops by sygen. Do not edit.
#pragma once

#include "aten/ops/sample.h"
