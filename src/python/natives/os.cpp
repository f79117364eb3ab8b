// SPDX-License-Identifier: Apache-2.0
/// os, sys, glob, subprocess: the program's surroundings.
#include <algorithm>

#include "base/text.hpp"
#include "python/natives/attribute_dict.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/path_object.hpp"

namespace schedmate::python::natives {
namespace {

/// What torchrun and srun set for the first of several processes.
std::optional<Value> set_by_launcher(Machine& machine, std::string_view name) {
  const PythonRun& run = machine.run();
  if (run.processes <= 1) return std::nullopt;
  static constexpr std::string_view zeros[] = {"RANK",
                                               "LOCAL_RANK",
                                               "GROUP_RANK",
                                               "NODE_RANK",
                                               "SLURM_PROCID",
                                               "SLURM_LOCALID",
                                               "SLURM_NODEID",
                                               "PMI_RANK",
                                               "OMPI_COMM_WORLD_RANK",
                                               "OMPI_COMM_WORLD_LOCAL_RANK"};
  const auto text = [](int number, std::string_view what) {
    Value value = from_request(number, what);
    value.data = std::to_string(number);
    return value;
  };
  if (std::ranges::find(zeros, name) != std::end(zeros)) return text(0, "rank");
  if (name == "WORLD_SIZE" || name == "SLURM_NTASKS" || name == "OMPI_COMM_WORLD_SIZE" ||
      name == "PMI_SIZE")
    return text(run.processes, "processes");
  if (name == "LOCAL_WORLD_SIZE" || name == "SLURM_NTASKS_PER_NODE" ||
      name == "OMPI_COMM_WORLD_LOCAL_SIZE")
    return text(run.processes / std::max(run.nodes, 1), "processes per node");
  if (name == "SLURM_NNODES" || name == "SLURM_JOB_NUM_NODES") return text(run.nodes, "nodes");
  if (name == "MASTER_ADDR") return Value("localhost");
  if (name == "MASTER_PORT") return Value("29500");
  return std::nullopt;
}

/// Set by several launchers or by none that is known here; a login shell sets the rest.
bool may_be_set(std::string_view name) {
  static constexpr std::string_view common[] = {"HOME",
                                                "USER",
                                                "PATH",
                                                "PWD",
                                                "HOSTNAME",
                                                "TMPDIR",
                                                "CUDA_VISIBLE_DEVICES",
                                                "LD_LIBRARY_PATH",
                                                "LOGNAME",
                                                "SHELL"};
  return std::ranges::find(common, name) != std::end(common) || name.starts_with("SLURM_");
}

/// os.environ: what the command sets, what the program sets, what launchers set.
class Environ : public AttributeDict {
 public:
  explicit Environ(Machine& machine)
      : AttributeDict({.type = "os.environ", .wraps_nested = false},
                      Value::dict(environment_of(machine))) {}

  std::optional<Value> item(Machine& machine, const Value& key) override {
    if (key.text() == nullptr) return unknown();
    const Value* own = is_copy_ ? entries().find(*key.text()) : nullptr;
    return own != nullptr ? std::optional(*own) : environment_variable(machine, *key.text());
  }

 protected:
  std::optional<Value> method(Machine& machine, std::string_view name) override {
    if (name == "get" || name == "pop" || name == "setdefault")
      return native_function("os.environ." + std::string(name), get);
    if (name == "__contains__") return native_function("os.environ.__contains__", contains);
    if (name == "copy" || name == "__copy__") {
      const auto self = std::static_pointer_cast<Environ>(shared_from_this());
      return native_function("os.environ.copy", [self](Machine& within, const Arguments& given) {
        auto copy = std::make_shared<Environ>(within);
        for (const auto& [key, value] : self->entries().all()) copy->entries().set(key, value);
        copy->is_copy_ = true;
        return value_of(std::move(copy), given.place);
      });
    }
    return AttributeDict::method(machine, name);
  }

 private:
  bool is_copy_ = false;
  static Value get(Machine& machine, const Arguments& arguments) {
    const Value* name = arguments.find("key", 0);
    const Value* otherwise = arguments.find("default", 1);
    if (name == nullptr || name->text() == nullptr) return unknown(arguments.place);
    if (auto found = environment_variable(machine, *name->text())) return *found;
    if (otherwise != nullptr) return *otherwise;
    return may_be_set(*name->text()) ? unknown(arguments.place) : Value::none(arguments.place);
  }
  static Value contains(Machine& machine, const Arguments& arguments) {
    const Value* name = arguments.find("key", 0);
    if (name == nullptr || name->text() == nullptr) return unknown(arguments.place);
    const bool set = environment_variable(machine, *name->text()).has_value();
    return !set && may_be_set(*name->text()) ? unknown(arguments.place)
                                             : Value(set, arguments.place);
  }
};

std::shared_ptr<Environ> environ_of(Machine& machine) {
  auto& held = machine.memory["os.environ"];
  if (!held) held = std::make_shared<Environ>(machine);
  return std::static_pointer_cast<Environ>(held);
}

Value read_variable(Machine& machine, const Arguments& arguments) {
  const Value get = environ_of(machine)->attribute(machine, "get").value_or(Value{});
  return machine.call(get, arguments);
}

/// os.path.x(path) on known texts.
template <class Change>
Native on_path(Change change) {
  return [change](Machine&, const Arguments& arguments) {
    const Value* path = arguments.find("path", 0);
    const auto text = path == nullptr ? std::nullopt : path_text(*path);
    if (!text) return unknown(arguments.place);
    return placed(change(*text, path->place), arguments.place);
  };
}

Value join(Machine&, const Arguments& arguments) {
  std::string out;
  PlacePtr place;
  for (const Value& each : arguments.positional) {
    const auto text = path_text(each);
    if (!text) return unknown(arguments.place);
    out = joined_path(out, *text);
    if (each.place && (!place || place->source == FactSource::code)) place = each.place;
  }
  return {out, place ? place : arguments.place};
}

Native exists(PathKind kind) {
  return [kind](Machine& machine, const Arguments& arguments) {
    return arguments.positional.empty() ? unknown(arguments.place)
                                        : path_exists(machine, arguments.positional[0], kind);
  };
}

Value list_folder(Machine& machine, const Arguments& arguments) {
  const Value* path = arguments.find("path", 0);
  const auto text = path == nullptr ? std::optional<std::string>(".") : path_text(*path);
  const auto folder = text ? tree_path(machine, *text) : std::nullopt;
  if (!folder || !machine.tree().is_folder(*folder)) return unknown(arguments.place);
  List names;
  for (const tree::TreeEntry& entry : machine.tree().list(*folder))
    names.emplace_back(last_part(entry.path), arguments.place);
  return Value::list(std::move(names), arguments.place);
}

Value glob(Machine& machine, const Arguments& arguments) {
  const Value* pattern = arguments.find("pathname", 0);
  const auto text = pattern == nullptr ? std::nullopt : path_text(*pattern);
  return text ? matching_paths(machine, *text, arguments.place) : unknown(arguments.place);
}

Value path_of(Machine&, const Arguments& arguments) {
  std::string out;
  for (const Value& each : arguments.positional) {
    const auto text = path_text(each);
    if (!text) return unknown(arguments.place);
    out = joined_path(out, *text);
  }
  const PlacePtr place =
      arguments.positional.empty() ? arguments.place : arguments.positional[0].place;
  return make_path(out.empty() ? "." : out, place);
}

/// On the text of a path; the result keeps the place.
void add_path_functions(NativeTable& table) {
  table["os.path.join"] = join;
  table["os.path.dirname"] = on_path([](const std::string& text, const PlacePtr& place) {
    return Value(parent_path(text), place);
  });
  table["os.path.basename"] = on_path(
      [](const std::string& text, const PlacePtr& place) { return Value(last_part(text), place); });
  const Native normal = on_path([](const std::string& text, const PlacePtr& place) {
    return Value(normal_path(text), place);
  });
  for (const auto* const name : {"os.path.abspath", "os.path.realpath", "os.path.normpath"})
    table[name] = normal;
  const Native same =
      on_path([](const std::string& text, const PlacePtr& place) { return Value(text, place); });
  for (const auto* const name : {"os.path.expanduser", "os.path.expandvars", "os.fspath"})
    table[name] = same;
  table["os.path.splitext"] = on_path([](const std::string& text, const PlacePtr& place) {
    const auto dot = suffix_at(text);
    return Value::list({{text.substr(0, dot), place}, {text.substr(dot), place}}, place);
  });
  table["os.path.split"] = on_path([](const std::string& text, const PlacePtr& place) {
    return Value::list({{parent_path(text), place}, {last_part(text), place}}, place);
  });
  table["os.path.isabs"] = on_path([](const std::string& text, const PlacePtr& place) {
    return Value(text.starts_with('/'), place);
  });
  table["os.path.exists"] = exists(PathKind::any);
  table["os.path.lexists"] = exists(PathKind::any);
  table["os.path.isfile"] = exists(PathKind::file);
  table["os.path.isdir"] = exists(PathKind::folder);
}

}  // namespace

std::optional<Value> environment_variable(Machine& machine, std::string_view name) {
  const auto environ = environ_of(machine);
  if (const Value* found = environ->entries().find(name)) return *found;
  return set_by_launcher(machine, name);
}

std::optional<Value> os_constant(Machine& machine, std::string_view dotted) {
  if (dotted == "os.environ") return value_of(environ_of(machine));
  if (dotted == "os.sep" || dotted == "os.path.sep") return Value("/");
  if (dotted == "os.linesep") return Value("\n");
  if (dotted == "os.name") return Value("posix");
  if (dotted == "os.curdir") return Value(".");
  if (dotted == "sys.platform") return Value("linux");
  if (dotted == "sys.executable") return Value("python");
  if (dotted == "sys.argv") {
    auto& held = machine.memory["sys.argv"];
    if (!held) {
      Value words = as_list(machine.run().args);
      const PythonRun& run = machine.run();
      words.items()->insert(words.items()->begin(),
                            Value(run.script.empty() ? run.module : run.script));
      auto space = std::make_shared<AttributeDict>(AttributeDict::Style{}, Value::dict({}));
      space->entries().set("argv", words);
      held = space;
    }
    return *static_cast<AttributeDict&>(*held).entries().find("argv");
  }
  return modules_constant(dotted);
}

void add_paths(NativeTable& table) {
  add_path_functions(table);
  for (const auto* const name :
       {"pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath"})
    table[name] = path_of;
  const Native here = [](Machine&, const Arguments& arguments) {
    return make_path(".", arguments.place);
  };
  table["pathlib.Path.cwd"] = here;
  table["os.getcwd"] = [](Machine&, const Arguments& arguments) {
    return Value(".", arguments.place);
  };
  for (const auto* const name : {"os.listdir", "os.scandir"}) table[name] = list_folder;
  for (const auto* const name : {"glob.glob", "glob.iglob"}) table[name] = glob;
}

void add_os(NativeTable& table) {
  for (const auto* const name : {"os.getenv", "os.environ.get"}) table[name] = read_variable;
  for (const auto* const name :
       {"os.cpu_count", "multiprocessing.cpu_count", "psutil.cpu_count", "os.sched_getaffinity",
        "os.getpid", "socket.gethostname", "platform.system", "time.time", "datetime.datetime.now",
        "time.strftime", "datetime.datetime.today", "datetime.now"})
    table[name] = [](Machine&, const Arguments& arguments) { return unknown(arguments.place); };
  for (const auto* const name : {"os.makedirs", "os.mkdir", "os.chdir", "warnings.warn",
                                 "warnings.filterwarnings", "warnings.simplefilter"})
    table[name] = [](Machine&, const Arguments& arguments) { return Value::none(arguments.place); };
  add_modules(table);
  for (const auto* const name : {"sys.exit", "os._exit"}) {
    table[name] = [](Machine& machine, const Arguments& arguments) {
      const Value* code = arguments.find("status", 0);
      std::string reason = "the program exits by itself";
      if (code != nullptr && code->text() != nullptr) reason += ": " + *code->text();
      machine.stop(reason, arguments.place);
      return Value::none(arguments.place);
    };
  }
}

}  // namespace schedmate::python::natives
