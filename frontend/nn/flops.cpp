#include "frontend/nn/flops.h"

#include <atomic>
#include <mutex>
#include <string_view>

#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/kernel_watch.h"
#include "c10/process/fork.h"
#include "c10/tensor/tensor_base.h"
#include "c10/tensor/value.h"

namespace sy::nn::detail {

namespace {

constexpr int kConvolutionTransposed = 6;  // the argument of convolution

int64_t batches(const TensorBase& t) {
  int64_t n = 1;
  for (int64_t d = 0; d + 2 < t.dim(); ++d) n *= t.sizes()[size_t(d)];
  return n;
}
int64_t size_from_end(const TensorBase& t, int64_t d) {
  return t.sizes()[static_cast<size_t>(t.dim() - d)];
}

// Counts a product of matrices [..., m, k] and [..., k, n], or a vector.
int64_t of_product(const TensorBase& a, const TensorBase& b) {
  if (a.dim() == 1) return 2 * a.numel();
  const int64_t n = b.dim() == 1 ? 1 : size_from_end(b, 1);
  return 2 * a.numel() * n;
}

int64_t of_convolution(const Value* args, const Value* results) {
  const TensorBase& input = args[0].to_tensor();
  const TensorBase& weight = args[1].to_tensor();
  const bool transposed = args[kConvolutionTransposed].to_bool();
  const TensorBase& moved = transposed ? input : results[0].to_tensor();
  return weight.numel() == 0
             ? 0
             : 2 * moved.numel() * (weight.numel() / weight.sizes()[0]);
}

// Scores of each query with each key, and as many for the values.
int64_t of_attention(const Value* args) {
  const TensorBase& q = args[0].to_tensor();
  const TensorBase& k = args[1].to_tensor();
  const TensorBase& v = args[2].to_tensor();
  const int64_t pairs = batches(q) * size_from_end(q, 2) * size_from_end(k, 2);
  return 2 * pairs * (size_from_end(q, 1) + size_from_end(v, 1));
}

int64_t of_matrices(const Value& list, int64_t rows) {
  int64_t elements = 0;
  for (const TensorBase& t : list.to_tensor_list()) {
    if (t.dim() == 2) elements += t.numel();
  }
  return 2 * rows * elements;
}

// Each row of the input, at each step, goes through all matrices.
int64_t of_recurrent(const Value* args, size_t parameters) {
  const TensorBase& input = args[0].to_tensor();
  const int64_t width = size_from_end(input, 1);
  return width == 0 ? 0 : of_matrices(args[parameters], input.numel() / width);
}

int64_t of_cell(const Value* args) {
  const TensorBase& input = args[0].to_tensor();
  const int64_t rows = input.numel() / size_from_end(input, 1);
  return 2 * rows * (args[2].to_tensor().numel() + args[3].to_tensor().numel());
}

using Count = int64_t (*)(const Value* args, const Value* results);
struct Rule {
  std::string_view name;  // without namespace; all overloads unless it has one
  Count count;
};
constexpr Count kProduct = [](const Value* args, const Value*) {
  return of_product(args[0].to_tensor(), args[1].to_tensor());
};
constexpr Count kAddedProduct = [](const Value* args, const Value*) {
  return of_product(args[1].to_tensor(), args[2].to_tensor());
};
constexpr Count kAttention = [](const Value* args, const Value*) {
  return of_attention(args);
};
constexpr Count kRecurrent = [](const Value* args, const Value*) {
  return of_recurrent(args, 2);
};
constexpr Count kRecurrentPacked = [](const Value* args, const Value*) {
  return of_recurrent(args, 3);
};
constexpr Count kCell = [](const Value* args, const Value*) {
  return of_cell(args);
};
constexpr Rule kRules[] = {
    {"mm", kProduct},
    {"bmm", kProduct},
    {"mv", kProduct},
    {"dot", kProduct},
    {"vdot", kProduct},
    {"addmm", kAddedProduct},
    {"_addmm_activation", kAddedProduct},
    {"baddbmm", kAddedProduct},
    {"addbmm", kAddedProduct},
    {"addmv", kAddedProduct},
    {"convolution", &of_convolution},
    {"_scaled_dot_product_attention_math", kAttention},
    {"_scaled_dot_product_flash_attention_for_cpu", kAttention},
    {"lstm.input", kRecurrent},
    {"gru.input", kRecurrent},
    {"rnn_tanh.input", kRecurrent},
    {"rnn_relu.input", kRecurrent},
    {"lstm.data", kRecurrentPacked},
    {"gru.data", kRecurrentPacked},
    {"rnn_tanh.data", kRecurrentPacked},
    {"rnn_relu.data", kRecurrentPacked},
    {"lstm_cell", kCell},
    {"gru_cell", kCell},
    {"rnn_tanh_cell", kCell},
    {"rnn_relu_cell", kCell},
};

// nullptr for an operator that is not counted: those that it calls are.
const Rule* rule_of(std::string_view name) {
  if (!name.starts_with("aten::")) return nullptr;
  name.remove_prefix(6);
  const std::string_view base = name.substr(0, name.find('.'));
  for (const Rule& r : kRules) {
    if (r.name == name || r.name == base) return &r;
  }
  return nullptr;
}

thread_local FlopCounter* current = nullptr;
thread_local int depth = 0;  // of counted calls

ForkMutex mutex;  // for both ends of counters
int counters = 0;
std::atomic<sy::detail::KernelWatch> before{nullptr};  // who watched already

}  // namespace

struct FlopWatch {
  static void run(const Kernel& inner, const OperatorEntry& op,
                  DispatchKeySet keys, Value* args, size_t num_args,
                  Value* results, size_t num_results) {
    const Rule* const rule =
        current != nullptr && depth == 0 ? rule_of(op.name()) : nullptr;
    struct Depth {
      explicit Depth(bool on) : on_(on) { depth += on_; }
      ~Depth() { depth -= on_; }
      bool on_;
    };
    const Depth deeper(rule != nullptr);
    const sy::detail::KernelWatch watch = before.load();
    (watch != nullptr ? watch : inner.boxed)(inner, op, keys, args, num_args,
                                             results, num_results);
    if (rule != nullptr) current->count_ += rule->count(args, results);
  }
};

FlopCounter::FlopCounter() : outer_(current) {
  current = this;
  const std::lock_guard lock(mutex);
  if (counters++ > 0) return;
  before = sy::detail::kernel_watch();
  sy::detail::set_kernel_watch(&FlopWatch::run);
}

FlopCounter::~FlopCounter() {
  current = outer_;
  const std::lock_guard lock(mutex);
  if (--counters == 0) sy::detail::set_kernel_watch(before.load());
}

}  // namespace sy::nn::detail
