#pragma once

// Everything a program uses: tensors, all operators, autograd, and what this
// process has of devices, memory, threads, random numbers and plugins.

#include "aten/dlpack.h"
#include "aten/from_blob.h"
#include "aten/indexing.h"
#include "aten/operators.h"
#include "aten/ops/all.h"
#include "aten/print.h"
#include "aten/tensor.h"
#include "aten/tensor_new.h"
#include "autograd/anomaly.h"
#include "autograd/api.h"
#include "autograd/checkpoint.h"
#include "autograd/dot.h"
#include "autograd/function.h"
#include "autograd/gradcheck.h"
#include "autograd/saved_tensor_hooks.h"
#include "c10/allocator.h"
#include "c10/backend.h"
#include "c10/dispatcher.h"
#include "c10/generator.h"
#include "c10/parallel.h"
#include "c10/plugin.h"
#include "c10/thread_state.h"
#include "c10/trace.h"
#include "runtime/load_schema.h"
