// SPDX-License-Identifier: Apache-2.0
/// Files behind a manager (iopath, fvcore, TensorFlow's gfile), and those that a package brings
/// along (pkg_resources, importlib.resources).
#include "python/natives/file_object.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/path_object.hpp"
#include "python/objects/objects.hpp"

namespace schedmate::python::natives {
namespace {

constexpr int most_levels = 3;  ///< above a package, where its data may lie before installation

/// The manager itself stands first when the function is called as its method.
Arguments without_manager(const Arguments& arguments) {
  Arguments rest = arguments;
  const bool method = !rest.positional.empty() && object_as<Made>(rest.positional[0]) != nullptr;
  if (method) rest.positional.erase(rest.positional.begin());
  return rest;
}

/// A function on paths that a table has under another name already.
Native behind_manager(const Native& function) {
  return [function](Machine& machine, const Arguments& arguments) {
    return function(machine, without_manager(arguments));
  };
}

Value local_path(Machine&, const Arguments& arguments) {
  const Value* path = arguments.find("path", 0);
  return path == nullptr ? unknown(arguments.place) : *path;
}

/// The folder of a package, as the program sees it; "" when the package is not in the tree.
std::string package_folder(Machine& machine, const Value* package) {
  if (package == nullptr) return "";
  const Value module = package->text() == nullptr ? *package : machine.resolve(*package->text());
  // A folder without __init__.py is a package too.
  const auto* own = object_as<Module>(module);
  if (own != nullptr && own->file.empty()) return own->folder;
  const Value file = machine.attribute(module, "__file__");
  return file.text() == nullptr ? "" : parent_path(*file.text());
}

/// What setup.py copies into a package lies elsewhere in the tree before: above the package.
Value resource(Machine& machine, const Arguments& arguments) {
  const Value* name = arguments.find("resource_name", 1);
  std::string folder = package_folder(machine, arguments.find("package_or_requirement", 0));
  if (name == nullptr || name->text() == nullptr || folder.empty()) return unknown(arguments.place);
  const std::string plain = folder + "/" + *name->text();
  for (int level = 0; level <= most_levels; ++level) {
    const Value path(folder + "/" + *name->text(), name->place);
    if (path_exists(machine, path, PathKind::any).truth() == true) return path;
    folder += "/..";
  }
  return {plain, name->place};
}

Value package_path(Machine& machine, const Arguments& arguments) {
  const std::string folder = package_folder(machine, arguments.find("package", 0));
  return folder.empty() ? unknown(arguments.place) : make_path(folder, arguments.place);
}

}  // namespace

void add_path_managers(NativeTable& table) {
  const std::pair<std::string_view, Native> functions[] = {{"open", table["open"]},
                                                           {"exists", table["os.path.exists"]},
                                                           {"isfile", table["os.path.isfile"]},
                                                           {"isdir", table["os.path.isdir"]},
                                                           {"ls", table["os.listdir"]},
                                                           {"get_local_path", local_path}};
  for (const std::string manager :
       {"iopath.common.file_io.PathManager", "iopath.common.file_io.g_pathmgr",
        "iopath.common.file_io.PathManagerFactory.get", "fvcore.common.file_io.PathManager"}) {
    for (const auto& [name, function] : functions)
      table[manager + "." + std::string(name)] = behind_manager(function);
  }
  for (const std::string gfile : {"tensorflow.io.gfile.", "tensorflow.compat.v1.gfile."}) {
    table[gfile + "exists"] = table["os.path.exists"];
    table[gfile + "isdir"] = table["os.path.isdir"];
    table[gfile + "glob"] = table["glob.glob"];
    table[gfile + "Open"] = table["open"];
  }
  table["pkg_resources.resource_filename"] = resource;
  table["importlib.resources.files"] = package_path;
  table["importlib_resources.files"] = package_path;
}

}  // namespace schedmate::python::natives
