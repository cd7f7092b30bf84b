"""An audit as JSON, as text for a terminal, and as one HTML file."""
