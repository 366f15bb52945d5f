#include <array>
#include <cstring>

#include "backends/pjrt/client.h"
#include "backends/pjrt/ffi.h"
#include "c10/process/error.h"

namespace sy::pjrt {

namespace {

abi::BufferType type_of(ScalarType t) {
  switch (t) {
    case ScalarType::Byte: return abi::kU8;
    case ScalarType::Char: return abi::kS8;
    case ScalarType::Short: return abi::kS16;
    case ScalarType::Int: return abi::kS32;
    case ScalarType::Long: return abi::kS64;
    case ScalarType::Half: return abi::kF16;
    case ScalarType::Float: return abi::kF32;
    case ScalarType::Double: return abi::kF64;
    case ScalarType::Bool: return abi::kPred;
    case ScalarType::BFloat16: return abi::kBF16;
    case ScalarType::Undefined: break;
  }
  fail(ErrorKind::Type, "[pjrt] no array has elements of {}", t);
}

bool is_aligned(const void* p) {
  return reinterpret_cast<uintptr_t>(p) % kAlignment == 0;
}

// An output whose memory is a storage's.
struct Owned {
  const Plugin& plugin;
  abi::Buffer* buffer;
};

void destroy_owned(void* context) {
  const std::unique_ptr<Owned> owned(static_cast<Owned*>(context));
  owned->plugin.destroy(owned->buffer);
}

}  // namespace

size_t Shape::nbytes() const {
  size_t n = element_size(dtype);
  for (const int64_t s : sizes) n *= static_cast<size_t>(s);
  return n;
}

std::string to_string(const Shape& shape) {
  std::string text = dtype_name(shape.dtype);
  text += '[';
  for (size_t d = 0; d < shape.sizes.size(); ++d) {
    text += str("{}{}", d == 0 ? "" : ", ", shape.sizes[d]);
  }
  return text + ']';
}

// Owns a list of buffers; few of them need no allocation.
class Executable::Buffers {
 public:
  Buffers(const Plugin& plugin, size_t n) : plugin_(plugin), size_(n) {
    if (n > few_.size()) {
      many_.resize(n);
      data_ = many_.data();
    }
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    for (size_t i = 0; i < size_; ++i) plugin_.destroy(data_[i]);
  }
  abi::Buffer*& operator[](size_t i) { return data_[i]; }
  abi::Buffer* const* data() const { return data_; }
  abi::Buffer** data() { return data_; }
  size_t size() const { return size_; }

 private:
  const Plugin& plugin_;
  const size_t size_;
  std::array<abi::Buffer*, 8> few_{};
  std::vector<abi::Buffer*> many_;
  abi::Buffer** data_ = few_.data();
};

Executable::Executable(const Plugin& plugin, abi::Client* client,
                       abi::Device* device, abi::Loaded* loaded,
                       std::vector<Shape> inputs, std::vector<Shape> outputs,
                       ArrayRef<Donation> donations)
    : plugin_(plugin),
      client_(client),
      device_(device),
      loaded_(loaded),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      donated_to_(inputs_.size(), -1),
      donor_of_(outputs_.size(), -1) {
  for (const Donation& d : donations) {
    SY_INTERNAL_ASSERT(d.input < inputs_.size() && d.output < outputs_.size());
    SY_INTERNAL_ASSERT(inputs_[d.input] == outputs_[d.output]);
    donated_to_[d.input] = static_cast<int>(d.output);
    donor_of_[d.output] = static_cast<int>(d.input);
  }
}

Executable::~Executable() {
  abi::LoadedDestroy args;
  args.loaded = loaded_;
  plugin_.drop(plugin_.try_call(args));
}

// A size that is not the program's would be a look beyond the memory.
void Executable::check_outputs() const {
  abi::LoadedGetExecutable get;
  get.loaded = loaded_;
  plugin_.call(get);
  const auto destroy = [this](abi::Executable* e) {
    abi::ExecutableDestroy args;
    args.executable = e;
    plugin_.drop(plugin_.try_call(args));
  };
  const std::unique_ptr<abi::Executable, decltype(destroy)> executable(
      get.executable, destroy);
  check_outputs(executable.get());
}

void Executable::check_outputs(abi::Executable* executable) const {
  abi::ExecutableOutputTypes types;
  types.executable = executable;
  plugin_.call(types);
  SY_CHECK(types.count == outputs_.size(), Value,
           "[pjrt] outputs: expected {} as the program has, got {}",
           types.count, outputs_.size());
  abi::ExecutableOutputSizes sizes;
  sizes.executable = executable;
  plugin_.call(sizes);
  const int64_t* s = sizes.sizes;
  for (size_t k = 0; k < outputs_.size(); s += sizes.ranks[k++]) {
    const Shape& shape = outputs_[k];
    SY_CHECK(types.types[k] == type_of(shape.dtype) &&
                 shape.sizes == ArrayRef<int64_t>(s, sizes.ranks[k]).vec(),
             Value,
             "[pjrt] outputs: expected what the program has, got {} for {}",
             shape, k);
  }
}

abi::Buffer* Executable::new_input(size_t i, const void* data) const {
  alignas(kAlignment) static char nothing[kAlignment];
  const Shape& shape = inputs_[i];
  abi::BufferFromHost args;
  args.client = client_;
  args.data = data != nullptr ? data : nothing;
  args.type = type_of(shape.dtype);
  args.sizes = shape.sizes.data();
  args.rank = shape.sizes.size();
  args.semantics = !is_aligned(data)     ? abi::kCopyDuringCall
                   : donated_to_[i] >= 0 ? abi::kSharedWritable
                                         : abi::kSharedReadOnly;
  args.device = device_;
  plugin_.call(args);
  // The buffer is destroyed before run() returns: that is early enough.
  plugin_.destroy(args.done);
  return args.buffer;
}

void Executable::raise(abi::Error* error) const {
  const Plugin::Failure failure = plugin_.take(error);
  rethrow_from_kernel(failure.text);
  plugin_.raise("run", failure);
}

void Executable::execute(const Buffers& inputs, Buffers& outputs) const {
  abi::ExecuteOptions options;
  options.head.size = sizeof options;
  abi::Buffer* const* const input_list = inputs.data();
  abi::Buffer** const output_list = outputs.data();
  abi::LoadedExecute args;
  args.loaded = loaded_;
  args.options = &options;
  args.inputs = &input_list;
  args.num_devices = 1;
  args.num_inputs = inputs.size();
  args.outputs = &output_list;
  abi::Event* complete = nullptr;
  args.complete = &complete;
  if (abi::Error* const e = plugin_.try_call(args)) raise(e);
  abi::EventAwait await;
  await.event = complete;
  abi::Error* const error = plugin_.try_call(await);
  plugin_.destroy(complete);
  if (error != nullptr) raise(error);
}

void* Executable::pointer(abi::Buffer* output) const {
  abi::BufferPointer args;
  args.buffer = output;
  plugin_.call(args);
  return reinterpret_cast<void*>(args.pointer);
}

Storage Executable::adopted(size_t k, Buffers& outputs) const {
  const size_t bytes = outputs_[k].nbytes();
  if (bytes == 0) return StorageImpl::allocate(0, Device(kCPU));
  void* const data = pointer(outputs[k]);
  std::unique_ptr<Owned> owned(new Owned{plugin_, outputs[k]});
  Storage s =
      StorageImpl::adopt(data, bytes, Device(kCPU), destroy_owned, owned.get());
  owned.release();
  outputs[k] = nullptr;
  return s;
}

void Executable::run(ArrayRef<const void*> inputs, Storage* outputs) {
  SY_CHECK(inputs.size() == inputs_.size(), Value,
           "[pjrt] inputs: expected {}, got {}", inputs_.size(), inputs.size());
  Buffers made(plugin_, outputs_.size());
  {
    Buffers given(plugin_, inputs_.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      given[i] = new_input(i, inputs[i]);
    }
    execute(given, made);
  }
  for (size_t k = 0; k < outputs_.size(); ++k) {
    if (donor_of_[k] < 0) {
      outputs[k] = adopted(k, made);
      continue;
    }
    // The same memory, unless the plugin could not take it.
    void* const to =
        const_cast<void*>(inputs[static_cast<size_t>(donor_of_[k])]);
    const size_t bytes = outputs_[k].nbytes();
    if (bytes == 0) continue;
    const void* const from = pointer(made[k]);
    if (from != to) std::memcpy(to, from, bytes);
  }
}

}  // namespace sy::pjrt
