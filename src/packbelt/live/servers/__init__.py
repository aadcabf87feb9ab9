"""One server each: how it is reached, listed, watched, called and ended."""
