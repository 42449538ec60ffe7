"""What a caller may know about itself."""
