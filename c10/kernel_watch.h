#pragma once

#include <cstddef>

#include "c10/kernel.h"

namespace sy::detail {

// Stands before every kernel that runs, in all threads; it is to call
// inner.boxed with the same arguments.
using KernelWatch = void (*)(const Kernel& inner, const OperatorEntry& op,
                             DispatchKeySet keys, Value* args, size_t num_args,
                             Value* results, size_t num_results);

// From now on all kernels are watched, with nullptr none. Before init() it is
// only kept for then. Calls that are in flight may still come. While there is
// none calls pay nothing: tables are made anew.
SY_API void set_kernel_watch(KernelWatch watch);
SY_API KernelWatch kernel_watch();

}  // namespace sy::detail
