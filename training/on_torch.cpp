#include "training/on_torch.h"

#include <algorithm>
#include <chrono>

#include "training/torch.h"

/// Defined in sgemm.cpp, which is linked into the executable; null in one that lacks it.
extern "C" __attribute__((weak)) std::uint64_t neutra_sgemm_calls();

namespace neutra::training {

std::string on_torch::config() { return at::show_config(); }

bool on_torch::routed() {
  const at::NoGradGuard guard;
  if (neutra_sgemm_calls == nullptr) return false;
  const std::uint64_t before = neutra_sgemm_calls();
  const at::Tensor a = at::arange(64, at::kFloat).view({8, 8});
  const at::Tensor product = at::mm(a, at::eye(8).mul_(2));
  return neutra_sgemm_calls() > before && at::equal(product, a * 2);
}

double on_torch::gflops() {
  at::set_num_threads(1);
  constexpr std::int64_t kSize = 512;
  const at::NoGradGuard guard;
  const at::Tensor a = at::ones({kSize, kSize}), b = at::ones({kSize, kSize});
  at::Tensor c = at::mm(a, b);
  double best = 0;
  for (int i = 0; i < 5; ++i) {  // the best of five: others use the machine too
    const auto start = std::chrono::steady_clock::now();
    at::mm_out(c, a, b);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * kSize * kSize * kSize / seconds.count() / 1e9);
  }
  return best;
}

const TorchFunctions neutra_torch_functions{on_torch::make_eager_engine,
                                            on_torch::run_torch_script,
                                            on_torch::evaluate_outputs,
                                            on_torch::torchscript,
                                            on_torch::config,
                                            on_torch::routed,
                                            on_torch::gflops};

}  // namespace neutra::training
