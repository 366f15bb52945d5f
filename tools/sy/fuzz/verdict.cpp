#include "tools/sy/fuzz/verdict.h"

#include <algorithm>
#include <set>

#include "aten/backend/write_plan.h"
#include "c10/device/generator.h"
#include "c10/memory/allocator.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "include/sy/lazy.h"
#include "tools/sy/cases/tensors.h"
#include "tools/sy/support/exception_text.h"
#include "tools/sy/trials/soundness.h"

namespace sy::tools {

namespace {

// The state that a call may not change: sizes of tensors that it does not
// write, and memory that no tensor that it writes has elements in.
class Untouched {
 public:
  Untouched(OperatorHandle op, const FuzzArguments& in) {
    std::set<const TensorImpl*> written;
    const std::vector<int8_t>& places = write_plan(op.entry()).written;
    for (size_t k = 0; k < in.values.size(); ++k) {
      const bool known = k < op.schema().arguments().size();
      const bool reads = std::find(places.begin(), places.end(),
                                   static_cast<int8_t>(k)) == places.end();
      if (known && reads) continue;
      for_each_tensor(in.values[k], [&](const TensorBase& t) {
        if (t.defined() && written.insert(t.impl()).second) {
          written_.push_back(t);
        }
      });
    }
    for (const NamedTensor& t : in.tensors) {
      if (!written.contains(t.tensor.impl())) read_.push_back({t, view_of(t)});
    }
    for (const NamedTensor& s : in.storages) {
      const Storage& storage = s.tensor.storage();
      kept_.push_back({s.name, storage, read_storage(storage), {}});
      kept_.back().mine.resize(kept_.back().bytes.size());
    }
    mark();
  }

  std::string problem() {
    for (const Read& r : read_) {
      if (const std::string now = view_of(r.t); now != r.view) {
        return str("{}, which the schema does not let the call write: {} is {}",
                   r.t.name, r.view, now);
      }
    }
    mark();
    for (const Kept& k : kept_) {
      const std::string now = read_storage(k.storage);
      for (size_t i = 0; i < std::min(now.size(), k.bytes.size()); ++i) {
        if (now[i] != k.bytes[i] && !k.mine[i]) {
          return str(
              "byte {} of storage {}, where no tensor lies that the "
              "call may write",
              i, k.name);
        }
      }
    }
    return "";
  }

 private:
  struct Read {
    NamedTensor t;
    std::string view;
  };
  struct Kept {
    std::string name;
    Storage storage;
    std::string bytes;
    std::vector<bool> mine;  // of the bytes: the call may write it
  };

  static std::string view_of(const NamedTensor& t) {
    const TensorBase& v = t.tensor;
    return str("{} by {} from {}", v.sizes(), v.strides(), v.storage_offset());
  }

  // Marks the bytes where the written tensors lie now.
  void mark() {
    for (const TensorBase& t : written_) {
      for (Kept& k : kept_) {
        if (k.storage.get() != t.storage().get()) continue;
        const size_t item = t.element_size();
        for (const int64_t i :
             element_indices(t.sizes(), t.strides(), t.storage_offset())) {
          for (size_t b = 0; b < item; ++b) {
            const size_t at = static_cast<size_t>(i) * item + b;
            if (at < k.mine.size()) k.mine[at] = true;
          }
        }
      }
    }
  }

  std::vector<TensorBase> written_;
  std::vector<Read> read_;
  std::vector<Kept> kept_;
};

// Reads all elements.
std::string problem_of_results(const std::vector<Value>& results) {
  std::string why;
  for (const Value& v : results) {
    for_each_tensor(v, [&](const TensorBase& t) {
      if (why.empty()) why = out_of_bounds(t);
      if (why.empty() && t.defined()) read_storage(t.storage());
    });
  }
  return why;
}

// Each root takes a backward pass of its own, as long as all of them.
constexpr size_t kMostRoots = 64;

// Judges the gradients of all leaves, by ones for every result. Gradients may
// be refused, as not every operator has them.
Verdict judge_gradients(const FuzzArguments& in,
                        const std::vector<Value>& results) {
  std::vector<Tensor> roots;
  for (const Value& v : results) {
    for_each_tensor(v, [&](const TensorBase& t) {
      if (t.defined() && Tensor(t).requires_grad() &&
          roots.size() < kMostRoots) {
        roots.emplace_back(t);
      }
    });
  }
  for (const Tensor& root : roots) {
    root.backward(root.detach().new_ones(root.sizes()), /*retain_graph=*/true);
  }
  for (const NamedTensor& t : in.tensors) {
    const Tensor leaf(t.tensor);
    if (!leaf.is_leaf() || !leaf.grad().defined()) continue;
    const Tensor& grad = leaf.grad();
    if (grad.sizes() != leaf.sizes() || grad.dtype() != leaf.dtype()) {
      return {"gradient", str("the gradient of {} is {}, the tensor {}", t.name,
                              to_string(Value(grad)), to_string(Value(leaf)))};
    }
    if (std::string why = out_of_bounds(grad); !why.empty()) {
      return {"bounds", why};
    }
    read_storage(grad.storage());
  }
  return {};
}

Verdict judge_error(const FunctionSchema& schema, bool named) {
  try {
    throw;
  } catch (const InternalError&) {
    return {"InternalError", current_exception_text()};
  } catch (const OutOfMemoryError&) {
    return {"", "", true};
  } catch (const Error& e) {
    if (!named || names_operator(e.what(), schema)) return {"", "", true};
    return {"unnamed", current_exception_text()};
  } catch (...) {
    return {"foreign", current_exception_text()};
  }
}

Verdict judge_once(const FuzzCall& call, Device device) {
  FuzzArguments in;
  std::optional<OperatorHandle> op;
  try {
    op = Dispatcher::singleton().find_or_throw(call.op);
    in = make_arguments(call, op->schema(), device);
  } catch (const std::exception&) {
    return {"malformed", current_exception_text()};
  }
  Untouched untouched(*op, in);
  std::vector<Value> results(op->schema().returns().size());
  Verdict out;
  bool called = false;
  try {
    manual_seed(1);
    op->call_boxed(in.values.data(), in.values.size(), results.data(),
                   results.size());
    called = true;
    if (std::string why = problem_of_results(results); !why.empty()) {
      return {"bounds", why};
    }
    out = judge_gradients(in, results);
  } catch (...) {
    out = judge_error(op->schema(), !called);
    out.refused &= !called;
  }
  if (!out.kind.empty()) return out;
  try {
    const std::string why = untouched.problem();
    return why.empty() ? out : Verdict{"changed", why};
  } catch (const std::exception&) {
    // A device that computes later refuses when the written memory is read.
    return judge_error(op->schema(), false);
  }
}

// A device that records keeps what nobody wants until it computes.
void forget_recorded(Device device) {
  if (!device.is_lazy()) return;
  try {
    lazy::sync(lazy::kWait);
  } catch (const Error&) {
    // The error is that of a call that was judged.
  }
}

}  // namespace

Json Verdict::json() const {
  return {{"kind", kind}, {"why", why}, {"refused", refused}};
}

Verdict Verdict::parse(const Json& v) {
  return {v.at("kind"), v.at("why"), v.at("refused")};
}

Verdict judge_call(const FuzzCall& call, Device device) {
  constexpr int kTimes = 4;
  Verdict out;
  int64_t leaked = 0;
  for (int n = 0; n < kTimes; ++n) {
    const int64_t before = memory_stats().allocated;
    Verdict v = judge_once(call, device);
    forget_recorded(device);
    if (n == 0) out = std::move(v);
    leaked = memory_stats().allocated - before;
    // Memory that is kept for the next call is kept once.
    if (leaked <= 0 || !out.kind.empty()) return out;
  }
  return {"leak", str("each call keeps {} bytes", leaked)};
}

}  // namespace sy::tools
