"""``newron``, the command.

``application`` has the commands, one module for each of them; nothing that is imported
before a command runs is heavy, so that ``newron --help`` answers at once.
"""
