// Compiled for each MPI family, into a module that the command opens (mpi_module.h).

#include "search/mpi_job.h"

#include <mpi.h>
#include <unistd.h>

#include <iterator>
#include <list>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace neutra::search {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMessage = 1, kGoodbye = 2;  ///< tags
constexpr auto kEndPatience = std::chrono::seconds(10);
constexpr auto kLookInterval = std::chrono::seconds(1);  ///< at the launcher

void check(const char* call, int code) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  text.resize(static_cast<std::size_t>(length));
  throw failure(std::string(call) + ": " + text);
}

/// Texts between rank 0 and the others.
class Messages {
 public:
  Messages() {
    int provided = 0;
    check("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
    check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    check("MPI_Comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    check("MPI_Comm_size", MPI_Comm_size(MPI_COMM_WORLD, &size_));
    if (provided < MPI_THREAD_FUNNELED) throw failure("this MPI library allows no threads");
    std::string own(MPI_MAX_PROCESSOR_NAME, '\0');
    int length = 0;
    check("MPI_Get_processor_name", MPI_Get_processor_name(own.data(), &length));
    hosts_.resize(rank_ == 0 ? own.size() * static_cast<std::size_t>(size_) : 0);
    check("MPI_Gather", MPI_Gather(own.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, hosts_.data(),
                                   MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  const char* host(std::size_t rank) const {  ///< known to rank 0
    return hosts_.data() + rank * MPI_MAX_PROCESSOR_NAME;
  }

  /// Never waits: the text is kept until it is sent.
  void send(int rank, int tag, std::string text) {
    progress();
    Sending& sending = sending_.emplace_back(Sending{std::move(text)});
    check("MPI_Isend", MPI_Isend(sending.text.data(), static_cast<int>(sending.text.size()),
                                 MPI_BYTE, rank, tag, MPI_COMM_WORLD, &sending.request));
  }
  bool all_sent() {
    progress();
    return sending_.empty();
  }

  struct Received {
    int rank = 0;
    std::string text;
  };
  std::optional<Received> receive(int tag) {
    progress();
    look_at_launcher();
    int there = 0;
    MPI_Status status;
    check("MPI_Iprobe", MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status));
    if (there == 0) return std::nullopt;
    int length = 0;
    check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &length));
    Received received{status.MPI_SOURCE, std::string(static_cast<std::size_t>(length), '\0')};
    check("MPI_Recv", MPI_Recv(received.text.data(), length, MPI_BYTE, received.rank, tag,
                               MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return received;
  }

  bool orphaned() const { return ::getppid() != launcher_; }

 private:
  struct Sending {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void progress() {
    for (auto sending = sending_.begin(); sending != sending_.end();) {
      int done = 0;
      check("MPI_Test", MPI_Test(&sending->request, &done, MPI_STATUS_IGNORE));
      sending = done != 0 ? sending_.erase(sending) : std::next(sending);
    }
  }

  /// Without a launcher, ranks don't learn of one another's death.
  void look_at_launcher() {
    if (Clock::now() - looked_ < kLookInterval) return;
    looked_ = Clock::now();
    if (!orphaned()) return;
    if (rank_ > 0) ::_exit(1);  // nothing here is worth keeping
    throw Error(Exit::kInterrupted,
                "what started this MPI job has ended; the same command continues the search");
  }

  const pid_t launcher_ = ::getppid();
  Clock::time_point looked_ = Clock::now();
  int rank_ = 0, size_ = 1;
  std::string hosts_;  ///< by rank, in places of one length
  std::list<Sending> sending_;
};

class Workers final : public RemoteWorkers {
 public:
  explicit Workers(Messages& messages) : messages_(messages), writers_(size()) {}
  std::size_t size() const override { return static_cast<std::size_t>(messages_.size()) - 1; }
  std::string name(std::size_t process) const override {
    return "rank " + std::to_string(process + 1) + " on " + messages_.host(process + 1);
  }
  void send(std::size_t process, RemoteOrder order) override {
    try {
      messages_.send(static_cast<int>(process) + 1, kMessage, writers_.at(process).text(order));
    } catch (const Error& error) {
      RemoteReport& lost = lost_.emplace_back();
      lost.kind = RemoteReport::Kind::kLost;
      lost.process = process;
      lost.message = error.what();
    }
  }
  std::optional<RemoteReport> receive() override {
    if (!lost_.empty()) {
      RemoteReport report = std::move(lost_.front());
      lost_.pop_front();
      return report;
    }
    const auto received = messages_.receive(kMessage);
    if (!received) return std::nullopt;
    RemoteReport report = report_from_text(received->text);
    report.process = static_cast<std::size_t>(received->rank) - 1;
    return report;
  }

 private:
  Messages& messages_;
  std::vector<OrderWriter> writers_;
  std::deque<RemoteReport> lost_;
};

class Search final : public RemoteSearch {
 public:
  explicit Search(Messages& messages) : messages_(messages) {}
  std::optional<RemoteOrder> receive() override {
    const auto received = messages_.receive(kMessage);
    if (!received) return std::nullopt;
    return reader_.order(received->text);
  }
  void send(RemoteReport report) override { messages_.send(0, kMessage, report_text(report)); }

 private:
  Messages& messages_;
  OrderReader reader_;
};

class Job final : public MpiJob {
 public:
  int rank() const override { return messages_.rank(); }
  int size() const override { return messages_.size(); }
  RemoteWorkers& workers() override { return workers_; }
  RemoteSearch& search() override { return search_; }

  void end(int exit_code) override {
    try {
      if (leave()) return;
    } catch (const Error&) {
    }
    // A message that is still under way needs its text: nothing is taken apart any more.
    if (!messages_.orphaned()) MPI_Abort(MPI_COMM_WORLD, exit_code);
    ::_exit(exit_code);
  }

 private:
  /// False: some rank doesn't answer.
  bool leave() {
    const bool first = messages_.rank() == 0;
    std::size_t missing = first ? workers_.size() : 0;
    for (std::size_t process = 0; process < missing; ++process) {
      workers_.send(process, {.kind = RemoteOrder::Kind::kEnd});
    }
    if (!first) messages_.send(0, kGoodbye, "");
    const auto patience = Clock::now() + kEndPatience;
    for (Pause pause; missing > 0 || !messages_.all_sent();) {
      if (Clock::now() > patience) return false;
      while (first && messages_.receive(kMessage)) {  // what came too late
      }
      if (first && messages_.receive(kGoodbye)) {
        --missing;
      } else {
        std::this_thread::sleep_for(pause.next());
      }
    }
    return MPI_Finalize() == MPI_SUCCESS;
  }

  Messages messages_;
  Workers workers_{messages_};
  Search search_{messages_};
};

std::unique_ptr<MpiJob> begin() { return std::make_unique<Job>(); }

/// MPICH's text is "MPICH Version:  4.0.2", of MVAPICH "MVAPICH2 Version  :  2.3.7", and lines on
/// how it was built; Open MPI's "Open MPI v4.1.4, package: ...".
std::string version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  std::istringstream words(whole.substr(0, whole.find_first_of(",\n")));
  std::string name;
  for (std::string word; words >> word;) {
    if (word == "Version" || word == "Version:" || word == ":") continue;
    name += (name.empty() ? "" : " ") + word;
  }
  return name;
}

}  // namespace

const MpiFunctions neutra_mpi_functions{begin, version};

}  // namespace neutra::search
