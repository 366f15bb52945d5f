#include "tools/sy/facts/errors.h"

#include <functional>
#include <set>

#include "aten/ops/factory.h"
#include "aten/tensor.h"
#include "c10/process/error.h"
#include "codegen/text.h"
#include "tools/sy/support/exception_text.h"

namespace sy::tools {

namespace {

constexpr size_t kMost = 3;
constexpr size_t kLongest = 300;  // of a text

struct Wrong {
  size_t argument;
  std::string text;
  Value value;
};

bool is_dim(const Argument& a) {
  return a.name.view().find("dim") != a.name.view().npos;
}

// Ways to be wrong, the most telling first.
class Wrongs {
 public:
  Wrongs(const FunctionSchema& schema, const FactsCall& call)
      : schema_(schema), call_(call) {}

  std::vector<Wrong> dims() {
    return collect([&](size_t i, const Argument& a, const Value& v) {
      if (!is_dim(a)) return;
      if (v.is_int() || a.type.without_optional() == TypeKind::kInt) {
        add(i, "7", Value(7));
      } else if (a.name.view() == "dim" &&
                 a.type.without_optional().size() == 1) {
        const int64_t far[] = {7};
        add(i, "7", Value(IntArrayRef(far, 1)));
      } else if (a.type.without_optional().is_list()) {
        const int64_t twice[] = {0, 0};
        add(i, "{0, 0}", Value(IntArrayRef(twice, 2)));
        const int64_t far[] = {7};
        add(i, "{7}", Value(IntArrayRef(far, 1)));
      }
    });
  }
  std::vector<Wrong> dtypes() {
    return collect([&](size_t i, const Argument&, const Value& v) {
      if (!v.is_tensor() || !v.to_tensor().defined()) return;
      const Tensor t(v.to_tensor());
      const std::string& name = call_.arguments[i].text;
      for (const auto& [dtype, text] :
           {std::pair(kBool, "sy::kBool"), std::pair(kLong, "sy::kInt64"),
            std::pair(kDouble, "sy::kFloat64")}) {
        if (t.dtype() == dtype) continue;
        add(i, str("{}.to({})", name, text), Value(t.to(dtype)));
      }
    });
  }
  std::vector<Wrong> sizes() {
    return collect([&](size_t i, const Argument&, const Value& v) {
      if (v.tag() == Value::Tag::TensorList) {
        add(i, "std::vector<sy::Tensor>()", Value::tensor_list(nullptr, 0));
      }
      if (!v.is_tensor() || !v.to_tensor().defined()) return;
      const ScalarType dtype = v.to_tensor().dtype();
      const std::string suffix =
          dtype == kFloat ? "" : str(", {}", cpp_dtype(str("{}", dtype)));
      const TensorOptions options = TensorOptions().dtype(dtype);
      add(i, str("sy::ones({{5, 7}}{})", suffix), sy::ones({5, 7}, options));
      add(i, str("sy::ones({{5}}{})", suffix), sy::ones({5}, options));
    });
  }
  std::vector<Wrong> numbers() {
    return collect([&](size_t i, const Argument& a, const Value& v) {
      const Type t = a.type.without_optional();
      if (v.tag() == Value::Tag::String) add(i, "\"other\"", Value("other"));
      if (t.is_list() && v.tag() == Value::Tag::IntList) {
        const size_t n = v.to_int_list().size();
        const std::vector<int64_t> wrong(n, -3), more(n + 1, 1);
        add(i, braced(wrong), Value(IntArrayRef(wrong)));
        add(i, braced(more), Value(IntArrayRef(more)));
      }
      if (is_dim(a) || v.is_bool() || t == TypeKind::kBool) return;
      if (v.is_int()) {
        for (const int64_t n : {-1, 0, 9}) add(i, std::to_string(n), Value(n));
      } else if (v.is_double()) {
        add(i, "-1.5", Value(-1.5));
        add(i, "2.5", Value(2.5));
      }
    });
  }

  std::vector<Wrong> undefined() {
    return collect([&](size_t i, const Argument&, const Value& v) {
      if (v.is_tensor()) add(i, "sy::Tensor()", Value());
    });
  }

 private:
  static std::string braced(const std::vector<int64_t>& list) {
    std::string out;
    for (const int64_t n : list) {
      out += (out.empty() ? "" : ", ") + std::to_string(n);
    }
    return str("{{{}}}", out);
  }

  template <class F>
  std::vector<Wrong> collect(const F& look) {
    out_.clear();
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      const Argument& a = schema_.arguments()[i];
      // An argument that is written is a variable.
      if (!a.is_write()) look(i, a, call_.arguments[i].value);
    }
    return std::move(out_);
  }
  void add(size_t i, std::string text, Value value) {
    out_.push_back({i, std::move(text), std::move(value)});
  }

  const FunctionSchema& schema_;
  const FactsCall& call_;
  std::vector<Wrong> out_;
};

// "" if the call succeeds, or fails for a reason that tells nothing.
std::string failure_of(OperatorHandle op, const FactsCall& call,
                       bool also_missing) {
  try {
    call_operator(op, call);
  } catch (const InternalError&) {
  } catch (const NotImplementedError&) {
    if (also_missing) return current_exception_text();
  } catch (const OutOfMemoryError&) {
  } catch (const Error&) {
    return current_exception_text();
  }
  return "";
}

// Laid out as the statement that it is, without its end.
std::string statement(const std::string& call) {
  std::string out = codegen::wrap(call + ';');
  out.pop_back();
  return out;
}

}  // namespace

Json errors_of(OperatorHandle op, const FactsExample& example) {
  Json out = Json::array();
  std::set<std::string> texts;
  Wrongs wrongs(op.schema(), example.call);
  for (const auto kind : {&Wrongs::dims, &Wrongs::dtypes, &Wrongs::sizes,
                          &Wrongs::numbers, &Wrongs::undefined}) {
    // Every operator refuses undefined tensors: shown if it refuses nothing
    // else.
    if (kind == &Wrongs::undefined && !out.empty()) break;
    for (Wrong& w : (wrongs.*kind)()) {
      if (out.size() == kMost) return out;
      FactsCall call = example.call;
      call.arguments[w.argument] = {w.text, w.value};
      std::string text = failure_of(op, call, kind == &Wrongs::undefined);
      text.resize(std::min(text.find('\n'), text.size()));
      const size_t colon = text.find(": ");
      if (colon == text.npos || text.size() > kLongest) continue;
      const std::string cpp = call_text(op, call);
      // A method of Tensor has a text of its own.
      if (cpp.starts_with("sy::Tensor().")) continue;
      if (!texts.insert(text).second) continue;
      out.push_back({{"call", statement(cpp)},
                     {"type", text.substr(0, colon)},
                     {"text", text.substr(colon + 2)}});
      break;  // one of each kind
    }
  }
  return out;
}

}  // namespace sy::tools
