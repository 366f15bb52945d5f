# Switchyard @VERSION@: target Switchyard::switchyard, the generator as
# Switchyard::sygen, and switchyard_add_backend().
cmake_minimum_required(VERSION 3.20)

get_filename_component(Switchyard_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.."
                       REALPATH)
set(Switchyard_SCHEMAS "${Switchyard_PREFIX}/share/switchyard/schemas")

if(NOT TARGET Switchyard::switchyard)
  add_library(Switchyard::switchyard SHARED IMPORTED)
  set_target_properties(
    Switchyard::switchyard
    PROPERTIES IMPORTED_LOCATION "${Switchyard_PREFIX}/lib/libswitchyard.so"
               IMPORTED_SONAME libswitchyard.so
               INTERFACE_INCLUDE_DIRECTORIES
               "${Switchyard_PREFIX}/include/switchyard"
               INTERFACE_COMPILE_FEATURES cxx_std_20)
  add_executable(Switchyard::sygen IMPORTED)
  set_target_properties(
    Switchyard::sygen PROPERTIES IMPORTED_LOCATION
                                 "${Switchyard_PREFIX}/bin/sygen")
  add_executable(Switchyard::sy IMPORTED)
  set_target_properties(
    Switchyard::sy PROPERTIES IMPORTED_LOCATION "${Switchyard_PREFIX}/bin/sy")
endif()

# Runs `sygen emit --kind KIND` over SCHEMA, with the installed schemas and
# backends known.
function(_switchyard_generate kind schema)
  get_filename_component(folder "${schema}" DIRECTORY)
  get_filename_component(file "${schema}" NAME)
  file(GLOB installed "${Switchyard_SCHEMAS}/ops/*.yaml"
       "${Switchyard_SCHEMAS}/tags.yaml"
       "${Switchyard_SCHEMAS}/../backends/*/backend.yaml")
  set(extra)
  foreach(known IN LISTS installed)
    list(APPEND extra --extra "${known}")
  endforeach()
  set(outs)
  foreach(out IN LISTS ARGN)
    list(APPEND outs --out "${out}")
  endforeach()
  # sygen runs in the schema's folder, so that messages and banners name it
  # shortly.
  add_custom_command(
    OUTPUT ${ARGN}
    COMMAND Switchyard::sygen emit --kind ${kind} --input "${file}" ${extra}
            ${outs}
    DEPENDS "${schema}" ${installed}
    WORKING_DIRECTORY "${folder}"
    COMMENT "Generating from ${file}"
    VERBATIM)
endfunction()

# switchyard_add_operators(TARGET target SCHEMA name.yaml)
#
# Operators of a namespace of one's own, described in YAML: generates <name>.h,
# for the target's sources to include, and <name>.cpp, which becomes part of it.
function(switchyard_add_operators)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;SCHEMA" "")
  if(NOT arg_TARGET OR NOT arg_SCHEMA OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "switchyard_add_operators needs TARGET and SCHEMA")
  endif()
  get_filename_component(schema "${arg_SCHEMA}" ABSOLUTE)
  get_filename_component(name "${arg_SCHEMA}" NAME_WE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_generated")
  file(MAKE_DIRECTORY "${folder}")
  _switchyard_generate(library "${schema}" "${folder}/${name}.h"
                       "${folder}/${name}.cpp")
  target_sources(${arg_TARGET} PRIVATE "${folder}/${name}.cpp")
  target_include_directories(${arg_TARGET} PRIVATE "${folder}")
endfunction()

# switchyard_add_backend(NAME name [SCHEMA schema.yaml] SOURCES file...)
#
# A plugin, lib<name>.so, for sy::load_library. SCHEMA lists the operators it
# supports: sygen writes <schema>_kernels.h, which declares each kernel for the
# sources, and registers them, and the CPU for all other operators.
function(switchyard_add_backend)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SCHEMA" "SOURCES")
  if(NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "switchyard_add_backend needs NAME and SOURCES")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "switchyard_add_backend: unknown argument "
                        "${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(generated)
  if(arg_SCHEMA)
    get_filename_component(schema "${arg_SCHEMA}" ABSOLUTE)
    get_filename_component(base "${arg_SCHEMA}" NAME_WE)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_generated")
    set(generated "${folder}/${base}_kernels.h" "${folder}/${base}_register.cpp")
    file(MAKE_DIRECTORY "${folder}")
    _switchyard_generate(backend "${schema}" ${generated})
  endif()
  add_library(${arg_NAME} MODULE ${arg_SOURCES} ${generated})
  target_link_libraries(${arg_NAME} PRIVATE Switchyard::switchyard)
  if(arg_SCHEMA)
    target_include_directories(${arg_NAME} PRIVATE "${folder}")
  endif()
  # Hidden symbols, and no unique ones: either would keep a closed library
  # mapped, or bind it to another plugin's code.
  set_target_properties(
    ${arg_NAME} PROPERTIES CXX_VISIBILITY_PRESET hidden
                           VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(
    ${arg_NAME} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  if(arg_SCHEMA)
    # The compiler names the line of a kernel whose signature is not the declared
    # one; the linker alone would not.
    target_compile_options(
      ${arg_NAME}
      PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wmissing-declarations>
              $<$<CXX_COMPILER_ID:Clang>:-Wmissing-prototypes>)
  endif()
  target_link_options(${arg_NAME} PRIVATE -Wl,--no-undefined)
endfunction()
