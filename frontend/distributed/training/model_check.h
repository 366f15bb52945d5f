#pragma once

#include <string>
#include <vector>

#include "frontend/distributed/process_group.h"

namespace sy::distributed {

// The texts of all ranks, in their order. A call of the group.
std::vector<std::string> exchange_texts(ProcessGroup& group,
                                        const std::string& mine);

// Throws Error on all ranks unless all give the same lines: the first that
// differs, and what each rank has there. `what`: "[DistributedDataParallel]
// expected the same model on all ranks". A call of the group, of 16 bytes a
// rank if all agree.
void check_same_lines(ProcessGroup& group, const std::string& what,
                      const std::vector<std::string>& lines);

}  // namespace sy::distributed
