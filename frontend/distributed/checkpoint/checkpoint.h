#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/tensor.h"
#include "c10/device/generator.h"
#include "frontend/distributed/process_group.h"
#include "frontend/io/named_tensors.h"
#include "frontend/io/safetensors.h"

// Checkpoints of all ranks: written whole or not at all, and read by any number
// of ranks.
//
//   CheckpointState state;
//   state.add("model", model->state_dict());
//   state.add("adam", adam.state_dict());
//   state.add("sampler", sampler.state());
//   state.set("step", step);
//   save_checkpoint("run", state);
//   ...
//   const CheckpointState state = load_checkpoint("run");
//   model->load_state_dict(state.get("model"));
//   step = state.integer("step");
//
// A checkpoint is a folder, run/checkpoint-00000007, of safetensors files and a
// checkpoint.safetensors.index.json, which names them with their check sums
// (CRC-32). All ranks see the same file system.

namespace sy::distributed {

// Rows [offset, offset + rows.size(0)) of a tensor whose rows lie on several
// ranks.
struct CheckpointShard {
  Tensor rows;
  int64_t offset = 0;
  int64_t total = 0;  // rows of the whole tensor; only of what was loaded
};

// The contents of a checkpoint, by name. Names of parts are not empty and have
// no '/': else ValueError. Tensors are not copied. A value type.
class SY_API CheckpointState {
 public:
  // ---- the same on all ranks; rank 0's are written

  // Throws ValueError for a part that is there.
  void add(const std::string& part, const NamedTensors& tensors);
  // Throws ValueError, which lists the parts, if there is none of that name. A
  // part without tensors is not kept.
  NamedTensors get(std::string_view part) const;
  bool has(std::string_view part) const;

  // Numbers and text. Setting one again replaces it.
  template <std::integral T>
  void set(const std::string& name, T value) {
    set_text(name, std::to_string(value));
  }
  void set(const std::string& name, double value);
  void set(const std::string& name, std::string_view text) {
    set_text(name, std::string(text));
  }
  // Throw ValueError if there is none of that name, or it is no such number.
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& text(std::string_view name) const;

  // ---- of this rank

  // Rows of a tensor, 1-d at least, that all ranks have parts of. Together they
  // are all of its rows, each once; dtype and the other sizes are equal.
  void add_shard(const std::string& name, const Tensor& rows, int64_t offset);
  // Throws ValueError, which lists the names, if there is none.
  const CheckpointShard& shard(std::string_view name) const;
  // Adds tensors that belong to the rank alone, such as its generator. They are
  // there again only when as many ranks load as saved.
  void add_own(const std::string& part, const NamedTensors& tensors);
  NamedTensors own(std::string_view part) const;
  bool has_own(std::string_view part) const;

  // All of it: tensors by "part/name".
  const NamedTensors& tensors() const noexcept { return tensors_; }
  const NamedTensors& own_tensors() const noexcept { return own_; }
  const OrderedDict<std::string, CheckpointShard>& shards() const noexcept {
    return shards_;
  }
  const OrderedDict<std::string, std::string>& values() const noexcept {
    return values_;
  }

 private:
  friend class CheckpointReader;
  void set_text(const std::string& name, std::string text);

  NamedTensors tensors_, own_;
  OrderedDict<std::string, CheckpointShard> shards_;
  OrderedDict<std::string, std::string> values_;
};

struct CheckpointOptions {
  // The ranks that save; nullptr: the world, which init() begins if the program
  // has not called it.
  std::shared_ptr<ProcessGroup> group = nullptr;
  // How many checkpoints stay in the folder; older ones go once the new one is
  // there. 0: all. If a checkpoint is a symbolic link, the link alone goes.
  int64_t keep_last = 0;
};

// Writes the next checkpoint of the folder, which is made if need be; returns
// its path. All ranks of the group call it with the same folder. When it
// returns, the checkpoint is on the disk and the current one; when it throws,
// or a process or the machine dies at any moment, the one before still is,
// unless only older ones were left to remove. The next attempt removes what is
// left of an earlier one.
//
// An error of one rank (a full disk) is an error on all, and then the group can
// be used further. The rank throws its own: FileError, or ValueError for a
// state that cannot be saved; the others Error, which names the rank. Throws
// FileError if another program saves to the folder.
SY_API std::string save_checkpoint(const std::string& folder,
                                   const CheckpointState& state,
                                   const CheckpointOptions& options = {});

// The rows of a shard that a rank wants: [begin, end).
struct CheckpointRows {
  std::string name;
  int64_t begin = 0;
  int64_t end = 0;
};

// Reads the current checkpoint of the folder, or the checkpoint whose own
// folder is given. All ranks of the group call it; their number may be another
// than when it was saved. Shards are cut anew: rank r of n gets rows
// [total * r / n, total * (r + 1) / n), or those that it wants. Replicated
// tensors lie in mapped files, so that the ranks of a machine share memory
// until they write.
//
// Every file is checked against its check sum, by one of the ranks. Throws
// FileError, which names the file, if one is damaged, missing, or of another
// checkpoint, and on the other ranks as save_checkpoint does; ValueError for
// rows that are not.
SY_API CheckpointState
load_checkpoint(const std::string& folder,
                const std::shared_ptr<ProcessGroup>& group = nullptr,
                const std::vector<CheckpointRows>& rows = {});

// The whole checkpoints of a folder, the current one last: paths. Empty if
// there is no such folder.
SY_API std::vector<std::string> checkpoints(const std::string& folder);

// A generator's place in its stream, as a part of a state.
SY_API NamedTensors
generator_state(const Generator& generator = default_generator());
// Throws ValueError for a state that is none.
SY_API void set_generator_state(
    const NamedTensors& state,
    const Generator& generator = default_generator());

}  // namespace sy::distributed
