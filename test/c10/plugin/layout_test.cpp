#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "c10/device/backend.h"
#include "c10/device/generator.h"
#include "c10/device/stream.h"
#include "c10/memory/allocator.h"
#include "c10/plugin/library.h"
#include "c10/plugin/library_note.h"
#include "c10/process/error.h"
#include "c10/tensor/storage_payload.h"

// The layout that plugins are compiled against: sizes, offsets, places in
// tables of virtual functions, values of enumerations. layout.txt is the record
// of them.

namespace sy {
namespace {

using Layout = std::map<std::string, uint64_t>;

Layout& fields() {
  static Layout layout;
  return layout;
}

struct Name {
  template <size_t N>
  constexpr Name(const char (&t)[N]) {  // NOLINT: a literal is a name
    for (size_t i = 0; i < N; ++i) text[i] = t[i];
  }
  char text[64] = {};
};

template <class T, class F>
uint64_t place_of(F T::*member) {
  if constexpr (std::is_member_function_pointer_v<F T::*>) {
    uintptr_t word;  // of a virtual one: 1 + its offset in the table
    std::memcpy(&word, &member, sizeof word);
    return (word - 1) / sizeof(void*);
  } else {
    alignas(T) static char bytes[sizeof(T)];
    const auto* const object = reinterpret_cast<const T*>(bytes);
    return static_cast<uint64_t>(
        reinterpret_cast<const char*>(&(object->*member)) - bytes);
  }
}

// An explicit instantiation may name what is private.
template <auto M, Name N>
struct Recorded {
  struct Filler {
    Filler() { fields()[N.text] = place_of(M); }
  };
  static Filler filler;
};
template <auto M, Name N>
typename Recorded<M, N>::Filler Recorded<M, N>::filler;

#define SY_FIELD(T, member) \
  template struct Recorded<&T::member, #T "." #member>;

SY_FIELD(TensorImpl, storage_)
SY_FIELD(TensorImpl, storage_offset_)
SY_FIELD(TensorImpl, numel_)
SY_FIELD(TensorImpl, keys_)
SY_FIELD(TensorImpl, sizes_)
SY_FIELD(TensorImpl, dtype_)
SY_FIELD(TensorImpl, device_)
SY_FIELD(TensorImpl, dim_)
SY_FIELD(TensorImpl, flags_)
SY_FIELD(TensorImpl, autograd_meta_)
SY_FIELD(TensorImpl, view_)
SY_FIELD(TensorImpl, backend_meta_)
SY_FIELD(TensorImpl, inline_)
SY_FIELD(StorageImpl, data_)
SY_FIELD(StorageImpl, nbytes_)
SY_FIELD(StorageImpl, allocator_)
SY_FIELD(StorageImpl, owner_)
SY_FIELD(StorageImpl, last_writer_)
SY_FIELD(StorageImpl, extra_)
SY_FIELD(StorageImpl, version_)
SY_FIELD(StorageImpl, device_)
SY_FIELD(StorageImpl, source_)
SY_FIELD(StorageImpl, handed_out_)
SY_FIELD(Value, p_)
SY_FIELD(Value, i_)
SY_FIELD(Value, d_)
SY_FIELD(Value, tag_)
SY_FIELD(Value, owned_)
SY_FIELD(Scalar, i_)
SY_FIELD(Scalar, d_)
SY_FIELD(Scalar, pair_)
SY_FIELD(Scalar, tag_)
SY_FIELD(Device, type_)
SY_FIELD(Device, index_)
SY_FIELD(Kernel, unboxed)
SY_FIELD(Kernel, boxed)
SY_FIELD(Kernel, context)
SY_FIELD(Kernel, signature)
SY_FIELD(Kernel, op)
SY_FIELD(Kernel, flags)
SY_FIELD(CppSignature, args)
SY_FIELD(CppSignature, results)
SY_FIELD(CppSignature, num_args)
SY_FIELD(CppSignature, num_results)
SY_FIELD(CppSignature, takes_keys)
SY_FIELD(CppSignature, device_entry)
SY_FIELD(OperatorDef, schema)
SY_FIELD(OperatorDef, signature)
SY_FIELD(OperatorDef, guard)
SY_FIELD(OperatorDef, guard_boxed)
SY_FIELD(OperatorDef, tensor_args)
SY_FIELD(OperatorDef, flags)
SY_FIELD(OperatorDef, info)
SY_FIELD(OperatorInfo, kind)
SY_FIELD(OperatorInfo, doc)
SY_FIELD(OperatorInfo, source)
SY_FIELD(OperatorInfo, node)
SY_FIELD(OperatorEntry, table_)
SY_FIELD(OperatorEntry, defined_)
SY_FIELD(OperatorEntry, num_args_)
SY_FIELD(OperatorEntry, num_results_)
SY_FIELD(OperatorEntry, def_)
SY_FIELD(OperatorEntry, name_)
SY_FIELD(OperatorEntry, schema_)
SY_FIELD(DispatchSlot, fn)
SY_FIELD(DispatchSlot, kernel)
SY_FIELD(DispatchTable, mask)
SY_FIELD(DispatchTable, rows)
SY_FIELD(DispatchTable, own)
SY_FIELD(DispatchTable, num_slots)
SY_FIELD(DispatchTable, num_kernels)
SY_FIELD(DispatchTable, first)
SY_FIELD(DispatchTable, num_backends)
SY_FIELD(CallsInFlight, calls)
SY_FIELD(ThreadModes, included)
SY_FIELD(ThreadModes, excluded)
SY_FIELD(ThreadModes, grad_disabled)
SY_FIELD(ThreadModes, inference)
SY_FIELD(ThreadModes, transforms)
SY_FIELD(ThreadModes, autocast_devices)
SY_FIELD(ThreadModes, autocast_dtypes)
SY_FIELD(Library, batch_)
SY_FIELD(Library, record_)
SY_FIELD(LibraryRecord, kind)
SY_FIELD(LibraryRecord, ns)
SY_FIELD(LibraryRecord, key)
SY_FIELD(LibraryRecord, body)
SY_FIELD(LibraryRecord, file)
SY_FIELD(LibraryRecord, line)
SY_FIELD(LibraryRecord, dso)
SY_FIELD(LibraryRecord, next)
SY_FIELD(LibraryNote, sdk_version)
SY_FIELD(LibraryNote, cxx11_abi)
SY_FIELD(LibraryNote, layout)
SY_FIELD(LibraryNote, kind)
SY_FIELD(LibraryNote, ns)
SY_FIELD(LibraryNote, key)
SY_FIELD(BackendInfo, type)
SY_FIELD(BackendInfo, key)
SY_FIELD(BackendInfo, device)
SY_FIELD(BackendInfo, interface)
SY_FIELD(BackendInfo, present)
SY_FIELD(Error, message_)
// Virtual functions: their places in the table.
SY_FIELD(DeviceInterface, allocator)
SY_FIELD(DeviceInterface, copy_from_host)
SY_FIELD(DeviceInterface, copy_to_host)
SY_FIELD(DeviceInterface, copy_on_device)
SY_FIELD(DeviceInterface, synchronize)
SY_FIELD(DeviceInterface, host_accessible)
SY_FIELD(DeviceInterface, streams)
SY_FIELD(DeviceInterface, properties)
SY_FIELD(DeviceInterface, copy_across)
SY_FIELD(DeviceInterface, pinned_allocator)
SY_FIELD(DeviceInterface, begin_copy)
SY_FIELD(StoragePayload, materialize)
SY_FIELD(StoragePayload, describe)
SY_FIELD(DeviceInterface, set_device)
SY_FIELD(DeviceInterface, memory_info)
SY_FIELD(Allocator, allocate)
SY_FIELD(Allocator, deallocate)
SY_FIELD(Allocator, reset_peak)
SY_FIELD(Allocator, trim)
SY_FIELD(Allocator, set_limit)
SY_FIELD(Allocator, allocate_on)
SY_FIELD(Allocator, note_use)
SY_FIELD(StreamInterface, create_stream)
SY_FIELD(StreamInterface, destroy_stream)
SY_FIELD(StreamInterface, current_stream)
SY_FIELD(StreamInterface, set_current_stream)
SY_FIELD(StreamInterface, is_stream_done)
SY_FIELD(StreamInterface, synchronize_stream)
SY_FIELD(StreamInterface, record_event)
SY_FIELD(StreamInterface, destroy_event)
SY_FIELD(StreamInterface, is_event_done)
SY_FIELD(StreamInterface, synchronize_event)
SY_FIELD(StreamInterface, wait_event)
SY_FIELD(StreamInterface, last_ticket)
SY_FIELD(StreamInterface, completed_ticket)
SY_FIELD(StreamInterface, priorities)
SY_FIELD(StreamInterface, create_stream_of)
SY_FIELD(StreamInterface, stream_priority)
SY_FIELD(StreamInterface, native_stream)
SY_FIELD(StreamInterface, native_event)
SY_FIELD(StreamInterface, adopt_stream)
SY_FIELD(StreamInterface, record_timed_event)
SY_FIELD(StreamInterface, elapsed)
SY_FIELD(StreamInterface, begin_capture)
SY_FIELD(StreamInterface, end_capture)
SY_FIELD(StreamInterface, abort_capture)
SY_FIELD(StreamInterface, is_capturing)
SY_FIELD(StreamInterface, instantiate_graph)
SY_FIELD(StreamInterface, launch_graph)
SY_FIELD(StreamInterface, destroy_executable)
SY_FIELD(StreamInterface, destroy_graph)

#undef SY_FIELD

template <class T>
void add_type(Layout& out, const std::string& name) {
  out[name + " size"] = sizeof(T);
  out[name + " alignment"] = alignof(T);
}

Layout layout() {
  Layout out = fields();
  add_type<RefCounted>(out, "RefCounted");
  add_type<TensorImpl>(out, "TensorImpl");
  add_type<TensorBase>(out, "TensorBase");
  add_type<StorageImpl>(out, "StorageImpl");
  add_type<Value>(out, "Value");
  add_type<Scalar>(out, "Scalar");
  add_type<Device>(out, "Device");
  add_type<DispatchKeySet>(out, "DispatchKeySet");
  add_type<Kernel>(out, "Kernel");
  add_type<CppSignature>(out, "CppSignature");
  add_type<OperatorDef>(out, "OperatorDef");
  add_type<OperatorInfo>(out, "OperatorInfo");
  add_type<OperatorEntry>(out, "OperatorEntry");
  add_type<OperatorHandle>(out, "OperatorHandle");
  add_type<DispatchSlot>(out, "DispatchSlot");
  add_type<DispatchTable>(out, "DispatchTable");
  add_type<ThreadState>(out, "ThreadState");
  add_type<ThreadModes>(out, "ThreadModes");
  out["ThreadState.modes"] = sizeof(CallsInFlight);
  add_type<Library>(out, "Library");
  add_type<LibraryRecord>(out, "LibraryRecord");
  add_type<LibraryNote>(out, "LibraryNote");
  add_type<RegistrationHandle>(out, "RegistrationHandle");
  add_type<BackendInfo>(out, "BackendInfo");
  add_type<DeviceInterface>(out, "DeviceInterface");
  add_type<Allocator>(out, "Allocator");
  add_type<StoragePayload>(out, "StoragePayload");
  add_type<StreamInterface>(out, "StreamInterface");
  add_type<DeviceProperties>(out, "DeviceProperties");
  add_type<MemoryInfo>(out, "MemoryInfo");
  add_type<detail::QueueObject>(out, "QueueObject");
  add_type<StreamGuard>(out, "StreamGuard");
  add_type<detail::DeviceCall>(out, "DeviceCall");
  add_type<GeneratorImpl>(out, "GeneratorImpl");
  add_type<Error>(out, "Error");
  for (const DispatchKeyInfo& info : kDispatchKeyInfo) {
    out[str("DispatchKey {}", info.name)] = static_cast<uint64_t>(info.key);
  }
  for (int n = 0; n < kNumFixedBackends; ++n) {
    out[str("DeviceType {}", kFixedBackends[n].key)] = static_cast<uint64_t>(n);
  }
  for (int t = 0; t < kNumScalarTypes; ++t) {
    out[str("ScalarType {}", static_cast<ScalarType>(t))] =
        static_cast<uint64_t>(t);
  }
  out["ArgCode last"] = static_cast<uint64_t>(ArgCode::OptGenerator);
  out["ArgCode Tensor"] = static_cast<uint64_t>(ArgCode::Tensor);
  out["LibraryKind Backend"] = static_cast<uint64_t>(LibraryKind::Backend);
  out["Value::Tag Tensor"] = static_cast<uint64_t>(Value::Tag::Tensor);
  out["Value::Tag OptionalTensorList"] =
      static_cast<uint64_t>(Value::Tag::OptionalTensorList);
  return out;
}

struct Record {
  uint32_t revision = 0;
  uint64_t hash = 0;
  Layout layout;
};

std::string to_text(const Record& r) {
  std::ostringstream out;
  out << "revision " << r.revision << "\nhash " << r.hash << "\n";
  for (const auto& [name, value] : r.layout) {
    out << value << " " << name << "\n";
  }
  return out.str();
}

Record read_record(const std::string& text) {
  Record out;
  std::istringstream in(text);
  std::string word;
  in >> word >> out.revision >> word >> out.hash;
  uint64_t value;
  while (in >> value) {
    std::getline(in >> std::ws, word);
    out.layout[word] = value;
  }
  return out;
}

// The advice about a layout that is not the record's; "" if it is.
std::string advice(const Record& before, const Record& now) {
  std::string changes;
  bool added_only = true;
  for (const auto& [name, value] : before.layout) {
    const auto found = now.layout.find(name);
    if (found != now.layout.end() && found->second == value) continue;
    added_only = false;
    changes +=
        str("  {}: was {}, is {}\n", name, value,
            found == now.layout.end() ? "gone" : std::to_string(found->second));
  }
  for (const auto& [name, value] : now.layout) {
    if (before.layout.count(name) == 0) {
      changes += str("  {}: new, {}\n", name, value);
    }
  }
  const bool refused =
      before.revision != now.revision || before.hash != now.hash;
  if (changes.empty() && !refused) return "";
  const std::string renew =
      "write the record anew: SY_LAYOUT_RECORD=$PWD/test/c10/plugin/layout.txt "
      "bazel "
      "test --test_env=SY_LAYOUT_RECORD //test/c10/plugin:layout_test\n";
  if (refused || added_only) {
    return str(
        "The layout that plugins are compiled against has changed:\n{}{}{}",
        changes, refused ? "Plugins that were built before are refused; " : "",
        renew);
  }
  return str(
      "The layout that plugins are compiled against has changed, and a plugin "
      "that was built before would be loaded all the same:\n{}Raise "
      "kLayoutRevision in c10/plugin/sdk_layout.h, then {}",
      changes, renew);
}

TEST(Layout, IsThatOfTheRecord) {
  const Record now{kLayoutRevision, sdk_layout_hash(), layout()};
  std::ifstream in("test/c10/plugin/layout.txt");
  std::stringstream text;
  text << in.rdbuf();
  const Record before = read_record(text.str());
  const std::string what = advice(before, now);
  const char* const renew = std::getenv("SY_LAYOUT_RECORD");
  if (renew != nullptr && what.find("Raise") == what.npos) {
    std::ofstream(renew) << to_text(now);
    return;
  }
  EXPECT_EQ(what, "");
}

TEST(Layout, AdviceSaysWhatToDo) {
  const Record before{2, 7, {{"A size", 8}, {"A.b", 4}}};
  EXPECT_EQ(advice(before, read_record(to_text(before))), "");
  const std::string silent =
      advice(before, {2, 7, {{"A size", 8}, {"A.b", 0}}});
  EXPECT_NE(silent.find("  A.b: was 4, is 0\n"), silent.npos) << silent;
  EXPECT_NE(silent.find("Raise kLayoutRevision"), silent.npos) << silent;
  const std::string gone = advice(before, {2, 7, {{"A size", 8}}});
  EXPECT_NE(gone.find("  A.b: was 4, is gone\n"), gone.npos) << gone;
  const std::string refused =
      advice(before, {3, 8, {{"A size", 16}, {"A.b", 4}}});
  EXPECT_NE(refused.find("are refused; write the record anew"), refused.npos)
      << refused;
  const std::string added =
      advice(before, {2, 7, {{"A size", 8}, {"A.b", 4}, {"C", 1}}});
  EXPECT_EQ(added.find("Raise"), added.npos) << added;
  EXPECT_NE(added.find("  C: new, 1\n"), added.npos) << added;
}

}  // namespace
}  // namespace sy
