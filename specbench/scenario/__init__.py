"""From a scenario's YAML text to one frozen value: `text` reads, `grammar` knows the fields, `parse` freezes."""
