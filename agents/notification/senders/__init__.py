"""One sender per channel; each returns a short word about the delivery or raises what went wrong."""
