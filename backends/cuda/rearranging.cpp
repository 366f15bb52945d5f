#include "aten/engine/dims.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"

namespace sy::cuda {

namespace {

int64_t along(int64_t shift, int64_t size) {
  const int64_t rest = shift % size;
  return rest < 0 ? rest + size : rest;
}

// A box of two tensors of the same sizes.
struct Box {
  Dims sizes;
  char *to, *from;
};

// Copies the two parts that a dim falls into, for each of the dims from d on.
void roll_from(const Tensor& out, const Tensor& self, const Dims& to_strides,
               const Dims& from_strides, const Dims& shifts, int d, Box box) {
  while (d < shifts.size() && shifts[d] == 0) ++d;
  if (d == shifts.size()) {
    copy_part(box.sizes, {&out, box.to, to_strides},
              {&self, box.from, from_strides});
    return;
  }
  const auto item = static_cast<int64_t>(self.itemsize());
  const int64_t shift = shifts[d], rest = box.sizes[d] - shift;
  Box front = box, back = box;
  front.sizes[d] = rest;
  front.to += shift * to_strides[d] * item;
  back.sizes[d] = shift;
  back.from += rest * from_strides[d] * item;
  roll_from(out, self, to_strides, from_strides, shifts, d + 1, front);
  roll_from(out, self, to_strides, from_strides, shifts, d + 1, back);
}

}  // namespace

Tensor roll(const Tensor& given, IntArrayRef shifts, IntArrayRef dims) {
  const Tensor self = dims.empty() ? contiguous_on_device(given) : given;
  const Tensor out = empty_on(self.device(), self.sizes(), self.dtype());
  if (self.numel() == 0) return out;
  Dims sizes(self.sizes()), to(out.strides()), from(self.strides()), amount;
  if (dims.empty()) {
    const int64_t n = self.numel(), one = 1;
    sizes = Dims(IntArrayRef(n));
    to = from = Dims(IntArrayRef(one));
    amount.push_back(along(shifts[0], n));
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) amount.push_back(0);
    for (size_t i = 0; i < dims.size() && self.dim() > 0; ++i) {
      const int64_t d = wrap_dim("roll", dims[i], self.dim());
      amount[d] = along(amount[d] + along(shifts[i], sizes[d]), sizes[d]);
    }
  }
  roll_from(out, self, to, from, amount, 0,
            {sizes, static_cast<char*>(out.raw_data()),
             static_cast<char*>(self.raw_data())});
  return out;
}

}  // namespace sy::cuda
