"""From a scenario's YAML text to one frozen value: `text` reads, `schema` knows the fields, `parse` freezes."""
