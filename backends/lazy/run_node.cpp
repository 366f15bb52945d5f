#include "backends/lazy/run_node.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "aten/backend/pending.h"
#include "aten/engine/copy.h"
#include "c10/process/error.h"

namespace sy::lazy {

namespace {

// tensor(k): operand k.
template <class F>
void fill_arguments(const LazyNode& node, std::vector<Value>* to,
                    const F& tensor) {
  std::vector<Value>& args = *to;
  args.assign(node.args.begin(), node.args.end());
  size_t next = 0;
  auto list = node.lists.begin();
  for (size_t i = 0; i < args.size(); ++i) {
    if ((node.tensors >> i & 1) != 0) {
      args[i] = Value(TensorBase(tensor(next++)));
    } else if (list != node.lists.end() && list->argument == i) {
      std::vector<TensorBase> tensors;
      for (const bool there : list->present) {
        tensors.push_back(there ? TensorBase(tensor(next++)) : TensorBase());
      }
      args[i] =
          list->optional
              ? Value::optional_tensor_list(tensors.data(), tensors.size())
              : Value::tensor_list(tensors.data(), tensors.size());
      ++list;
    }
  }
}

// The argument that an operand is; it is no list.
size_t argument_of(const LazyNode& node, size_t operand) {
  size_t i = 0;
  for (uint64_t rest = node.tensors;; rest &= rest - 1, ++i) {
    if (i == operand) return static_cast<size_t>(std::countr_zero(rest));
  }
}

bool fits(const LazyNode& node, size_t result, const Tensor& computed) {
  const ValueLayout& l = node.made[result].layout;
  const bool shared = computed.storage()->use_count() > 2;
  return l.is_of(*computed.impl()) &&
         computed.storage()->nbytes() >= l.bytes() && !shared;
}

// A result as the node has promised it.
Storage as_promised(const LazyNode& node, size_t result, const Tensor& computed,
                    Device device) {
  wait_pending(computed, node.name());
  const ValueLayout& l = node.made[result].layout;
  SY_CHECK(computed.sizes() == l.sizes() && computed.scalar_type() == l.dtype,
           Internal, "[{}] recorded as {}{}, computed as {}{}", node.name(),
           l.dtype, l.sizes(), computed.scalar_type(), computed.sizes());
  if (fits(node, result, computed)) return computed.storage();
  Storage memory = StorageImpl::allocate(l.bytes(), device);
  copy_tensor(tensor_in(memory, l), computed);
  return memory;
}

// A copy or a constant.
void run_simple(const LazyNode& node, NodeMemory& memory) {
  const ValueLayout& l = node.made[0].layout;
  Storage to = StorageImpl::allocate(l.bytes(), memory.device());
  Tensor out = tensor_in(to, l);
  if (node.args.empty()) {
    copy_tensor(out, memory.operand(0));
  } else {
    out.fill_(node.args[0].to_scalar());
  }
  memory.set(0, std::move(to));
}

void run_call(const LazyNode& node, NodeMemory& memory, NodeScratch* scratch) {
  std::vector<Value>& args = scratch->args;
  std::vector<Value>& results = scratch->results;
  fill_arguments(node, &args, [&](size_t k) { return memory.operand(k); });
  std::vector<Storage> written;
  for (const uint8_t w : node.written) {
    written.push_back(memory.taken(w));
    args[argument_of(node, w)] =
        Value(TensorBase(tensor_in(written.back(), node.operands[w].layout())));
  }
  results.assign(static_cast<size_t>(node.op->num_results()), Value());
  OperatorHandle(node.op).call_boxed(args.data(), args.size(), results.data(),
                                     results.size());
  args.clear();
  const size_t own = node.made.size() - node.written.size();
  for (size_t k = 0; k < written.size(); ++k) {
    memory.set(own + k, std::move(written[k]));
  }
  for (size_t i = 0; i < own; ++i) {
    const LazyNode::ResultPlace at =
        node.result_of.empty()
            ? LazyNode::ResultPlace{static_cast<int16_t>(i), -1}
            : node.result_of[i];
    if (at.result < 0) {  // the operator has no results
      memory.set(i, StorageImpl::allocate(0, memory.device()));
      continue;
    }
    Value& r = results[size_t(at.result)];
    Tensor computed(at.element < 0 ? r.to_tensor()
                                   : r.to_tensor_list()[size_t(at.element)]);
    if (at.element < 0) r = Value();
    const bool late = is_pending(computed) && fits(node, i, computed) &&
                      memory.set_late(i, computed);
    if (late) continue;
    memory.set(i, as_promised(node, i, computed, memory.device()));
  }
  results.clear();
}

}  // namespace

size_t num_taken(const LazyNode& node) {
  auto n = static_cast<size_t>(std::popcount(node.tensors));
  for (const LazyNode::List& l : node.lists) {
    n += static_cast<size_t>(
        std::count(l.present.begin(), l.present.end(), true));
  }
  return n;
}

std::vector<Value> arguments_of(const LazyNode& node) {
  std::vector<Value> args;
  fill_arguments(node, &args,
                 [&](size_t k) { return node.operands[k].tensor(); });
  return args;
}

void run_node(const LazyNode& node, NodeMemory& memory, NodeScratch* scratch) {
  if (node.kind == LazyNode::kEmpty) {
    memory.set(
        0, StorageImpl::allocate(node.made[0].layout.bytes(), memory.device()));
  } else if (node.kind == LazyNode::kWrite) {
    Storage to = memory.taken(0);
    copy_tensor(tensor_in(to, *node.window), memory.operand(1));
    memory.set(0, std::move(to));
  } else if (node.operands.size() <= 1 && node.made.size() == 1 &&
             node.written.empty() && node.op->has_flag(OperatorDef::kInplace)) {
    run_simple(node, memory);
  } else {
    run_call(node, memory, scratch);
  }
}

}  // namespace sy::lazy
