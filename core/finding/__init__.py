"""What every question is answered in."""
