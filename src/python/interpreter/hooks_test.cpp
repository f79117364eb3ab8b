// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python {
namespace {

using testing::run_program;

TEST_CASE("a Lightning module's own methods run when it is fitted") {
  const auto trial = run_program(R"(
import torch, lightning as L
class Net(L.LightningModule):
    def __init__(self, lr=0.1):
        super().__init__()
        self.save_hyperparameters()
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
    def train_dataloader(self):
        return torch.utils.data.DataLoader([], batch_size=16)
    def unrelated(self):
        torch.never()
trainer = L.Trainer(max_epochs=7)
trainer.fit(Net(lr=0.3))
)");
  CHECK(trial.argument("torch.optim.Adam", "lr") == "0.3");
  CHECK(trial.argument("torch.utils.data.DataLoader", "batch_size") == "16");
  for (const Call& call : trial.seen.calls) CHECK(call.callee != "torch.never");
}

TEST_CASE("a trainer of the tree runs what it overrides") {
  const auto trial = run_program(R"(
import torch
from transformers import Trainer
class Mine(Trainer):
    def create_optimizer(self):
        self.optimizer = torch.optim.SGD([], lr=0.7)
Mine(model=None).train()
)");
  CHECK(trial.argument("torch.optim.SGD", "lr") == "0.7");
}

TEST_CASE("what is wrapped for several devices is still the program's own network") {
  const auto trial = run_program(R"(
import torch
class Net(torch.nn.Module):
    def configure(self, lr):
        return torch.optim.SGD(self.parameters(), lr=lr)
model = torch.nn.parallel.DistributedDataParallel(Net(), device_ids=[0])
raw = model.module
raw.configure(0.3)
)");
  CHECK(trial.argument("torch.optim.SGD", "lr") == "0.3");
}

TEST_CASE("functions handed to launchers are called as these would") {
  const auto trial = run_program(R"(
import torch, functools, jax
import torch.multiprocessing as mp
def worker(rank, world, lr):
    torch.optim.SGD([], lr=lr, rank=rank)
mp.spawn(worker, args=(2, 0.5), nprocs=2)
class Job:
    def __call__(self): torch.optim.Adam([], lr=0.9)
executor = torch.cluster.Executor()
executor.submit(Job())
step = jax.jit(functools.partial(lambda a, b: a + b, 2))
three = step(1)
)");
  CHECK(trial.argument("torch.optim.SGD", "lr") == "0.5");
  CHECK(trial.argument("torch.optim.SGD", "rank") == "0");
  CHECK(trial.argument("torch.optim.Adam", "lr") == "0.9");
  CHECK(trial["three"] == "3");
}

TEST_CASE("what a framework prepares stays what it is") {
  const auto trial = run_program(R"(
import torch
from accelerate import Accelerator
accelerator = Accelerator(mixed_precision='bf16')
model, optimizer = accelerator.prepare(torch.nn.Linear(1, 1), torch.optim.AdamW([], lr=1))
optimizer.step()
if accelerator.is_main_process:
    said = True
)");
  CHECK(trial.seen.calls.back().callee == "torch.optim.AdamW().step");
  CHECK(trial["said"] == "True");
}

}  // namespace
}  // namespace schedmate::python
