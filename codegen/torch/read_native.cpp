#include <algorithm>

#include "c10/schema/parser.h"
#include "codegen/torch/model.h"
#include "codegen/torch/vocabulary.h"
#include "lang/format.h"
#include "lang/yaml.h"

namespace sy::codegen::torch {
namespace {

using lang::YamlNode;

class Reader {
 public:
  Reader(const YamlNode& node, Diagnostics& diagnostics)
      : node_(node), diagnostics_(diagnostics) {}

  std::optional<NativeFunction> run() {
    if (!node_.is_map()) {
      error(node_.at, "expected a function, a map that begins with 'func:'");
      return std::nullopt;
    }
    const std::size_t before = diagnostics_.size();
    check_keys(node_, "a function", native_keys(), diagnostics_);
    const YamlNode* func = node_.find("func");
    if (!func || !func->is_scalar()) {
      error(func ? func->at : node_.at,
            "a function needs 'func:', its signature");
      return std::nullopt;
    }
    ParseResult parsed = parse_and_check_schema(func->str());
    for (const SchemaError& e : parsed.errors) {
      diagnostics_.error(func->scalar.at(e.offset()), e.message());
    }
    // Without a signature the rest is still read, for its own errors.
    const bool known = parsed.schema.has_value();
    NativeFunction f(known ? std::move(*parsed.schema)
                           : FunctionSchema(name_of(func->str()), {}, {}));
    f.func = func->scalar;
    f.at = node_.at;
    for (const YamlNode::Entry& e : node_.entries) {
      f.keys.emplace_back(e.key.str(), e.key.start());
      read_key(f, e.key.str(), e.value);
    }
    f.signature_broken = !parsed.errors.empty();
    f.broken = diagnostics_.size() != before;
    if (f.schema.name().name.empty()) return std::nullopt;
    return f;
  }

 private:
  // The name in a signature that cannot be read as a whole.
  static OperatorName name_of(std::string_view func) {
    try {
      return parse_operator_name(func.substr(0, func.find('(')));
    } catch (const SchemaError&) {
      return {};
    }
  }

  template <class... Args>
  void error(const Location& at, fmt::format_string<const Args&...> format,
             const Args&... args) {
    diagnostics_.error(at, fmt::format(format, args...));
  }

  void expected(const YamlNode& n, std::string_view what,
                std::string_view key) {
    error(n.at, "expected {} for '{}'", what, key);
  }

  void read_key(NativeFunction& f, std::string_view key, const YamlNode& n) {
    if (key == "variants") {
      variants(f, n);
    } else if (key == "dispatch") {
      dispatch(f, n);
    } else if (key == "tags") {
      tags(f, n);
    } else if (key == "autogen") {
      autogen(f, n);
    } else if (key == "device_check") {
      device_check(f, n);
    } else if (key == "precomputed") {
      precomputed(f, n);
    } else if (key == "ufunc_inner_loop") {
      ufunc(f, n);
    } else if (key == "cpp_no_default_args") {
      f.cpp_no_default_args = list(n, key);
    } else if (bool* flag = flag_of(f, key)) {
      *flag = yaml_bool(n, key, diagnostics_);
    } else if (std::optional<Text>* text = text_of(f, key)) {
      if (n.is_scalar()) {
        *text = n.scalar;
      } else {
        expected(n, "a word", key);
      }
    }
  }

  static bool* flag_of(NativeFunction& f, std::string_view key) {
    if (key == "structured") return &f.structured;
    if (key == "device_guard") return &f.device_guard;
    if (key == "manual_cpp_binding") return &f.manual_cpp_binding;
    if (key == "manual_kernel_registration") {
      return &f.manual_kernel_registration;
    }
    if (key == "use_const_ref_for_mutable_tensors") {
      return &f.use_const_ref_for_mutable_tensors;
    }
    return nullptr;
  }

  static std::optional<Text>* text_of(NativeFunction& f, std::string_view key) {
    if (key == "structured_delegate") return &f.structured_delegate;
    if (key == "structured_inherits") return &f.structured_inherits;
    if (key == "python_module") return &f.python_module;
    if (key == "category_override") return &f.category_override;
    return nullptr;
  }

  std::vector<Text> list(const YamlNode& n, std::string_view key) {
    if (!n.is_sequence()) {
      expected(n, "a list", key);
      return {};
    }
    return yaml_list(n, key, diagnostics_);
  }

  void variants(NativeFunction& f, const YamlNode& n) {
    static constexpr std::string_view kVariants[] = {"function", "method"};
    if (!n.is_scalar()) return expected(n, "'function, method'", "variants");
    f.function_variant = f.method_variant = false;
    for (const Text& v : lang::split_commas(n.scalar)) {
      if (v.str() == "function") {
        f.function_variant = true;
      } else if (v.str() == "method") {
        f.method_variant = true;
      } else {
        error(v.start(), "unknown variant '{}'{}; expected function or method",
              v.str(), lang::suggest(v.str(), kVariants));
      }
    }
  }

  void dispatch(NativeFunction& f, const YamlNode& n) {
    if (n.is_null()) return;
    if (!n.is_map()) return expected(n, "a map", "dispatch");
    f.has_dispatch = true;
    for (const YamlNode::Entry& entry : n.entries) {
      if (!entry.value.is_scalar() || entry.value.str().empty()) {
        error(entry.key.start(), "expected the name of a kernel for '{}'",
              entry.key.str());
        continue;
      }
      for (Text& key : lang::split_commas(entry.key)) {
        if (const Kernel* first = f.find_kernel(key.str())) {
          error(key.start(),
                "dispatch key '{}' is given twice; the first is '{}'",
                key.str(), first->function.str());
          continue;
        }
        f.dispatch.push_back({std::move(key), entry.value.scalar});
      }
    }
  }

  void tags(NativeFunction& f, const YamlNode& n) {
    if (n.is_scalar() && n.str().find(',') != std::string::npos) {
      return error(n.at, "several tags are a list: '[{}]'", n.str());
    }
    f.tags = yaml_list(n, "tags", diagnostics_);
  }

  void autogen(NativeFunction& f, const YamlNode& n) {
    if (!n.is_scalar()) {
      return expected(n, "names of functions, 'add, add.out',", "autogen");
    }
    for (Text& name : lang::split_commas(n.scalar)) {
      try {
        parse_operator_name(name.str());
        f.autogen.push_back(std::move(name));
      } catch (const SchemaError& e) {
        diagnostics_.error(name.at(e.offset()), e.message());
      }
    }
  }

  void device_check(NativeFunction& f, const YamlNode& n) {
    static constexpr std::string_view kChecks[] = {"NoCheck", "ExactSame"};
    f.device_check = n.str() != "NoCheck";
    if (n.str() == "NoCheck" || n.str() == "ExactSame") return;
    error(n.at, "unknown device_check '{}'{}; expected NoCheck or ExactSame",
          n.str(), lang::suggest(n.str(), kChecks));
  }

  // Arguments of a signature that stand by themselves.
  std::vector<Argument> arguments(const Text& text, std::size_t from) {
    const std::string prefix = "f(";
    try {
      const FunctionSchema s = parse_schema(
          fmt::format("{}{}) -> ()", prefix, text.str().substr(from)));
      return {s.arguments().begin(), s.arguments().end()};
    } catch (const SchemaError& e) {
      const std::size_t at = e.offset() - std::min(e.offset(), prefix.size());
      diagnostics_.error(text.at(from + at), e.message());
      return {};
    }
  }

  void precomputed(NativeFunction& f, const YamlNode& n) {
    const std::vector<Text> items = list(n, "precomputed");
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string& s = items[i].str();
      const std::size_t arrow = s.find("->");
      Precomputed p;
      if (arrow == std::string::npos) {
        if (i + 1 != items.size()) {
          error(items[i].start(),
                "only the last item may have values that replace no argument");
        }
        p.values = arguments(items[i], 0);
      } else {
        const auto names =
            lang::split_commas(Text(s.substr(0, arrow), items[i].start()));
        if (names.size() != 1) {
          error(items[i].start(),
                "expected one argument to replace before '->'");
          continue;
        }
        p.argument = names[0];
        p.values = arguments(items[i], arrow + 2);
      }
      f.precomputed.push_back(std::move(p));
    }
  }

  void ufunc(NativeFunction& f, const YamlNode& n) {
    if (n.is_scalar()) {
      ufunc_loop(f, Text("Generic", n.at), n.scalar);
    } else if (n.is_map()) {
      for (const YamlNode::Entry& e : n.entries) {
        if (std::find(ufunc_keys().begin(), ufunc_keys().end(), e.key.str()) ==
            ufunc_keys().end()) {
          error(e.key.start(), "unknown ufunc key '{}'{}", e.key.str(),
                lang::suggest(e.key.str(), ufunc_keys()));
        }
        ufunc_loop(f, e.key, e.value.scalar);
      }
    } else {
      expected(n, "a map or 'name (dtypes)'", "ufunc_inner_loop");
    }
  }

  void ufunc_loop(NativeFunction& f, const Text& key, const Text& text) {
    const std::string& s = text.str();
    const std::size_t open = s.find(" (");
    if (open == std::string::npos || open == 0 || !s.ends_with(')')) {
      return error(text.empty() ? key.start() : text.start(),
                   "expected 'name (dtypes)' for a loop, got '{}'", s);
    }
    UfuncLoop loop{key, Text(s.substr(0, open), text.start()), {}};
    loop.dtypes = lang::split_commas(
        Text(s.substr(open + 2, s.size() - open - 3), text.at(open + 2)));
    for (const Text& d : loop.dtypes) {
      if (std::find(ufunc_dtypes().begin(), ufunc_dtypes().end(), d.str()) ==
          ufunc_dtypes().end()) {
        error(d.start(), "unknown dtype '{}'{}", d.str(),
              lang::suggest(d.str(), ufunc_dtypes()));
      }
    }
    f.ufunc_inner_loop.push_back(std::move(loop));
  }

  const YamlNode& node_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::vector<NativeFunction> read_native_functions(const lang::YamlNode& root,
                                                  Diagnostics& diagnostics) {
  std::vector<NativeFunction> out;
  if (root.is_null()) return out;
  if (!root.is_sequence()) {
    diagnostics.error(root.at, "expected a list of functions: '- func: …'");
    return out;
  }
  out.reserve(root.items.size());
  for (const lang::YamlNode& item : root.items) {
    if (auto f = Reader(item, diagnostics).run()) out.push_back(std::move(*f));
  }
  return out;
}

std::vector<Tag> read_torch_tags(const lang::YamlNode& root,
                                 Diagnostics& diagnostics) {
  static constexpr std::string_view kKeys[] = {"tag", "desc"};
  std::vector<Tag> out;
  if (root.is_null()) return out;
  if (!root.is_sequence()) {
    diagnostics.error(root.at, "expected a list of tags: '- tag: …'");
    return out;
  }
  for (const lang::YamlNode& item : root.items) {
    check_keys(item, "a tag", kKeys, diagnostics);
    const lang::YamlNode* name = item.find("tag");
    const lang::YamlNode* desc = item.find("desc");
    if (!name || name->str().empty()) {
      diagnostics.error(item.at, "a tag needs 'tag:', its name");
      continue;
    }
    if (!desc || desc->str().empty()) {
      diagnostics.error(item.at, "tag '{}' needs a text in 'desc:'",
                        name->str());
    }
    for (const Tag& t : out) {
      if (t.name == name->scalar) {
        diagnostics.error(name->at,
                          "tag '{}' is given twice; the first is at {}",
                          name->str(), lang::to_string(t.name.start()));
      }
    }
    out.push_back({name->scalar, desc ? desc->str() : ""});
  }
  return out;
}

}  // namespace sy::codegen::torch
