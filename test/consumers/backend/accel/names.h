#pragma once

#include <sy/library.h>

// The build says what the backend is called: BACKEND_KEY (Accel), the key of
// its kernels, and BACKEND_NAME (accel), of its devices and own operators. The
// registering macros make text of their arguments, so macros in between put the
// names in.

#define SCHEMA_BLOCK_NAMED(ns, m) SY_LIBRARY(ns, m)
#define DEVICE_BLOCK_NAMED(key, m) SY_BACKEND(key, m)
#define KERNEL_BLOCK_NAMED(ns, key, m) SY_LIBRARY_IMPL(ns, key, m)
#define STRING_NAMED(name) #name
#define STRING_OF(name) STRING_NAMED(name)

// The backend's own operators, their kernels, and its devices.
#define ACCEL_OPERATORS(m) SCHEMA_BLOCK_NAMED(BACKEND_NAME, m)
#define ACCEL_KERNELS(m) KERNEL_BLOCK_NAMED(BACKEND_NAME, BACKEND_KEY, m)
#define ACCEL_DEVICES(m) DEVICE_BLOCK_NAMED(BACKEND_KEY, m)
#define ACCEL_NAME STRING_OF(BACKEND_NAME)
