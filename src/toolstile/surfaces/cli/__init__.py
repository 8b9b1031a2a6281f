"""The command line: one JSON document on stdout, or text for people; messages on stderr."""
