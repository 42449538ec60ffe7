"""Between the bytes of COPY, Arrow, and text; pure but for the libraries that convert."""
