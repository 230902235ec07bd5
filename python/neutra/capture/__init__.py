"""Makes a program of a training script: it runs the script with recorders on its framework."""
