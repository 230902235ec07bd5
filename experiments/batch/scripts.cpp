#include "experiments/batch/scripts.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"

namespace neutra::experiments {
namespace {

/// Slurm's warning: time to end the trainings in flight and to save.
constexpr int kWarningSeconds = 90;
/// What a command that was interrupted ends with; above 128 it was killed.
constexpr int kGoesOn = static_cast<int>(Exit::kInterrupted);

std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

std::string faults_line(const SearchBatch& batch) {
  return "faults=(" + line_of(batch.faults) + ")\n";
}

/// For Slurm: letters, digits and what is plain in a file name.
std::string job_name(const SearchBatch& batch) {
  std::string name = "neutra-" + batch.name;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '-'; }, '_');
  return name;
}

/// In both scripts: is $status that of a search that only has to be started again?
std::string goes_on() { return "(( status == " + std::to_string(kGoesOn) + " || status > 128 ))"; }
/// Lines of both scripts. $logs, $log (a name in there), $fault, $attempt and $status are set.
std::string end_lines(const SearchBatch& batch, const std::string& indent) {
  return indent + "then=\"mend what it says, then submit again\"\n" + indent + goes_on() +
         " && then=\"the same neutra submit goes on\"\n" + indent +
         "echo \"exit $status at attempt $attempt of " + std::to_string(batch.attempts) +
         ": logs/$log; $then\" | tee \"$logs/$fault" + kBatchEnding + "\"\n";
}

std::string environment_lines(const SearchBatch& batch) {
  std::string lines;
  for (const auto& [name, value] : batch.environment) {
    lines += "export " + name + "=" + shell_quoted(value) + "\n";
  }
  return lines;
}

std::string logs_line(const SearchBatch& batch) {
  return "logs=" + shell_quoted((batch.folder / kBatchLogs).string()) + "\n";
}

/// For #SBATCH --output, where % begins a field.
std::string doubled_percents(std::string text) {
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '%');
  }
  return text;
}

}  // namespace

std::string shell_quoted(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string slurm_script(const SearchBatch& batch) {
  std::ostringstream script;
  script << "#!/bin/bash\n"
         << "# " << job_name(batch) << ": searches, one array element for each fault.\n"
         << "#SBATCH --job-name=" << job_name(batch) << "\n"
         << "#SBATCH --array=0-" << batch.faults.size() - 1 << "\n"
         << "#SBATCH --ntasks=" << batch.ranks << "\n"
         << "#SBATCH --cpus-per-task=" << batch.workers << "\n"
         << "#SBATCH --requeue\n"
         << "#SBATCH --signal=USR2@" << kWarningSeconds << "\n"
         << "#SBATCH --open-mode=append\n"
         << "#SBATCH --output="
         << shell_quoted(doubled_percents((batch.folder / kBatchLogs).string()) + "/%A_%a.log")
         << "\n"
         << environment_lines(batch) << faults_line(batch)
         << "fault=${faults[$SLURM_ARRAY_TASK_ID]}\n"
         << "[[ -n $fault ]] || { echo \"no fault for element $SLURM_ARRAY_TASK_ID\"; exit 2; }\n"
         << "attempt=$((${SLURM_RESTART_COUNT:-0} + 1))\n"
         << "echo \"$(date -Is) $(hostname): $fault, attempt $attempt of " << batch.attempts
         << "\"\n"
         << logs_line(batch) << "log=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}.log\n"
         << "rm -f \"$logs/$fault" << kBatchEnding << "\"\n"
         << "network=" << shell_quoted(batch.folder.string()) << "/$fault.tsv\n"
         << "before=$(stat --format=%y \"$network\" 2> /dev/null)\n"
         << "srun --export=ALL " << (batch.ranks > 1 ? "--mpi=pmix --kill-on-bad-exit=1 " : "")
         << line_of(batch.command) << " --only \"$fault\"\n"
         << "status=$?\n"
         << "# srun exits with 0, too, where it could launch nothing.\n"
         << "if (( status == 0 )) && "
         << "[[ $(stat --format=%y \"$network\" 2> /dev/null) == \"$before\" ]]; then\n"
         << "  echo \"$(date -Is) $fault: srun exited with 0, and no network was written\"\n"
         << "  status=255\n"
         << "fi\n"
         << "echo \"$(date -Is) $fault: exit $status\"\n"
         << "# " << kGoesOn << ": saved at the time limit; above 128: killed. Both go on where they"
         << " were.\n"
         << "if " << goes_on() << " && (( attempt < " << batch.attempts << " )); then\n"
         << "  scontrol requeue \"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"\n"
         << "  sleep 60  # Slurm ends the script meanwhile\n"
         << "fi\n"
         << "(( status == 0 )) && exit 0\n"
         << end_lines(batch, "") << "exit $status\n";
  return script.str();
}

std::string local_script(const SearchBatch& batch) {
  std::ostringstream script;
  std::string mpirun;
  if (batch.ranks > 1) {
    // mpirun gives a rank one core otherwise.
    mpirun = std::string("mpirun ") + (batch.workers > 1 ? "--bind-to none " : "") + "-n " +
             std::to_string(batch.ranks) + " ";
  }
  script << "#!/bin/bash\n"
         << "# " << job_name(batch) << ": searches, one after the other.\n"
         << faults_line(batch) << "stopped=0\n"
         << "child=\n"
         << "# A search that the terminal told, too, takes this for the same signal.\n"
         << "trap 'stopped=1; [[ -z $child ]] || kill -USR2 $child' INT QUIT TERM USR2\n"
         << "# Where this script is killed, its search saves and ends.\n"
         << "with_this=(setpriv --pdeathsig TERM)\n"
         << "\"${with_this[@]}\" true 2> /dev/null || with_this=()\n"
         << "result=0\n"
         << logs_line(batch) << "for fault in \"${faults[@]}\"; do\n"
         << "  log=$fault.log\n"
         << "  rm -f \"$logs/$fault" << kBatchEnding << "\"\n"
         << "  for (( attempt = 1; attempt <= " << batch.attempts << "; attempt++ )); do\n"
         << "    (( stopped )) && exit " << kGoesOn << "\n"
         << "    echo \"$(date -Is) $fault, attempt $attempt of " << batch.attempts
         << "\" | tee -a \"$logs/$log\"\n"
         << "    \"${with_this[@]}\" " << mpirun << line_of(batch.command)
         << " --only \"$fault\" >> \"$logs/$log\" 2>&1 &\n"
         << "    child=$!\n"
         << "    (( stopped )) && kill -USR2 $child  # told in between\n"
         << "    wait $child\n"
         << "    status=$?\n"
         << "    if (( stopped )); then\n"
         << "      # A further signal ends a wait, too.\n"
         << "      while kill -0 $child 2> /dev/null; do wait $child; done\n"
         << "      exit " << kGoesOn << "\n"
         << "    fi\n"
         << "    child=\n"
         << "    " << goes_on() << " || break\n"
         << "  done\n"
         << "  echo \"$(date -Is) $fault: exit $status\" | tee -a \"$logs/$log\"\n"
         << "  (( status == 0 )) && continue\n"
         << "  (( attempt <= " << batch.attempts << " )) || attempt=" << batch.attempts << "\n"
         << end_lines(batch, "  ") << "  result=1\n"
         << "done\n"
         << "exit $result\n";
  return script.str();
}

}  // namespace neutra::experiments
