"""Does one schema take everything that another takes? Says why not, with an example."""
