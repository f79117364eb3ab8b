// SPDX-License-Identifier: Apache-2.0

/// As Slurm 22.05 counts (man sbatch; submissions of its test bed are in request_test.cpp).

#include "command/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/slurm_time.hpp"
#include "base/text.hpp"
#include "command/request_text.hpp"

namespace schedmate::command {
namespace {

constexpr auto option_rows = std::to_array<SlurmOption>({
    {"nodes N", "SLURM_NNODES SLURM_JOB_NUM_NODES", "SLURM_NNODES SLURM_JOB_NUM_NODES"},
    {"nodelist w", ""},
    {"ntasks n", "SLURM_NTASKS SLURM_NPROCS", "SLURM_NTASKS SLURM_NPROCS"},
    {"ntasks-per-node", "SLURM_NTASKS_PER_NODE", "SLURM_NTASKS_PER_NODE"},
    {"ntasks-per-gpu", "SLURM_NTASKS_PER_GPU", "SLURM_NTASKS_PER_GPU"},
    {"cpus-per-task c", "SRUN_CPUS_PER_TASK", "SLURM_CPUS_PER_TASK"},
    {"cpus-per-gpu", "*CPUS_PER_GPU", "SLURM_CPUS_PER_GPU"},
    {"gres", "*GRES"},
    {"gpus G", "*GPUS", "SLURM_GPUS"},
    {"gpus-per-node", "*GPUS_PER_NODE"},
    {"gpus-per-task", "*GPUS_PER_TASK", "SLURM_GPUS_PER_TASK"},
    {"gpus-per-socket", ""},
    {"sockets-per-node", ""},
    {"tres-per-task", "*TRES_PER_TASK"},
    {"mem", "*MEM_PER_NODE"},
    {"mem-per-cpu", "*MEM_PER_CPU"},
    {"mem-per-gpu", "*MEM_PER_GPU"},
    {"time t", "*TIMELIMIT"},
    {"partition p", "*PARTITION", "SLURM_JOB_PARTITION"},
    {"qos q", "*QOS"},
    {"constraint C", "*CONSTRAINT"},
    {"array a", "*ARRAY_INX"},
    {"exclusive", "*EXCLUSIVE"},
    {"job-name J", "*JOB_NAME", "SLURM_JOB_NAME"},
    {"export", "*EXPORT"},
    {"chdir D", "SLURM_WORKING_DIR"},
    {"wrap", ""},
});

/// A number and the lines that it comes from.
struct Amount {
  std::optional<std::int64_t> count;
  PlacePtr place;
  bool sure = true;
};

/// `main`, and behind it where the other factor stands.
PlacePtr both(const PlacePtr& main, const PlacePtr& other) {
  if (!main || !other || main == other || main->from) return main ? main : other;
  auto made = std::make_shared<Place>(*main);
  made->from = other;
  return made;
}

Amount product(const Amount& a, const Amount& b) {
  constexpr std::int64_t most = 1'000'000'000;
  Amount made{std::nullopt, both(a.place, b.place), a.sure && b.sure};
  if (a.count && b.count && *a.count <= most && *b.count <= most) made.count = *a.count * *b.count;
  return made;
}

/// One component: every figure is found once, in the order in which they depend on each other.
class Component {
 public:
  Component(const SlurmOptions& given, Request& request) : given_(given), request_(request) {
    read_gpus();
    find_nodes();
    find_gpus();
    find_tasks();
    if (!gpus.count && gpus.place == nullptr) gpus_by_task();
    find_cpus();
    find_memory();
  }

  Amount nodes, tasks, gpus, cpus, memory;
  GpuSets types;
  bool asks_nodes = false, asks_tasks = false, asks_gpus = false, asks_cpus = false;
  bool asks_memory = false, whole_memory = false;

 private:
  const Word* word(std::string_view name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : &found->second;
  }

  template <class Read>
  std::optional<Amount> read(std::string_view name, Read count_in) {
    const Word* const given = word(name);
    if (given == nullptr) return std::nullopt;
    Amount amount{given->known ? count_in(given->text) : std::nullopt, given->place};
    if (!amount.count) unread(name, *given);
    return amount;
  }
  std::optional<Amount> number(std::string_view name) {
    return read(name, [](std::string_view text) {
      const auto count = parse_number<std::int64_t>(trim(text));
      return count && *count >= 0 ? count : std::nullopt;
    });
  }
  void unread(std::string_view name, const Word& given) {
    request_.notes.push_back(
        fmt::format("--{} {} of {}: {}", name, given.text.substr(0, 80), request_.by,
                    given.known ? "not understood" : "not known before the job runs"));
  }

  std::optional<Amount> sets(std::string_view name, bool is_gres) {
    GpuSets found;
    auto amount = read(name, [&](std::string_view text) -> std::optional<std::int64_t> {
      auto sets = gpus_in(text, is_gres);
      if (!sets) return std::nullopt;
      std::int64_t all = 0;
      for (const auto& [type, count] : *sets) all += count;
      found = std::move(*sets);
      return all;
    });
    if (amount && is_gres && amount->count && found.empty()) return std::nullopt;  // gres=none
    if (!amount) return amount;
    for (auto& [type, count] : found) types[type] = count;
    asks_gpus = true;
    return amount;
  }

  void read_gpus() {
    total_ = sets("gpus", false);
    per_node_ = sets("gpus-per-node", false);
    // Of both, Slurm takes what stands last in its list: that of --gres.
    if (auto gres = sets("gres", true)) per_node_ = std::move(gres);
    per_task_ = sets("gpus-per-task", false);
    if (auto more = sets("tres-per-task", true)) per_task_ = std::move(more);
    per_socket_ = sets("gpus-per-socket", false);
    tasks_per_node_ = number("ntasks-per-node");
    tasks_per_gpu_ = number("ntasks-per-gpu");
    given_tasks_ = number("ntasks");
  }

  void find_nodes() {
    auto given_nodes = read("nodes", [](std::string_view text) {
      const auto dash = text.find('-');
      const auto least = parse_number<std::int64_t>(text.substr(0, dash));
      const auto most = dash == std::string_view::npos
                            ? least
                            : parse_number<std::int64_t>(text.substr(dash + 1));
      return least == most && least && *least > 0 ? least : std::nullopt;
    });
    if (!given_nodes) given_nodes = read("nodelist", hosts_in);
    asks_nodes = given_nodes.has_value();
    const auto ratio = [&](const Amount& all, const Amount& each) {
      const bool fine = all.count && each.count && *each.count > 0;
      asks_nodes = fine;
      return Amount{
          fine ? std::optional((*all.count + *each.count - 1) / *each.count) : std::nullopt,
          both(all.place, each.place)};
    };
    if (!given_nodes && given_tasks_ && tasks_per_node_)
      given_nodes = ratio(*given_tasks_, *tasks_per_node_);
    if (!given_nodes && total_ && per_node_) given_nodes = ratio(*total_, *per_node_);
    if (!given_nodes && given_tasks_ && per_task_ && per_node_)
      given_nodes = ratio(product(*given_tasks_, *per_task_), *per_node_);
    const bool spreads = (given_tasks_ && given_tasks_->count.value_or(2) > 1) ||
                         (total_ && total_->count.value_or(2) > 1);
    nodes = given_nodes.value_or(Amount{1, request_.place, !spreads});
    // "can't run 1 processes on 2 nodes, setting nnodes to 1"
    if (asks_nodes && nodes.count && given_tasks_ && given_tasks_->count &&
        *given_tasks_->count > 0 && *given_tasks_->count < *nodes.count)
      nodes = {given_tasks_->count, given_tasks_->place};
  }

  void find_gpus() {
    if (total_) {
      gpus = *total_;
    } else if (per_node_) {
      gpus = product(*per_node_, nodes);
    } else if (per_socket_) {
      const auto sockets = number("sockets-per-node");
      gpus = product(*per_socket_, nodes);
      if (!sockets || sockets->count != 1) gpus.count.reset();
      if (!gpus.count)
        request_.notes.emplace_back(
            "--gpus-per-socket: how many sockets the job gets is not known");
    }
  }

  void find_tasks() {
    const auto shared = [&](const Amount& all, const Amount& each) {
      const bool fine = all.count && each.count && *each.count > 0;
      return Amount{fine ? std::optional(*all.count / *each.count) : std::nullopt,
                    both(each.place, all.place), all.sure};
    };
    asks_tasks = true;
    const bool by_gpus = per_task_ && per_node_ && gpus.count;  // even against --ntasks
    if (given_tasks_ && !by_gpus) {
      tasks = *given_tasks_;
    } else if (tasks_per_node_ && !by_gpus) {
      tasks = product(*tasks_per_node_, nodes);
    } else if (tasks_per_gpu_ && gpus.place && !by_gpus) {
      tasks = product(*tasks_per_gpu_, gpus);
    } else if (by_gpus || (per_task_ && gpus.place)) {
      tasks = shared(gpus, *per_task_);
    } else {
      asks_tasks = false;
      tasks = nodes;  // one on each
    }
  }

  void gpus_by_task() {
    if (per_task_) gpus = product(*per_task_, tasks);
    if (!tasks_per_gpu_ || per_task_) return;
    asks_gpus = true;
    gpus = {std::nullopt, both(tasks_per_gpu_->place, tasks.place), tasks.sure};
    if (tasks.count && tasks_per_gpu_->count && *tasks_per_gpu_->count > 0)
      gpus.count = *tasks.count / *tasks_per_gpu_->count;
  }

  void find_cpus() {
    const auto each = number("cpus-per-task");
    const auto by_gpu = number("cpus-per-gpu");
    asks_cpus = each || by_gpu;
    if (by_gpu && !each) {
      cpus = product(*by_gpu, gpus);
    } else {
      cpus = each ? product(*each, tasks) : tasks;
    }
  }

  void find_memory() {
    const auto size_in = [this](std::string_view text) {
      const auto size = mebibytes(text);
      whole_memory = size == 0;
      return size;
    };
    const auto by_node = read("mem", size_in);
    const auto by_cpu = read("mem-per-cpu", mebibytes);
    const auto by_gpu = read("mem-per-gpu", mebibytes);
    asks_memory = by_node || by_cpu || by_gpu;
    if (by_node) memory = product(*by_node, nodes);
    if (by_cpu) memory = product(*by_cpu, cpus);
    if (by_gpu) memory = product(*by_gpu, gpus);
  }

  const SlurmOptions& given_;
  Request& request_;
  std::optional<Amount> total_, per_node_, per_task_, per_socket_;
  std::optional<Amount> given_tasks_, tasks_per_node_, tasks_per_gpu_;
};

class RequestReader {
 public:
  explicit RequestReader(const Submitted& submitted) : submitted_(submitted) {
    request_.by = submitted.by;
    request_.place = submitted.place;
  }

  Request read() {
    std::vector<Component> components;
    for (const SlurmOptions& given : submitted_.components)
      components.emplace_back(given, request_);
    add_sum("gpus", components, &Component::gpus, &Component::asks_gpus);
    add_sum("nodes", components, &Component::nodes, nullptr);
    add_sum("tasks", components, &Component::tasks, &Component::asks_tasks);
    add_sum("cpus", components, &Component::cpus, &Component::asks_cpus);
    add_memory(components);
    add_type(components);
    add_texts();
    add_time();
    add_array();
    if (submitted_.components.size() > 1)
      add("components", static_cast<std::int64_t>(submitted_.components.size()), submitted_.place);
    if (const Word* const given = first("exclusive")) add_exclusive(*given);
    return std::move(request_);
  }

 private:
  /// Time, partition and the like of a heterogeneous job are those of its first component.
  [[nodiscard]] const Word* first(std::string_view name) const {
    const SlurmOptions& given = submitted_.components.front();
    const auto found = given.find(name);
    return found == given.end() ? nullptr : &found->second;
  }

  void add(std::string_view field, Value::Data value, PlacePtr place, bool sure = true) {
    request_.asked.push_back({std::string(field), {std::move(value), std::move(place)}, sure});
  }

  /// Nothing when no component asks for it. A component without GPUs adds none; without tasks, one.
  void add_sum(std::string_view field, const std::vector<Component>& components,
               Amount Component::* amount, const bool Component::* asked) {
    Amount sum{0, nullptr};
    const bool any = asked == nullptr || std::ranges::any_of(components, asked);
    const bool only_asked = asked == &Component::asks_gpus || asked == &Component::asks_memory;
    for (const Component& one : components) {
      if (only_asked && !(one.*asked)) continue;
      const Amount& part = one.*amount;
      sum.place = both(sum.place, part.place);
      sum.sure = sum.sure && part.sure;
      if (!part.count) {
        sum.count.reset();
        break;
      }
      *sum.count += *part.count;
    }
    if (!any) return;
    add(field, sum.count ? Value::Data(*sum.count) : Value::Data(Unknown{}), sum.place, sum.sure);
  }

  void add_memory(const std::vector<Component>& components) {
    const auto whole = std::ranges::find_if(components, &Component::whole_memory);
    if (whole == components.end())
      return add_sum("memory_mib", components, &Component::memory, &Component::asks_memory);
    add("memory_mib", std::string("all"), whole->memory.place);
  }

  void add_type(const std::vector<Component>& components) {
    std::set<std::string> types;
    PlacePtr place;
    for (const Component& one : components) {
      for (const auto& [type, count] : one.types) {
        if (type.empty() || count == 0) continue;
        types.insert(type);
        place = both(place, one.gpus.place);
      }
    }
    if (types.size() == 1) add("gpu_type", *types.begin(), place);
    if (types.size() > 1)
      request_.notes.push_back(
          fmt::format("{} asks for GPUs of several types ({}): none is taken for all", request_.by,
                      fmt::join(types, ", ")));
  }

  void add_texts() {
    for (const std::string_view name : {"partition", "qos", "constraint"}) {
      const Word* const given = first(name);
      if (given == nullptr) continue;
      add(name, given->known ? Value::Data(given->text) : Value::Data(Unknown{}), given->place);
    }
  }

  void add_time() {
    const Word* const given = first("time");
    if (given == nullptr) return;
    const auto time = given->known ? parse_slurm_time(given->text) : std::nullopt;
    if (!time) {
      request_.notes.push_back(
          fmt::format("--time {} of {}: {}", given->text.substr(0, 80), request_.by,
                      given->known ? "not a time of Slurm" : "not known before the job runs"));
      return add("time_limit_s", Unknown{}, given->place);
    }
    constexpr std::int64_t minute = 60;  // Slurm rounds up to it
    if (!time->limit) return add("time_limit_s", std::string("unlimited"), given->place);
    add("time_limit_s", (time->limit->count() + minute - 1) / minute * minute, given->place);
  }

  void add_array() {
    const Word* const given = first("array");
    if (given == nullptr) return;
    const auto count = given->known ? array_size(given->text) : std::nullopt;
    constexpr std::int64_t most = 100'000;
    const bool fine = count && *count <= most;
    if (!fine) request_.notes.emplace_back("the size of the job array is not known");
    add("array_tasks", fine ? Value::Data(*count) : Value::Data(Unknown{}), given->place);
  }

  /// A whole node has GPUs of which the submission says nothing.
  void add_exclusive(const Word& given) {
    if (!given.text.empty() && given.text != "1") return;  // =user, =mcs
    add("exclusive", true, given.place);
    if (request_.find("gpus") != nullptr) return;
    add("gpus", Unknown{}, given.place);
    request_.notes.emplace_back("--exclusive gives all GPUs of a node: how many is not said");
  }

  const Submitted& submitted_;
  Request request_;
};

}  // namespace

std::span<const SlurmOption> request_options() { return option_rows; }

std::string_view long_name(const SlurmOption& option) {
  return option.names.substr(0, option.names.find(' '));
}

const SlurmOption* find_slurm_option(std::string_view name) {
  const SlurmOption* cut = nullptr;
  for (const SlurmOption& option : option_rows) {
    const auto full = long_name(option);
    const bool is_short =
        option.names.size() > full.size() && option.names.substr(full.size() + 1) == name;
    if (full == name || is_short) return &option;
    constexpr std::size_t least = 4;  // shorter ones are ambiguous among all options of Slurm
    if (name.size() > least && full.starts_with(name)) {
      if (cut != nullptr) return nullptr;
      cut = &option;
    }
  }
  return cut;
}

const Asked* Request::find(std::string_view field) const {
  const auto found = std::ranges::find(asked, field, &Asked::field);
  return found == asked.end() ? nullptr : &*found;
}

std::optional<std::int64_t> Request::number(std::string_view field) const {
  const Asked* const found = find(field);
  const auto* const count = found == nullptr ? nullptr : found->value.integer();
  return count == nullptr ? std::nullopt : std::optional(*count);
}

Request request_of(const Submitted& submitted) { return RequestReader(submitted).read(); }

}  // namespace schedmate::command
