// SPDX-License-Identifier: Apache-2.0
#include "python/release.hpp"

#include <set>

namespace schedmate::python {
namespace {

/// Goes through everything that values hold and cuts what leads back to where it came from.
class Cutter {
 public:
  void visit(Value& value) {
    const void* node = key_of(value);
    if (node == nullptr) return;
    if (open_.contains(node) || open_.size() > deepest) {
      value.data = Unknown{};
      return;
    }
    if (!done_.insert(node).second) return;
    open_.insert(node);
    inside(value);
    open_.erase(node);
  }
  void visit(Dict& dict) {
    for (const auto& entry : dict.all()) visit(*dict.find(entry.key));
  }
  void visit(Arguments& arguments) {
    for (Value& value : arguments.positional) visit(value);
    visit(arguments.named);
  }

 private:
  static constexpr std::size_t deepest = 500;

  static const void* key_of(const Value& value) {
    if (value.items() != nullptr) return value.items();
    if (value.entries() != nullptr) return value.entries();
    if (const auto* open = std::get_if<Unknown>(&value.data)) return open->may_be.get();
    return value.object();
  }
  void inside(Value& value) {
    if (List* list = value.items()) {
      for (Value& item : *list) visit(item);
    } else if (Dict* dict = value.entries()) {
      visit(*dict);
    } else if (const auto* open = std::get_if<Unknown>(&value.data)) {
      List all = *open->may_be;
      for (Value& each : all) visit(each);
      value.data = Unknown{std::make_shared<const List>(std::move(all))};
    } else {
      inside_object(value);
    }
  }
  void inside_object(const Value& value) {
    if (auto* thing = as<Thing>(value)) {
      visit(thing->fields);
    } else if (auto* made = as<MadeThing>(value)) {
      visit(made->fields);
    } else if (auto* method = as<OutsideMethod>(value)) {
      visit(method->self);
    } else if (auto* bound = as<BoundMethod>(value)) {
      visit(bound->self);
      visit(bound->function);
    } else if (auto* partial = as<Partial>(value)) {
      visit(partial->callable);
      visit(partial->arguments);
    } else if (auto* super = as<Super>(value)) {
      visit(super->self);
    } else if (auto* loop = as<Iteration>(value)) {
      visit(loop->inner);
    }
  }

  std::set<const void*> open_, done_;
};

}  // namespace

void cut_circles(Observation& seen) {
  Cutter cutter;
  for (auto& instance : seen.instances) {
    Value value = wrap(std::static_pointer_cast<Thing>(instance));
    cutter.visit(value);
  }
  for (Call& call : seen.calls) {
    for (Value& value : call.args) cutter.visit(value);
    cutter.visit(call.named);
  }
  for (Loop& loop : seen.loops) cutter.visit(loop.iterable);
  for (Flag& flag : seen.flags) cutter.visit(flag.value);
  for (LoadedConfig& config : seen.configs) cutter.visit(config.value);
  cutter.visit(seen.globals);
}

}  // namespace schedmate::python
