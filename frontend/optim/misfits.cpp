#include "frontend/optim/misfits.h"

#include "c10/process/error.h"

namespace sy::optim {

void Misfits::raise(const char* of) const {
  std::string text;
  const auto list = [&](const char* what,
                        const std::vector<std::string>& names) {
    if (names.empty()) return;
    text += text.empty() ? "" : "; ";
    text += what;
    for (size_t i = 0; i < names.size(); ++i) {
      text += (i == 0 ? " " : ", ") + names[i];
    }
  };
  list("missing", missing);
  list("unexpected", unexpected);
  list("misshapen", misshapen);
  SY_CHECK(text.empty(), Value, "[{}] load_state_dict: {}", of, text);
}

}  // namespace sy::optim
