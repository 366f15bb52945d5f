"""sy_backend(): the library of a backend that backend.yaml describes."""

load("@backends//:list.bzl", "PLUGINS")
load("//tools:cc.bzl", "sy_cc_library")
load("//tools:sygen.bzl", "sygen_files")

def sy_backend(
        name,
        srcs = [],
        hdrs = [],
        deps = [],
        per_family = False,
        plugin_deps = [],
        stays = False,
        visibility = None,
        testonly = False,
        **kwargs):
    """The library NAME of the backend that lies in this package.

    Beside the sources it has backend_gen.h and backend_gen.cpp, which are
    generated of backend.yaml: declarations of the kernels that it lists, and
    their registrations with those of its devices and engines. The kernels that
    engines make for families, and those named under `dispatch:`, are there as
    well, or with per_family in a file for each family, which //schemas has for
    the folders of backends/.

    With `plugin: true` in backend.yaml the library lacks the objects of
    libswitchyard.so, and //:libswitchyard_NAME.so is made of the target
    `plugin`: the library and plugin_deps. `stays`: unloading leaves its code.
    """
    description = "backend.yaml"
    generated = ["backend_gen.cpp", "backend_gen.h"]
    plugin = native.package_name() in ["backends/" + p for p in PLUGINS]
    native.exports_files([description])
    sygen_files(
        name = name + "_files",
        srcs = [description] if plugin else [],
        srcs_flag = "--input",
        outs = generated,
        args = ["emit", "--kind", "backend"] +
               ([] if plugin else ["--backend", "$(location %s)" % description]) +
               (["--per-family"] if per_family else []),
        deps_srcs = ["//schemas:operators"] + ([] if plugin else [description]),
        testonly = testonly,
    )
    if per_family:
        srcs = srcs + ["//schemas:backend_%s_srcs" % name]
        deps = deps + ["//schemas:backend_%s_headers" % name]
    sy_cc_library(
        name = name,
        srcs = srcs + ["backend_gen.cpp"],
        hdrs = hdrs + ["backend_gen.h"],
        alwayslink = True,
        deps = deps + (["//:sdk_includes"] if plugin else [
            "//aten",
            "//aten/program",
            "//c10",
            "//c10:macros",
            "//c10/schema",
            "//schemas:headers",
        ]),
        visibility = visibility,
        testonly = testonly,
        **kwargs
    )
    if plugin:
        native.cc_library(
            name = "plugin",
            linkopts = ["-Wl,-z,nodelete"] if stays else [],
            visibility = visibility,
            deps = [name] + plugin_deps,
        )
