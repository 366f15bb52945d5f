#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "aten/program/program.h"
#include "c10/device/device.h"
#include "c10/tensor/array_ref.h"
#include "c10/tensor/intrusive_ptr.h"
#include "c10/tensor/scalar_type.h"

// Regions. A region is a group of programs, reductions and casts, or a product
// and what follows it. A backend runs a region as one, with as few passes over
// memory as it can. A region is plain data that can be compared, hashed and
// printed. Code that fuses calls makes regions, and the RegionEngine of a
// backend runs them; neither knows anything else of the other.
// aten/backend/region_builder.h makes regions, and docs/backends.md explains
// them with an example.
//
// A region has an iteration space of some dims. Each value varies over some of
// these dims and is the same along the others: a reader along those dims sees
// it broadcast. Values are numbered: first the inputs, then the results of each
// node in order.

namespace sy {

class StorageImpl;
class LibraryToken;
namespace lang {
struct Uniform;
}

// A size or a stride that the region leaves open. Each run gives it.
inline constexpr int64_t kOpen = INT64_MIN;

// How a value lies in memory. A stride is the distance, in elements, of
// neighbours along a dim of the region; 0 means that the value does not vary
// over the dim. A value varies over each dim with an open stride, although a
// run may give 0 for it.
struct RegionOperand {
  ScalarType dtype = ScalarType::Undefined;
  ArrayRef<int64_t> strides;  // one for each dim
};

// A convolution reads its first operand along the dim `input` at the index
// place * stride + kernel * dilation - padding, where place and kernel are
// indices along those dims. It reads 0 outside.
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
    kConvolution,  // the same; `windows` say where a is read
  };

  Kind kind = kPointwise;
  // Inputs are converted to this dtype first. Half and BFloat16 are computed as
  // Float.
  ScalarType compute = ScalarType::Undefined;
  ArrayRef<uint16_t> inputs;     // values; for a product, a and b
  ArrayRef<ScalarType> results;  // each result is rounded to its dtype
  // The program. For a reduction it maps the inputs of one element to the k
  // accumulators. A product has none.
  program::Program body{.n_results = 0};
  // Bit d: dim d is summed over, and the results do not vary over it.
  uint64_t reduced = 0;
  // Combines accumulators: a.0 ... a.k-1, b.0 ... b.k-1 -> k accumulators.
  // Associative, in any order.
  const program::Program* combine = nullptr;
  // Maps the accumulators to the results; nullptr: the first accumulators are
  // the results.
  const program::Program* finish = nullptr;
  // The k accumulators of no elements; nullptr: there must be elements.
  const lang::Uniform* identity = nullptr;
  ArrayRef<RegionWindow> windows;
  // For messages and listings. Regions that differ only here are equal.
  const char* name = nullptr;
};

struct RegionOutput {
  RegionOperand memory;  // varies at least over the dims of the value
  uint16_t value = 0;    // converted to memory.dtype
  // The input whose memory the output may take; -1: none. It has the same
  // strides and elements of the same size. Its elements are lost.
  int16_t donor = -1;
};

// Borrows everything that it points to.
struct Region {
  ArrayRef<int64_t> sizes;
  ArrayRef<RegionOperand> inputs;
  ArrayRef<RegionNode> nodes;
  ArrayRef<RegionOutput> outputs;

  // How many numbers a run gives. They are ordered by node, and within a node:
  // those of body, of combine, of finish.
  SY_API int uniforms() const noexcept;
};

// Compares the structure. Two equal regions may be run by one handle.
SY_API bool operator==(const Region& a, const Region& b) noexcept;
SY_API size_t hash_of(const Region& region) noexcept;
// Throws ValueError or TypeError that says what is wrong in a region: "[region]
// node 2 (exp): expected ..., got ...".
SY_API void check_region(const Region& region);

// The values of a region that has passed check_region.
class SY_API RegionValues {
 public:
  explicit RegionValues(const Region& region);
  static int count(const Region& region) noexcept;
  int size() const { return n_; }
  // The dims that a value varies over, as bits.
  uint64_t dims(int value) const { return values_[value].dims; }
  ScalarType dtype(int value) const { return values_[value].dtype; }
  // The node that makes the value; -1 for an input.
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

// A region that owns everything it points to.
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
  // The strides in elements, one for each dim; nullptr: those of the region.
  const int64_t* strides = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  // The storage that contains `data`, for devices that remember who uses a
  // block; may be nullptr.
  StorageImpl* storage = nullptr;
};

// The operands of a run of a region. Borrows all.
struct RegionCall {
  ArrayRef<int64_t> sizes;
  ArrayRef<RegionMemory> inputs;
  ArrayRef<RegionMemory> outputs;
  const program::Uniform* uniforms = nullptr;
  int32_t n_uniforms = 0;
  int32_t device = 0;   // index
  uint64_t stream = 0;  // the backend's own number, as in c10/device/stream.h
};

// A region as an engine has prepared it. Several threads may run it at once.
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

// A backend implements this for regions on its devices. All functions are
// thread-safe. New virtual functions only ever take the reserved places.
class SY_API RegionEngine {
 public:
  virtual ~RegionEngine();
  // The region has passed check_region.
  virtual bool supports(const Region& region, RegionReason* why) const = 0;
  // The engine supports the region. It may compile in the background, but run()
  // must never wait for that.
  virtual intrusive_ptr<PreparedRegion> prepare(const Region& region) = 0;
  // The call has passed check_call. Returns when the work is in the stream. The
  // caller may then free what `call` points to, but not the operands' memory.
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

// The engine of a backend, or nullptr. Takes one load and no lock. The engine
// stays while the caller is in a CallScope (c10/dispatch/thread_state.h), or
// holds a handle of it.
//
// A backend registers its own engine in its library's block; unloading takes it
// back:
//   SY_LIBRARY_IMPL(_, Npu, m) { m.service(BackendService::kRegions, &engine);
//   }
SY_API RegionEngine* region_engine(DeviceType device) noexcept;

// Throws ValueError or TypeError if operands do not fit the region: their
// number, dtypes, sizes or strides, memory that is missing, or an output that
// overlaps another operand or itself.
SY_API void check_call(const Region& region, const RegionCall& call);

// A user's handle of a prepared region. The backend's library is not unloaded
// before the last handle is gone. Copies refer to the same region.
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

// True if the backend takes the region. If not, `why` says the reason: the
// backend has no engine, or its engine gives one. Throws what check_region
// does.
SY_API bool supports_region(DeviceType device, const Region& region,
                            RegionReason* why = nullptr);
// Throws NotImplementedError with the reason if the backend does not take it.
SY_API RegionHandle prepare_region(DeviceType device, const Region& region);

}  // namespace sy
