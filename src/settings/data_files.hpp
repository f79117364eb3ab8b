// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate::settings {

/// Path of a bundled file such as "venus/venus_vc_config.csv". It is looked for in
/// PREFIX/share/schedmate when the program is PREFIX/bin/schedmate, and in data/ of the source tree
/// when it is build/NAME/schedmate. In a library the same goes for the library, PREFIX/lib/*.so or
/// PREFIX/lib/MACHINE/*.so, and for data/ beside it. Errors: unavailable, naming the places.
[[nodiscard]] Result<std::string> data_file(std::string_view name);

/// The file of a module that is loaded at run time: beside the program, or in PREFIX/lib/schedmate;
/// "" = it was not built.
[[nodiscard]] std::string module_file(std::string_view name);

}  // namespace schedmate::settings
