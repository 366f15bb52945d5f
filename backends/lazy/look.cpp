#include "backends/lazy/look.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>

#include "aten/operators.h"
#include "backends/lazy/record.h"
#include "backends/lazy/run.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"

namespace sy::lazy {

Tensor without_memory(const TensorBase& t) {
  return Tensor(TensorBase(TensorImpl::make(
      StorageImpl::without_data(t.storage()->nbytes(), t.device()), t.dtype(),
      t.device(), DispatchKeySet::dense(t.device().type()), t.sizes(),
      t.strides(), t.storage_offset())));
}

bool RecordedLook::can_repeat(const OperatorEntry& op, const Value* args,
                              size_t n) {
  for (const auto flag : {OperatorDef::kWrites, OperatorDef::kInplace,
                          OperatorDef::kAliases, OperatorDef::kRandom}) {
    if (op.has_flag(flag)) return false;
  }
  return !is_collective(OperatorHandle(&op)) &&
         std::none_of(args, args + n, [](const Value& v) {
           return v.tag() == Value::Tag::Generator;
         });
}

RecordedLook::Argument::Element RecordedLook::element(const TensorBase& t,
                                                      bool given) {
  Argument::Element e;
  if (!t.defined()) return e;
  if (given) {
    e.input = static_cast<int>(inputs_.size());
    capture::Input in;
    in.tensor = without_memory(t);
    inputs_.push_back(std::move(in));
    tensors_.emplace_back(t);
    return e;
  }
  const PlainModes modes;
  Tensor copy = Tensor(TensorBase(t)).clone();
  copy.impl()->set_wrapped_number(t.impl()->is_wrapped_number());
  e.kept = std::move(copy);
  return e;
}

Value RecordedLook::argument(const Argument& a,
                             ArrayRef<capture::Memory> inputs) const {
  if (a.elements.empty() && !a.is_list) return a.value;
  std::vector<TensorBase> list;
  for (const Argument::Element& e : a.elements) {
    if (e.input < 0) {
      list.push_back(e.kept);
      continue;
    }
    const Tensor& like = inputs_[size_t(e.input)].tensor;
    const capture::Memory& m = inputs[size_t(e.input)];
    const int64_t bytes =
        static_cast<char*>(m.data) - static_cast<char*>(m.storage->data());
    const auto item = static_cast<int64_t>(like.itemsize());
    list.push_back(TensorBase(TensorImpl::make(
        m.storage, like.scalar_type(), like.device(), like.key_set(),
        like.sizes(), like.strides(), m.data == nullptr ? 0 : bytes / item)));
  }
  if (!a.is_list) return Value(list[0]);
  return a.optional ? Value::optional_tensor_list(list.data(), list.size())
                    : Value::tensor_list(list.data(), list.size());
}

namespace {

void add_tensor(const TensorBase& t, std::vector<Storage>* values,
                std::vector<uint64_t>* seen) {
  seen->push_back(static_cast<uint64_t>(t.dtype()) << 8 |
                  static_cast<uint64_t>(t.sizes().size()));
  for (const int64_t n : t.sizes()) seen->push_back(static_cast<uint64_t>(n));
  for (const int64_t n : t.strides()) seen->push_back(static_cast<uint64_t>(n));
  values->push_back(t.storage());
}

bool is_new(const TensorBase& t, const std::vector<Storage>& values) {
  return t.defined() && t.storage_offset() == 0 &&
         t.impl()->is_non_overlapping_and_dense() &&
         std::none_of(values.begin(), values.end(), [&](const Storage& s) {
           return s.get() == t.storage().get();
         });
}

}  // namespace

bool RecordedLook::describe(const std::vector<Value>& results,
                            std::vector<Storage>* values,
                            std::vector<uint64_t>* seen) {
  for (const Value& v : results) {
    seen->push_back(static_cast<uint64_t>(v.tag()));
    switch (v.tag()) {
      case Value::Tag::None: break;
      case Value::Tag::Bool: seen->push_back(v.to_bool()); break;
      case Value::Tag::Int:
        seen->push_back(static_cast<uint64_t>(v.to_int()));
        break;
      case Value::Tag::Double:
        seen->push_back(std::bit_cast<uint64_t>(v.to_double()));
        break;
      case Value::Tag::Tensor:
        if (!is_new(v.to_tensor(), *values)) return false;
        add_tensor(v.to_tensor(), values, seen);
        break;
      case Value::Tag::TensorList:
        seen->push_back(v.to_tensor_list().size());
        for (const TensorBase& t : v.to_tensor_list()) {
          if (!is_new(t, *values)) return false;
          add_tensor(t, values, seen);
        }
        break;
      default: return false;
    }
  }
  return true;
}

void RecordedLook::run(ArrayRef<capture::Memory> inputs,
                       std::vector<Storage>* values,
                       std::vector<uint64_t>* seen) {
  std::vector<Value> args, results;
  args.reserve(args_.size());
  for (const Argument& a : args_) args.push_back(argument(a, inputs));
  call_inner(op_, args, &results);
  const bool told = describe(results, values, seen);
  if (!told) seen->push_back(~uint64_t{0});  // equals nothing that was seen
}

namespace {

std::string kept_text(const TensorBase& t) {
  const std::string_view bytes(static_cast<const char*>(t.impl()->data()),
                               t.nbytes());
  return str(" {}{} of {}", t.dtype(), t.sizes(),
             std::hash<std::string_view>()(bytes));
}

}  // namespace

std::string RecordedLook::text() const {
  if (op_.name() == "aten::_local_scalar_dense") return "item";
  std::string text(op_.name());
  for (const Argument& a : args_) {
    for (const Argument::Element& e : a.elements) {
      if (e.kept.defined() && e.kept.is_cpu()) text += kept_text(e.kept);
    }
    if (!a.value.is_none()) text += " " + to_string(a.value);
  }
  return text;
}

std::string RecordedLook::text_of(ArrayRef<uint64_t> seen) const {
  std::string text;
  const auto add = [&](const std::string& what) {
    text += (text.empty() ? "" : ", ") + what;
  };
  for (size_t i = 0; i < seen.size();) {
    const auto tag = static_cast<Value::Tag>(seen[i++]);
    if (tag == Value::Tag::None || i == seen.size()) continue;
    const uint64_t word = seen[i];
    if (tag == Value::Tag::Bool) {
      add(word != 0 ? "true" : "false");
    } else if (tag == Value::Tag::Int) {
      add(str("{}", static_cast<int64_t>(word)));
    } else if (tag == Value::Tag::Double) {
      add(str("{}", std::bit_cast<double>(word)));
    } else {
      uint64_t tensors = 1;
      if (tag == Value::Tag::TensorList) tensors = seen[i++];
      for (; tensors > 0 && i < seen.size(); --tensors) {
        const size_t dim = seen[i++] & 255;
        std::vector<int64_t> sizes;
        for (size_t d = 0; d < dim; ++d) {
          sizes.push_back(static_cast<int64_t>(seen[i + d]));
        }
        i += 2 * dim;
        add(str("{}", IntArrayRef(sizes)));
      }
      continue;
    }
    ++i;
  }
  return text;
}

}  // namespace sy::lazy
