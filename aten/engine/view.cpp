#include "aten/engine/view.h"

#include "c10/dispatch/thread_state.h"
#include "c10/tensor/autograd_meta.h"

namespace sy {

namespace {

SY_ALWAYS_INLINE Tensor view_of(const Tensor& self, const OperatorEntry& op,
                                int output, IntArrayRef sizes,
                                IntArrayRef strides, int64_t offset,
                                const int64_t* args, int n,
                                ViewCreation creation) {
  TensorImpl* const parent = self.impl();
  intrusive_ptr<TensorImpl> view = parent->alias(sizes, strides, offset);
  const ThreadState& thread = thread_state;
  if (SY_LIKELY(!parent->is_inference())) {
    const bool recorded = !thread.grad_disabled && !thread.inference;
    if (SY_UNLIKELY(!recorded)) {
      creation =
          thread.inference ? ViewCreation::Inference : ViewCreation::NoGrad;
    }
    intrusive_ptr<ViewMeta> meta =
        ViewMeta::make(self.impl_ptr(), &op, args, n, creation);
    if (output != 0) meta->set_output(output);
    view->set_view_meta(std::move(meta));
    // A view that is not recorded gets the key, too, so that a later write to
    // it is found (an error).
    if (is_floating_type(parent->dtype()) &&
        (recorded || parent->key_set().has(DispatchKey::Autograd))) {
      view->add_keys(DispatchKey::Autograd);
    }
  }
  return Tensor(std::move(view));
}

}  // namespace

Tensor make_view(const Tensor& self, const OperatorEntry& op, IntArrayRef sizes,
                 IntArrayRef strides, int64_t offset, const int64_t* args,
                 int n) {
  return view_of(self, op, 0, sizes, strides, offset, args, n,
                 ViewCreation::Default);
}

Tensor make_view_output(const Tensor& self, const OperatorEntry& op, int output,
                        IntArrayRef sizes, IntArrayRef strides, int64_t offset,
                        const int64_t* args, int n) {
  return view_of(self, op, output, sizes, strides, offset, args, n,
                 ViewCreation::MultiOutput);
}

Tensor alias_without_view(const Tensor& self, IntArrayRef sizes,
                          IntArrayRef strides, int64_t offset) {
  return Tensor(self.impl()->alias(sizes, strides, offset));
}

bool view_strides(IntArrayRef old_sizes, IntArrayRef old_strides,
                  IntArrayRef sizes, Dims* strides) {
  const auto n = static_cast<int64_t>(sizes.size());
  strides->resize(n);
  bool empty = false;
  for (const int64_t s : old_sizes) empty |= s == 0;
  if (empty) {
    // Any strides do; those of the old shape where it is the same.
    if (old_sizes == sizes) {
      *strides = Dims(old_strides);
    } else {
      contiguous_strides(sizes, strides->data());
    }
    return true;
  }
  // Runs of old dims that lie as one are matched, from the last, with new dims.
  int64_t v = n - 1;
  int64_t run = 1;     // elements of the run
  int64_t filled = 1;  // of those, how many have new dims
  int64_t base = old_strides.empty() ? 1 : old_strides.back();
  for (auto d = static_cast<int64_t>(old_sizes.size()); d-- > 0;) {
    run *= old_sizes[d];
    const bool run_ends =
        d == 0 || (old_sizes[d - 1] != 1 && old_strides[d - 1] != run * base);
    if (!run_ends) continue;
    while (v >= 0 && (filled < run || sizes[v] == 1)) {
      (*strides)[v] = filled * base;
      filled *= sizes[v];
      --v;
    }
    if (filled != run) return false;
    if (d > 0) {
      base = old_strides[d - 1];
      run = 1;
      filled = 1;
    }
  }
  for (; v >= 0; --v) (*strides)[v] = filled * base;  // no old dims
  return true;
}

Dims infer_size(const char* op, IntArrayRef sizes, int64_t numel) {
  Dims result(sizes);
  int64_t known = 1;
  int open = -1;
  for (int d = 0; d < result.size(); ++d) {
    const int64_t s = result[d];
    if (s == -1) {
      SY_CHECK(open < 0, Value, "[{}] size: expected at most one -1, got {}",
               op, sizes);
      open = d;
      continue;
    }
    SY_CHECK(s >= 0, Value,
             "[{}] size: expected sizes of at least 0, or -1, got {}", op,
             sizes);
    if (__builtin_mul_overflow(known, s, &known)) known = -1;
    SY_CHECK(known >= 0, Value, "[{}] size: expected {} elements, got {}", op,
             numel, sizes);
  }
  if (open < 0) {
    SY_CHECK(known == numel, Value, "[{}] size: expected {} elements, got {}",
             op, numel, sizes);
    return result;
  }
  SY_CHECK(known != 0, Value,
           "[{}] size: -1 can be anything beside a size of 0, got {}", op,
           sizes);
  SY_CHECK(numel % known == 0, Value, "[{}] size: expected {} elements, got {}",
           op, numel, sizes);
  result[open] = numel / known;
  return result;
}

Dims broadcast_sizes(const char* op, IntArrayRef a, IntArrayRef b) {
  if (a.size() < b.size()) std::swap(a, b);
  Dims result(a);
  const size_t shift = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    int64_t& s = result[static_cast<int64_t>(d + shift)];
    if (s == b[d] || b[d] == 1) continue;
    SY_CHECK(s == 1, Value,
             "[{}] sizes: expected sizes that broadcast, got {} and {}", op, a,
             b);
    s = b[d];
  }
  return result;
}

void expand_geometry(const char* op, const TensorBase& self, IntArrayRef sizes,
                     Dims* out_sizes, Dims* out_strides) {
  const int64_t ndim = self.dim();
  const auto n = static_cast<int64_t>(sizes.size());
  SY_CHECK(n >= ndim, Value,
           "[{}] size: expected at least {} sizes for {}, got {}", op, ndim,
           self.sizes(), sizes);
  *out_sizes = Dims(sizes);
  out_strides->resize(n);
  for (int64_t d = 0; d < n; ++d) {
    const int64_t from = d - (n - ndim);
    int64_t& s = (*out_sizes)[d];
    if (from < 0) {
      SY_CHECK(
          s >= 0, Value,
          "[{}] size: expected a size of at least 0 for the new dim {}, got {}",
          op, d, s);
      (*out_strides)[d] = 0;
      continue;
    }
    const int64_t own = self.sizes()[from];
    if (s == -1) s = own;
    SY_CHECK(s == own || (own == 1 && s >= 0), Value,
             "[{}] size: expected {} for dim {} of {}, got {}", op, own, d,
             self.sizes(), s);
    (*out_strides)[d] = s == own ? self.strides()[from] : 0;
  }
}

Tensor expand_for_kernel(const char* op, const Tensor& self,
                         IntArrayRef sizes) {
  if (self.sizes() == sizes) return self;
  Dims new_sizes, strides;
  expand_geometry(op, self, sizes, &new_sizes, &strides);
  return alias_without_view(self, new_sizes, strides, self.storage_offset());
}

}  // namespace sy
