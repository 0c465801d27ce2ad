"""What at least two services agree on: contracts, errors, settings and one door per vendor."""
