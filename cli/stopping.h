#pragma once

namespace neutra::cli {

/// Starts the thread that ends this process where nothing else does. Once note_stop() was called it
/// says so at once. A step of a training, or the reading of a file, that goes on two seconds later
/// is given up: what is worth keeping is kept (LastAct), and the process ends as interrupted.
void watch_stops();
/// From a handler of signals.
void note_stop();
/// For verbs that end by being asked to.
void say_nothing_of_stops();

}  // namespace neutra::cli
