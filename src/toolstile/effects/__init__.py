"""What runs write: held back, shown, applied or thrown away. Nothing here asks whether it may."""
