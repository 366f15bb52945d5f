#include "codegen/site/facts.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "lang/format.h"

namespace sy::codegen::site {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::string_view kWays[] = {"native", "composed", "cpu"};

lang::Location place(const std::string& path, const std::string& text,
                     std::size_t offset) {
  const std::string_view before =
      std::string_view(text).substr(0, std::min(offset, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line = before.rfind('\n');
  const std::size_t column =
      before.size() - (line == before.npos ? 0 : line + 1) + 1;
  return {InternedString(path), static_cast<std::uint32_t>(lines + 1),
          static_cast<std::uint32_t>(column)};
}

// The library's words behind its own prefix and place.
std::string reason(const Json::exception& e) {
  const std::string_view what = e.what();
  std::size_t at = what.find("] ");
  at = at == what.npos ? 0 : at + 2;
  const std::size_t colon = what.find(": ", at);
  if (what.substr(at).starts_with("parse error") && colon != what.npos) {
    at = colon + 2;
  }
  return std::string(what.substr(at));
}

std::optional<Json> parsed(const std::string& path, const std::string& text,
                           lang::Diagnostics& diagnostics) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    const std::size_t offset = e.byte > 0 ? e.byte - 1 : 0;
    diagnostics.error(place(path, text, offset), "bad JSON: {}", reason(e));
  } catch (const Json::exception& e) {
    diagnostics.error({InternedString(path)}, "bad JSON: {}", reason(e));
  }
  return std::nullopt;
}

std::string_view kind_of(const Json& v) {
  switch (v.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "a list";
    case Json::value_t::string: return "a text";
    case Json::value_t::boolean: return "a bool";
    default: return "a number";
  }
}

// A value and its place: "operators.softplus.curves.lines[0].x".
class Value {
 public:
  Value(const Json& json, std::string path, const InternedString& file,
        lang::Diagnostics& diagnostics)
      : json_(json),
        path_(std::move(path)),
        file_(file),
        diagnostics_(diagnostics) {}

  void error(std::string_view expected) const {
    diagnostics_.error({file_}, "{}: expected {}, got {}",
                       path_.empty() ? "the whole" : path_, expected,
                       kind_of(json_));
  }
  bool is_null() const { return json_.is_null(); }

  // Calls f(key, value) for each member of an object.
  template <class F>
  void members(F&& f) const {
    if (!json_.is_object()) return error("an object");
    for (const auto& [key, value] : json_.items()) {
      f(key, Value(value, path_.empty() ? key : path_ + '.' + key, file_,
                   diagnostics_));
    }
  }
  // Calls f(value) for a member that is there.
  template <class F>
  void member(const char* key, F&& f) const {
    if (!json_.is_object()) return error("an object");
    const auto it = json_.find(key);
    if (it == json_.end()) return;
    f(Value(*it, path_.empty() ? key : fmt::format("{}.{}", path_, key), file_,
            diagnostics_));
  }
  // Calls f(value) for each item of a list, of `size` items if that is not 0.
  template <class F>
  void items(F&& f, std::size_t size = 0) const {
    if (!json_.is_array()) return error("a list");
    if (size != 0 && json_.size() != size) {
      diagnostics_.error({file_}, "{}: expected {} items, got {}", path_, size,
                         json_.size());
      return;
    }
    for (std::size_t i = 0; i < json_.size(); ++i) {
      f(Value(json_[i], fmt::format("{}[{}]", path_, i), file_, diagnostics_));
    }
  }

  void read(std::string& out) const {
    if (!json_.is_string()) return error("a text");
    out = json_.get<std::string>();
  }
  // JSON has no NaN: null stands for it.
  void read(double& out) const {
    if (json_.is_null()) {
      out = std::numeric_limits<double>::quiet_NaN();
    } else if (json_.is_number()) {
      out = json_.get<double>();
    } else {
      error("a number");
    }
  }
  void read(Flow& out) const {
    std::string why;
    if (auto flow = read_flow(json_, &why)) {
      out = std::move(*flow);
    } else {
      diagnostics_.error({file_}, "{}.{}", path_, why);
    }
  }
  template <class T>
  void read(std::vector<T>& out) const {
    items([&](const Value& v) { v.read(out.emplace_back()); });
  }
  template <class T>
  void read(const char* key, T& out) const {
    member(key, [&](const Value& v) { v.read(out); });
  }

  void version() const {
    member("version", [&](const Value& v) {
      if (!v.json_.is_number_integer()) return v.error("a whole number");
      if (v.json_ != kVersion) {
        diagnostics_.error({file_}, "version: expected {}, got {}", kVersion,
                           v.json_.dump());
      }
    });
  }
  // A list of so many texts.
  void row(std::initializer_list<std::string*> to) const {
    auto next = to.begin();
    items([&](const Value& v) { v.read(**next++); }, to.size());
  }
  // Checks the first item of a row that was read.
  void check_way(const std::string& way) const {
    if (way.empty() ||
        std::find(std::begin(kWays), std::end(kWays), way) != std::end(kWays)) {
      return;
    }
    diagnostics_.error({file_},
                       "{}[0]: expected native, composed or cpu, got '{}'",
                       path_, way);
  }
  // Checks the lengths of lists of points that belong together.
  void check_lengths(const Curve& c) const {
    if (c.x.size() == c.y.size() &&
        (c.dy.empty() || c.dy.size() == c.x.size())) {
      return;
    }
    diagnostics_.error({file_},
                       "{}: expected x, y and dy of one length, got {}, {} "
                       "and {}",
                       path_, c.x.size(), c.y.size(), c.dy.size());
  }

 private:
  const Json& json_;
  std::string path_;
  InternedString file_;
  lang::Diagnostics& diagnostics_;
};

Curve read_curve(const Value& v) {
  Curve out;
  v.read("label", out.label);
  v.read("x", out.x);
  v.read("y", out.y);
  v.read("dy", out.dy);
  return out;
}

class Reader {
 public:
  Reader(const std::string& path, lang::Diagnostics& diagnostics)
      : file_(path), diagnostics_(diagnostics) {}

  Facts run(const Json& json) {
    Facts out;
    const Value all(json, "", file_, diagnostics_);
    all.members([](const std::string&, const Value&) {});
    if (!json.is_object()) return out;
    all.version();
    all.read("devices", out.devices);
    all.member("operators", [&](const Value& v) {
      v.members([&](const std::string& name, const Value& op) {
        read(op, out.operators[name]);
      });
    });
    return out;
  }

  void timings(const Json& json, Facts& facts) {
    const Value all(json, "", file_, diagnostics_);
    all.members([&](const std::string& name, const Value& v) {
      Timing t{name};
      v.read("ns", t.ours);
      v.member("peer_ns", [&](const Value& peer) {
        if (!peer.is_null()) peer.read(t.libtorch);
      });
      facts.timings[name.substr(0, name.find_first_of("/<"))].push_back(
          std::move(t));
    });
  }

 private:
  void read(const Value& v, OperatorFacts& out) {
    v.member("example", [&](const Value& e) {
      e.read("lines", out.example.lines);
      e.read("call", out.example.call);
      e.read("output", out.example.output);
    });
    v.member("errors", [&](const Value& errors) {
      errors.items([&](const Value& e) {
        ExpectedError& to = out.errors.emplace_back();
        e.read("call", to.call);
        e.read("type", to.type);
        e.read("text", to.text);
      });
    });
    v.member("curves", [&](const Value& c) {
      c.read("axis", out.axis);
      c.member("lines", [&](const Value& lines) {
        lines.items([&](const Value& line) {
          Curve curve = read_curve(line);
          line.check_lengths(curve);
          out.curves.push_back(std::move(curve));
        });
      });
    });
    v.member("dtypes", [&](const Value& d) {
      d.members([&](const std::string& device, const Value& ways) {
        auto& to = out.dtypes[device];
        ways.items([&](const Value& way) {
          auto& [how, dtypes] = to.emplace_back();
          way.row({&how, &dtypes});
          way.check_way(how);
        });
      });
    });
    v.member("flows", [&](const Value& flows) {
      flows.members([&](const std::string& name, const Value& flow) {
        flow.read(out.flows[name]);
      });
    });
    v.member("dispatch", [&](const Value& d) {
      d.items([&](const Value& row) {
        Dispatch& to = out.dispatch.emplace_back();
        row.row({&to.key, &to.how, &to.kernel});
      });
    });
  }

  InternedString file_;
  lang::Diagnostics& diagnostics_;
};

}  // namespace

Facts read_facts(const std::string& path, const std::string& text,
                 lang::Diagnostics& diagnostics) {
  const auto json = parsed(path, text, diagnostics);
  if (!json) return {};
  return Reader(path, diagnostics).run(*json);
}

void read_timings(const std::string& path, const std::string& text,
                  Facts* facts, lang::Diagnostics& diagnostics) {
  const auto json = parsed(path, text, diagnostics);
  if (json) Reader(path, diagnostics).timings(*json, *facts);
}

}  // namespace sy::codegen::site
