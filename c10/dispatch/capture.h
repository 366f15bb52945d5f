#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "c10/macros.h"
#include "c10/tensor/intrusive_ptr.h"

namespace sy {

class StorageImpl;
class TensorImpl;

// Something beside tensors that captured code has read: the mode of a module,
// the options of an optimizer. The owner of a graph of the code asks whether it
// still is as it was.
class SY_API Dependence : public RefCounted {
 public:
  virtual ~Dependence();
  // The object that it is about: code that reads it twice depends on it once.
  virtual const void* of() const noexcept = 0;
  // Whether a graph of then may run now. May bring tensors up to date that hold
  // numbers of it.
  virtual bool holds() = 0;
  // The difference: "mode of Dropout: evaluating, was training".
  virtual std::string difference() const = 0;
  // Ends the comparison of what differs now: it made no other graph.
  virtual void accept() {}
  // Whether the code may have reached that tensor by it, too.
  virtual bool leads_to(const TensorImpl*) const { return false; }
};

// Memory that captured code may read, as it was. The memory must outlive every
// call here.
class SY_API WatchedBytes {
 public:
  WatchedBytes(const void* at, size_t bytes);

  bool hold() const;
  // Whether a word of it was that pointer.
  bool had(const void* pointer) const;
  // Copies memory that may lie beside variables of the program.
  static void take(const void* from, void* to, size_t bytes) noexcept;
  // note_difference() notes what differs now, in units of four bytes, as
  // numbers and flags are. accept() ends the comparison of the noted units.
  void note_difference();
  void accept();
  const unsigned char* at() const noexcept { return at_; }
  size_t size() const noexcept { return was_.size(); }

 private:
  static constexpr size_t kUnit = 4;
  bool hold_but_for_ignored() const;
  std::vector<bool> difference() const;  // by unit

  const unsigned char* at_;
  std::vector<unsigned char> was_;
  std::vector<bool> ignored_, differ_;  // by unit
};

// A note of captured code, beside its calls.
struct CaptureNote {
  enum Kind : uint8_t {
    kReads,    // it has read `reads`
    kActs,     // it does what no graph repeats: `what`
    kActsNow,  // the same; what was recorded must be computed before
    kHistory,  // it changes what autograd knows of `tensor`: `what`
    kBackward  // gradients pass the node of number `sequence_nr`
  };
  Kind kind = kActs;
  const char* what = nullptr;
  intrusive_ptr<Dependence> reads{};
  TensorImpl* tensor = nullptr;
  uint64_t sequence_nr = 0;
};

// The functions by which a thread tells the code that captures its calls
// (thread_state.capture) of things beside the calls themselves, which reach it
// through the dispatcher. A thread tells nothing while kernels run.
class SY_API CaptureHooks {
 public:
  CaptureHooks();
  virtual ~CaptureHooks();
  // No two captures of the process have the same.
  uint64_t number() const noexcept { return number_; }

  // Memory that did not exist when the capture began. `given`: it is the
  // caller's (StorageImpl::adopt).
  virtual void on_new_memory(const intrusive_ptr<StorageImpl>& s,
                             bool given) = 0;
  // Code outside of kernels is about to have the address of memory. Afterwards
  // its elements must be up to date.
  virtual void on_pointer(StorageImpl& s, const char* asked) = 0;
  // .grad of a tensor is about to be read or set.
  virtual void on_grad(const intrusive_ptr<TensorImpl>& t) = 0;
  virtual void on_note(const CaptureNote& note);

 private:
  virtual void* reserved1() { return nullptr; }

  const uint64_t number_;
};

// Tells the capture of this thread, if there is one.
SY_API void tell_capture(const CaptureNote& note);
SY_API void tell_capture_acts(const char* what);

}  // namespace sy
