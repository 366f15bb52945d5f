#include "backends/cuda/blas/product.h"

#include <atomic>
#include <optional>

#include "backends/cuda/blas/plan.h"
#include "backends/cuda/runtime/library_work.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"

namespace sy::cuda::blas {

namespace {

constexpr uintptr_t kMostAlignment = 256;
// The library counts rows and columns in int32.
constexpr int64_t kMostSize = (int64_t{1} << 31) - 1;

std::atomic<bool> tf32{false};
std::atomic<int64_t> call_count{0};

bool is_taken(const Product& p) {
  switch (p.left.scalar_type()) {
    case kFloat:
    case kDouble:
    case kHalf:
    case kBFloat16: break;
    default: return false;
  }
  return p.m <= kMostSize && p.n <= kMostSize && p.k <= kMostSize &&
         p.groups <= kMostSize && p.k > 0 &&
         static_cast<double>(p.groups) * static_cast<double>(p.m) *
                 static_cast<double>(p.n) * static_cast<double>(p.k) >=
             static_cast<double>(least_work());
}

int alignment_of(const void* data) {
  const auto at = reinterpret_cast<uintptr_t>(data) | kMostAlignment;
  return static_cast<int>(at & (~at + 1));
}

// None if neither rows nor columns lie together. The stride of a size of 1 is
// never used.
std::optional<Matrix> find_matrix(const MatrixOperand& o, int64_t rows,
                                  int64_t columns, int64_t groups) {
  Matrix m;
  m.alignment = alignment_of(o.data);
  m.batch = groups == 1 ? 0 : o.group;
  if ((columns == 1 || o.column == 1) && (rows == 1 || o.row >= columns)) {
    m.line = rows == 1 ? columns : o.row;
    return m;
  }
  if ((rows == 1 || o.row == 1) && (columns == 1 || o.column >= rows)) {
    m.by_columns = true;
    m.line = columns == 1 ? rows : o.column;
    return m;
  }
  return std::nullopt;
}

// An operand as the library reads it. `copy`, if defined, has its elements.
struct Operand {
  Matrix matrix;
  const void* data;
  Tensor copy;
};

Operand operand_of(const Tensor& t, const MatrixOperand& o, int64_t rows,
                   int64_t columns, int64_t groups) {
  if (const auto m = find_matrix(o, rows, columns, groups)) {
    return {*m, o.data, Tensor()};
  }
  const Tensor copy = t.contiguous();
  const MatrixOperand own = operand(copy, rows * columns, columns, 1);
  return {*find_matrix(own, rows, columns, groups), own.data, copy};
}

struct Call {
  const Library& library;
  const Plan& plan;
  bool wide;  // alpha and beta are float64
  double alpha, beta;
  const void *a, *b, *added, *bias;
  void *out, *room;
};

Result run(const Call& c, void* stream) {
  const Api& api = *c.library.api;
  Plan plan = c.plan;  // the library takes no const descriptors
  if (c.bias != nullptr) {
    const Result r =
        api.describe(&plan.description, kBiasPointer, &c.bias, sizeof c.bias);
    if (r != kDone) return r;
  }
  const auto alpha = static_cast<float>(c.alpha),
             beta = static_cast<float>(c.beta);
  const auto scale = [&](const double* wide, const float* narrow) {
    return c.wide ? static_cast<const void*>(wide) : narrow;
  };
  return api.multiply(c.library.handle, &plan.description,
                      scale(&c.alpha, &alpha), c.b, &plan.first, c.a,
                      &plan.second, scale(&c.beta, &beta), c.added, &plan.added,
                      c.out, &plan.result, &plan.algorithm, c.room,
                      plan.workspace, static_cast<Stream>(stream));
}

class Multiplication {
 public:
  Multiplication(const Library& library, const Product& p, const Tensor& out)
      : library_(library),
        p_(p),
        out_(out),
        device_(out.device().index()),
        a_(operand_of(p.left, p.a, p.m, p.k, p.groups)),
        b_(operand_of(p.right, p.b, p.k, p.n, p.groups)) {
    problem_ = {
        p.left.scalar_type(),
        p.left.scalar_type() == kFloat && allow_tf32(),
        Added::kNothing,
        p.groups,
        p.m,
        p.n,
        p.k,
        a_.matrix,
        b_.matrix,
        *find_matrix(operand(out, p.m * p.n, p.n, 1), p.m, p.n, p.groups),
        {}};
  }

  bool run_all() {
    if (!p_.added.defined()) return run(nullptr, nullptr);
    const MatrixOperand added = operand(p_.added);
    const bool is_bias = p_.m > 1 && added.row == 0 && added.column == 1;
    if (is_bias && p_.beta.to_double() == 1) {
      problem_.added = Added::kBias;
      problem_.d.alignment = alignment_of(added.data);
      if (run(nullptr, added.data)) return true;
    }
    problem_.added = Added::kMatrix;
    const auto matrix = find_matrix(added, p_.m, p_.n, p_.groups);
    if (matrix && !matrix->by_columns) {
      problem_.d = *matrix;
      return run(added.data, nullptr);
    }
    problem_.d = problem_.c;
    if (!plan_of(device_, library_, problem_).works) return false;
    out_.copy_(p_.added);
    return run(out_.raw_data(), nullptr);
  }

 private:
  bool run(const void* added, const void* bias) {
    const Plan& plan = plan_of(device_, library_, problem_);
    if (!plan.works) return false;
    const Tensor room =
        plan.workspace == 0 ? Tensor() : room_of(device_, plan.workspace);
    const Call call = {library_,
                       plan,
                       problem_.dtype == kDouble,
                       p_.alpha.to_double(),
                       added == nullptr ? 0 : p_.beta.to_double(),
                       a_.data,
                       b_.data,
                       added == nullptr ? out_.raw_data() : added,
                       bias,
                       out_.raw_data(),
                       room.defined() ? room.raw_data() : nullptr};
    static constexpr auto kRun = [](const void* argument, void* stream) {
      return blas::run(*static_cast<const Call*>(argument), stream);
    };
    // Later work in the stream soon tells that this is done.
    const LibraryWork work = {"cuBLASLt's product", library_.api->error_text,
                              /*lasting=*/false};
    enqueue_library(
        device_, work, kRun, &call, room,
        {a_.copy.defined() ? &a_.copy : &p_.left,
         b_.copy.defined() ? &b_.copy : &p_.right, &p_.added, &out_});
    call_count.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  const Library& library_;
  const Product& p_;
  const Tensor& out_;
  const int device_;
  const Operand a_, b_;
  Problem problem_;
};

}  // namespace

bool multiply(const Product& product, const Tensor& out) {
  if (!is_taken(product)) return false;
  const Library library = blas::library(out.device().index());
  return library && Multiplication(library, product, out).run_all();
}

int64_t& least_work() noexcept {
  static int64_t work = int64_t{1} << 20;
  return work;
}

void set_allow_tf32(bool allow) {
  tf32.store(allow, std::memory_order_relaxed);
}
bool allow_tf32() { return tf32.load(std::memory_order_relaxed); }

int64_t calls() noexcept { return call_count.load(std::memory_order_relaxed); }

}  // namespace sy::cuda::blas

SY_LIBRARY_FRAGMENT(cuda, m) {
  m.def("set_allow_tf32(bool allow) -> ()",
        SY_FN(sy::cuda::blas::set_allow_tf32));
  m.def("allow_tf32() -> bool", SY_FN(sy::cuda::blas::allow_tf32));
}
