"""The seeds' other ways to write a tool (contract section 1): in as documents for `define`, so that
only one form is ever enforced; out with what they cannot say."""
