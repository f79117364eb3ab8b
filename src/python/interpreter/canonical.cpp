// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "python/interpreter/operations.hpp"

namespace schedmate::python {
namespace {

struct Alias {
  std::string_view from, to;
};

/// Names under which the same thing can be imported. Whole parts only; the first fit counts.
constexpr std::array aliases = {
    Alias{"pytorch_lightning", "lightning.pytorch"},
    Alias{"lightning_fabric", "lightning.fabric"},
    Alias{"lightning.Trainer", "lightning.pytorch.Trainer"},
    Alias{"lightning.LightningModule", "lightning.pytorch.LightningModule"},
    Alias{"lightning.LightningDataModule", "lightning.pytorch.LightningDataModule"},
    Alias{"lightning.seed_everything", "lightning.pytorch.seed_everything"},
    Alias{"lightning.Fabric", "lightning.fabric.Fabric"},
    Alias{"lightning.pytorch.trainer.trainer.Trainer", "lightning.pytorch.Trainer"},
    Alias{"lightning.pytorch.trainer.Trainer", "lightning.pytorch.Trainer"},
    Alias{"six.string_types", "str"},
    Alias{"six.text_type", "str"},
    Alias{"six.integer_types", "int"},
    Alias{"tensorflow.compat.v1", "tensorflow"},
    Alias{"tensorflow.compat.v2", "tensorflow"},
    Alias{"tensorflow.python.keras", "keras"},
    Alias{"tensorflow.keras", "keras"},
    Alias{"tf_keras", "keras"},
    Alias{"keras.optimizers.legacy", "keras.optimizers"},
    Alias{"keras.optimizers.experimental", "keras.optimizers"},
    Alias{"keras.optimizers.schedules", "keras.optimizers.schedules"},
    Alias{"torch.nn.parallel.distributed.DistributedDataParallel",
          "torch.nn.parallel.DistributedDataParallel"},
    Alias{"torch.nn.parallel.data_parallel.DataParallel", "torch.nn.DataParallel"},
    Alias{"torch.nn.parallel.DataParallel", "torch.nn.DataParallel"},
    Alias{"torch.distributed.fsdp.fully_sharded_data_parallel", "torch.distributed.fsdp"},
    Alias{"torch.distributed._composable.fsdp", "torch.distributed.fsdp"},
    Alias{"torch.cuda.amp.autocast_mode", "torch.cuda.amp"},
    Alias{"torch.amp.autocast_mode", "torch.amp"},
    Alias{"torch.cuda.amp.grad_scaler", "torch.cuda.amp"},
    Alias{"torch.amp.grad_scaler", "torch.amp"},
    Alias{"torch.utils.data.dataloader", "torch.utils.data"},
    Alias{"torch.utils.data.dataset", "torch.utils.data"},
    Alias{"torch.utils.data.distributed.DistributedSampler",
          "torch.utils.data.distributed.DistributedSampler"},
    Alias{"torch.utils.data.DistributedSampler", "torch.utils.data.distributed.DistributedSampler"},
    Alias{"torch.autocast", "torch.autocast"},
    Alias{"transformers.trainer.Trainer", "transformers.Trainer"},
    Alias{"transformers.training_args.TrainingArguments", "transformers.TrainingArguments"},
    Alias{"transformers.training_args_seq2seq", "transformers"},
    Alias{"transformers.trainer_seq2seq", "transformers"},
    Alias{"transformers.optimization", "transformers"},
    Alias{"sentence_transformers.trainer", "sentence_transformers"},
    Alias{"sentence_transformers.training_args", "sentence_transformers"},
    Alias{"sentence_transformers.cross_encoder", "sentence_transformers"},
    Alias{"mmcv.Config", "mmengine.config.Config"},
    Alias{"mmengine.Config", "mmengine.config.Config"},
    Alias{"mmcv.runner.IterBasedRunner", "mmcv.runner.IterBasedRunner"},
    Alias{"jax.experimental.optimizers", "jax.example_libraries.optimizers"},
    Alias{"ruamel_yaml", "ruamel.yaml"},
    Alias{"etils.epath.Path", "pathlib.Path"},
    Alias{"elements.Path", "pathlib.Path"},
    Alias{"builtins", ""},
};

/// torch.optim.adamw.AdamW: the file of a class is left out.
void drop_optimizer_file(std::string& name) {
  constexpr std::string_view start = "torch.optim.";
  if (!name.starts_with(start) || name.starts_with("torch.optim.lr_scheduler")) return;
  const auto dot = name.find('.', start.size());
  if (dot == std::string::npos || name.find('(') != std::string::npos) return;
  const bool file = name[start.size()] >= 'a' && name[start.size()] <= 'z';
  const bool type = dot + 1 < name.size() && name[dot + 1] >= 'A' && name[dot + 1] <= 'Z';
  if (file && type) name.erase(start.size(), dot + 1 - start.size());
}

}  // namespace

std::string canonical(std::string name) {
  for (const Alias& alias : aliases) {
    const bool fits = name.starts_with(alias.from) &&
                      (name.size() == alias.from.size() || name[alias.from.size()] == '.' ||
                       name[alias.from.size()] == '(');
    if (!fits || alias.from == alias.to) continue;
    name.replace(0, alias.from.size(), alias.to);
    if (name.starts_with('.')) name.erase(0, 1);
    break;
  }
  drop_optimizer_file(name);
  return name;
}

}  // namespace schedmate::python
