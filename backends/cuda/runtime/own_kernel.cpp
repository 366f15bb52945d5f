#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "aten/tensor.h"
#include "backends/cuda/compile/images.h"
#include "backends/cuda/compile/own_source.h"
#include "backends/cuda/compile/record.h"
#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/launch.h"
#include "c10/device/device_guard.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"

// Kernels that programs wrote: what sy::cuda::compile() and Kernel::launch() of
// <sy/cuda.h> call.

namespace sy::cuda {
namespace {

using Kind = OwnParameter::Kind;

// Lives until the process ends.
struct OwnKernel {
  OwnSource source;
  Unit unit;
  Hash key;
  std::mutex mutex;
  std::map<int, Function> functions;  // by device
};

// Kernels by numbers that say what a kernel is: one of before an unload is not
// taken for another.
struct Table {
  std::mutex mutex;
  std::map<int64_t, std::unique_ptr<OwnKernel>> kernels;
};
Table& table() {
  static auto* const t = new Table;
  return *t;
}

int64_t number_of(std::string_view source, std::string_view name) {
  const Hash h = Hasher().add(source).add(name).end();
  return static_cast<int64_t>(h.a >> 1);
}

OwnKernel* find(int64_t number) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  const auto found = t.kernels.find(number);
  return found == t.kernels.end() ? nullptr : found->second.get();
}

// nullptr, and the compiler's log, if it does not compile.
const Function* function_of(OwnKernel& k, int device, std::string* log) {
  use_device(device);
  const std::lock_guard lock(k.mutex);
  const auto found = k.functions.find(device);
  if (found != k.functions.end()) return &found->second;
  driver::Module module = nullptr;
  if (!load_baked(device, k.key, &module) &&
      !load_kept(device, k.key, &module)) {
    const std::string why = why_not_compiled(device);
    SY_CHECK(why.empty(), Error, "[cuda.compile] cannot compile {}: {}",
             k.source.name, why);
    if (!compile_and_load(device, k.unit, {k.key}, &module, log)) {
      return nullptr;
    }
  }
  Function f;
  f.name = k.source.name.c_str();
  driver::check(
      driver::api().module_function(&f.handle, module, k.source.symbol.c_str()),
      "cuModuleGetFunction");
  return &k.functions.emplace(device, f).first->second;
}

Tensor bytes_of(std::string_view text) {
  Tensor out(
      make_tensor({static_cast<int64_t>(text.size())}, kByte, Device(kCPU)));
  if (!text.empty()) std::memcpy(out.raw_data(), text.data(), text.size());
  return out;
}

// Eight bytes of the kernel's number; then the log, if it does not compile.
Tensor compile_kernel(std::string_view source, std::string_view name) {
  const int64_t number = number_of(source, name);
  OwnKernel* k = find(number);
  std::unique_ptr<OwnKernel> fresh;
  if (k == nullptr) {
    fresh = std::make_unique<OwnKernel>();
    fresh->source = read_own_source(source, name);
    fresh->unit = printed_unit(std::string(name), fresh->source.kernels);
    fresh->key = key_of(fresh->unit);
    record_printed(fresh->key, name, fresh->source.kernels);
    k = fresh.get();
  }
  std::string log;
  std::string out(sizeof number, '\0');
  std::memcpy(out.data(), &number, sizeof number);
  if (function_of(*k, current_device(kCUDA), &log) == nullptr) {
    return bytes_of(out + (log.empty() ? "the compiler says nothing" : log));
  }
  if (fresh != nullptr) {
    Table& t = table();
    const std::lock_guard lock(t.mutex);
    t.kernels.try_emplace(number, std::move(fresh));
  }
  return bytes_of(out);
}

// ---- launches

// How the caller says what an argument is, with a word of bits.
enum ArgumentKind : int64_t { kTensor, kInteger, kNumber };

struct Arguments {
  const OwnSource& source;
  IntArrayRef words;  // kind and bits, in turn
  TensorList tensors;

  [[noreturn]] void refuse(const OwnParameter& p, std::string_view expected,
                           std::string_view got) const {
    fail(ErrorKind::Value, "[{}] {}: expected {}, got {}", source.name, p.name,
         expected, got);
  }

  const Tensor& tensor(int64_t index) const {
    return tensors[static_cast<size_t>(index)];
  }

  void check_tensor(const OwnParameter& p, const Tensor& t, int device) const {
    if (!t.is_cuda() || t.device().index() != device) {
      refuse(p, str("a tensor on cuda:{}", device),
             str("one on {}", t.device()));
    }
    if (p.element && *p.element != t.dtype()) {
      fail(ErrorKind::Type, "[{}] {}: expected a tensor of {} for {}, got {}",
           source.name, p.name, *p.element, p.type, t.dtype());
    }
  }

  uint64_t pointer(const OwnParameter& p, int64_t kind, int64_t bits,
                   int device) const {
    if (kind != kTensor) refuse(p, "a tensor", "a number");
    if (bits < 0) return 0;  // of an undefined one
    const Tensor& t = tensor(bits);
    check_tensor(p, t, device);
    // const_data() computes deferred elements now.
    const void* const data = t.impl()->const_data("cuda.launch");
    if (!p.is_const) t.impl()->bump_version(running_operator());
    return reinterpret_cast<uint64_t>(data);
  }

  uint64_t integer(const OwnParameter& p, int64_t kind, int64_t bits) const {
    if (kind != kInteger) refuse(p, "an integer", "a number with a fraction");
    const int width = 8 * p.bytes;
    int64_t least = 0, most = 1;
    if (p.kind == Kind::kSigned) {
      most = std::numeric_limits<int64_t>::max() >> (64 - width);
      least = -most - 1;
    } else if (p.kind == Kind::kUnsigned) {
      most = width == 64 ? std::numeric_limits<int64_t>::max()
                         : (int64_t{1} << width) - 1;
    }
    if (bits < least || bits > most) {
      refuse(p, str("a value of {}", p.type), str("{}", bits));
    }
    return static_cast<uint64_t>(bits);
  }

  static uint64_t number(const OwnParameter& p, int64_t kind, int64_t bits) {
    const double value = kind == kInteger ? static_cast<double>(bits)
                                          : std::bit_cast<double>(bits);
    return p.bytes == 8 ? std::bit_cast<uint64_t>(value)
                        : std::bit_cast<uint32_t>(static_cast<float>(value));
  }

  uint64_t word(const OwnParameter& p, size_t i, int device) const {
    const int64_t kind = words[2 * i], bits = words[2 * i + 1];
    if (p.kind == Kind::kPointer) return pointer(p, kind, bits, device);
    if (kind == kTensor) refuse(p, str("a number for {}", p.type), "a tensor");
    return p.kind == Kind::kFloat ? number(p, kind, bits)
                                  : integer(p, kind, bits);
  }
};

// The device of the first tensor on one, or the thread's.
int device_of(TensorList tensors) {
  for (const Tensor& t : tensors) {
    if (t.is_cuda()) return t.device().index();
  }
  return current_device(kCUDA);
}

unsigned extent(const OwnSource& source, const char* what, int64_t n) {
  SY_CHECK(n >= 0 && n <= std::numeric_limits<int>::max(), Value,
           "[{}] {}: expected a value in [0, 2147483647], got {}", source.name,
           what, n);
  return static_cast<unsigned>(n);
}

void check_count(const OwnSource& source, size_t given) {
  if (given == source.parameters.size()) return;
  std::string names;
  for (const OwnParameter& p : source.parameters) {
    names += (names.empty() ? "" : ", ") + p.name;
  }
  fail(ErrorKind::Value, "[{}] expected {} arguments ({}), got {}", source.name,
       source.parameters.size(), names, given);
}

// `shape`: three of the grid, three of the block, bytes of shared memory.
void launch_kernel(int64_t number, IntArrayRef shape, IntArrayRef words,
                   TensorList tensors) {
  OwnKernel* const k = find(number);
  SY_CHECK(
      k != nullptr, Value,
      "[cuda.launch] expected a kernel of the library as it is loaded now, "
      "got one that was compiled before it was unloaded: compile it "
      "again");
  const OwnSource& source = k->source;
  check_count(source, words.size() / 2);
  const int device = device_of(tensors);
  const Arguments arguments{source, words, tensors};
  std::vector<std::byte> params(source.params_bytes);
  for (size_t i = 0; i < source.parameters.size(); ++i) {
    const OwnParameter& p = source.parameters[i];
    const uint64_t word = arguments.word(p, i, device);
    std::memcpy(params.data() + p.offset, &word, p.bytes);
  }
  std::array<unsigned, 7> n;
  for (size_t i = 0; i < n.size(); ++i) {
    n[i] = extent(source,
                  i < 3   ? "grid"
                  : i < 6 ? "block"
                          : "shared_bytes",
                  shape[i]);
  }
  const DeviceGuard guard(Device(kCUDA, static_cast<int8_t>(device)));
  std::string log;
  const Function* const f = function_of(*k, device, &log);
  SY_CHECK(f != nullptr, Error, "[cuda.launch] {} does not compile: {}",
           source.name, log);
  std::vector<const TensorBase*> used;
  for (const Tensor& t : tensors) used.push_back(&t);
  launch(device, *f, {{n[0], n[1], n[2]}, {n[3], n[4], n[5]}, n[6]},
         params.data(), params.size(), used.data(), used.size());
}

}  // namespace
}  // namespace sy::cuda

SY_LIBRARY_FRAGMENT(cuda, m) {
  m.def("compile_kernel(str source, str name) -> Tensor",
        SY_FN(sy::cuda::compile_kernel));
  m.def(
      "launch_kernel(int kernel, int[] shape, int[] arguments, Tensor[] "
      "tensors) -> ()",
      SY_FN(sy::cuda::launch_kernel));
}
