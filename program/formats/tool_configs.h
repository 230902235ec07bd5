#pragma once

#include <string>

#include "program/program.h"

namespace neutra::program {

/// The config.pkl that DeepFD and AutoTrainer read beside a model.h5: a dict with optimizer (class
/// name), opt_kwargs, loss, batchsize, epoch, callbacks and dataset. `dataset`: a word that the
/// tool looks the rows up by. Throws input_error for what they have no field for.
/// Sources: ArabelaTso/DeepFD, CodeBook/Utils/save_pkl.py; shiningrain/AUTOTRAINER, reproduce.py.
std::string tool_config(const Program& program, const std::string& dataset);

}  // namespace neutra::program
