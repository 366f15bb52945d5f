#pragma once

#include <sy/sy.h>

#include <cstdint>
#include <string>
#include <vector>

// Random programs of legal calls: values of several dtypes, views of them,
// writes to both, and gradients.

namespace sy::test {

// A call by numbers, which choose among what is legal when it runs.
struct Call {
  uint32_t kind, a, b, c;
};
using Program = std::vector<Call>;

Program random_program(uint64_t seed, int calls);

struct Outcome {
  std::vector<Tensor> values;     // on the CPU
  std::vector<std::string> says;  // what each call was, and whether it threw
};
// Runs it on a device. `sync_every`: how many calls are between two syncs; 0
// for none.
Outcome run(const Program& p, Device device, int sync_every);

// The tensors that a program begins with: other elements for another `shift`,
// in the same layouts.
std::vector<Tensor> initial_values(Device device, double shift);
// The calls alone, on given values, some of which it writes. With `backward`
// also the gradients of those that require one; else the caller runs them.
std::vector<Tensor> run_on(const Program& p, const std::vector<Tensor>& initial,
                           bool backward, Outcome* out);
// Runs the gradients after run_on(), if they are still to be run; adds all
// values.
void finish_run(const std::vector<Tensor>& initial,
                const std::vector<Tensor>& values, bool backward, Outcome* out);

// A number from the environment: SY_SEED, SY_PROGRAMS.
uint64_t setting(const char* name, uint64_t otherwise);

// Why the two differ; "" if they do not.
std::string difference(const Outcome& got, const Outcome& want);
// The shortest program that still fails the check, and its listing.
template <class Fails>
Program minimised(Program p, Fails&& fails) {
  for (size_t i = p.size(); i-- > 0;) {
    Program shorter = p;
    shorter.erase(shorter.begin() + static_cast<int64_t>(i));
    if (fails(shorter)) p = shorter;
  }
  return p;
}
std::string listing(const Program& p);

}  // namespace sy::test
