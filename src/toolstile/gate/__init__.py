"""May this call run? Pure decisions: the code here cannot run, read or write anything."""
