"""From bytes to records: text, times, levels, fields, the formats of lines, stack traces."""
