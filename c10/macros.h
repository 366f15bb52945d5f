#pragma once

// Visibility, branch hints and the few attributes that headers need.

#define SY_API __attribute__((visibility("default")))
#define SY_LIKELY(x) (__builtin_expect(!!(x), 1))
#define SY_UNLIKELY(x) (__builtin_expect(!!(x), 0))
#define SY_ALWAYS_INLINE inline __attribute__((always_inline))
#define SY_NOINLINE __attribute__((noinline))
#define SY_COLD __attribute__((cold, noinline))

// For thread-locals of the library. Code reaches them at a fixed offset from
// the thread pointer, in plugins too: the library is always loaded before them.
#define SY_TLS_FAST __attribute__((tls_model("initial-exec")))

#define SY_CONCAT_IMPL(a, b) a##b
#define SY_CONCAT(a, b) SY_CONCAT_IMPL(a, b)

#if defined(__SANITIZE_ADDRESS__)
#define SY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SY_ASAN 1
#endif
#endif
#ifndef SY_ASAN
#define SY_ASAN 0
#endif
