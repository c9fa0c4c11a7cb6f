"""Results of other load tools, read into `ImportedRun`: one file and one row of `TOOLS` a tool. Nothing is judged here."""
