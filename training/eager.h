#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "training/observer.h"
#include "training/trainer.h"

namespace neutra {

struct TrainerOptions {
  /// Where relative data files are looked up, in order.
  std::vector<std::filesystem::path> data_path;
  /// Stop a training once every weight is NaN: its result is known (exact).
  bool skip_dead_epochs = true;
};

/// The reference back end: LibTorch tensors and autograd, Keras 2.4 semantics, own optimisers on
/// flat buffers. Data sets are loaded once per process and shared by all threads.
class EagerTrainer : public Trainer {
 public:
  using Trainer::train;
  /// With an observer; its exceptions pass through.
  virtual ReplicaResult train(const TrainingJob& job, Observer* observer) = 0;
};
std::unique_ptr<EagerTrainer> make_eager_trainer(TrainerOptions options);

/// Version and speed facts for `neutra --version` and file headers.
struct LibraryVersions {
  std::string torch, onednn, hdf5;
  std::string
      blas_route;     ///< "oneDNN" when sgemm_ is answered by oneDNN, else "reference BLAS (slow)"
  double gflops = 0;  ///< of a small single-core product; 0 when not measured
};
LibraryVersions library_versions(bool measure_speed);

/// Multiplies two small matrices through LibTorch and compares with the expected result; false and
/// one warning line on stderr when sgemm_ is not answered by oneDNN.
bool check_blas_route();

}  // namespace neutra
