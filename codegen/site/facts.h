#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/site/flow.h"
#include "lang/diagnostics.h"

namespace sy::codegen::site {

// The facts from running the operators, as `sy facts` prints them: JSON,
//   {"version": 1, "devices": ["cpu"],
//    "operators": {"softplus": {
//      "example": {"lines": ["sy::Tensor self = sy::tensor(…);"],
//                  "call": "sy::softplus(self)", "output": "0.3133 …"},
//      "errors": [{"call": "sy::softplus(self.to(sy::kBool))",
//                  "type": "TypeError", "text": "[softplus] …"}],
//      "curves": {"axis": "self",
//                 "lines": [{"label": "beta=2", "x": [], "y": [], "dy": []}]},
//      "dtypes": {"cpu": [["native", "float32,float64"]]},
//      "dispatch": [["CPU", "own: CPU", "schemas/gen/…cpp:573"]],
//      "flows": {"softplus": what read_flow() reads}}}}
// Operators stand under the names of their bases ("add", "mine::bump"). Any
// part may be missing.
struct Example {
  std::vector<std::string> lines;  // C++ that makes the arguments
  std::string call;                // C++
  std::string output;              // the printed result
};
struct ExpectedError {
  std::string call, type, text;
};
// y and its derivative dy over x; NaN parts the line. dy may be empty.
struct Curve {
  std::string label;
  std::vector<double> x, y, dy;
};
struct Dispatch {
  std::string key, how, kernel;
};
struct OperatorFacts {
  Example example;
  std::vector<ExpectedError> errors;
  std::string axis;  // the argument on the x axis
  std::vector<Curve> curves;
  // The ways ("native", "composed", "cpu") and their dtypes, by device.
  std::map<std::string, std::vector<std::pair<std::string, std::string>>>
      dtypes;
  std::vector<Dispatch> dispatch;
  // The flow of each overload, "scatter.src".
  std::map<std::string, Flow, std::less<>> flows;
};
// A figure of `./sy bench --peer`.
struct Timing {
  std::string name;               // "softmax/4096"
  double ours = 0, libtorch = 0;  // ns
};
struct Facts {
  std::vector<std::string> devices;
  std::map<std::string, OperatorFacts, std::less<>> operators;
  std::map<std::string, std::vector<Timing>, std::less<>> timings;
};

// Reports text that is not such JSON, with the file's name and line.
Facts read_facts(const std::string& path, const std::string& text,
                 lang::Diagnostics& diagnostics);
// The JSON that `./sy bench --peer --json` writes. A figure belongs to the
// operator whose name its name begins with.
void read_timings(const std::string& path, const std::string& text,
                  Facts* facts, lang::Diagnostics& diagnostics);

}  // namespace sy::codegen::site
