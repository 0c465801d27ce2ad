"""Where logs come from: files, archives and rotated sets, under the allowed roots."""
