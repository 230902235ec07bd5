"""Between a program and the user's own files: where each of its values is written, and the patch that changes it.

source_map finds the places of a program's values, patch turns a wanted program into a unified diff.
"""
