#pragma once

#include <sys/single_threaded.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "c10/macros.h"

namespace sy {

// Base of objects that hold their own reference counts: 32 bits of strong and
// 32 bits of weak references. All strong owners together hold one weak
// reference. The release by a sole owner costs a load and no atomic
// read-modify-write. While the process has one thread (as glibc's flag says),
// no operation is a locked one.
//
// T derives from RefCounted and may declare
//   void release_resources()  run when the last strong owner goes, if weak
//                             owners may remain
//   static void destroy(T*)   frees the object (default: delete)
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  uint32_t use_count() const noexcept {
    return static_cast<uint32_t>(counts_.load(std::memory_order_acquire));
  }
  uint32_t weak_use_count() const noexcept {
    return static_cast<uint32_t>(counts_.load(std::memory_order_acquire) >> 32);
  }

 private:
  template <class T>
  friend struct RefCountedAccess;
  static constexpr uint64_t kStrong = 1;
  static constexpr uint64_t kWeak = uint64_t{1} << 32;
  mutable std::atomic<uint64_t> counts_{kStrong | kWeak};
};

template <class T>
struct RefCountedAccess {
  static constexpr uint64_t kSole = RefCounted::kStrong | RefCounted::kWeak;

  static void retain(const T* p) noexcept { add(p, RefCounted::kStrong); }
  static SY_ALWAYS_INLINE void release(T* p) noexcept {
    if (p->counts_.load(std::memory_order_acquire) == kSole) {
      last(p, true);
    } else {
      release_shared(p);
    }
  }
  static SY_NOINLINE void release_shared(T* p) noexcept {
    const uint64_t before = subtract(p, RefCounted::kStrong);
    if (static_cast<uint32_t>(before) == 1) last(p, before == kSole);
  }
  static void retain_weak(const T* p) noexcept { add(p, RefCounted::kWeak); }
  static void release_weak(T* p) noexcept {
    if ((subtract(p, RefCounted::kWeak) >> 32) == 1) destroy(p);
  }
  // Adds a strong reference, unless there is none left.
  static bool lock(const T* p) noexcept {
    uint64_t now = p->counts_.load(std::memory_order_relaxed);
    while (static_cast<uint32_t>(now) != 0) {
      if (p->counts_.compare_exchange_weak(now, now + RefCounted::kStrong,
                                           std::memory_order_acq_rel)) {
        return true;
      }
    }
    return false;
  }

 private:
  static SY_ALWAYS_INLINE void add(const T* p, uint64_t n) noexcept {
    if (SY_LIKELY(__libc_single_threaded)) {
      p->counts_.store(p->counts_.load(std::memory_order_relaxed) + n,
                       std::memory_order_relaxed);
    } else {
      p->counts_.fetch_add(n, std::memory_order_relaxed);
    }
  }
  // Returns the counts before the subtraction.
  static uint64_t subtract(T* p, uint64_t n) noexcept {
    if (!__libc_single_threaded) {
      return p->counts_.fetch_sub(n, std::memory_order_acq_rel);
    }
    const uint64_t before = p->counts_.load(std::memory_order_relaxed);
    p->counts_.store(before - n, std::memory_order_relaxed);
    return before;
  }
  static void last(T* p, bool no_weak_owner) noexcept {
    if constexpr (requires { p->release_resources(); }) {
      if (!no_weak_owner) {
        p->release_resources();
        release_weak(p);
        return;
      }
    } else if (!no_weak_owner) {
      release_weak(p);
      return;
    }
    destroy(p);
  }
  static void destroy(T* p) noexcept {
    if constexpr (requires { T::destroy(p); }) {
      T::destroy(p);
    } else {
      delete p;
    }
  }
};

// Owning pointer to a RefCounted object. As thread-safe as a raw pointer; the
// counts themselves are atomic.
template <class T>
class intrusive_ptr {
 public:
  constexpr intrusive_ptr() noexcept = default;
  constexpr intrusive_ptr(std::nullptr_t) noexcept {}
  intrusive_ptr(const intrusive_ptr& o) noexcept : p_(o.p_) {
    if (p_ != nullptr) RefCountedAccess<T>::retain(p_);
  }
  intrusive_ptr(intrusive_ptr&& o) noexcept
      : p_(std::exchange(o.p_, nullptr)) {}
  // Converts to a base, which must have a virtual destructor or a destroy()
  // that frees the derived object.
  template <class U>
  requires std::is_convertible_v<U*, T*> intrusive_ptr(intrusive_ptr<U> o)
  noexcept : p_(o.release()) {}
  ~intrusive_ptr() {
    if (p_ != nullptr) RefCountedAccess<T>::release(p_);
  }
  intrusive_ptr& operator=(const intrusive_ptr& o) noexcept {
    intrusive_ptr(o).swap(*this);
    return *this;
  }
  intrusive_ptr& operator=(intrusive_ptr&& o) noexcept {
    intrusive_ptr(std::move(o)).swap(*this);
    return *this;
  }

  // Takes over a reference that the caller owns.
  static intrusive_ptr reclaim(T* p) noexcept {
    intrusive_ptr r;
    r.p_ = p;
    return r;
  }
  // Adds a reference to a live object.
  static intrusive_ptr retain(T* p) noexcept {
    if (p != nullptr) RefCountedAccess<T>::retain(p);
    return reclaim(p);
  }

  T* get() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  T* operator->() const noexcept { return p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  void swap(intrusive_ptr& o) noexcept { std::swap(p_, o.p_); }
  void reset() noexcept { intrusive_ptr().swap(*this); }
  // Gives the reference up to the caller.
  T* release() noexcept { return std::exchange(p_, nullptr); }
  uint32_t use_count() const noexcept {
    return p_ == nullptr ? 0 : p_->use_count();
  }
  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) {
    return a.p_ == b.p_;
  }
  friend bool operator==(const intrusive_ptr& a, std::nullptr_t) {
    return a.p_ == nullptr;
  }

 private:
  T* p_ = nullptr;
};

// A weak reference. lock() gives an owner while another one exists, else an
// empty pointer.
template <class T>
class weak_intrusive_ptr {
 public:
  weak_intrusive_ptr() noexcept = default;
  explicit weak_intrusive_ptr(const intrusive_ptr<T>& o) noexcept
      : p_(o.get()) {
    if (p_ != nullptr) RefCountedAccess<T>::retain_weak(p_);
  }
  weak_intrusive_ptr(const weak_intrusive_ptr& o) noexcept : p_(o.p_) {
    if (p_ != nullptr) RefCountedAccess<T>::retain_weak(p_);
  }
  weak_intrusive_ptr(weak_intrusive_ptr&& o) noexcept
      : p_(std::exchange(o.p_, nullptr)) {}
  weak_intrusive_ptr& operator=(weak_intrusive_ptr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~weak_intrusive_ptr() {
    if (p_ != nullptr) RefCountedAccess<T>::release_weak(p_);
  }
  intrusive_ptr<T> lock() const noexcept {
    if (p_ != nullptr && RefCountedAccess<T>::lock(p_)) {
      return intrusive_ptr<T>::reclaim(p_);
    }
    return {};
  }
  bool expired() const noexcept {
    return p_ == nullptr || p_->use_count() == 0;
  }

 private:
  T* p_ = nullptr;
};

template <class T, class... A>
intrusive_ptr<T> make_intrusive(A&&... args) {
  return intrusive_ptr<T>::reclaim(new T(std::forward<A>(args)...));
}

}  // namespace sy
