"""Values only: what flows through Toolstile. Nothing here reads, writes or waits."""
