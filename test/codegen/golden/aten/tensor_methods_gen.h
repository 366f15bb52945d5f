// Generated from schemas/ops by sygen. Do not edit.
// The methods of class Tensor, which includes this.

Scalar item() const;
Tensor mm(const Tensor& mat2) const;
Tensor mul(const Tensor& other) const;
Tensor mul(const Scalar& other) const;
Tensor& mul_(const Tensor& other) const;
Tensor sum(OptionalIntArrayRef dim, bool keepdim = false,
           std::optional<ScalarType> dtype = std::nullopt) const;
Tensor transpose(int64_t dim0, int64_t dim1) const;
