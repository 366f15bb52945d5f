// The one translation unit that holds the code of fmt.
//
// Debian gives fmt as headers and as a shared library. The shared library would
// have to be installed beside ours and mapped by every program. Header only,
// every source would compile all of fmt. Here it is compiled once, and its
// symbols are hidden like all of ours, so that two libraries of one process may
// each have their own.
#include <fmt/format-inl.h>

// What <fmt/core.h> and <fmt/format.h> declare and leave to the library: these
// are templates, which nothing but a use or the lines below would compile.
FMT_BEGIN_NAMESPACE
namespace detail {

template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, format_args, locale_ref);

template auto dragonbox::to_decimal(float) noexcept
    -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept
    -> dragonbox::decimal_fp<double>;

template auto thousands_sep_impl<char>(locale_ref)
    -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;

}  // namespace detail
FMT_END_NAMESPACE
