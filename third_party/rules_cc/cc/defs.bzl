"""The native rules, which Bazel 4.2's own files load from rules_cc."""

cc_binary = native.cc_binary
cc_import = native.cc_import
cc_library = native.cc_library
cc_libc_top_alias = native.cc_libc_top_alias
cc_proto_library = native.cc_proto_library
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_alias = native.cc_toolchain_alias
cc_toolchain_suite = native.cc_toolchain_suite
