#include "tools/sy/cases/tensors.h"

#include <algorithm>
#include <cstring>

#include "c10/device/backend.h"
#include "c10/process/error.h"

namespace sy::tools {

namespace {

int index_of(Device d) { return d.has_index() ? d.index() : 0; }

// Elements of storage that the view reaches; 0 if it is empty. Sizes and
// strides are not negative.
int64_t reach(const TensorSpec& t, const std::string& where) {
  int64_t last = t.offset;
  bool overflow = false;
  for (size_t d = 0; d < t.sizes.size(); ++d) {
    if (t.sizes[d] == 0) return 0;
    int64_t step = 0;
    overflow |= __builtin_mul_overflow(t.sizes[d] - 1, t.strides[d], &step) ||
                __builtin_add_overflow(last, step, &last);
  }
  SY_CHECK(!overflow && last < INT64_MAX, Value, "{}: the view overflows",
           where);
  return last + 1;
}

void check_fields(const Json& v, const std::string& where) {
  const bool aliased = v.contains("alias"), any = v.contains("values");
  SY_CHECK(v.size() == 5u + aliased + any && v["tensor"].is_string() &&
               v.contains("dtype") && v["dtype"].is_string() &&
               v.contains("sizes") && v.contains("strides") &&
               v.contains("offset") && v["offset"].is_number_integer() &&
               (!aliased || v["alias"].is_string()) &&
               (!any || v["values"] == "any"),
           Value, "{}: malformed tensor {}", where, dump(v));
}

Storage upload(std::string_view bytes, Device device) {
  Storage s = StorageImpl::allocate(bytes.size(), device);
  if (bytes.empty() || s->data() == nullptr) return s;
  DeviceInterface& i = device_interface(device.type());
  i.copy_from_host(s->data(), bytes.data(), bytes.size(), index_of(device));
  i.synchronize(index_of(device));
  return s;
}

}  // namespace

bool is_tensor(const Json& v) { return v.is_object() && v.contains("tensor"); }

TensorSpec parse_tensor(const Json& v, const Safetensors& storages,
                        const std::string& where) {
  SY_CHECK(is_tensor(v), Value, "{}: expected a tensor, got {}", where,
           dump(v));
  check_fields(v, where);
  const auto dtype = parse_scalar_type(v["dtype"].get<std::string>());
  SY_CHECK(dtype.has_value(), Value, "{}: unknown dtype {}", where,
           dump(v["dtype"]));
  TensorSpec t{v["tensor"],
               *dtype,
               int_list(v["sizes"], where + ".sizes"),
               int_list(v["strides"], where + ".strides"),
               v["offset"],
               v.value("alias", ""),
               v.contains("values")};
  SY_CHECK(t.strides.size() == t.sizes.size(), Value,
           "{}: {} sizes, {} strides", where, t.sizes.size(), t.strides.size());
  SY_CHECK(t.offset >= 0, Value, "{}: negative offset {}", where, t.offset);
  for (size_t d = 0; d < t.sizes.size(); ++d) {
    SY_CHECK(t.sizes[d] >= 0 && t.strides[d] >= 0, Value,
             "{}: negative size or stride in {}", where, dump(v));
  }
  const Safetensors::Entry& e = storages.at(t.key);
  SY_CHECK(e.shape.size() == 1, Value, "{}: storage {} is not flat", where,
           t.key);
  SY_CHECK(e.dtype == t.dtype, Value, "{}: {} of storage {} of {}", where,
           t.dtype, t.key, e.dtype);
  SY_CHECK(reach(t, where) <= e.shape[0], Value,
           "{}: the view reaches beyond storage {} of {}", where, t.key,
           e.shape[0]);
  return t;
}

int64_t HostTensor::numel() const {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

HostTensor read_tensor(const TensorSpec& spec, const Safetensors& storages) {
  return {spec.dtype,
          spec.sizes,
          spec.strides,
          spec.offset,
          std::string(storages.at(spec.key).bytes),
          !spec.any_values};
}

HostTensor read_tensor(const TensorBase& t) {
  HostTensor out{
      t.dtype(),          t.sizes().vec(),           t.strides().vec(),
      t.storage_offset(), read_storage(t.storage()), !t.device().is_meta()};
  const size_t item = t.element_size();
  for (int64_t i : element_indices(t.sizes(), t.strides(), out.offset)) {
    SY_CHECK(!out.has_values ||
                 (i >= 0 &&
                  (static_cast<size_t>(i) + 1) * item <= out.storage.size()),
             Value, "the result reaches element {} of a storage of {} bytes", i,
             out.storage.size());
  }
  return out;
}

TensorBase copy_to(Device device, const TensorBase& t) {
  const Storage s =
      upload({static_cast<const char*>(t.storage()->data()),
              t.storage()->data() == nullptr ? 0 : t.storage()->nbytes()},
             device);
  return TensorBase(TensorImpl::make(
      s, t.dtype(), device, DispatchKeySet::dense(device.type()), t.sizes(),
      t.strides(), t.storage_offset()));
}

std::string read_storage(const Storage& s) {
  std::string out;
  if (!s || s->nbytes() == 0) return out;
  if (s->payload() != nullptr) s->const_data("a tensor of a case");
  if (s->data() == nullptr) return out;
  out.resize(s->nbytes());
  const Device device = s->device();
  DeviceInterface& i = device_interface(device.type());
  i.synchronize(index_of(device));
  i.copy_to_host(out.data(), s->data(), out.size(), index_of(device));
  i.synchronize(index_of(device));
  return out;
}

std::vector<int64_t> element_indices(IntArrayRef sizes, IntArrayRef strides,
                                     int64_t offset) {
  // Any size may stand beside a 0.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return {};
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<int64_t> out(static_cast<size_t>(n));
  std::vector<int64_t> at(sizes.size(), 0);
  int64_t index = offset;
  for (int64_t& o : out) {
    o = index;
    for (size_t d = sizes.size(); d-- > 0;) {
      // The stride of a dim of one element may be any number.
      if (sizes[d] == 1) continue;
      index += strides[d];
      if (++at[d] < sizes[d]) break;
      index -= strides[d] * sizes[d];
      at[d] = 0;
    }
  }
  return out;
}

std::string element_position(IntArrayRef sizes, int64_t n) {
  std::vector<int64_t> at(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    at[d] = n % sizes[d];
    n /= sizes[d];
  }
  return to_string(IntArrayRef(at));
}

TensorBase CaseMemory::tensor(const TensorSpec& spec) {
  Storage& s = made_[spec.key];
  if (!s) s = upload(storages_.at(spec.key).bytes, device_);
  return TensorBase(TensorImpl::make(s, spec.dtype, device_,
                                     DispatchKeySet::dense(device_.type()),
                                     spec.sizes, spec.strides, spec.offset));
}

}  // namespace sy::tools
