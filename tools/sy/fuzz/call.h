#pragma once

#include <string>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

// One boxed call, right or wrong, as a text that makes it again anywhere:
//   {"op": "aten::add.Tensor",
//    "storages": {"a": {"dtype": "float32", "elements": 6, "fill": "signed"}},
//    "arguments": [VALUE, ...]}
// VALUEs are those of recorded cases (test/conformance/cases_format.md), with
// more: a tensor may have "requires_grad", and "copy": tensors whose VALUEs are
// equal are one object, and another number of "copy" makes another object of
// the same elements. {"meta": "float32", "sizes": [2]} has no memory.
// {"generator": 7} has that seed. There may be too few arguments or too many,
// and of wrong types.
struct FuzzCall {
  std::string op;
  Json storages = Json::object();
  Json arguments = Json::array();

  // Throws ValueError that begins with `where`.
  static FuzzCall parse(const Json& v, const std::string& where);
  Json json() const;
};

// Ways to fill a storage, instead of with "values", which repeat. "extreme" are
// the least and the largest numbers of the dtype, "special" have NaN and
// infinities, "small" are 0, 1 and 2.
inline constexpr const char* kFills[] = {
    "usual", "signed", "ties", "zeros", "ones", "extreme", "special", "small"};

struct FuzzArguments : Arguments {
  // Flat tensors of the storages, in order of their names.
  std::vector<NamedTensor> storages;
};

bool is_view(const Json& v);  // a tensor VALUE that lies in a storage
// The places of the tensors among a call's arguments, and in its lists.
std::vector<Json::json_pointer> places_of_tensors(const Json& arguments);

// Gives each storage the size that its tensors need, and drops those without
// tensors. False, with storages as they were, if a tensor is too large (see
// elements_reached).
bool fit_storages(FuzzCall& call);

// Fresh arguments on a device. `schema` gives the element type of a list that
// is empty or has ints among its numbers. Throws ValueError if a tensor does
// not lie within its storage or a VALUE is malformed.
FuzzArguments make_arguments(const FuzzCall& call, const FunctionSchema& schema,
                             Device device);

// The same as a call, each tensor with a storage of its own, dense and of the
// same elements.
FuzzCall describe_call(OperatorHandle op, const std::vector<Value>& arguments);

// The strides of a tensor with these sizes, row by row.
std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes);
// How many elements a storage must have for a tensor VALUE; nullopt if that is
// no int64, or if the tensor has more elements than a trial should take.
std::optional<int64_t> elements_reached(const Json& tensor);

}  // namespace sy::tools
