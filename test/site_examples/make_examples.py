"""Makes a C++ program of what `sy facts` says of operators.

The program runs the examples and the wrong calls as the pages of the site show
them, and compares what is printed and thrown with what the pages say.

    make_examples.py FACTS.json EVERY [FIRST] > program.cpp
"""

import json
import sys

HEAD = r"""
// Made from the facts about operators by make_examples.py.
#include <cmath>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <typeinfo>
#include <vector>

#include <sy/distributed.h>
#include <sy/sy.h>

namespace {

int wrong = 0;

template <class T>
void print(std::ostream& out, const T& v) {
  if constexpr (requires { out << v; }) {
    out << v;
  } else {
    out << to_string(v);
  }
}
void print(std::ostream& out, const std::vector<sy::Tensor>& list) {
  const char* between = "";
  for (const sy::Tensor& t : list) {
    out << between << t;
    between = "\n";
  }
}
template <class... T>
void print(std::ostream& out, const std::tuple<T...>& parts) {
  const char* between = "";
  const auto one = [&](const auto& part) {
    out << between;
    print(out, part);
    between = "\n";
  };
  std::apply([&](const auto&... part) { (one(part), ...); }, parts);
}

void expect(const char* name, const std::string& expected,
            const std::string& got) {
  if (expected == got) return;
  ++wrong;
  std::cout << name << ": the page says\n" << expected << "\nbut it is\n" << got
            << "\n\n";
}

template <class F>
void shows(const char* name, const char* expected, const F& call) {
  std::ostringstream out;
  out << std::boolalpha;
  try {
    call([&](const auto& result) { print(out, result); });
  } catch (const std::exception& e) {
    out << e.what();
  }
  expect(name, expected, out.str());
}

std::string kind(const sy::Error& e) {
  const std::string name = typeid(e).name();  // "N2sy9TypeErrorE"
  const size_t at = name.find_first_not_of("0123456789", 4);
  return name.substr(at, name.size() - at - 1);
}

template <class F>
void throws(const char* name, const char* expected, const F& call) {
  std::string got = "no error";
  try {
    call();
  } catch (const sy::Error& e) {
    got = kind(e) + ": " + e.what();
    got = got.substr(0, got.find('\n'));
  }
  expect(name, expected, got);
}
"""


def literal(text: str) -> str:
    return 'R"_(' + text + ')_"'


def shown(example: dict) -> str:
    # A call that returns nothing prints nothing.
    call = example["call"]
    return f"show({call})" if example["output"] else call


def function(i: int, name: str, facts: dict) -> str:
    if "example" not in facts:
        return ""
    example = facts["example"]
    lines = [f"\nvoid example_{i}() {{"]
    lines += ["  " + line for line in example["lines"]]
    lines.append(
        f'  shows("{name}", {literal(example["output"])},\n'
        f"        [&]([[maybe_unused]] auto show) {{ {shown(example)}; }});"
    )
    for error in facts.get("errors", []):
        text = f"{error['type']}: {error['text']}"
        lines.append(
            f'  throws("{name}", {literal(text)},\n'
            f"         [&] {{ (void)({error['call']}); }});"
        )
    return "\n".join(lines + ["}"]) + "\n"


def main() -> None:
    path, every = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with open(path, encoding="utf-8") as f:
        operators = sorted(json.load(f)["operators"].items())
    functions = {
        i: text
        for i, (name, facts) in enumerate(operators)
        if i % every == first and (text := function(i, name, facts))
    }
    print(HEAD + "".join(functions.values()) + "\n}  // namespace\n")
    print("int main() {")
    print("  sy::distributed::init();  // a world of one rank")
    for i in functions:
        print(f"  example_{i}();")
    print(f'  std::cout << {len(functions)} << " examples, " << wrong')
    print('            << " wrong\\n";')
    print("  return wrong == 0 ? 0 : 1;\n}")


if __name__ == "__main__":
    main()
