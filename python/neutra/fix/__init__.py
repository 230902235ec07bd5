"""`neutra fix SCRIPT`: from a training script to small patches of it that make its model learn better.

It calls the command for each step: capture, localise, search, patch, report. All that it writes is in one folder.
"""
