#pragma once

/// The part of LibTorch that training/ uses; precompiled. torch/torch.h would cost three times as
/// much.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>
