#include <algorithm>

#include "c10/allocator.h"
#include "c10/error.h"
#include "tools/sy/arguments.h"
#include "tools/sy/mutations.h"
#include "tools/sy/trials.h"

namespace sy::tools {

namespace {

// What a call may allocate before it counts as absurd.
constexpr int64_t kMemory = int64_t{256} << 20;

// Whether the text says which operator it is about: "[add] …", or by name.
bool names_operator(const std::string& text, const FunctionSchema& schema) {
  if (text.starts_with('[') && text.find("] ") != text.npos) return true;
  return text.find(schema.name().functional_name()) != text.npos;
}

// "" if every element lies within the storage.
std::string out_of_bounds(const TensorBase& t) {
  if (t.numel() == 0) return "";
  int64_t first = t.storage_offset(), last = first;
  for (int64_t d = 0; d < t.dim(); ++d) {
    const int64_t reach = (t.sizes()[d] - 1) * t.strides()[d];
    (reach < 0 ? first : last) += reach;
  }
  const auto bytes = static_cast<int64_t>(t.storage()->nbytes());
  const auto item = static_cast<int64_t>(t.itemsize());
  if (first >= 0 && (last + 1) * item <= bytes) return "";
  return str("the result ", to_string(Value(t)), " lies outside its storage");
}

std::string out_of_bounds(const Value& v) {
  std::string why;
  for_each_tensor(v, [&](const TensorBase& t) {
    if (why.empty()) why = out_of_bounds(t);
  });
  return why;
}

class Hostile final : public Trials {
 public:
  Hostile(OperatorHandle op, const CaseFile& file) : op_(op), file_(file) {
    set_memory_limit(kMemory);
    for (const Case* c : chosen()) {
      Call call{c, {}, offsets_.empty() ? 0 : offsets_.back()};
      call.mutations = mutations_of(op.schema(), arguments(*c));
      offsets_.push_back(call.first + call.mutations.size());
      calls_.push_back(std::move(call));
    }
  }

  size_t size() const override {
    return offsets_.empty() ? 0 : offsets_.back();
  }
  std::string id(size_t i) const override {
    const Call& c = call_of(i);
    return str(c.base->id, ", ", c.mutations[i - c.first].id);
  }

  CaseResult run(size_t i) const override {
    const Call& c = call_of(i);
    CaseResult result;
    result.non_empty = true;
    try {
      Arguments in = arguments(*c.base);
      c.mutations[i - c.first].apply(in);
      result.why = call(in);
    } catch (...) {
      result.why = "making the arguments: " + current_exception_text();
    }
    return result;
  }

 private:
  struct Call {
    const Case* base;
    std::vector<Mutation> mutations;
    size_t first;  // the trial that its first mutation is
  };

  const Call& call_of(size_t i) const {
    return calls_[static_cast<size_t>(
        std::upper_bound(offsets_.begin(), offsets_.end(), i) -
        offsets_.begin())];
  }

  // The first and the last case that succeed; an error's if there are none.
  std::vector<const Case*> chosen() const {
    std::vector<const Case*> out;
    for (const Case& c : file_.cases) {
      if (c.fails) continue;
      if (out.size() == 2) out.pop_back();
      out.push_back(&c);
    }
    if (out.empty() && !file_.cases.empty()) out.push_back(&file_.cases[0]);
    return out;
  }

  Arguments arguments(const Case& c) const {
    return bind_arguments(op_.schema(), c, file_.storages, Device(kCPU));
  }

  std::string call(Arguments& in) const {
    std::vector<Value> out(op_.schema().returns().size());
    try {
      op_.call_boxed(in.values.data(), in.values.size(), out.data(),
                     out.size());
    } catch (const InternalError&) {
      return current_exception_text();
    } catch (const OutOfMemoryError&) {
      return "";
    } catch (const Error& e) {
      return names_operator(e.what(), op_.schema())
                 ? ""
                 : "the error names no operator: " + current_exception_text();
    } catch (...) {
      return "expected an sy::Error, got " + current_exception_text();
    }
    for (const Value& v : out) {
      if (const std::string why = out_of_bounds(v); !why.empty()) return why;
    }
    return "";
  }

  OperatorHandle op_;
  const CaseFile& file_;
  std::vector<Call> calls_;
  std::vector<size_t> offsets_;  // of the ends
};

}  // namespace

std::unique_ptr<Trials> hostile_trials(OperatorHandle op,
                                       const CaseFile& file) {
  return std::make_unique<Hostile>(op, file);
}

}  // namespace sy::tools
