#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/script.h"
#include "program/faults.h"
#include "program/parameters.h"

namespace neutra::experiments {

/// A correct or faulty base program with its keys: experiments/subjects/*.json
/// (docs/formats/subject.md).
struct Subject {
  std::string id;  ///< "d7", "mnist_cnn"
  std::string title;
  std::string source;           ///< of the program and its data
  std::string licence;          ///< of both, where it is known
  program::ProgramSpace space;  ///< base = the correct program
  std::filesystem::path file;   ///< that it was read from
};

/// A faulty program and its known fix: experiments/faults/*.json (docs/formats/fault.md) or a
/// user's file.
struct Fault {
  std::string id;  ///< "D7"
  std::string title;
  std::string subject;  ///< id of the subject, "" for a self-contained file
  std::string origin;   ///< "real" | "artificial"
  std::string source;   ///< e.g. the post number
  std::vector<std::string> tags;
  program::ProgramSpace space;  ///< base = the buggy program
  program::Program buggy;
  /// The known fix; absent in a plain program file: a repair then improves significantly.
  std::optional<program::Program> fixed;
  std::optional<program::Parameters> fixed_parameters;  ///< where the fix is expressible by keys
  /// What the study's fault-localisation tools ran on, where it isn't the buggy program.
  std::optional<program::Program> tools;
  std::string tools_reason;           ///< why they ran on it
  program::FaultSet declared;         ///< as the study lists it
  program::FaultSet actual;           ///< diff(buggy, fixed)
  std::optional<Script> script = {};  ///< that the buggy program was captured from
  std::filesystem::path file;
};

/// Is this one of the bundled faults of the study, and not a user's file or a bundled subject?
bool is_bundled(const Fault& fault);

/// Folder with the bundled subjects, faults and small data: NEUTRA_RESOURCES, else beside the
/// executable, else the source tree.
std::filesystem::path resource_directory();

/// The program that fault-localisation tools are asked about: `tools`, else the buggy program.
const program::Program& tools_program(const Fault& fault);
/// "lr=0.01 for 0.001", or "another program" where no keys say how it differs; "" where it doesn't.
std::string tools_difference(const Fault& fault);

/// Ids of the bundled subjects, in the order of experiments/index.json.
std::vector<std::string> subject_ids();
/// Ids of the bundled faults: D1..D9, M1..M3, F1..F3, C1..C3, R1..R7.
std::vector<std::string> fault_ids();
/// Reads a subject: a bundled id (any case) or a JSON file (neutra-subject, or neutra-program with
/// keys by the default rule). Throws input_error; for unknown ids it names the nearest.
Subject load_subject(const std::string& id_or_file);
/// Reads a fault: a bundled id (any case) or a JSON file (neutra-fault or neutra-program). A
/// bundled subject is a fault without a known fix. Throws input_error; for unknown ids it names the
/// nearest.
Fault load_fault(const std::string& id_or_file);

}  // namespace neutra::experiments
