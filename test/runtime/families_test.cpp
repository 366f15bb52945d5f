#include <sy/sy.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "autograd/api.h"
#include "c10/schema/function_schema.h"
#include "test/runtime/twins.h"
#include "tools/sy/words.h"

// The library's own operators, as far as they are expressions, loaded once more
// under other namespaces: they do what the compiled ones do.

namespace sy::test {
namespace {

// An entry of schemas/ops for namespace `ns`; "" if only the build takes it.
std::string moved(const std::string& entry, const std::string& ns) {
  std::istringstream in(entry);
  std::string out, line;
  bool forms = false;
  while (std::getline(in, line)) {
    // What is not loaded at run time.
    if (line.starts_with("  dispatch:")) return "";
    if (line.starts_with("  variants:")) continue;
    if (line.starts_with("- func: ")) line.insert(8, ns + "::");
    if (line.starts_with("  ") && line[2] != ' ') forms = line == "  forms:";
    for (const std::string key : {"    inplace: ", "    out: "}) {
      if (forms && line.starts_with(key) && line != key + "none") {
        line.insert(key.size(), ns + "::");
      }
    }
    out += line + "\n";
  }
  return out;
}

std::string moved_family(const std::string& text, const std::string& ns) {
  std::string out;
  for (size_t at = text.find("- func: "); at != std::string::npos;) {
    const size_t next = text.find("\n- func: ", at);
    const size_t end = next == std::string::npos ? text.size() : next + 1;
    out += moved(text.substr(at, end - at), ns);
    at = next == std::string::npos ? next : end;
  }
  return out;
}

// Copies, so that both sides start from the same; leaves require gradients.
std::vector<Value> copied(const std::vector<Value>& args,
                          const FunctionSchema& schema,
                          std::vector<Tensor>* leaves) {
  std::vector<Value> out;
  for (size_t i = 0; i < args.size(); ++i) {
    const Argument& a = schema.arguments()[i];
    const auto copy = [&](const TensorBase& t) -> TensorBase {
      if (!t.defined()) return {};
      const bool wanted = as_tensor(Value(t)).requires_grad();
      Tensor c = as_tensor(Value(t)).detach().clone();
      if (!wanted || schema.is_out()) return c;
      c.requires_grad_();
      leaves->push_back(c);
      return a.is_write() ? TensorBase(c.mul(1)) : TensorBase(c);
    };
    if (args[i].is_tensor()) {
      out.emplace_back(copy(args[i].to_tensor()));
    } else if (args[i].tag() == Value::Tag::TensorList) {
      std::vector<TensorBase> list;
      for (const TensorBase& t : args[i].to_tensor_list()) {
        list.push_back(copy(t));
      }
      out.push_back(Value::tensor_list(list.data(), list.size()));
    } else {
      out.push_back(args[i]);
    }
  }
  return out;
}

// All that a call gives: results, written arguments, gradients of two orders.
struct Trial {
  std::vector<Tensor> tensors;
  std::string error;
};

void append(std::vector<Tensor>* out, const Value& v) {
  if (v.is_tensor()) out->push_back(as_tensor(v));
  if (v.tag() == Value::Tag::TensorList) {
    for (const TensorBase& t : v.to_tensor_list()) out->emplace_back(t);
  }
}

Tensor sum_of(const std::vector<Tensor>& list, bool cubes) {
  Tensor total = zeros({}, kDouble);
  for (const Tensor& t : list) {
    if (!t.defined() || !t.requires_grad()) continue;
    total = total.add((cubes ? t.mul(t).mul(t) : t.mul(t)).sum());
  }
  return total;
}

Trial run(OperatorHandle op, const std::vector<Value>& args) {
  const std::string ns(op.name().substr(0, op.name().find("::") + 2));
  Trial out;
  std::vector<Tensor> leaves;
  try {
    std::vector<Value> own = copied(args, op.schema(), &leaves);
    std::vector<Value> results(op.schema().returns().size());
    op.call_boxed(own.data(), own.size(), results.data(), results.size());
    for (const Value& v : results) append(&out.tensors, v);
    const Tensor loss = sum_of(out.tensors, false);
    if (!loss.requires_grad()) return out;
    const auto first = autograd::grad({loss}, leaves, {}, true, true, true);
    out.tensors.insert(out.tensors.end(), first.begin(), first.end());
    const Tensor again = sum_of(first, true);
    if (!again.requires_grad()) return out;
    for (Tensor& t : autograd::grad({again}, leaves, {}, {}, false, true)) {
      out.tensors.push_back(std::move(t));
    }
  } catch (const std::exception& e) {
    out.error = replaced(e.what(), ns, "");
  }
  return out;
}

bool close(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes() ||
      a.strides() != b.strides()) {
    return false;
  }
  const Tensor x = a.detach().to(kDouble), y = b.detach().to(kDouble);
  if (x.numel() == 0) return true;
  const Tensor off = x.sub(y).abs().gt(x.abs().add(1).mul(1e-12));
  const Tensor nan = x.ne(x).ne(y.ne(y));
  return !off.any().item<bool>() && !nan.any().item<bool>();
}

class Families : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const auto& file :
         std::filesystem::directory_iterator("schemas/ops")) {
      const std::string name = file.path().stem().string();
      const std::string text =
          moved_family(read_text(file.path().string()), "rt_" + name);
      SCOPED_TRACE(name);
      try {
        SchemaHandle schema = load_schema_text(text, name + ".yaml");
        for (const std::string& op : schema.operators()) {
          loaded.push_back(find(op));
        }
        schema.keep();
      } catch (const Error& e) {
        ADD_FAILURE() << e.what();
      }
    }
  }
  static inline std::vector<OperatorHandle> loaded;
};

// Arguments of many signatures; where they do not fit, errors are compared.
constexpr const char* kArguments[] = {
    "",
    "2x3 0",
    "2x3 1 2",
    "3x3",
    "2x3 2x3",
    "2x3 3 2",
    "s s",
    "2x3 s 0.5",
    "2x3 2x3 2x3",
    "2x3 0.4 0.8",
    "2x3:b 2x3:b",
    "2x3 -1 True",
    "{2x3;2x3} 0",
    "2x3 0,1",
    "4:i5 4:i5",
    "2x3x2 2 0 1",
};

TEST_F(Families, DoWhatTheCompiledOperatorsDo) {
  int calls = 0, operators = 0;
  for (const OperatorHandle op : loaded) {
    const std::string name(op.name());
    const auto twin = Dispatcher::singleton().find(
        "aten::" + name.substr(name.find("::") + 2));
    ASSERT_TRUE(twin.has_value()) << name;
    EXPECT_EQ(op.entry().flags(), twin->entry().flags()) << name;
    if (op.entry().has_flag(OperatorDef::kRandom)) continue;
    const int before = calls;
    for (const char* text : kArguments) {
      std::vector<Value> args;
      try {
        args = tools::parse_arguments(op, text);
      } catch (const Error&) {
        continue;  // not of this signature
      }
      const Trial a = run(*twin, args), b = run(op, args);
      ++calls;
      // Which of several wrong arguments is named is left to C++.
      EXPECT_EQ(a.error.substr(0, a.error.find(']')),
                b.error.substr(0, b.error.find(']')))
          << name << "(" << text << "): " << a.error << "\n"
          << b.error;
      EXPECT_EQ(a.tensors.size(), b.tensors.size())
          << name << "(" << text << ")";
      for (size_t i = 0; i < std::min(a.tensors.size(), b.tensors.size());
           ++i) {
        EXPECT_TRUE(close(a.tensors[i], b.tensors[i]))
            << name << "(" << text << ") tensor " << i << "\n"
            << a.tensors[i] << "\n"
            << b.tensors[i];
      }
    }
    operators += calls > before;
  }
  std::printf("%d operators of %zu compared by %d calls\n", operators,
              loaded.size(), calls);
  EXPECT_GT(operators, 100);
}

}  // namespace
}  // namespace sy::test
