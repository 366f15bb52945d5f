#pragma once

// Files of tensors: safetensors, .npy and .npz. Programs that read or write
// none need not include it.

#include "frontend/io/file_error.h"
#include "frontend/io/named_tensors.h"
#include "frontend/io/npy.h"
#include "frontend/io/safetensors.h"
