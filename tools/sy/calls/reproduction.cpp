#include "tools/sy/calls/reproduction.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "c10/process/error.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/cases/values.h"

namespace sy::tools {

namespace {

constexpr size_t kWidth = 80;

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// The number as C++ reads it back, to the last bit.
std::string number(double v) {
  if (std::isnan(v)) return "NAN";
  if (std::isinf(v)) return v > 0 ? "INFINITY" : "-INFINITY";
  const std::string out = fmt::format("{:.17g}", v);
  return out.find_first_of(".e") == out.npos ? out + ".0" : out;
}

std::string number(int64_t v) {
  return v == std::numeric_limits<int64_t>::min() ? "INT64_MIN"
                                                  : std::to_string(v);
}

std::string dtype_text(ScalarType t) {
  return str("sy::ScalarType::{}",
             kScalarTypeInfo[static_cast<int>(t)].enum_name);
}

// "{1, 2, 3}", in lines.
std::string list(const std::vector<std::string>& items, size_t indent) {
  std::string out = "{";
  size_t column = kWidth;  // begins a line
  bool several = items.size() > 8;
  for (size_t i = 0; i < items.size(); ++i) {
    if (several && column + items[i].size() + 2 > kWidth) {
      out += str("\n{}", std::string(indent, ' '));
      column = indent;
    } else if (i != 0) {
      out += ' ';
    }
    out += items[i] + (i + 1 < items.size() ? "," : "");
    column += items[i].size() + 2;
  }
  return out + "}";
}

template <class T>
std::string ints(ArrayRef<T> values) {
  std::vector<std::string> items;
  for (const T v : values) items.push_back(number(static_cast<int64_t>(v)));
  return list(items, 6);
}

class Printer {
 public:
  Printer(const Reproduction& r, const Arguments& arguments)
      : r_(r), arguments_(arguments) {}

  std::string run() {
    const FunctionSchema& schema = r_.op.schema();
    std::string values;
    for (size_t i = 0; i < arguments_.values.size(); ++i) {
      values +=
          str("  args.push_back({});  // {}\n", value(arguments_.values[i]),
              schema.arguments()[i].name.view());
    }
    std::string out = str("// {}\n", replace_lines(r_.about));
    out +=
        "//   c++ -std=c++20 THIS.cpp $(pkg-config --cflags --libs "
        "switchyard)\n";
    out +=
        "#include <sy/library.h>\n#include <sy/sy.h>\n\n#include <cmath>\n"
        "#include <iostream>\n#include <vector>\n\n"
        "namespace {\n\n"
        "// The elements of a storage, of any dtype.\n"
        "template <class T>\n"
        "sy::Tensor storage(const std::vector<T>& elements, sy::ScalarType "
        "dtype,\n"
        "                   sy::Device device) {\n"
        "  return sy::tensor(elements, sy::TensorOptions().dtype(dtype))\n"
        "      .to(device);\n"
        "}\n\n"
        "void call(sy::Device device) {\n";
    out += storages_;
    out += "  std::vector<sy::Value> args;\n" + values;
    out +=
        str("  std::vector<sy::Value> results({});\n", schema.returns().size());
    out +=
        str("  sy::Dispatcher::singleton()\n      .find_or_throw({})\n      "
            ".call_boxed(args.data(), args.size(), results.data(),\n           "
            "       results.size());\n",
            literal(r_.op.name()));
    out +=
        "  std::cout << device.str() << '\\n';\n"
        "  const auto print = [](const sy::TensorBase& t) {\n"
        "    if (t.defined()) std::cout << sy::Tensor(t).to(sy::kCPU) << "
        "'\\n';\n"
        "  };\n"
        "  for (const sy::Value& v : results) {\n"
        "    sy::for_each_tensor(v, print);\n"
        "    if (!v.is_tensor()) std::cout << sy::to_string(v) << '\\n';\n"
        "  }\n";
    if (writes()) {
      out +=
          "  std::cout << \"arguments after the call\\n\";\n"
          "  for (const sy::Value& v : args) sy::for_each_tensor(v, print);\n";
    }
    out += "}\n\n}  // namespace\n\nint main() {\n";
    for (const std::string& p : r_.plugins) {
      out += str("  sy::load_library({}).keep();\n", literal(p));
    }
    const std::string device = literal(r_.device);
    out +=
        str("  for (const char* device : {{\"cpu\", {}}}) {{\n    try {{\n     "
            " call(sy::Device(device));\n    }} catch (const std::exception& "
            "e) {{\n      std::cout << device << \": \" << e.what() << "
            "'\\n';\n    }}\n  }}\n}}\n",
            device);
    return out;
  }

 private:
  static std::string replace_lines(std::string text) {
    for (size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 4) {
      text.replace(at, 1, "\n// ");
    }
    return text;
  }

  bool writes() const {
    for (const Argument& a : r_.op.schema().arguments()) {
      if (a.is_write()) return true;
    }
    return false;
  }

  std::string tensor(const TensorBase& t) {
    if (!t.defined()) return "sy::Tensor()";
    size_t known = 0;
    while (known < seen_.size() && seen_[known] != t.storage()) ++known;
    if (known == seen_.size()) {
      seen_.push_back(t.storage());
      add_storage(t);
    }
    return str("storage_{}.as_strided({}, {}, {})", known, ints(t.sizes()),
               ints(t.strides()), t.storage_offset());
  }

  void add_storage(const TensorBase& t) {
    HostTensor h = read_tensor(t);
    const auto n =
        static_cast<int64_t>(h.storage.size() / element_size(h.dtype));
    const bool floating = is_floating_type(h.dtype);
    std::vector<std::string> items;
    for (int64_t i = 0; i < n; ++i) {
      if (floating) {
        items.push_back(number(element_value(h, i)));
      } else if (h.dtype == kLong) {
        int64_t v;
        std::memcpy(&v, h.at(i), sizeof v);
        items.push_back(number(v));
      } else {
        items.push_back(number(static_cast<int64_t>(element_value(h, i))));
      }
    }
    storages_ +=
        str("  const sy::Tensor storage_{} = storage<{}>(\n      {},\n      "
            "{}, device);\n",
            seen_.size() - 1, floating ? "double" : "int64_t", list(items, 7),
            dtype_text(h.dtype));
  }

  std::string tensors(const Value& v, const char* make) {
    std::string out = str("sy::Value::{}(std::vector<sy::TensorBase>{{", make);
    size_t n = 0;
    for (const TensorBase& t : v.to_tensor_list()) {
      out += (n++ == 0 ? "" : ", ") + tensor(t);
    }
    return str("{}}}.data(), {})", out, n);
  }

  // sy::Value copies the elements.
  std::string array(const char* type, const Value& v) {
    std::vector<std::string> items;
    for (const Value& e : elements_of(v)) {
      items.push_back(e.is_bool()  ? (e.to_bool() ? "true" : "false")
                      : e.is_int() ? number(e.to_int())
                                   : number(e.to_double()));
    }
    return str("sy::Value(sy::ArrayRef<{}>(std::initializer_list<{}>{}))", type,
               type, list(items, 6));
  }

  std::string value(const Value& v) {
    using Tag = Value::Tag;
    switch (v.tag()) {
      case Tag::None: return "sy::Value()";
      case Tag::Bool:
        return v.to_bool() ? "sy::Value(true)" : "sy::Value(false)";
      case Tag::Int: return str("sy::Value(int64_t{{{}}})", number(v.to_int()));
      case Tag::Double: return str("sy::Value({})", number(v.to_double()));
      case Tag::String:
        return str("sy::Value({})", literal(v.to_string_view()));
      case Tag::ScalarType:
        return str("sy::Value({})", dtype_text(v.to_scalar_type()));
      case Tag::Device: return "sy::Value(device)";
      case Tag::Layout: return "sy::Value(sy::Layout::Strided)";
      case Tag::MemoryFormat:
        return str("sy::Value(static_cast<sy::MemoryFormat>({}))",
                   static_cast<int>(v.to_memory_format()));
      case Tag::Tensor: return str("sy::Value({})", tensor(v.to_tensor()));
      case Tag::TensorList: return tensors(v, "tensor_list");
      case Tag::OptionalTensorList: return tensors(v, "optional_tensor_list");
      case Tag::IntList: return array("int64_t", v);
      case Tag::DoubleList: return array("double", v);
      case Tag::ScalarList: return array("sy::Scalar", v);
      case Tag::BoolList: return array("bool", v);
      default: return str("sy::Value()  /* {} */", to_string(v));
    }
  }

  const Reproduction& r_;
  const Arguments& arguments_;
  std::vector<Storage> seen_;
  std::string storages_;
};

}  // namespace

std::string to_cpp(const Reproduction& r, const Arguments& arguments) {
  return Printer(r, arguments).run();
}

}  // namespace sy::tools
