#include <bit>
#include <cstring>
#include <limits>

#include "aten/scalar_tensor.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/scatter.h"
#include "backends/cuda/support/group.h"
#include "backends/cuda/support/walk.h"

namespace sy::cuda {

namespace {

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

// One thread goes along the dim for each element of the others. That takes
// neither memory nor sorting, but the dim must be short, or the others many.
bool is_short(const Route& r, int64_t alone, int64_t with_others) {
  constexpr int64_t kMany = 16384;
  const int64_t length = r.sizes[r.dim];
  return length <= alone ||
         (length <= with_others && product(r.sizes) / length >= kMany);
}

bool is_one_value(const Route& r, const Source& s) {
  for (int64_t d = 0; d < r.sizes.size(); ++d) {
    if (r.sizes[d] > 1 && s.strides[d] != 0) return false;
  }
  return true;
}

struct Walked {
  const Route& route;
  const Tensor& out;
  const Source& source;

  int64_t item() const { return static_cast<int64_t>(out.itemsize()); }
  int device() const { return out.device().index(); }
  int64_t step() const { return route.at.step * item(); }  // in bytes
};

// The walk over all elements, or but those along the dim: to, from, index.
Walker walk_of(const Walked& x, bool along) {
  const Route& r = x.route;
  Dims sizes = r.sizes, to = r.to_strides;
  to[r.dim] = 0;
  if (!along) sizes[r.dim] = 1;
  Walker iter(sizes);
  iter.add(x.out.raw_data(), x.out.itemsize(), to);
  iter.add(x.source.tensor.raw_data(), x.out.itemsize(), x.source.strides);
  iter.add(r.at.index.raw_data(), r.at.index.itemsize(), r.at.strides);
  iter.finish();
  return iter;
}

// Writes the elements in any order.
void write_all(const Walked& x) {
  each_walk<3>(walk_of(x, true), [&](Walk<3>& w, char* const* data) {
    const int64_t size =
        widen(w, 2, data, static_cast<uint64_t>(x.step()), x.item());
    finish_walk(w);
    WriteParams p{{},
                  w,
                  data[0],
                  data[1],
                  operand_of(x.route.at, x.item()),
                  x.route.argument};
    p.index.data = data[2];
    launch(
        x.device(), item_kernel(x.device(), "scatter.cu", "write_items", size),
        shape_for(w.numel), p, {&x.out, &x.source.tensor, &x.route.at.index});
  });
}

// A thread for all along the dim. `f` chooses the kernel by the size of items.
template <class F>
void run_owned(const Walked& x, bool moves, const JoinHow& how, const F& f) {
  const Route& r = x.route;
  const int64_t from_step = x.source.strides[r.dim] * x.item();
  each_walk<3>(walk_of(x, false), [&](Walk<3>& w, char* const* data) {
    const auto steps = static_cast<uint64_t>(x.step() | from_step);
    const int64_t size = moves ? widen(w, 2, data, steps, x.item()) : x.item();
    finish_walk(w);
    OwnedParams p{
        {},
        w,
        data[0],
        data[1],
        operand_of(r.at, x.item()),
        r.sizes[r.dim],
        from_step,
        r.at.strides[r.dim] * static_cast<int64_t>(r.at.index.itemsize()),
        r.argument,
        how};
    p.index.data = data[2];
    launch(x.device(), f(size), shape_for(w.numel), p,
           {&x.out, &x.source.tensor, &r.at.index});
  });
}

// The dims where indices move are what is sorted; along the others each source
// is a row of columns.
struct Split {
  Dims sources, from, base, at;  // sizes and strides of what is sorted
  Dims columns, column_to, column_from;
};

Split split(const Route& r, const Source& s) {
  Split x;
  for (int64_t d = 0; d < r.sizes.size(); ++d) {
    if (d == r.dim || (r.sizes[d] > 1 && r.at.strides[d] != 0)) {
      x.sources.push_back(r.sizes[d]);
      x.from.push_back(s.strides[d]);
      x.base.push_back(d == r.dim ? 0 : r.to_strides[d]);
      x.at.push_back(r.at.strides[d]);
    } else {
      x.columns.push_back(r.sizes[d]);
      x.column_to.push_back(r.to_strides[d]);
      x.column_from.push_back(s.strides[d]);
    }
  }
  return x;
}

// A dtype with the size of the type that scatter_join.cu joins elements in.
ScalarType register_of(ScalarType dtype) {
  if (dtype == kDouble) return kDouble;
  return is_floating_type(dtype) ? kFloat : kLong;
}

// `f` chooses the kernel by the size of items. `partials`, which may be
// nullptr, is the kernel for what is beyond the first kRun of a run.
template <class F>
void run_sorted(const Walked& x, bool moves, const JoinHow& how, const F& f,
                const Function* partials) {
  const Route& r = x.route;
  const Split parts = split(r, x.source);
  const int64_t n = product(parts.sources);
  // A key is an index, or else counts elements from the first of `out` on.
  const bool indices = parts.sources.size() == 1 && r.at.size != kAnywhere;
  const int64_t below = indices ? r.at.size : r.span;
  IndexUse at = r.at;
  at.strides = parts.at;
  if (indices) at.step = 1;
  const Tensor keys =
      fold_indices(x.out.device(), parts.sources, parts.base, {at}, r.argument);
  const SortedKeys sorted = group(keys, below);
  SortedParams p{};
  p.from = static_cast<const char*>(x.source.tensor.raw_data());
  Walker sources(parts.sources);
  sources.add(nullptr, x.out.itemsize(), parts.from);
  sources.finish(/*reorder=*/false);
  SY_CHECK(sources.ndim() <= kWalkDims, NotImplemented,
           "[{}] index: expected at most {} dims that do not lie together, got "
           "{}",
           r.op, kWalkDims, sources.ndim());
  p.sources = only_walk<1>(sources);
  p.keys = static_cast<const long long*>(sorted.keys.raw_data());
  p.order = static_cast<const long long*>(sorted.places.raw_data());
  p.n = n;
  p.key_step = indices ? x.step() : x.item();
  p.how = how;
  Walker columns(parts.columns);
  columns.add(x.out.raw_data(), x.out.itemsize(), parts.column_to);
  columns.add(x.source.tensor.raw_data(), x.out.itemsize(), parts.column_from);
  columns.finish();
  auto steps = static_cast<uint64_t>(p.key_step);
  for (int d = 0; d < p.sources.dims; ++d) {
    steps |= static_cast<uint64_t>(p.sources.strides[0][d]);
  }
  each_walk<2>(columns, [&](Walk<2>& w, char* const* data) {
    const int64_t size = moves ? widen(w, 2, data, steps, x.item()) : x.item();
    finish_walk(w);
    p.columns = w;
    p.to = data[0];
    p.from = data[1];
    const int64_t all = n * w.numel;
    p.divides = all < (int64_t{1} << 31) ? 1 : 0;
    if (p.divides != 0) {
      p.divisor = make_divisor(static_cast<uint32_t>(w.numel));
    }
    Tensor rest;
    if (partials != nullptr && n > kRun) {
      const int64_t pieces = (n + kRun - 1) / kRun * w.numel;
      rest = empty_on(x.out.device(), pieces, register_of(x.out.dtype()));
      p.partials = rest.raw_data();
      launch(x.device(), *partials, shape_for(pieces), p,
             {&x.source.tensor, &sorted.keys, &sorted.places, &rest});
    }
    launch(x.device(), f(size), shape_for(all), p,
           {&x.out, &x.source.tensor, &sorted.keys, &sorted.places, &rest});
  });
}

// The value that leaves another one as it is when the two are joined.
Scalar identity(ScalarType dtype, JoinWay way) {
  if (way == kJoinAdd) return 0;
  if (way == kJoinMultiply) return 1;
  const bool max = way == kJoinMax;
  switch (dtype) {
#define SY_LIMIT(T, Enum)                                              \
  case ScalarType::Enum:                                               \
    if constexpr (std::is_integral_v<T>) {                             \
      using Limits = std::numeric_limits<T>;                           \
      return Scalar(max ? Limits::lowest() : Limits::max());           \
    } else {                                                           \
      constexpr double kInf = std::numeric_limits<double>::infinity(); \
      return Scalar(max ? -kInf : kInf);                               \
    }
    SY_FORALL_SCALAR_TYPES(SY_LIMIT)
#undef SY_LIMIT
    default: return 0;
  }
}

std::string_view way_name(JoinWay way) {
  switch (way) {
    case kJoinAdd: return "kJoinAdd";
    case kJoinMultiply: return "kJoinMultiply";
    case kJoinMin: return "kJoinMin";
    default: return "kJoinMax";
  }
}

}  // namespace

void assign(const Route& route, const Tensor& out, const Source& source) {
  if (product(route.sizes) == 0) return;
  const Walked x{route, out, source};
  const auto named = [&](const char* name) {
    return [name, &x](int64_t size) -> const Function& {
      return item_kernel(x.device(), "scatter.cu", name, size);
    };
  };
  if (route.sizes[route.dim] == 1 || is_one_value(route, source)) {
    write_all(x);
  } else if (is_short(route, 16, 512)) {
    run_owned(x, /*moves=*/true, {}, named("write_owned"));
  } else {
    run_sorted(x, /*moves=*/true, {}, named("write_sorted"), nullptr);
  }
}

void join(const Route& route, const Tensor& out, const Source& source,
          JoinWay way, const JoinHow& how) {
  if (product(route.sizes) == 0) return;
  const Walked x{route, out, source};
  const auto named = [&](const char* name) {
    return [name, way, &x](int64_t) -> const Function& {
      const Define defines[] = {{"SY_T", device_type(x.out.dtype())},
                                {"SY_JOIN", way_name(way)}};
      return kernel(x.device(), "scatter_join.cu", name, defines);
    };
  };
  // Only sorting brings the elements for one place together.
  const bool together =
      how.fresh != 0 || how.mean != 0 ||
      (is_reduced_floating_type(out.dtype()) && route.sizes[route.dim] > 1);
  if (!together && is_short(route, 8, 256)) {
    run_owned(x, /*moves=*/false, how, named("join_owned"));
  } else {
    JoinHow all = how;
    all.identity = element_bits(identity(out.dtype(), way), out.dtype());
    run_sorted(x, /*moves=*/false, all, named("join_sorted"),
               &named("join_partials")(0));
  }
}

uint64_t element_bits(const Scalar& value, ScalarType dtype) {
  const Tensor one = scalar_to_tensor(value, dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, one.raw_data(), one.itemsize());
  return bits;
}

}  // namespace sy::cuda
