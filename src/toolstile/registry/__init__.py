"""Which tools there are: immutable snapshots, and a thread-safe holder of the newest."""
