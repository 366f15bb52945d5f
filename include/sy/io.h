#pragma once

// Reads and writes files of tensors: safetensors, .npy, .npz and PyTorch's.
// Only programs that use such files need to include it.

#include "frontend/io/file_error.h"
#include "frontend/io/named_tensors.h"
#include "frontend/io/npy.h"
#include "frontend/io/safetensors.h"
#include "frontend/io/torch_archive.h"
#include "frontend/io/torch_file.h"
#include "frontend/io/torch_state_dict.h"
