#pragma once

// Files of tensors: safetensors, .npy and .npz. Programs that read or write
// none need not include it.

#include "io/file_error.h"
#include "io/named_tensors.h"
#include "io/npy.h"
#include "io/safetensors.h"
