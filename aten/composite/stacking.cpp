#include <algorithm>

#include "aten/engine/dims.h"
#include "aten/ops/factory.h"
#include "aten/ops/padding.h"
#include "aten/ops/shape.h"
#include "aten/ops/stacking.h"
#include "aten/ops/stacking_kernels.h"

namespace sy::composite {

namespace {

void check_vectors(const char* op, TensorList tensors, int64_t min_dim) {
  SY_CHECK(!tensors.empty(), Value,
           "[{}] tensors: expected at least one tensor, got none", op);
  for (const Tensor& t : tensors) {
    SY_CHECK(t.defined() && t.dim() >= min_dim && t.dim() <= 1, Value,
             "[{}] tensors: expected vectors, got {}", op, describe(t));
    SY_CHECK(t.scalar_type() == tensors[0].scalar_type() &&
                 t.device() == tensors[0].device(),
             Type,
             "[{}] tensors: expected one dtype on one device, got {} and {}",
             op, describe(tensors[0]), describe(t));
  }
  SY_CHECK(tensors.size() <= TensorImpl::kMaxDims, Value,
           "[{}] tensors: expected at most {}, got {}", op,
           int{TensorImpl::kMaxDims}, tensors.size());
}

}  // namespace

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  SY_CHECK(indexing == "ij" || indexing == "xy", Value,
           "[meshgrid] indexing: expected 'ij' or 'xy', got '{}'", indexing);
  check_vectors("meshgrid", tensors, 0);
  const auto n = static_cast<int64_t>(tensors.size());
  // The dim that each vector runs along.
  const auto dim_of = [&](int64_t i) {
    return indexing == "xy" && n >= 2 && i < 2 ? 1 - i : i;
  };
  Dims sizes;
  sizes.resize(n);
  for (int64_t i = 0; i < n; ++i) {
    sizes[dim_of(i)] = tensors[static_cast<size_t>(i)].numel();
  }
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  for (int64_t i = 0; i < n; ++i) {
    const Tensor& t = tensors[static_cast<size_t>(i)];
    Dims own;
    for (int64_t k = 0; k < n; ++k) {
      own.push_back(k == dim_of(i) ? t.numel() : 1);
    }
    out.push_back(t.view(own).expand(sizes));
  }
  return out;
}

Tensor cartesian_prod(TensorList tensors) {
  check_vectors("cartesian_prod", tensors, 1);
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = sy::meshgrid(tensors, "ij");
  for (Tensor& c : columns) c = c.reshape({-1});
  return sy::stack(columns, 1);
}

namespace {

// The number of ways to choose r of n. Throws ValueError if there are too many
// to list.
int64_t choices(int64_t n, int64_t r) {
  if (r > n) return 0;
  constexpr auto kMost = static_cast<__int128>(INT64_MAX);
  __int128 count = 1;
  for (int64_t i = 1; i <= std::min(r, n - r); ++i) {
    count = count * (n - i + 1) / i;
    SY_CHECK(
        count <= kMost, Value,
        "[combinations] r: expected fewer than 2^63 combinations, got {} of {}",
        r, n);
  }
  return static_cast<int64_t>(count);
}

}  // namespace

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  SY_CHECK(self.dim() == 1, Value,
           "[combinations] self: expected a vector, got {}", describe(self));
  SY_CHECK(r >= 0 && r <= TensorImpl::kMaxDims, Value,
           "[combinations] r: expected a value in [0, {}], got {}",
           int{TensorImpl::kMaxDims}, r);
  if (r == 0) return sy::empty({0}, self.options());
  const int64_t n = self.numel();
  const int64_t rows =
      n == 0 ? 0 : choices(with_replacement ? n + r - 1 : n, r);
  Tensor index = sy::empty({rows, r}, kLong);
  auto* row = static_cast<int64_t*>(index.raw_data());
  const int64_t apart = with_replacement ? 0 : 1;
  for (int64_t i = 0; i < rows; ++i, row += r) {
    if (i == 0) {
      for (int64_t k = 0; k < r; ++k) row[k] = k * apart;
      continue;
    }
    // The next row: the last place that can go on does, those behind follow.
    std::copy_n(row - r, r, row);
    int64_t k = r - 1;
    while (row[k] == n - 1 - (r - 1 - k) * apart) --k;
    ++row[k];
    for (int64_t j = k + 1; j < r; ++j) row[j] = row[j - 1] + apart;
  }
  if (!self.is_cpu()) index = index.to(self.device(), kLong);
  return self.index_select(0, index.view({-1})).view({rows, r});
}

std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat,
                                            TensorList tensors) {
  SY_CHECK(flat.dim() == 1, Value,
           "[unflatten_dense_tensors] flat: expected a vector, got {}",
           describe(flat));
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    SY_CHECK(t.defined(), Value,
             "[unflatten_dense_tensors] tensors: expected tensors, got an "
             "undefined one");
    SY_CHECK(t.numel() <= flat.numel() - at, Value,
             "[unflatten_dense_tensors] flat: expected the elements of all "
             "tensors, got {}",
             flat.numel());
    out.push_back(t.numel() == 0
                      ? sy::empty({0}, flat.options())
                      : flat.narrow(0, at, t.numel()).view(t.sizes()));
    at += t.numel();
  }
  return out;
}

Tensor pad_sequence(TensorList sequences, bool batch_first,
                    double padding_value, std::string_view padding_side) {
  SY_CHECK(!sequences.empty(), Value,
           "[pad_sequence] sequences: expected at least one, got none");
  SY_CHECK(padding_side == "left" || padding_side == "right", Value,
           "[pad_sequence] padding_side: expected 'left' or 'right', got '{}'",
           padding_side);
  int64_t length = 0;
  for (const Tensor& t : sequences) {
    SY_CHECK(t.defined() && t.dim() > 0, Value,
             "[pad_sequence] sequences: expected tensors of at least one dim, "
             "got {}",
             describe(t));
    const auto rest = [](const Tensor& a) {
      return a.sizes().slice(1, a.sizes().size() - 1);
    };
    SY_CHECK(rest(t) == rest(sequences[0]), Value,
             "[pad_sequence] sequences: expected sizes that agree but for the "
             "first, got {} and {}",
             sequences[0].sizes(), t.sizes());
    length = std::max(length, t.size(0));
  }
  std::vector<Tensor> padded;
  padded.reserve(sequences.size());
  for (const Tensor& t : sequences) {
    Dims pad;
    for (int64_t k = 1; k < t.dim(); ++k) {
      pad.push_back(0);
      pad.push_back(0);
    }
    const int64_t missing = length - t.size(0);
    pad.push_back(padding_side == "left" ? missing : 0);
    pad.push_back(padding_side == "left" ? 0 : missing);
    // The first says which dtype all have.
    const Tensor same = t.to(sequences[0].scalar_type());
    padded.push_back(
        missing == 0 ? same : sy::constant_pad_nd(same, pad, padding_value));
  }
  return sy::stack(padded, batch_first ? 0 : 1);
}

Tensor chunk_cat(TensorList tensors, int64_t dim, int64_t num_chunks) {
  constexpr const char* kOp = "_chunk_cat";
  SY_CHECK(!tensors.empty(), Value,
           "[{}] tensors: expected at least one tensor, got none", kOp);
  SY_CHECK(num_chunks > 0, Value,
           "[{}] num_chunks: expected a positive number, got {}", kOp,
           num_chunks);
  const Tensor& first = tensors[0];
  SY_CHECK(first.defined(), Value,
           "[{}] tensors: expected tensors, got an undefined one", kOp);
  dim = wrap_dim(kOp, dim, first.dim());
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    SY_CHECK(t.defined() && t.numel() > 0 && t.dim() > dim, Value,
             "[{}] tensors: expected elements in more than {} dims, got {}",
             kOp, dim, t.defined() ? describe(t) : "an undefined one");
    SY_CHECK(t.dtype() == first.dtype() && t.device() == first.device(), Type,
             "[{}] tensors: expected one dtype on one device, got {} and {}",
             kOp, describe(first), describe(t));
    Dims sizes;
    for (int64_t d = 0; d < dim; ++d) {
      SY_CHECK(t.size(d) == first.size(d), Value,
               "[{}] tensors: expected one size in each dim before {}, got {} "
               "and {}",
               kOp, dim, first.sizes(), t.sizes());
      sizes.push_back(t.size(d));
    }
    int64_t inner = 1;
    for (int64_t d = dim + 1; d < t.dim(); ++d) inner *= t.size(d);
    const int64_t chunk = (t.size(dim) - 1) / num_chunks + 1;
    SY_CHECK(chunk <= INT64_MAX / num_chunks, Value,
             "[{}] num_chunks: expected fewer, got {}", kOp, num_chunks);
    Dims pad;
    for (int64_t d = dim + 1; d < t.dim(); ++d) {
      pad.push_back(0);
      pad.push_back(0);
    }
    pad.push_back(0);
    pad.push_back(chunk * num_chunks - t.size(dim));
    sizes.push_back(num_chunks);
    sizes.push_back(chunk * inner);
    parts.push_back(sy::constant_pad_nd(t, pad).reshape(sizes));
  }
  return sy::cat(parts, dim + 1);
}

}  // namespace sy::composite
