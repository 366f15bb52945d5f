#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "aten/program/program.h"
#include "c10/array_ref.h"
#include "c10/device.h"
#include "c10/intrusive_ptr.h"
#include "c10/scalar_type.h"

// Regions: several programs, reductions and casts, or a product with what
// follows it, that a backend runs as one, going over memory as seldom as it
// can. A region is plain data, to be compared, hashed and printed. Whoever
// fuses calls makes regions; backends have a RegionEngine that takes them; the
// two know nothing else of each other. aten/backend/region_builder.h makes
// regions, docs/backends.md explains them by an example.
//
// A region has an iteration space of some dims. A value of the region varies
// over some of these dims and is the same along the others; what reads it along
// those sees it broadcast. Values are numbered: first the inputs, then the
// results of each node in order.

namespace sy {

class StorageImpl;
class LibraryToken;
namespace lang {
struct Uniform;
}

// A size or a stride that the region leaves open: each run gives it.
inline constexpr int64_t kOpen = INT64_MIN;

// How a value lies in memory: elements from one place to the next along each
// dim of the region. 0: it does not vary over the dim. An open stride is one of
// a dim over which it varies (though it may turn out to be 0).
struct RegionOperand {
  ScalarType dtype = ScalarType::Undefined;
  ArrayRef<int64_t> strides;  // one for each dim
};

// A convolution reads element place * stride + kernel * dilation - padding of
// the dim `input`, zero where there is none.
struct RegionWindow {
  uint8_t place = 0, kernel = 0, input = 0;  // dims of the region
  int64_t stride = 1, dilation = 1, padding = 0;

  friend bool operator==(const RegionWindow&, const RegionWindow&) = default;
};

struct RegionNode {
  enum Kind : uint8_t {
    kPointwise,    // `body`
    kReduce,       // `body` maps, `combine`, `finish`
    kProduct,      // the sum of a * b over the dims `reduced`
    kConvolution,  // the same; the windows say where a is read
  };

  Kind kind = kPointwise;
  // Inputs are converted to it first. Half and BFloat16 are computed as Float.
  ScalarType compute = ScalarType::Undefined;
  ArrayRef<uint16_t> inputs;     // values; of a product a and b
  ArrayRef<ScalarType> results;  // each result is rounded to its dtype
  // Of a reduction: the inputs -> k accumulators, of one element. Of a product
  // none.
  program::Program body{.n_results = 0};
  // Bit d: the results do not vary over dim d, as it was summed over.
  uint64_t reduced = 0;
  // a.0 ... a.k-1, b.0 ... b.k-1 -> k accumulators. Associative, in any order.
  const program::Program* combine = nullptr;
  // The accumulators -> the results; nullptr: the first ones are the results.
  const program::Program* finish = nullptr;
  // The k accumulators of no elements; nullptr: there must be elements.
  const lang::Uniform* identity = nullptr;
  ArrayRef<RegionWindow> windows;
  // For messages and listings; regions that differ in it alone are equal.
  const char* name = nullptr;
};

struct RegionOutput {
  RegionOperand memory;  // varies over the dims of the value, at least
  uint16_t value = 0;    // converted to memory.dtype
  // The input whose memory the output may be given (the same strides, elements
  // of the same size), which then is lost; -1: no input.
  int16_t donor = -1;
};

// Borrows all it points to.
struct Region {
  ArrayRef<int64_t> sizes;
  ArrayRef<RegionOperand> inputs;
  ArrayRef<RegionNode> nodes;
  ArrayRef<RegionOutput> outputs;

  // Numbers that a run gives: those of each node in order, of its program,
  // then combine, then finish.
  SY_API int uniforms() const noexcept;
};

// By structure. Two equal regions may be run by one handle.
SY_API bool operator==(const Region& a, const Region& b) noexcept;
SY_API size_t hash_of(const Region& region) noexcept;
// Throws ValueError, TypeError: what is wrong in a region, "[region] node 2
// (exp): expected ..., got ...".
SY_API void check_region(const Region& region);

// The values of a region that is right.
class SY_API RegionValues {
 public:
  explicit RegionValues(const Region& region);
  static int count(const Region& region) noexcept;
  int size() const { return n_; }
  // Over which dims a value varies, as bits.
  uint64_t dims(int value) const { return values_[value].dims; }
  ScalarType dtype(int value) const { return values_[value].dtype; }
  // The node that makes it, -1 for an input.
  int node(int value) const { return values_[value].node; }

 private:
  struct Value {
    uint64_t dims;
    ScalarType dtype;
    int node;
  };
  int n_;
  std::unique_ptr<Value[]> values_;
};

// A region with all it points to in memory of its own.
class SY_API OwnedRegion final : public RefCounted {
 public:
  static intrusive_ptr<OwnedRegion> copy(const Region& region);
  ~OwnedRegion();
  const Region& region() const { return region_; }
  size_t hash() const { return hash_; }

 private:
  OwnedRegion() = default;
  Region region_;
  size_t hash_ = 0;
  char* memory_ = nullptr;
};

// One operand of a run.
struct RegionMemory {
  void* data = nullptr;  // the first element
  // In elements, one for each dim; nullptr: those that the region says.
  const int64_t* strides = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  // That `data` lies in, for devices that remember who uses a block; or
  // nullptr.
  StorageImpl* storage = nullptr;
};

// What a region is run on. Borrows all.
struct RegionCall {
  ArrayRef<int64_t> sizes;
  ArrayRef<RegionMemory> inputs;
  ArrayRef<RegionMemory> outputs;
  const program::Uniform* uniforms = nullptr;
  int32_t n_uniforms = 0;
  int32_t device = 0;   // index
  uint64_t stream = 0;  // the backend's own number, as in c10/stream.h
};

// What an engine made of a region. Runs on many threads at once.
class SY_API PreparedRegion : public RefCounted {
 public:
  virtual ~PreparedRegion();
  const Region& region() const { return region_->region(); }

 protected:
  explicit PreparedRegion(const Region& region);

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  intrusive_ptr<OwnedRegion> region_;
};

// Why an engine does not take a region, in words: "a reduction over dims 0 and
// 2 of values that ...".
struct RegionReason {
  char text[256] = {};
  SY_API void say(const char* format, ...) noexcept
      __attribute__((format(printf, 2, 3)));
};

// By a backend, for regions on its devices. All is safe from several threads.
// Virtual functions are only ever added in the reserved places.
class SY_API RegionEngine {
 public:
  virtual ~RegionEngine();
  // Regions given to it have passed check_region.
  virtual bool supports(const Region& region, RegionReason* why) const = 0;
  // Of a region that it supports. May compile in the background: run() is never
  // to wait for that.
  virtual intrusive_ptr<PreparedRegion> prepare(const Region& region) = 0;
  // Calls given to it have passed check_call. Returns when the work is in the
  // stream; what `call` points to may go then, the operands' memory may not.
  virtual void run(const PreparedRegion& prepared, const RegionCall& call) = 0;

 protected:
  RegionEngine() = default;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }
  virtual void* reserved4() { return nullptr; }
  virtual void* reserved5() { return nullptr; }
  virtual void* reserved6() { return nullptr; }
  virtual void* reserved7() { return nullptr; }
};

// The engine of a backend, or nullptr. A load, no lock. It stays while the
// caller is in a CallScope (c10/thread_state.h), or holds a handle of it.
//
// A backend registers its own in its library's block, which unload takes back:
//   SY_LIBRARY_IMPL(_, Npu, m) { m.service(BackendService::kRegions, &engine);
//   }
SY_API RegionEngine* region_engine(DeviceType device) noexcept;

// Throws ValueError, TypeError for operands that are not those of the region:
// their number, dtypes, sizes, strides, memory that is missing, outputs that
// overlap other operands or themselves.
SY_API void check_call(const Region& region, const RegionCall& call);

// A prepared region in the hands of a user. Its library is not unloaded before
// the last one goes. Copies are the same.
class SY_API RegionHandle {
 public:
  RegionHandle() = default;
  RegionHandle(const RegionHandle& o) noexcept;
  RegionHandle(RegionHandle&& o) noexcept;
  RegionHandle& operator=(RegionHandle o) noexcept;
  ~RegionHandle();

  bool defined() const { return prepared_ != nullptr; }
  const Region& region() const { return prepared_->region(); }
  DeviceType device() const { return device_; }
  // Checks the call, then runs it.
  void run(const RegionCall& call) const;

 private:
  friend SY_API RegionHandle prepare_region(DeviceType, const Region&);
  intrusive_ptr<PreparedRegion> prepared_;
  LibraryToken* owner_ = nullptr;
  DeviceType device_ = kCPU;
};

// True if the backend takes the region; else says why not: it has no engine,
// or what its engine says. Throws what check_region does.
SY_API bool supports_region(DeviceType device, const Region& region,
                            RegionReason* why = nullptr);
// Throws NotImplementedError with the reason if the backend does not take it.
SY_API RegionHandle prepare_region(DeviceType device, const Region& region);

}  // namespace sy
