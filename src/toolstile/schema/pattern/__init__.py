"""ECMA-262 patterns in an engine of linear time: read, bounded, translated."""
