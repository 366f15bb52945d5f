#pragma once

#include <cstddef>

#include "c10/dispatch/kernel.h"

namespace sy::detail {

// Called in place of every kernel that runs, in all threads. It must call
// inner.boxed with the same arguments.
using KernelWatch = void (*)(const Kernel& inner, const OperatorEntry& op,
                             DispatchKeySet keys, Value* args, size_t num_args,
                             Value* results, size_t num_results);

// Watches all kernels from now on; nullptr ends that. If it is called before
// init(), it begins with init(). Calls that are in flight may still reach the
// old watch. All tables are rebuilt, so calls pay nothing while there is no
// watch.
SY_API void set_kernel_watch(KernelWatch watch);
SY_API KernelWatch kernel_watch();

}  // namespace sy::detail
