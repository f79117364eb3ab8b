// SPDX-License-Identifier: Apache-2.0
#include "python/objects/release.hpp"

#include <map>
#include <set>
#include <utility>

namespace schedmate::python {
namespace {

/// Goes through everything that values hold and cuts what leads back to where it came from.
class CycleCutter {
 public:
  void visit_root(Value& value) {
    size_ = 0;
    visit(value);
  }
  void visit_root(Dict& dict) {
    for (const auto& entry : dict.all()) visit_root(*dict.find(entry.key));
  }

 private:
  void visit(Value& value) {
    const void* node = key_of(value);
    if (node == nullptr) return;
    if (open_.contains(node) || open_.size() > deepest) {
      value.data = Unknown{};
      return;
    }
    if (const auto known = sizes_.find(node); known != sizes_.end()) {
      count(value, known->second);
      return;
    }
    const auto before = std::exchange(size_, 1);
    open_.insert(node);
    inside(value);
    open_.erase(node);
    const auto own = std::exchange(size_, before);
    sizes_[node] = own;
    count(value, own);
  }
  void visit(Dict& dict) {
    for (const auto& entry : dict.all()) visit(*dict.find(entry.key));
  }
  void visit(Arguments& arguments) {
    for (Value& value : arguments.positional) visit(value);
    visit(arguments.named);
  }

  static constexpr std::size_t deepest = 300;
  static constexpr std::size_t largest = 200'000;

  /// A value that stands in many places is visited in each by whoever walks through them.
  void count(Value& value, std::size_t size) {
    if (size_ + size > largest) {
      value.data = Unknown{};
    } else {
      size_ += size;
    }
  }

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

  std::set<const void*> open_;
  std::map<const void*, std::size_t> sizes_;  ///< of each value with all that it holds
  std::size_t size_ = 0;
};

}  // namespace

void cut_circles(Observation& seen) {
  CycleCutter cutter;
  for (auto& instance : seen.instances) {
    Value value = wrap(std::static_pointer_cast<Thing>(instance));
    cutter.visit_root(value);
  }
  for (Call& call : seen.calls) {
    for (Value& value : call.args) cutter.visit_root(value);
    cutter.visit_root(call.named);
  }
  for (Loop& loop : seen.loops) cutter.visit_root(loop.iterable);
  for (Flag& flag : seen.flags) cutter.visit_root(flag.value);
  for (LoadedConfig& config : seen.configs) cutter.visit_root(config.value);
  cutter.visit_root(seen.globals);
}

void cut_circles(Value& value) { CycleCutter().visit_root(value); }

}  // namespace schedmate::python
