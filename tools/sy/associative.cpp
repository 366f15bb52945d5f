#include "tools/sy/associative.h"

#include <cmath>
#include <vector>

#include "aten/backend/node.h"
#include "aten/tensor.h"
#include "c10/error.h"
#include "c10/schema/function_schema.h"
#include "c10/thread_state.h"
#include "tools/sy/words.h"

namespace sy::tools {

namespace {

using Numbers = std::vector<double>;

// The last number of the first result for these numbers.
double brought_together(OperatorHandle op, const Numbers& numbers) {
  const int64_t n = static_cast<int64_t>(numbers.size());
  const std::string word = str("{}", n);
  std::vector<Value> args = signature_suffices(op)
                                ? parse_arguments(op, "", word)
                                : parse_arguments(op, word + " 0");
  const Tensor t(make_tensor({n}, kDouble, Device(kCPU)));
  std::copy(numbers.begin(), numbers.end(), t.data_ptr<double>());
  args[0] = Value(TensorBase(t));
  std::vector<Value> out(op.schema().returns().size());
  const AutoDispatchBelowAutograd no_tape;
  op.call_boxed(args.data(), args.size(), out.data(), out.size());
  const Tensor r = Tensor(out[0].to_tensor()).to(kDouble).contiguous();
  SY_CHECK(r.numel() > 0, Value, "no elements");
  return r.data_ptr<double>()[r.numel() - 1];
}

bool close(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= 1e-9 * (1 + std::abs(a) + std::abs(b));
}

std::string ask(OperatorHandle op, bool* tried) {
  constexpr double kNumbers[][3] = {
      {0.5, 0.75, 0.25}, {1.5, -2.25, 0.5}, {-0.5, 3, -1.25}, {2, 2, -4}};
  for (const auto& [a, b, c] : kNumbers) {
    for (const double x : {a, b, c}) {
      if (!close(brought_together(op, {x}), x)) return "";
    }
    const double all = brought_together(op, {a, b, c});
    const double left = brought_together(op, {brought_together(op, {a, b}), c});
    const double right =
        brought_together(op, {a, brought_together(op, {b, c})});
    *tried = true;
    if (close(left, right) && close(all, left)) continue;
    return str(
        "it is not associative: of {}, {} and {} it makes {}, of the "
        "first two and the third {}, of the first and the others {}",
        a, b, c, all, left, right);
  }
  return "";
}

}  // namespace

std::string associative_problem(OperatorHandle op, bool* tried) {
  const NodeDesc* const node = node_desc(op.entry());
  const bool fits = node != nullptr &&
                    (node->reduce != nullptr || node->scan != nullptr) &&
                    !op.schema().arguments().empty() &&
                    op.schema().arguments()[0].type == TypeKind::kTensor;
  if (!fits) return "";
  // What is done at the end would be done twice.
  if (node->reduce != nullptr && node->reduce->finish != nullptr) return "";
  try {
    return ask(op, tried);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return "";  // it takes no such tensors
  }
}

}  // namespace sy::tools
