#include <algorithm>
#include <utility>

#include "c10/schema/parser.h"
#include "lang/entry.h"
#include "lang/format.h"
#include "lang/parser.h"
#include "lang/schema_keys.h"
#include "lang/word_arguments.h"
#include "lang/yaml.h"

namespace sy::lang {
namespace {

class Reader {
 public:
  Reader(const YamlNode& node, Diagnostics& diagnostics)
      : node_(node), diagnostics_(diagnostics) {}

  std::optional<OperatorEntry> run() {
    const std::size_t before = diagnostics_.size();
    if (!node_.is_map()) {
      error(node_.at, "expected an operator, a map that begins with 'func:'");
      return std::nullopt;
    }
    check_keys(node_, "an operator", names_of(operator_keys()), diagnostics_);
    const YamlNode* func = node_.find("func");
    if (!func || !func->is_scalar()) {
      error(func ? func->at : node_.at,
            "an operator needs 'func:', its signature");
      return std::nullopt;
    }
    auto schema = signature(func->scalar);
    // The rest is still read without a signature, for its own errors.
    const bool known = schema.has_value();
    OperatorEntry e(known ? std::move(*schema)
                          : parse_schema("unknown() -> ()"));
    e.func = func->scalar;
    e.at = node_.at;
    entry_ = &e;
    known_ = known;
    plain_keys(e);
    kind_keys(e);
    rule_keys(e);
    derivative(e);
    forms(e);
    if (known) check(e);
    if (diagnostics_.size() == before) return e;
    // Tells the errors of its types in the same run.
    if (known && is_parsed(e)) check_types(e, diagnostics_);
    if (known) broken_ = e.schema;
    return std::nullopt;
  }

  // The signature of an operator that has errors elsewhere.
  const std::optional<FunctionSchema>& broken() const { return broken_; }

 private:
  template <class... Args>
  void error(const Location& at, fmt::format_string<const Args&...> format,
             const Args&... args) {
    diagnostics_.error(at, fmt::format(format, args...));
  }

  std::optional<FunctionSchema> signature(const Text& text) {
    ParseResult r = parse_and_check_schema(text.str());
    for (const SchemaError& e : r.errors) {
      diagnostics_.error(text.at(e.offset()), e.message());
    }
    return r.ok() ? std::move(r.schema) : std::nullopt;
  }

  Formula formula(const Text& text) {
    return {text, parse(text, diagnostics_)};
  }

  // A scalar, or a list literal, which YAML takes for a sequence.
  Formula formula(const YamlNode& node, std::string_view what) {
    if (node.is_scalar()) return formula(node.scalar);
    if (node.is_sequence() && node.flow) return formula(node.raw);
    error(node.at, "expected an expression for '{}'", what);
    return {};
  }

  // One formula, or a block sequence of them. With `split` a list literal is
  // one for each of its items too.
  std::vector<Formula> formulas(const YamlNode& node, std::string_view what,
                                bool split) {
    std::vector<Formula> out;
    if (node.is_sequence() && !node.flow) {
      for (const YamlNode& item : node.items) {
        out.push_back(formula(item, what));
      }
      return out;
    }
    Formula f = formula(node, what);
    if (split && f.expr && f.expr->kind == ExprKind::kList) {
      for (const Expr& item : f.expr->children) {
        out.push_back({Text(to_string(item), item->at), item});
      }
      return out;
    }
    out.push_back(std::move(f));
    return out;
  }

  static bool is_parsed(const std::vector<Formula>& all) {
    return std::all_of(all.begin(), all.end(),
                       [](const Formula& f) { return f.expr != nullptr; });
  }

  // Whether every expression that check_types looks at is there.
  static bool is_parsed(const OperatorEntry& e) {
    if (e.pointwise && !is_parsed(e.pointwise->results)) return false;
    if (e.reduce) {
      for (const Accumulator& a : e.reduce->accumulators) {
        if (!a.map.expr || !a.combine.expr) return false;
      }
      if (!is_parsed(e.reduce->finish)) return false;
    }
    if (e.view) {
      if (!e.view->sizes.expr) return false;
      if (e.view->strides && !e.view->strides->expr) return false;
      if (e.view->offset && !e.view->offset->expr) return false;
    }
    if (e.composite && !e.composite->expr) return false;
    return is_parsed(e.shape) && is_parsed(e.dtype) &&
           std::all_of(e.require.begin(), e.require.end(),
                       [](const Requirement& r) {
                         return r.condition.expr != nullptr;
                       });
  }

  const YamlNode* find(std::string_view key) const { return node_.find(key); }

  void plain_keys(OperatorEntry& e) {
    if (const YamlNode* n = find("doc")) e.doc = n->str();
    if (const YamlNode* n = find("example")) example(e, *n);
    if (const YamlNode* n = find("tags")) {
      e.tags = yaml_list(*n, "tags", diagnostics_);
    }
    if (const YamlNode* n = find("autogen")) {
      e.autogen = yaml_list(*n, "autogen", diagnostics_);
    }
    if (const YamlNode* n = find("writes")) writes(e, *n);
    if (const YamlNode* n = find("compiled")) {
      e.compiled = yaml_bool(*n, "compiled", diagnostics_);
      e.compiled_at = n->at;
    }
    if (const YamlNode* n = find("device_check")) {
      if (n->str() == "NoCheck") {
        e.device_check = false;
      } else if (n->str() != "ExactSame") {
        e.device_check = yaml_bool(*n, "device_check", diagnostics_);
      }
    }
    if (const YamlNode* n = find("device_guard")) {
      e.device_guard = yaml_bool(*n, "device_guard", diagnostics_);
    }
    if (const YamlNode* n = find("variants")) {
      const Variants v = variants(e, *n);
      e.function_variant = v.function;
      e.method_variant = v.method;
    }
    if (const YamlNode* n = find("inplace_variants")) {
      const Variants v = variants(e, *n);
      e.other.emplace_back(Text("inplace_variants", n->at), v.words());
    }
    for (const YamlNode::Entry& entry : node_.entries) {
      const SchemaKey* key = find_key(entry.key.str());
      if (key && key->type == "any") {
        e.other.emplace_back(entry.key, entry.value.str());
      }
    }
  }

  void writes(OperatorEntry& e, const YamlNode& n) {
    e.writes = yaml_list(n, "writes", diagnostics_);
    if (!known_) return;
    for (const Text& name : e.writes) {
      const int i = e.schema.argument_index(name.str());
      if (i < 0) {
        error(name.start(),
              "'writes:' names '{}', which is no argument of the operator",
              name.str());
      } else if (!e.schema.arguments()[std::size_t(i)].type.is_tensor_like() ||
                 e.schema.arguments()[std::size_t(i)].is_write()) {
        error(name.start(),
              "'writes:' is for tensors that the signature does not say are "
              "written, not '{}'",
              name.str());
      }
    }
  }

  void example(OperatorEntry& e, const YamlNode& n) {
    if (!n.is_scalar()) {
      error(n.at, "expected the arguments of a call for 'example', as '2x3 1'");
      return;
    }
    e.example = n.scalar;
    if (!known_) return;
    try {
      const auto words = parse_words(word_arguments(e.schema), n.str());
      for (std::size_t i = 0; i < words.size(); ++i) {
        const Argument& a = e.schema.arguments()[i];
        if (words[i] || a.default_value || obvious_word(a)) continue;
        error(n.at, "the example lacks argument '{}'", a.name.view());
      }
    } catch (const WordError& failed) {
      diagnostics_.error(n.scalar.at(failed.offset), failed.message);
    }
  }

  struct Variants {
    bool function = false, method = false;

    std::string words() const {
      return std::string(function ? "function" : "") +
             (function && method ? ", " : "") + (method ? "method" : "");
    }
  };

  Variants variants(const OperatorEntry& e, const YamlNode& n) {
    Variants all;
    for (const Text& v : yaml_list(n, "variants", diagnostics_)) {
      if (v.str() == "function") {
        all.function = true;
      } else if (v.str() == "method") {
        all.method = true;
        if (known_ && e.schema.self_index() < 0) {
          error(v.start(), "a method needs an argument named 'self'");
        }
      } else {
        constexpr std::string_view kVariants[] = {"function", "method"};
        error(v.start(), "unknown variant '{}'{}; expected function or method",
              v.str(), suggest(v.str(), kVariants));
      }
    }
    return all;
  }

  void kind_keys(OperatorEntry& e) {
    constexpr std::string_view kKinds[] = {"pointwise", "reduce", "composite",
                                           "view",      "scan",   "dispatch",
                                           "foreach"};
    std::string first;
    for (const YamlNode::Entry& entry : node_.entries) {
      const std::string& key = entry.key.str();
      const auto* kind = std::find(std::begin(kKinds), std::end(kKinds), key);
      if (kind == std::end(kKinds)) continue;
      if (!first.empty() && first != key) {
        error(entry.key.start(),
              "an operator has one kind; it is '{}:' already", first);
        continue;
      }
      first = key;
      e.is_foreach = key == "foreach";
      e.kind = e.is_foreach
                   ? OperatorKind::kComposite
                   : static_cast<OperatorKind>(kind - std::begin(kKinds));
      read_kind(e, entry.value);
    }
  }

  void read_kind(OperatorEntry& e, const YamlNode& n) {
    switch (e.kind) {
      case OperatorKind::kPointwise:
        e.pointwise.emplace().results = formulas(n, "pointwise", true);
        break;
      case OperatorKind::kReduce: reduce(e, n); break;
      case OperatorKind::kComposite:
        e.composite = formula(n, e.is_foreach ? "foreach" : "composite");
        break;
      case OperatorKind::kView: view(e, n); break;
      case OperatorKind::kScan: scan(e, n); break;
      case OperatorKind::kDispatch: dispatch(e, n); break;
    }
  }

  bool expect_map(const YamlNode& n, std::string_view what) {
    if (n.is_map()) return true;
    error(n.at, "expected a map for '{}'", what);
    return false;
  }

  void reduce(OperatorEntry& e, const YamlNode& n) {
    if (!expect_map(n, "reduce")) return;
    check_keys(n, "'reduce'", names_of(reduce_keys()), diagnostics_);
    static constexpr std::string_view kParts[] = {"map", "identity", "combine"};
    ReduceBody& body = e.reduce.emplace();
    const YamlNode* parts[3] = {};
    for (int i = 0; i < 3; ++i) {
      parts[i] = n.find(kParts[i]);
      // A reduction without an identity cannot reduce nothing.
      if (!parts[i] && i != 1) {
        error(n.at, "'reduce' needs '{}:'", kParts[i]);
      }
    }
    if (!parts[0] || !parts[2]) return;
    if (parts[0]->is_map()) {
      named_accumulators(body, parts);
    } else {
      body.accumulators.push_back({"acc", formula(*parts[0], "map"),
                                   identity(parts[1]),
                                   formula(*parts[2], "combine")});
    }
    if (const YamlNode* f = n.find("finish")) {
      body.finish = formulas(*f, "finish", true);
    }
    body.accumulate = accumulate(n);
  }

  std::optional<Text> accumulate(const YamlNode& n) {
    const YamlNode* a = n.find("accumulate");
    if (!a) return std::nullopt;
    const auto rules = accumulate_rules();
    if (std::find(rules.begin(), rules.end(), a->str()) == rules.end()) {
      error(a->at, "unknown rule '{}' for 'accumulate'{}; the rules are {}",
            a->str(), suggest(a->str(), rules), join(rules, " "));
    }
    return a->scalar;
  }

  void scan(OperatorEntry& e, const YamlNode& n) {
    if (!expect_map(n, "scan")) return;
    check_keys(n, "'scan'", names_of(scan_keys()), diagnostics_);
    ScanBody& body = e.scan.emplace();
    const YamlNode* combine = n.find("combine");
    const YamlNode* choose = n.find("choose");
    if ((combine == nullptr) == (choose == nullptr)) {
      error(n.at, "'scan' needs either 'combine:' or 'choose:'");
      return;
    }
    body.chooses = choose != nullptr;
    body.combine = body.chooses ? formula(*choose, "choose")
                                : formula(*combine, "combine");
    body.accumulate = accumulate(n);
  }

  Formula identity(const YamlNode* n) {
    if (!n || n->str() == "none") return {};
    return formula(*n, "identity");
  }

  void named_accumulators(ReduceBody& body, const YamlNode* const (&parts)[3]) {
    if ((parts[1] && !expect_map(*parts[1], "identity")) ||
        !expect_map(*parts[2], "combine")) {
      return;
    }
    std::vector<std::string_view> names;
    for (const YamlNode::Entry& m : parts[0]->entries) {
      names.push_back(m.key.str());
    }
    if (parts[1]) check_keys(*parts[1], "'identity'", names, diagnostics_);
    check_keys(*parts[2], "'combine'", names, diagnostics_);
    for (const YamlNode::Entry& m : parts[0]->entries) {
      Accumulator acc{m.key.str(), formula(m.value, "map"), {}, {}};
      Formula* const targets[] = {&acc.identity, &acc.combine};
      for (int i = 0; i < 2; ++i) {
        if (!parts[i + 1]) continue;
        const std::string_view what = i ? "combine" : "identity";
        if (const YamlNode* v = parts[i + 1]->find(acc.name)) {
          *targets[i] = i ? formula(*v, what) : identity(v);
        } else {
          error(parts[i + 1]->at, "'{}' lacks the accumulator '{}'", what,
                acc.name);
        }
      }
      body.accumulators.push_back(std::move(acc));
    }
  }

  void view(OperatorEntry& e, const YamlNode& n) {
    if (!expect_map(n, "view")) return;
    check_keys(n, "'view'", names_of(view_keys()), diagnostics_);
    ViewBody& body = e.view.emplace();
    if (const YamlNode* s = n.find("sizes")) {
      body.sizes = formula(*s, "sizes");
    } else {
      error(n.at, "'view' needs 'sizes:'");
    }
    if (const YamlNode* s = n.find("strides")) {
      body.strides = formula(*s, "strides");
    }
    if (const YamlNode* s = n.find("offset")) {
      body.offset = formula(*s, "offset");
    }
  }

  void dispatch(OperatorEntry& e, const YamlNode& n) {
    if (!expect_map(n, "dispatch")) return;
    for (const YamlNode::Entry& entry : n.entries) {
      for (Text& key : split_commas(entry.key)) {
        for (const DispatchItem& known : e.dispatch) {
          if (known.key.str() == key.str()) {
            error(key.start(), "duplicate key '{}'", key.str());
          }
        }
        e.dispatch.push_back({std::move(key), entry.value.scalar});
      }
      if (entry.value.str().empty()) {
        error(entry.key.start(), "expected the name of a function for '{}'",
              entry.key.str());
      }
    }
  }

  void rule_keys(OperatorEntry& e) {
    if (const YamlNode* n = find("promote")) promote(e, *n);
    if (const YamlNode* n = find("shape")) {
      e.shape = formulas(*n, "shape", false);
    }
    if (const YamlNode* n = find("dtype")) {
      e.dtype = formulas(*n, "dtype", true);
    }
    const YamlNode* n = find("require");
    if (!n) return;
    if (n->is_scalar()) {
      e.require.push_back({formula(n->scalar), {}});
    } else if (n->is_map()) {
      for (const YamlNode::Entry& r : n->entries) requirement(e, r);
    } else {
      for (const YamlNode& item : n->items) {
        if (item.is_map()) {
          for (const YamlNode::Entry& r : item.entries) requirement(e, r);
        } else {
          e.require.push_back({formula(item, "require"), {}});
        }
      }
    }
  }

  void requirement(OperatorEntry& e, const YamlNode::Entry& r) {
    e.require.push_back({formula(r.key), r.value.scalar});
  }

  void promote(OperatorEntry& e, const YamlNode& n) {
    Promote& p = e.promote.emplace();
    if (n.is_map()) {
      check_keys(n, "'promote'", names_of(promote_keys()), diagnostics_);
      if (const YamlNode* r = n.find("rule")) p.rule = r->scalar;
      if (const YamlNode* a = n.find("args")) {
        p.arguments = yaml_list(*a, "args", diagnostics_);
      }
      if (p.rule.empty()) p.rule = Text("default", n.at);
    } else {
      p.rule = n.scalar;
    }
    const auto rules = promote_rules();
    if (std::find(rules.begin(), rules.end(), p.rule.str()) == rules.end()) {
      error(n.at, "unknown rule '{}' for 'promote'{}; the rules are {}",
            p.rule.str(), suggest(p.rule.str(), rules), join(rules, ", "));
    }
    for (const Text& a : p.arguments) expect_argument(a);
  }

  void expect_argument(const Text& name) {
    if (!known_ || entry_->schema.argument_index(name.str()) >= 0) return;
    std::vector<std::string_view> names;
    for (const Argument& a : entry_->schema.arguments()) {
      names.push_back(a.name.view());
    }
    error(name.start(), "'{}' has no argument '{}'{}",
          entry_->schema.name().name, name.str(), suggest(name.str(), names));
  }

  void derivative(OperatorEntry& e) {
    const YamlNode* n = find("derivative");
    if (!n) return;
    if (n->is_scalar()) {
      DerivativeItem item;
      item.at = n->at;
      const std::string_view said = n->str();
      const std::string_view word = said.substr(0, said.find(','));
      const auto reason = parse_no_derivative(said);
      if (reason) e.no_derivative = Text(std::string(reason->why), n->at);
      if (word == "none" && reason) return;  // there are no items
      if (said == "non_differentiable" || reason) {
        item.kind = DerivativeItem::Kind::kNonDifferentiable;
      } else if (word == "none" || word == "non_differentiable") {
        error(n->at, "'derivative: {}' says why: '{}, because …'", word, word);
      } else if (said != "auto") {
        error(
            n->at,
            "expected auto, non_differentiable, 'none, because …' or a map of "
            "arguments for 'derivative'");
      }
      for (const Argument& a : e.schema.arguments()) {
        if (!a.type.is_tensor_like() || a.is_out()) continue;
        item.arguments = {Text(std::string(a.name.view()), n->at)};
        e.derivative.push_back(item);
      }
      return;
    }
    if (!expect_map(*n, "derivative")) return;
    for (const YamlNode::Entry& entry : n->entries) {
      DerivativeItem item;
      item.arguments = split_commas(entry.key);
      item.at = entry.value.at;
      for (std::size_t i = 0; i < item.arguments.size(); ++i) {
        const Text& a = item.arguments[i];
        expect_argument(a);
        const auto first = item.arguments.begin();
        const auto here = first + static_cast<std::ptrdiff_t>(i);
        if (e.find_derivative(a.str()) || std::find(first, here, a) != here) {
          error(a.start(), "the derivative by '{}' is given twice", a.str());
        }
      }
      if (entry.value.is_scalar() && entry.value.str() == "auto") {
        item.kind = DerivativeItem::Kind::kAuto;
      } else if (entry.value.is_scalar() &&
                 entry.value.str() == "non_differentiable") {
        item.kind = DerivativeItem::Kind::kNonDifferentiable;
      } else {
        item.kind = DerivativeItem::Kind::kFormula;
        item.formula = formula(entry.value, "derivative");
      }
      e.derivative.push_back(std::move(item));
    }
  }

  void forms(OperatorEntry& e) {
    const YamlNode* n = find("forms");
    if (!n) return;
    if (n->is_map()) {
      check_keys(*n, "'forms'", names_of(form_keys()), diagnostics_);
      for (const YamlNode::Entry& entry : n->entries) {
        const std::string& word = entry.key.str();
        if (word != "inplace" && word != "out") continue;
        const auto kind =
            word == "out" ? SchemaKind::kOut : SchemaKind::kInplace;
        const std::string& value = entry.value.str();
        if (value == "none" || value == "None" || value == "false") {
          e.forms.push_back({kind, std::nullopt, entry.value.at});
        } else {
          form(e, entry.value.scalar, kind);
        }
      }
      return;
    }
    if (n->is_scalar() || n->flow) {
      // Commas are part of a signature, so a flow list cannot hold any.
      if (n->is_scalar() && n->str() == "none") {
        e.forms.push_back({SchemaKind::kInplace, std::nullopt, n->at});
        e.forms.push_back({SchemaKind::kOut, std::nullopt, n->at});
        return;
      }
      error(n->at,
            "expected 'none', a map or a list of signatures, one a line, for "
            "'forms'");
      return;
    }
    for (const YamlNode& item : n->items) {
      form(e, item.scalar, std::nullopt);
    }
  }

  void form(OperatorEntry& e, const Text& text,
            std::optional<SchemaKind> expected) {
    auto schema = signature(text);
    if (!schema) return;
    if (expected && schema->kind() != *expected) {
      constexpr std::string_view kNames[] = {"a functional", "an in-place",
                                             "an out=", "a mutating"};
      error(text.start(), "expected {} signature, got {} one",
            kNames[static_cast<int>(*expected)],
            kNames[static_cast<int>(schema->kind())]);
      return;
    }
    const SchemaKind kind = schema->kind();
    if (e.find_form(kind)) {
      error(text.start(), "this form is given twice");
      return;
    }
    if (!takes_form(e, kind, text)) return;
    e.forms.push_back({kind, std::move(schema), text.start()});
  }

  // Whether an operator of that signature can have the form.
  bool takes_form(const OperatorEntry& e, SchemaKind kind, const Text& text) {
    if (!known_) return true;
    if (kind == SchemaKind::kFunctional || kind == SchemaKind::kMutable) {
      error(text.start(),
            "'forms:' gives in-place and out= signatures; this one is an "
            "operator of its own");
      return false;
    }
    const bool mutates = e.schema.kind() == SchemaKind::kMutable;
    if (e.schema.is_functional() || (mutates && kind == SchemaKind::kOut)) {
      return true;
    }
    diagnostics_.error(
        text.start(),
        mutates ? "an operator that writes other arguments has no in-place "
                  "form"
                : "the operator is itself such a form; others are those of "
                  "its functional signature");
    return false;
  }

  void check_foreach(const OperatorEntry& e) {
    const auto is_list = [](Type t) {
      return t.is_list() && t.element() == TypeKind::kTensor;
    };
    const auto arguments = e.schema.arguments();
    const auto returns = e.schema.returns();
    if (e.schema.is_functional() && returns.size() == 1 &&
        is_list(returns[0].type) &&
        std::any_of(arguments.begin(), arguments.end(),
                    [&](const Argument& a) { return is_list(a.type); })) {
      return;
    }
    error(e.func.start(),
          "'foreach:' needs a functional signature from 'Tensor[]' to "
          "'Tensor[]'");
  }

  // Checks the rules that concern several keys.
  void check(const OperatorEntry& e) {
    const std::size_t returns = e.schema.returns().size();
    const bool tile = is_program(e.kind);
    const std::string kind = fmt::format("'{}:'", to_string(e.kind));
    if (tile && !e.schema.is_functional()) {
      error(e.func.start(),
            "{} needs the functional signature; the other forms are derived "
            "from it",
            kind);
    }
    if (e.is_foreach) check_foreach(e);
    if (e.promote && !tile) {
      error(find("promote")->at,
            "'promote' is for 'pointwise:', 'reduce:' and 'scan:' only");
    }
    const auto counts = [&](std::size_t n, std::string_view key) {
      if (n == 0 || n == returns) return;
      error(find(key)->at,
            "expected one expression for each of the {} returns, got {}",
            returns, n);
    };
    if (e.pointwise) counts(e.pointwise->results.size(), "pointwise");
    if (e.reduce) {
      const bool finished = !e.reduce->finish.empty();
      const std::size_t given = e.reduce->accumulators.size();
      if (!finished && given > 0 && given < returns) {
        error(find("reduce")->at,
              "without 'finish' each return is an accumulator; there are {} "
              "returns and {} accumulators",
              returns, given);
      }
      counts(e.reduce->finish.size(), "reduce");
    }
    if (e.scan) counts(e.scan->chooses ? 2 : 1, "scan");
    counts(e.shape.size(), "shape");
    if (e.dtype.size() > 1) counts(e.dtype.size(), "dtype");
    if (e.kind == OperatorKind::kView &&
        (returns == 0 || !e.schema.returns()[0].alias)) {
      error(e.func.start(),
            "a view returns an alias: 'Tensor(a) self' and "
            "'-> Tensor(a)'");
    }
    const bool view =
        e.kind == OperatorKind::kView ||
        std::any_of(e.tags.begin(), e.tags.end(),
                    [](const Text& t) { return t.str() == "inplace_view"; });
    for (const DerivativeItem& d : e.derivative) {
      if (d.kind == DerivativeItem::Kind::kAuto && !view &&
          (!tile || e.kind == OperatorKind::kScan)) {
        error(d.at,
              "'auto' needs 'pointwise:', 'reduce:' or 'view:'; write "
              "the formula");
      }
    }
  }

  const YamlNode& node_;
  Diagnostics& diagnostics_;
  std::optional<FunctionSchema> broken_;
  const OperatorEntry* entry_ = nullptr;
  bool known_ = false;
};

}  // namespace

SchemaFile read_schema(std::string text, std::string path,
                       Diagnostics& diagnostics) {
  SchemaFile file{std::move(path), std::move(text), {}, {}};
  const YamlNode root = parse_yaml(file.text, file.path, diagnostics);
  if (root.is_null()) return file;
  if (!root.is_sequence()) {
    diagnostics.error(root.at, "expected a list of operators: '- func: …'");
    return file;
  }
  for (const YamlNode& item : root.items) {
    Reader reader(item, diagnostics);
    if (auto entry = reader.run()) {
      file.entries.push_back(std::move(*entry));
    } else if (reader.broken()) {
      file.broken.push_back(*reader.broken());
    }
  }
  return file;
}

SchemaFile read_schema_file(const std::string& path, Diagnostics& diagnostics) {
  return read_schema(read_file(path, diagnostics), path, diagnostics);
}

}  // namespace sy::lang
