#include "backends/cpu/reduce.h"

#include <algorithm>
#include <cstring>

#include "aten/copy.h"
#include "aten/guard.h"
#include "aten/pointwise.h"
#include "backends/cpu/reduce_engine.h"

namespace sy::cpu {

namespace {

constexpr int kMaxAccumulators = 8;

// Room for accumulators: on the stack for few results.
class Buffer {
 public:
  explicit Buffer(int64_t bytes) {
    if (bytes > static_cast<int64_t>(sizeof inline_)) {
      storage_ =
          StorageImpl::allocate(static_cast<size_t>(bytes), Device(kCPU));
    }
  }
  char* data() {
    return storage_ ? static_cast<char*>(storage_->data()) : inline_;
  }

 private:
  alignas(64) char inline_[512];
  Storage storage_;
};

// From accumulators (arrays of n) to elements of out's dtype: finish, convert.
void finish(const ReduceOp& op, const ReduceArgs& args, ScalarType compute,
            int64_t count, char* const* accumulators, ScalarType out_dtype,
            char* out, int64_t n) {
  const tile::TileType type = tile::tile_type_of(compute);
  const ScalarType stored = tile::storage_of(type);
  const auto dtype_of = [&](const tile::Program& p, int i) {
    return p.results[i].is_bool ? kBool : stored;
  };
  if (op.finish == nullptr) {
    const ScalarType from = dtype_of(op.map.tile, 0);
    tile::convert_fn(from, out_dtype)(out, accumulators[0], n);
    return;
  }
  tile::Uniform uniforms[tile::kMaxUniforms];
  eval_uniforms(*op.finish, args.scalars, count, type, uniforms);
  const tile::Program& p = op.finish->tile;
  const ScalarType result = dtype_of(p, 0);
  const void* in[kMaxAccumulators];
  constexpr int64_t kChunk = 512;
  alignas(64) char room[kChunk * 8];
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t m = std::min(kChunk, n - at);
    for (int i = 0; i < op.n_accumulators; ++i) {
      in[i] = accumulators[i] +
              at * static_cast<int64_t>(element_size(dtype_of(op.map.tile, i)));
    }
    char* to = out + at * static_cast<int64_t>(element_size(out_dtype));
    void* results[] = {result == out_dtype ? to : room};
    tile::run_contiguous(p, type, in, 0, uniforms, results, m);
    if (result != out_dtype) tile::convert_fn(result, out_dtype)(to, room, m);
  }
}

// What the kernel's accumulators are as the operator's: of the compute type.
ScalarType narrow_dtype(const KnownReduction& known, ScalarType compute) {
  return known.accumulator == tile::TileType::b8
             ? kBool
             : tile::storage_of(tile::tile_type_of(compute));
}
void narrow(const KnownReduction& known, ScalarType compute, const void* from,
            void* to, int64_t n) {
  tile::convert_fn(tile::storage_of(known.accumulator),
                   narrow_dtype(known, compute))(to, from, n);
}

// n results of no elements.
void fill_identity(const ReduceOp& op, ScalarType compute,
                   char* const* accumulators, int64_t n) {
  const tile::TileType type = tile::tile_type_of(compute);
  for (int i = 0; i < op.n_accumulators; ++i) {
    const bool is_bool = op.map.tile.results[i].is_bool;
    const size_t size = is_bool ? 1 : tile_type_size(type);
    const lang::Uniform& u = op.identity[i];
    const tile::Uniform v = u.is_int ? tile::make_uniform(type, is_bool, u.i)
                                     : tile::make_uniform(type, is_bool, u.d);
    for (int64_t j = 0; j < n; ++j) {
      std::memcpy(accumulators[i] + static_cast<size_t>(j) * size, &v, size);
    }
  }
}

// Results in the order of the layout's kept dims, contiguous, of out_dtype.
void compute_results(const ReduceOp& op, const ReduceArgs& args,
                     const ReducePlan& plan, const ReduceLayout& layout,
                     ScalarType out_dtype, char* out) {
  const int64_t n = plan.numel;
  const tile::TileType type = tile::tile_type_of(plan.compute);
  const ScalarType self = args.self->dtype();
  char* accumulators[kMaxAccumulators];
  const auto item = static_cast<int64_t>(tile_type_size(type));
  const int64_t plane = (n * std::max<int64_t>(item, 1) + 63) / 64 * 64;
  KnownReduction known;
  if (plan.count != 0 && recognise(op, self, plan.compute, &known)) {
    const auto wide = static_cast<int64_t>(tile_type_size(known.accumulator));
    Buffer raw(n * wide);
    reduce_known(known, layout, self, raw.data());
    if (op.finish == nullptr &&
        narrow_dtype(known, plan.compute) == out_dtype) {
      narrow(known, plan.compute, raw.data(), out, n);
      return;
    }
    Buffer values(plane);
    accumulators[0] = values.data();
    narrow(known, plan.compute, raw.data(), accumulators[0], n);
    finish(op, args, plan.compute, plan.count, accumulators, out_dtype, out, n);
    return;
  }
  Buffer values(plane * op.n_accumulators);
  for (int i = 0; i < op.n_accumulators; ++i) {
    accumulators[i] = values.data() + i * plane;
  }
  if (plan.count == 0) {
    fill_identity(op, plan.compute, accumulators, n);
  } else {
    reduce_by_program(op, args, layout, plan.compute, accumulators);
  }
  finish(op, args, plan.compute, plan.count, accumulators, out_dtype, out, n);
}

void reduce_into(const ReduceOp& op, const ReduceArgs& args,
                 const ReducePlan& plan, const Tensor& out) {
  if (plan.numel == 0) return;
  const int64_t kept = static_cast<int64_t>(plan.sizes.size());
  const ReduceLayout layout(*args.self, plan.reduced, kept == args.self->dim());
  // Where the order of the results in memory is that of the walk, directly.
  bool in_order = true;
  for (int d = 0; d < plan.sizes.size(); ++d) {
    in_order &= plan.sizes[d] == 1 || out.strides()[static_cast<size_t>(d)] ==
                                          layout.result_strides[d];
  }
  if (in_order) {
    compute_results(op, args, plan, layout, out.dtype(),
                    static_cast<char*>(out.data_ptr()));
    return;
  }
  Tensor ordered(make_tensor_strided(plan.sizes, layout.result_strides,
                                     out.dtype(), Device(kCPU)));
  compute_results(op, args, plan, layout, out.dtype(),
                  static_cast<char*>(ordered.data_ptr()));
  copy_cpu(out, ordered);
}

// All elements of contiguous memory, by a kernel, few enough for one piece.
SY_ALWAYS_INLINE bool reduce_fast(const ReduceOp& op, const ReduceArgs& args,
                                  Tensor* result) {
  const TensorImpl* const self = args.self->impl();
  if (self == nullptr || args.dtype.has_value() || args.keepdim ||
      (args.dims.has_value() && !args.dims->empty()) ||
      !self->is_contiguous() || self->numel() > kReducePiece ||
      self->numel() == 0) {
    return false;
  }
  const ScalarType dtype = self->dtype();
  if (dtype != kFloat && dtype != kDouble && dtype != kLong) return false;
  if (op.finish != nullptr && !is_floating_type(dtype)) return false;
  KnownReduction known;
  if (!recognise(op, dtype, dtype, &known)) return false;
  const ScalarType out = op.map.tile.results[0].is_bool ? kBool : dtype;
  if (op.finish != nullptr &&
      (out == kBool || op.finish->tile.results[0].is_bool)) {
    return false;
  }
  Tensor r(make_tensor({}, out, Device(kCPU)));
  void* const to = r.impl()->data();
  alignas(8) char acc[8];
  const void* const data = self->data();
  start_accumulator(known, data, acc);
  tile::reduce_fn(known.kind, known.type)(acc, data, self->numel());
  if (dtype == kFloat && known.accumulator == tile::TileType::f64) {
    double v;
    std::memcpy(&v, acc, sizeof v);
    *static_cast<float*>(to) = static_cast<float>(v);
  } else {
    std::memcpy(to, acc, element_size(out));
  }
  if (op.finish != nullptr) {
    char* accumulators[] = {static_cast<char*>(to)};
    finish(op, args, dtype, self->numel(), accumulators, dtype,
           static_cast<char*>(to), 1);
  }
  *result = std::move(r);
  return true;
}

}  // namespace

Tensor reduce(const ReduceOp& op, const ReduceArgs& args) {
  Tensor result;
  if (SY_LIKELY(reduce_fast(op, args, &result))) return result;
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  result = Tensor(make_tensor(plan.sizes, plan.result, Device(kCPU)));
  reduce_into(op, args, plan, result);
  return result;
}

void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                const OperatorEntry& writer, Tensor& out) {
  ReducePlan plan;
  plan_reduce_out(op, args, out, &plan);
  resize_output(op.name, out, plan.sizes);
  bump_version(out, &writer);
  reduce_into(op, args, plan, out);
}

}  // namespace sy::cpu
